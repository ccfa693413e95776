import Quarry
import QuarryFixtures
import QuarryTestSupport

@testable import QuarryAccess
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
