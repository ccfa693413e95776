import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// Random writes that share transactions: a write that has returned is in the database, one that has thrown isn't.
@Suite("Random groups of writes", .timeLimit(.minutes(5 * TestTime.factor))) struct GroupCommitRandomTests {
    private struct Failure: Error {}

    private static let schema = """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE);
        CREATE TABLE child (t REFERENCES t (id) DEFERRABLE INITIALLY DEFERRED);
        INSERT INTO t VALUES (-1, 'taken');
        """

    /// The rows of a write, and its error if it fails on purpose.
    @Sendable private static func write(_ id: Int, _ kind: Int, _ db: Database) throws {
        try db.execute(sql: "INSERT INTO t (id) VALUES (?)", arguments: [id])
        switch kind {
        case 0: throw Failure()
        case 1: try db.execute(sql: "INSERT INTO t VALUES (?, 'taken')", arguments: [-id])
        case 2: try db.execute(sql: "INSERT INTO child VALUES (?)", arguments: [1_000_000 + id])
        case 3:
            try db.inSavepoint {
                try db.execute(sql: "INSERT INTO t (id) VALUES (?)", arguments: [1_000_000 + id])
                return .rollback
            }
        case 4:
            try? db.inSavepoint {
                try db.execute(sql: "DELETE FROM t")
                throw Failure()
            }
        case 5: try db.execute(sql: id % 2 == 0 ? "ROLLBACK" : "BEGIN")
        case 6: try db.execute(sql: "INSERT OR ROLLBACK INTO t VALUES (?, 'taken')", arguments: [-id])
        case 7: try db.execute(sql: "CREATE TABLE own\(id) (a); DROP TABLE own\(id)")
        case 8: try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
        case 9: try db.execute(sql: "NOT SQL")
        case 10: _ = try Int.fetchCursor(db, sql: "INSERT INTO child VALUES (?) RETURNING 1", arguments: [id]).next()
        // Statements that pass their time: a read, and a change.
        case 11, 12:
            db.clocks.deadlines.statementLimit = 0.0001
            defer { db.clocks.deadlines.statementLimit = 1_000 }
            try db.execute(
                sql: (kind == 12 ? "INSERT INTO child " : "")
                    + "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0")
        default: break
        }
    }

    @Test(arguments: [WriterKind.pool, .walQueue, .fileQueue]) func modelAgrees(_ kind: WriterKind) async throws {
        let seed = SeededGenerator().seed
        var configuration = Configuration()
        configuration.groupCommit = true
        configuration.statementTimeout = 1_000
        let folder = try TemporaryFolder(isFast: true)
        let writer = try kind.make(folder, configuration)
        try await writer.write { db in try db.execute(sql: Self.schema) }
        let (kept, undone) = (Recorded<Set<Int>>([]), Recorded<Set<Int>>([]))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<32 {
                group.addTask {
                    var generator = SeededGenerator(seed: seed &+ UInt64(task))
                    for number in 1...60 {
                        let id = number * 32 + task
                        let kind = Int.random(in: 0..<40, using: &generator)
                        let form = Int.random(in: 0..<20, using: &generator)
                        let yields = Int.random(in: 0..<20, using: &generator)
                        let writing = Task {
                            let body: @Sendable (Database) throws -> Void = { db in try Self.write(id, kind, db) }
                            switch form {
                            case 0: try await writer.write(timeout: .seconds(100), body)
                            case 1: try await onOwnThread { try writer.write(body) }
                            case 2:
                                try await writer.barrierWriteWithoutTransaction { db in
                                    try db.inTransaction {
                                        try body(db)
                                        return .commit
                                    }
                                }
                            default: try await writer.write(body)
                            }
                        }
                        // A thread isn't cancelled.
                        if form > 13 {
                            for _ in 0..<yields { await Task.yield() }
                            writing.cancel()
                        }
                        do {
                            try await writing.value
                            _ = kept.update { $0.insert(id) }
                        } catch {
                            _ = undone.update { $0.insert(id) }
                            if kind > 12, !(error is CancellationError) {
                                let code = (error as? DatabaseError)?.resultCode
                                #expect(code == .SQLITE_ABORT, "seed \(seed): \(error)")
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let rows = try await writer.read { db in try Set(Int.fetchAll(db, sql: "SELECT id FROM t WHERE id > 0")) }
        let (missing, alive) = (kept.value.subtracting(rows), rows.intersection(undone.value))
        #expect(missing.isEmpty && alive.isEmpty && rows.count > 500, "seed \(seed)")
        try await onOwnThread { try writer.close() }
    }
}
