/// The time that a thread without work looks for some before it sleeps, as a value.
///
/// A program that waits for the outcome of each of its jobs brings the next one after some tens of microseconds: the
/// time that its own thread needs to wake up. A thread that has fallen asleep too early looks longer the next time, and
/// again shortly after a time in vain. A write of a queue and the observed value took 100 microseconds with threads
/// that always looked for 20, and take 26.
struct SpinTime: Equatable {
    /// The shortest time, in nanoseconds.
    static let shortest: UInt64 = 20_000

    /// The longest time, in nanoseconds.
    static let longest: UInt64 = 100_000

    private var nanoseconds = shortest
    /// When a thread has begun to look.
    private var beginning: UInt64 = 0

    /// A thread begins to look for work.
    ///
    /// - returns: the time until which it looks.
    mutating func spinWillBegin(now: UInt64) -> UInt64 {
        beginning = now
        return now &+ nanoseconds
    }

    mutating func spinDidEnd(hasFoundJob: Bool) {
        if !hasFoundJob { nanoseconds = Self.shortest }
    }

    /// A sleeping thread is woken for a job.
    mutating func threadIsWoken(now: UInt64) {
        // It would have found the job in three quarters of the longest time.
        if now &- beginning < Self.longest / 4 * 3 { nanoseconds = Self.longest }
    }
}
