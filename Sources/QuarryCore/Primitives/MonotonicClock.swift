/// The clock of timeouts and durations: the system's monotonic clock, or one that a test moves.
///
/// Spinning waits, and the decisions about how fast this machine is, use `SystemClock` itself.
package struct MonotonicClock: Sendable {
    /// The system's clock.
    package static let system = MonotonicClock(time: nil)

    /// The time that a test moves; nil for the system's.
    package let time: (any ManualTime)?

    /// A clock with the time that a test moves.
    package init(_ time: any ManualTime) { self.time = time }

    private init(time: (any ManualTime)?) { self.time = time }

    /// The time in nanoseconds, which never goes back.
    package var now: UInt64 {
        guard let time else { return SystemClock.monotonicNanoseconds() }
        return time.now
    }

    /// Suspends the thread.
    package func sleep(nanoseconds: UInt64) {
        guard let time else { return SystemClock.sleep(nanoseconds: nanoseconds) }
        time.wait(until: time.now &+ nanoseconds)
    }
}

/// A time that stays until a test moves it.
package protocol ManualTime: AnyObject, Sendable {
    /// The time in nanoseconds.
    var now: UInt64 { get }

    /// Suspends the thread until a time has come.
    func wait(until end: UInt64)

    /// Runs `body` when a time comes.
    ///
    /// - returns: false if it has come already; then `body` doesn't run.
    func at(_ end: UInt64, _ body: @escaping @Sendable () -> Void) -> Bool
}
