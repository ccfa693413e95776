/// Leaves time to the accesses of the program on a connection that observations share with it. A value.
///
/// Fetches take a third of the time at most, as long as more of them are due, and a fifth if a batch has many of them
/// or slow ones; after a pause they may take 0.2 milliseconds more. Otherwise a program that writes in a loop would
/// wait for all fetches after each of its writes. With 100 observations of the table that it writes, batches of a third
/// cost a writer 2.6 microseconds a write, those of a fifth 1.2.
struct FetchPace {
    /// When the next batch would begin if batches were evenly spread, in nanoseconds.
    private var next: UInt64 = 0

    /// The time that batches may be ahead, in nanoseconds.
    static let burst: UInt64 = 200_000

    /// The pause is twice this part of a batch's time, in nanoseconds, and four times the rest. A program that waits
    /// for the new value after each of its writes isn't paused.
    static let shortTime: UInt64 = 20_000

    /// The longest pause after a batch, in nanoseconds. It bounds the delay if only fetches use the connection.
    static let longestPause: UInt64 = 100_000_000

    /// A batch has given its connection back.
    ///
    /// - parameters:
    ///   - beginning: when it had the connection, in nanoseconds.
    ///   - end: the current time.
    mutating func batchDidEnd(from beginning: UInt64, to end: UInt64) {
        let duration = end > beginning ? end - beginning : 0
        let rest = duration > Self.shortTime ? duration - Self.shortTime : 0
        next = max(next, beginning) &+ duration &+ min(2 &* duration &+ 2 &* rest, Self.longestPause)
    }

    /// The nanoseconds until the next batch may begin.
    func pause(now: UInt64) -> UInt64 {
        let earliest = next > Self.burst ? next - Self.burst : 0
        return earliest > now ? earliest - now : 0
    }
}
