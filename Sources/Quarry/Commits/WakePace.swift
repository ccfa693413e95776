/// Spreads the wake-ups of tasks that wait for commits: a writer in a loop would wake all of them for each of its
/// writes, and share its processor with them. A value.
///
/// A wake-up after a quiet time happens at once. The next one waits as long as the tasks of the last may need.
struct WakePace {
    /// When the next wake-up may begin, in nanoseconds.
    private var next: UInt64 = 0

    /// The shortest pause between two wake-ups, in nanoseconds: a wake-up costs a writer some microseconds.
    static let shortestPause: UInt64 = 200_000

    /// The nanoseconds that a woken task may need.
    static let timeOfTask: UInt64 = 10_000

    /// The longest pause between two wake-ups, in nanoseconds.
    static let longestPause: UInt64 = 2_000_000

    /// A wake-up is due.
    ///
    /// - parameters:
    ///   - taskCount: the number of waiting tasks.
    ///   - now: the current time.
    /// - returns: the nanoseconds until it may begin.
    mutating func wakeUpIsDue(of taskCount: Int, now: UInt64) -> UInt64 {
        let beginning = max(now, next)
        let pause = Self.shortestPause &+ UInt64(taskCount) &* Self.timeOfTask
        next = beginning &+ min(pause, Self.longestPause)
        return beginning - now
    }
}
