public import QuarryCore

/// A time that the test moves.
///
/// ```swift
/// let clock = ManualMonotonicClock()
/// configuration.monotonicClock = clock.monotonicClock
/// let writing = Task { try await dbPool.write(timeout: .seconds(5)) { … } }
/// try await until("it waits") { dbPool.writer.group.waiterCount == 1 }
/// clock.advance(by: .seconds(5))
/// ```
///
/// With a tick, each look at the clock moves it, and a thread that sleeps moves it to the end of its sleep. So a
/// statement runs for as many milliseconds as SQLite looks at its deadline, and waits for locks take no time.
///
/// The bodies that wait for a time run on the thread that moves it.
public final class ManualMonotonicClock: ManualTime {
    private struct State {
        var now: UInt64 = 1_000_000_000_000
        var alarms: [(end: UInt64, body: @Sendable () -> Void)] = []

        /// Moves the time, and returns what has waited for it.
        mutating func move(to time: UInt64) -> [@Sendable () -> Void] {
            now = max(now, time)
            guard alarms.contains(where: { $0.end <= now }) else { return [] }
            let due = alarms.filter { $0.end <= now }
            alarms.removeAll { $0.end <= now }
            return due.sorted { $0.end < $1.end }.map(\.body)
        }
    }

    private let state = Lock(State())
    private let tick: UInt64

    /// A clock that has run for a thousand seconds.
    ///
    /// - parameter tick: how far each look moves it.
    public init(tick: Duration = .zero) { self.tick = tick.nanoseconds }

    /// The clock for a configuration.
    package var monotonicClock: MonotonicClock { MonotonicClock(self) }

    /// The time in nanoseconds.
    public var now: UInt64 {
        let (now, due) = state.withLock { state in
            let due = state.move(to: state.now + tick)
            return (state.now, due)
        }
        for body in due { body() }
        return now
    }

    /// The number of sleeping threads and timers.
    public var waiterCount: Int { state.withLock { $0.alarms.count } }

    /// Moves the time.
    public func advance(by duration: Duration) {
        let due = state.withLock { $0.move(to: $0.now + duration.nanoseconds) }
        for body in due { body() }
    }

    /// Suspends the thread until the time is moved; with a tick, moves it.
    public func wait(until end: UInt64) {
        guard tick == 0 else {
            let due = state.withLock { $0.move(to: end) }
            for body in due { body() }
            return
        }
        let step = Step("the clock shows \(end)")
        at(end) { step.reach() }
        while !step.isReached { try? step.wait() }
    }

    /// Runs `body` when a time has come.
    public func at(_ end: UInt64, _ body: @escaping @Sendable () -> Void) {
        let isDue = state.withLock { state in
            if end > state.now { state.alarms.append((end, body)) }
            return end <= state.now
        }
        if isDue { body() }
    }
}
