/// Spreads the wake-ups of tasks that wait for commits: a writer in a loop would wake all of them for each of its
/// writes, and share its processor with them. A value.
///
/// A wake-up after a quiet time happens at once. The next one waits as long as the tasks of the last may need. While
/// many commits follow one another, the pauses grow: a wake-up costs the writer as much as several writes. A program
/// that waits for the answer to each of its commits makes few between two wake-ups, so its pauses stay short.
struct WakePace {
    /// When the next wake-up may begin, in nanoseconds.
    private var next: UInt64 = 0

    /// The pause after the last wake-up, in nanoseconds, unless its tasks need longer.
    private var pause = shortestPause

    /// The number of the commit for which the last wake-up was due.
    private var lastNumber = 0

    /// The shortest pause between two wake-ups, in nanoseconds: a wake-up costs a writer some microseconds.
    static let shortestPause: UInt64 = 200_000

    /// The nanoseconds that a woken task may need.
    static let timeOfTask: UInt64 = 10_000

    /// The longest pause between two wake-ups, in nanoseconds.
    static let longestPause: UInt64 = 5_000_000

    /// The number of commits between two wake-ups from which on the pauses grow.
    static let burst = 8

    /// A wake-up is due.
    ///
    /// - parameters:
    ///   - taskCount: the number of waiting tasks.
    ///   - number: the number of the last commit.
    ///   - limit: the number of commits that are kept for a task: those of a pause are a quarter at most, unless the
    ///     pause is the shortest.
    ///   - now: the current time.
    /// - returns: the nanoseconds until it may begin.
    mutating func wakeUpIsDue(of taskCount: Int, number: Int, limit: Int, now: UInt64) -> UInt64 {
        let beginning = max(now, next)
        setPause(commitCount: number - lastNumber, limit: limit)
        lastNumber = number
        let timeOfTasks = Self.shortestPause &+ UInt64(taskCount) &* Self.timeOfTask
        next = beginning &+ min(max(pause, timeOfTasks), Self.longestPause)
        return beginning - now
    }

    /// - parameter commitCount: the number of commits since the last wake-up was due.
    private mutating func setPause(commitCount: Int, limit: Int) {
        if commitCount < Self.burst {
            pause = Self.shortestPause
        } else if commitCount > limit / 4 {
            pause = max(pause / 2, Self.shortestPause)
        } else if commitCount <= limit / 8 {
            pause = min(pause * 2, Self.longestPause)
        }
    }
}
