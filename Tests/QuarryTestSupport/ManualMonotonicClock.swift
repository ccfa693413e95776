import Dispatch
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
/// `advance(by:when:_:during:)` does the same in one call.
///
/// With a tick, each look at the clock moves it, and a thread that sleeps moves it to the end of its sleep. So a
/// statement runs for as many milliseconds as SQLite looks at its deadline, and waits for locks take no time. While a
/// timer waits, the clock is looked at each millisecond.
///
/// The bodies that wait for a time run on the thread that moves it by `advance(by:)`. If a look moves it, they run on
/// another one: the code that looks may hold a lock that they take.
public final class ManualMonotonicClock: ManualTime {
    private struct State {
        var now: UInt64 = 1_000_000_000_000
        var lookCount = 0
        /// How far each look moves it.
        var tick: UInt64
        /// Whether the clock looks at itself.
        var isBeating = false
        var alarms: [(end: UInt64, body: @Sendable () -> Void)] = []

        /// Whether the clock has to begin to look at itself; notes that it does.
        mutating func beginsToBeat() -> Bool {
            guard !isBeating, tick > 0, !alarms.isEmpty else { return false }
            isBeating = true
            return true
        }

        /// Moves the time, and returns what has waited for it.
        mutating func move(to time: UInt64) -> [@Sendable () -> Void] {
            now = max(now, time)
            guard alarms.contains(where: { $0.end <= now }) else { return [] }
            let due = alarms.filter { $0.end <= now }
            alarms.removeAll { $0.end <= now }
            return due.sorted { $0.end < $1.end }.map(\.body)
        }
    }

    private let state: Lock<State>

    /// A clock that has run for a thousand seconds.
    ///
    /// - parameter tick: how far each look moves it.
    public init(tick: Duration = .zero) { state = Lock(State(tick: tick.nanoseconds)) }

    /// From now on, each look moves it: for waits that follow the timeout of a test.
    public func startTicking(_ tick: Duration = .milliseconds(1)) {
        let mustBeat = state.withLock { state in
            state.tick = tick.nanoseconds
            return state.beginsToBeat()
        }
        if mustBeat { beat() }
    }

    /// The clock for a configuration.
    package var monotonicClock: MonotonicClock { MonotonicClock(self) }

    /// The time in nanoseconds.
    public var now: UInt64 {
        let (now, due) = state.withLock { state in
            let due = state.move(to: state.now + state.tick)
            state.lookCount += 1
            return (state.now, due)
        }
        runElsewhere(due)
        return now
    }

    /// The number of sleeping threads and timers.
    public var waiterCount: Int { state.withLock { $0.alarms.count } }

    /// How often code has looked at the clock.
    public var lookCount: Int { state.withLock { $0.lookCount } }

    /// Moves the time.
    public func advance(by duration: Duration) {
        let due = state.withLock { $0.move(to: $0.now + duration.nanoseconds) }
        for body in due { body() }
    }

    /// Runs `body`, and moves the time once `condition` holds, which says that the body waits.
    ///
    /// ```swift
    /// try await clock.advance(by: .seconds(5), when: "it waits", group.waiterCount == 1) {
    ///     await expectError(.SQLITE_BUSY) { try await dbPool.write(timeout: .seconds(5)) { _ in } }
    /// }
    /// ```
    @discardableResult
    public func advance<T: Sendable>(
        by duration: Duration, when name: String, _ condition: @autoclosure () throws -> Bool,
        during body: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        let task = Task { try await body() }
        try await until(name, by: task, condition)
        advance(by: duration)
        return try await task.value
    }

    /// Moves the time by a millisecond, again and again, until a task or thread has ended: for waits of lengths that
    /// the test doesn't know. On a busy machine it moves as far as the system's clock, up to 20 milliseconds at once.
    public func advance(until code: any CodeUnderTest) async throws {
        let hasEnded = Step("the code has ended")
        code.whenEnded { _ in hasEnded.reach() }
        var lastLook = SystemClock.monotonicNanoseconds()
        try await until(hasEnded.name) {
            let now = SystemClock.monotonicNanoseconds()
            advance(by: .nanoseconds(Int64(min(max(now - lastLook, 1_000_000), 20_000_000))))
            lastLook = now
            return hasEnded.isReached
        }
    }

    /// Suspends the thread until the time is moved; with a tick, moves it.
    public func wait(until end: UInt64) {
        let due = state.withLock { $0.tick > 0 ? $0.move(to: end) : nil }
        if let due { return runElsewhere(due) }
        let step = Step("the clock shows \(end)")
        guard at(end, { step.reach() }) else { return }
        while !step.isReached { try? step.wait() }
    }

    /// Runs `body` when a time comes.
    ///
    /// - returns: false if it has come already; then `body` doesn't run.
    public func at(_ end: UInt64, _ body: @escaping @Sendable () -> Void) -> Bool {
        let (isWaiting, mustBeat) = state.withLock { state in
            guard end > state.now else { return (false, false) }
            state.alarms.append((end, body))
            return (true, state.beginsToBeat())
        }
        if mustBeat { beat() }
        return isWaiting
    }

    /// Looks at the clock each millisecond, as long as a timer waits.
    private func beat() {
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { [weak self] in
            guard let self else { return }
            _ = now
            let goesOn = state.withLock { state in
                state.isBeating = !state.alarms.isEmpty
                return state.isBeating
            }
            if goesOn { beat() }
        }
    }

    private func runElsewhere(_ bodies: [@Sendable () -> Void]) {
        for body in bodies { DispatchQueue.global().async(execute: body) }
    }
}
