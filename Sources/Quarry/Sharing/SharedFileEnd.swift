import QuarryCore

/// The end of the pool of a shared file: until then its connections may be open, though nothing can use them any more.
///
/// A pool that is released ends where its last access does. The next pool of the file waits for that, so that its
/// connections are the only ones.
final class SharedFileEnd: Sendable {
    /// How long the next pool waits. Only an observation that outlives its pool takes that long.
    private static let nanoseconds: UInt64 = 5_000_000_000

    private let hasEnded = ConditionLock(false)
    /// The end of the pool before, which has to come first.
    private let previous: SharedFileEnd?

    init(after previous: SharedFileEnd? = nil) { self.previous = previous }

    /// The pool has ended.
    func end() {
        hasEnded.withLock { $0 = true }
        hasEnded.broadcast()
    }

    /// Waits for the end, for a few seconds.
    ///
    /// - returns: false if it hasn't come.
    func wait() -> Bool { wait(until: SystemClock.monotonicNanoseconds() + Self.nanoseconds) }

    private func wait(until deadline: UInt64) -> Bool {
        if let previous, !previous.wait(until: deadline) { return false }
        let contents = hasEnded.contents
        hasEnded.lock()
        defer { hasEnded.unlock() }
        if contents.pointee { return true }
        return WorkerThreads.blocking {
            while !contents.pointee, hasEnded.wait(until: deadline) {}
            return contents.pointee
        }
    }
}
