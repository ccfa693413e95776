import Quarry
import QuarryCore
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

/// A read that begins at the very moment in which a database is served again, and writes inside. The connection of the
/// writer was closed, or is still that of the closing.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct ReadsAtTheEndTests {
    /// A call that keeps all connections for a while.
    enum Closing: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case close, closeAsync, window, asyncWindow, blockade, asyncBlockade, grace, asyncGrace

        var testDescription: String { rawValue }

        func run(_ database: SharedDatabase) async throws {
            switch self {
            case .close: try await onOwnThread { try database.close() }
            case .closeAsync: try await database.closeAsync()
            case .window: try await onOwnThread { try database.withClosedDatabase { _ in } }
            case .asyncWindow: try await database.withClosedDatabase { _ in }
            case .blockade: try await onOwnThread { try database.blockade().end() }
            case .asyncBlockade: try await database.blockade().end()
            case .grace: try await onOwnThread { try database.close(gracePeriod: .seconds(600)) }
            case .asyncGrace: try await database.close(gracePeriod: .seconds(600))
            }
        }
    }

    /// Closing that doesn't end the pool, because it fails.
    enum FailingClosing: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case close, closeAsync, grace, asyncGrace

        var testDescription: String { rawValue }

        func run(_ pool: DatabasePool) async throws {
            switch self {
            case .close: try await onOwnThread { try pool.close() }
            case .closeAsync: try await pool.closeAsync()
            case .grace: try await onOwnThread { try pool.close(gracePeriod: .seconds(600)) }
            case .asyncGrace: try await pool.close(gracePeriod: .seconds(600))
            }
        }
    }

    let folder: TemporaryFolder
    private let configuration: Configuration

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        var configuration = Configuration()
        configuration.maximumReaderCount = 1
        self.configuration = configuration
    }

    @Test(arguments: Closing.allCases) func ofASharedDatabase(_ closing: Closing) async throws {
        let database = SharedDatabase(path: folder.file("a.sqlite"), configuration: configuration)
        try await database.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        try await expectNestedWrite(in: database.pool) { try await closing.run(database) }
    }

    @Test(arguments: FailingClosing.allCases, [true, false])
    func ofAPoolThatCannotBeClosed(_ closing: FailingClosing, isReaderLeft: Bool) async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        // Statements keep a connection open.
        let statement =
            isReaderLeft
            ? try onConnection(of: pool.readers) { db in try db.makeStatement(sql: "SELECT 1") }
            : try onConnection(of: pool.writer) { db in try db.makeStatement(sql: "SELECT 1") }
        try await expectNestedWrite(in: pool) {
            await expectError(.SQLITE_BUSY) { try await closing.run(pool) }
        }
        _ = statement
    }

    /// A statement leaves the access: its connection can't be closed.
    private func onConnection(of runner: AccessRunner, _ body: (Database) throws -> Statement) throws -> Statement {
        try runner.perform(AccessRequest(.bare), body)
    }

    /// Expects that a read which is waiting for the end of `closing`, and writes before that has returned, succeeds.
    private func expectNestedWrite(in pool: DatabasePool, _ closing: @escaping @Sendable () async throws -> Void)
        async throws
    {
        let readers = pool.readers.group
        let isReading = Step("a read has the only reader")
        let mayEnd = Step("the read may end")
        let first = OwnThread {
            try pool.read { _ in
                isReading.reach()
                try mayEnd.wait()
            }
        }
        try await isReading.reached()
        let end = Task { try await closing() }
        try await until("closing waits for the reader") { readers.waiterCount == 1 }
        let next = WritingRead(pool)
        let answer = readers.decide { machine in
            machine.acquire(.connection, next, .offloadedTask, .user, .admitted, now: 0)
        }
        #expect(answer == .wait(id: readers.state.withLock { $0.machine.lastID }))
        mayEnd.reach()
        try await first.value
        try await end.value
        try next.result.withLock { $0 }?.get()
        let values = try await pool.read { db in try Int.fetchAll(db, sql: "SELECT a FROM t") }
        #expect(values == [1])
    }
}

/// A read that waits, and writes. The thread that grants its connection goes on when it has ended.
private final class WritingRead: LeaseWaiter {
    private let pool: DatabasePool
    let result = Lock<Result<Void, any Error>?>(nil)

    init(_ pool: DatabasePool) { self.pool = pool }

    func resolve(_ outcome: LeaseOutcome) {
        let hasEnded = Step("the read has ended")
        let thread = OwnThread { [pool, result] in
            let outcome = Result {
                guard case .granted(let grant) = outcome else { throw Step.NeverReached("a grant, but \(outcome)") }
                let lease = try pool.readers.group.take(grant, arrival: nil)
                try pool.readers.group.use(lease) { db in
                    try AccessRunner.frame(db, nil) { _ in
                        try pool.write { db in try db.execute(sql: "INSERT INTO t VALUES (1)") }
                    }
                }
            }
            result.withLock { $0 = outcome }
            hasEnded.reach()
        }
        withExtendedLifetime(thread) {
            do { try hasEnded.wait() } catch { result.withLock { $0 = .failure(error) } }
        }
    }
}
