import Quarry
import QuarryTestSupport

@testable import QuarryAccess

/// A tracer that keeps the events it receives.
final class RecordingTracer: DatabaseTracer {
    let options: DatabaseTracing.Options
    private let recorded = Recorded<[DatabaseTraceEvent]>([])
    /// Called with each event, once it is kept.
    private let action: @Sendable (DatabaseTraceEvent) -> Void
    private let begin: @Sendable (DatabaseTraceEvent.AccessBeginning) -> (any Sendable)?

    init(
        _ interests: DatabaseTracing.Interests, _ change: (inout DatabaseTracing.Options) -> Void = { _ in },
        begin: @escaping @Sendable (DatabaseTraceEvent.AccessBeginning) -> (any Sendable)? = { _ in nil },
        _ action: @escaping @Sendable (DatabaseTraceEvent) -> Void = { _ in }
    ) {
        var options = DatabaseTracing.Options(interests)
        change(&options)
        self.options = options
        self.begin = begin
        self.action = action
    }

    func accessWillBegin(_ access: DatabaseTraceEvent.AccessBeginning) -> (any Sendable)? { begin(access) }

    func receive(_ event: DatabaseTraceEvent) {
        // Kept first: the action may let the test go on, which looks at the events.
        recorded.update { $0.append(event) }
        action(event)
    }

    var events: [DatabaseTraceEvent] { recorded.value }

    func forget() { recorded.update { $0 = [] } }

    var accesses: [DatabaseTraceEvent.Access] {
        events.compactMap { if case .access(let access) = $0 { access } else { nil } }
    }

    var statements: [DatabaseTraceEvent.Statement] {
        events.compactMap { if case .statement(let statement) = $0 { statement } else { nil } }
    }

    var slowStatements: [DatabaseTraceEvent.SlowStatement] {
        events.compactMap { if case .slowStatement(let statement) = $0 { statement } else { nil } }
    }

    var waits: [DatabaseTraceEvent.Wait] {
        events.compactMap { if case .wait(let wait) = $0 { wait } else { nil } }
    }

    var failures: [DatabaseTraceEvent.Failure] {
        events.compactMap { if case .failure(let failure) = $0 { failure } else { nil } }
    }

    var blockedThreads: [DatabaseTraceEvent.BlockedThread] {
        events.compactMap { if case .blockedThread(let thread) = $0 { thread } else { nil } }
    }
}

/// A pool with some players, in a file.
struct TracedDatabase {
    let folder: TemporaryFolder
    let pool: DatabasePool

    init(_ configure: (inout Configuration) -> Void = { _ in }) throws {
        folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.label = "players"
        // The keeper's checkpoints are accesses, too.
        configuration.wal = .unmanaged
        configure(&configuration)
        pool = try DatabasePool(path: folder.file("db"), configuration: configuration)
        try pool.write { db in try db.makeUniquePlayers(["Arthur": 1, "Barbara": 2, "Craig": 3]) }
    }
}

/// Says which events came in place of those that a test expects.
struct UnexpectedEvents: Error, CustomStringConvertible {
    let description: String
}
