/// Bounds the searches for a leader while there is none.
///
/// Writes that wait in line search one after the other. The first search waits as long as it may. Later ones count the
/// time from its beginning, so that the tenth write doesn't wait ten times as long as the first.
struct Outage {
    /// The beginning of the first search without a result, in monotonic nanoseconds.
    private var start: UInt64?

    /// The time at which a search last began or failed.
    private var lastLook: UInt64 = 0

    /// The part of its time that each search has nevertheless, but not less than a quarter of a second.
    private static let smallestPart: UInt64 = 8
    private static let smallestTime: UInt64 = 250_000_000

    /// The time after which a search is the first again: 5 seconds.
    private static let memory: UInt64 = 5_000_000_000

    /// A search begins.
    ///
    /// - parameter deadline: the latest end of the search if it is the first.
    /// - returns: the end of the search.
    mutating func searchBegins(at now: UInt64, until deadline: UInt64) -> UInt64 {
        guard deadline > now else { return deadline }
        let patience = deadline - now
        defer { lastLook = now }
        // Nobody has looked for a while: a leader may be about to be elected.
        guard let start, now - lastLook < Outage.memory else {
            start = now
            return deadline
        }
        let least = max(patience / Outage.smallestPart, Outage.smallestTime)
        return min(deadline, max(start + patience, now + least))
    }

    /// A search has found no leader.
    mutating func searchFailed(at now: UInt64) { lastLook = max(lastLook, now) }

    /// A search has found the leader.
    mutating func leaderFound() { start = nil }
}
