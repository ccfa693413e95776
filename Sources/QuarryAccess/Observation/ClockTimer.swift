import QuarryCore

/// A timer of a clock.
final class ClockTimer<C: Clock>: PaceTimer where C.Duration == Duration {
    private let clock: C
    private let duration: Duration
    private let deadline: Lock<C.Instant>

    init(_ clock: C, _ duration: Duration) {
        self.clock = clock
        self.duration = duration
        deadline = Lock(clock.now.advanced(by: duration))
    }

    func begin() {
        let end = clock.now.advanced(by: duration)
        deadline.withLock { $0 = end }
    }

    func wait() async throws {
        while true {
            let end = deadline.withLock { $0 }
            try await clock.sleep(until: end, tolerance: nil)
            // A new beginning has moved the deadline: it costs no new task.
            if deadline.withLock({ $0 }) <= end { return }
        }
    }
}
