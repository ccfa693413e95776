import Foundation
import Quarry
import QuarryCore
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// A write that shares its transaction has the results, the errors and the effects of the same write alone, and leaves
/// those beside it as they are.
@Suite("Writes alone and in groups", .timeLimit(.minutes(5 * TestTime.factor))) struct GroupCommitEquivalenceTests {
    private struct Failure: Error {}

    /// The harm that a write does to those before it in its transaction.
    enum Harm {
        case none
        /// SQLite rolls the transaction back: they can be tried again.
        case abort
        /// The commit is refused.
        case refusal
    }

    /// A write, and what it says of itself.
    struct Subject: CustomTestStringConvertible, Sendable {
        let name: String
        /// Whether it differs by design from a write alone when it isn't the first of its group.
        var differs = false
        var harm = Harm.none
        let body: @Sendable (Database, any GroupWriter) throws -> String
        var testDescription: String { name }
    }

    private static func sql(_ sql: String, differs: Bool = false, harm: Harm = .none) -> Subject {
        Subject(name: sql, differs: differs, harm: harm) { db, _ in
            try db.execute(sql: "INSERT INTO t VALUES (1, 'before')")
            let rows = try Row.fetchAll(db, SQLRequest(sql: "SELECT 1")) + db.rows(of: sql)
            try db.execute(sql: "INSERT INTO t VALUES (2, 'after')")
            return "\(rows)"
        }
    }

    private static func swift(
        _ name: String, differs: Bool = false, harm: Harm = .none,
        _ body: @escaping @Sendable (Database, any GroupWriter) throws -> String
    ) -> Subject {
        Subject(name: name, differs: differs, harm: harm, body: body)
    }

    /// Statements between two inserted rows.
    static let statements: [Subject] = [
        sql("SELECT * FROM t"),
        sql("BEGIN"), sql("BEGIN IMMEDIATE"),
        sql("COMMIT", differs: true), sql("END", differs: true), sql("ROLLBACK", differs: true),
        sql("SAVEPOINT a; DELETE FROM t; ROLLBACK TO a; RELEASE a"),
        sql("SAVEPOINT a; DELETE FROM t"),
        sql("SAVEPOINT quarry; DELETE FROM t; ROLLBACK TO quarry"),
        sql("SAVEPOINT quarry; DELETE FROM t; RELEASE quarry"),
        sql("RELEASE quarry"), sql("ROLLBACK TO quarry"), sql("RELEASE a"),
        sql("PRAGMA foreign_keys = OFF; PRAGMA foreign_keys"),
        sql("PRAGMA defer_foreign_keys = ON; INSERT INTO child VALUES (9, 1); DELETE FROM child"),
        sql("PRAGMA journal_mode"), sql("PRAGMA journal_mode = TRUNCATE"), sql("PRAGMA journal_mode = WAL"),
        sql("PRAGMA wal_checkpoint(TRUNCATE)"), sql("PRAGMA synchronous = OFF"), sql("PRAGMA synchronous"),
        sql("PRAGMA user_version = 5; PRAGMA user_version"), sql("PRAGMA application_id = 7"),
        sql("PRAGMA cache_size = 100; PRAGMA cache_size"), sql("PRAGMA temp_store = MEMORY"),
        sql("PRAGMA query_only = OFF"), sql("PRAGMA locking_mode"), sql("PRAGMA integrity_check"),
        sql("PRAGMA secure_delete = ON"), sql("PRAGMA recursive_triggers = ON"), sql("PRAGMA optimize"),
        sql("PRAGMA incremental_vacuum"), sql("PRAGMA page_size = 8192"), sql("PRAGMA auto_vacuum = FULL"),
        sql("VACUUM"), sql("VACUUM INTO ''"), sql("ANALYZE"), sql("REINDEX"),
        sql("ATTACH ':memory:' AS x; CREATE TABLE x.y (a); INSERT INTO x.y VALUES (1); SELECT * FROM x.y"),
        sql("ATTACH ':memory:' AS x; DETACH x"),
        sql("CREATE TEMP TABLE y (a); INSERT INTO y VALUES (1); SELECT * FROM y"),
        sql("CREATE TABLE y (a); INSERT INTO y VALUES (1); ALTER TABLE y ADD COLUMN b; SELECT * FROM y"),
        sql("DROP TABLE child"), sql("CREATE INDEX i ON t (b)"),
        sql("CREATE TRIGGER x AFTER INSERT ON t WHEN new.a = 2 BEGIN SELECT RAISE(ABORT, 'no'); END"),
        sql("INSERT OR IGNORE INTO t VALUES (1, 'x')"), sql("INSERT OR REPLACE INTO t VALUES (1, 'x')"),
        sql("INSERT OR FAIL INTO t VALUES (3, 'x'), (1, 'y')"), sql("INSERT OR ABORT INTO t VALUES (3, 'x'), (1, 'y')"),
        sql("INSERT OR ROLLBACK INTO t VALUES (1, 'x')", harm: .abort),
        sql("INSERT INTO strict VALUES (1), (1)", harm: .abort),
        sql("INSERT INTO raising VALUES ('ABORT')"), sql("INSERT INTO raising VALUES ('FAIL')"),
        sql("INSERT INTO raising VALUES ('IGNORE')"),
        sql("INSERT INTO raising VALUES ('ROLLBACK')", harm: .abort),
        sql("INSERT INTO child VALUES (9, NULL)"), sql("INSERT INTO child VALUES (NULL, 9)"),
        sql("INSERT INTO t VALUES (1, 'x')"), sql("NOT SQL"), sql("INSERT INTO nothing VALUES (1)"),
        sql("EXPLAIN QUERY PLAN SELECT * FROM t"), sql("SELECT changes(), last_insert_rowid()"),
        sql("INSERT INTO f VALUES ('subject'); SELECT a FROM f WHERE f MATCH 'subject'"),
        sql("INSERT INTO f VALUES ('subject'); INSERT INTO t VALUES (1, 'x')"),
        sql("INSERT INTO f (f) VALUES ('optimize')"),
    ]

    /// Uses of the connection.
    static let uses: [Subject] = [
        swift("counts") { db, _ in
            let total = db.totalChangesCount
            try db.execute(sql: "INSERT INTO t VALUES (7, NULL), (8, NULL)")
            return "\(db.lastInsertedRowID) \(db.changesCount) \(db.totalChangesCount - total)"
        },
        swift("state") { db, _ in
            let date = try db.transactionDate
            return try "\(db.isInsideTransaction) \(db.transactionDate == date) \(db.attachedDatabases().map(\.name))"
        },
        swift("inTransaction") { db, _ in
            try db.inTransaction { .commit }
            return ""
        },
        swift("beginTransaction") { db, _ in
            try db.beginTransaction()
            return ""
        },
        swift("commit", differs: true) { db, _ in
            try db.insert(number: 1)
            try db.commit()
            return ""
        },
        swift("rollback", differs: true) { db, _ in
            try db.insert(number: 1)
            try db.rollback()
            return ""
        },
        swift("inSavepoint") { db, _ in
            try db.inSavepoint {
                try db.insert(number: 1)
                try db.inSavepoint {
                    try db.insert(number: 2)
                    return .rollback
                }
                return .commit
            }
            try? db.inSavepoint {
                try db.insert(number: 3)
                throw Failure()
            }
            return ""
        },
        swift("open savepoint of the library's name, then an error") { db, _ in
            try db.insert(number: 1)
            try db.execute(sql: "SAVEPOINT quarry")
            try db.insert(number: 2)
            throw Failure()
        },
        swift("error") { db, _ in
            try db.insert(number: 1)
            throw Failure()
        },
        swift("error of a statement that is caught") { db, _ in
            try db.insert(number: 1)
            try? db.insert(number: 1)
            try? db.execute(sql: "NOT SQL")
            try db.insert(number: 2)
            return ""
        },
        swift("rollback of SQLite that is caught", harm: .abort) { db, _ in
            try db.insert(number: 1)
            try? db.execute(sql: "INSERT OR ROLLBACK INTO t VALUES (1, NULL)")
            return ""
        },
        swift("cursor that is left") { db, _ in
            try db.insert(number: 1)
            let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM t UNION ALL SELECT 2, 3")
            return try withExtendedLifetime(cursor) { "\(try cursor.next() as Any)" }
        },
        swift("change that is left") { db, _ in
            let cursor = try Row.fetchCursor(db, sql: "INSERT INTO t VALUES (1, NULL), (2, NULL) RETURNING a")
            return try withExtendedLifetime(cursor) { "\(try cursor.next() as Any)" }
        },
        swift("change that is left and fails") { db, _ in
            let cursor = try Int.fetchCursor(db, sql: "INSERT INTO child VALUES (1, NULL) RETURNING 1")
            return "\(try cursor.next() ?? 0)"
        },
        swift("blob that is left") { db, _ in
            try db.execute(sql: "INSERT INTO t VALUES (1, zeroblob(4))")
            let blob = try db.openBlob(table: "t", column: "b", rowID: 1, readOnly: false)
            try blob.write([1, 2])
            return "\(blob.count)"
        },
        swift("blob") { db, _ in
            try db.execute(sql: "INSERT INTO t VALUES (1, zeroblob(4))")
            let blob = try db.openBlob(table: "t", column: "b", rowID: 1, readOnly: false)
            try blob.write([1, 2])
            try blob.close()
            return ""
        },
        swift("readOnly") { db, _ in
            try? db.readOnly { try db.insert(number: 1) }
            try db.insert(number: 2)
            return ""
        },
        swift("checkpoint") { db, _ in "\(try db.checkpoint(.truncate))" },
        swift("serialize") { db, _ in "\(try db.serialize().count > 0)" },
        swift("backup of the connection") { db, _ in
            try db.insert(number: 1)
            return try DatabaseQueue().writeWithoutTransaction { copy in
                try db.backup(to: copy)
                return "\(try Int.fetchAll(copy, sql: "SELECT a FROM t"))"
            }
        },
        swift("attach") { db, _ in
            try db.attach(":memory:", as: "y")
            return ""
        },
        swift("unsafeReentrantWrite") { db, writer in
            try db.insert(number: 1)
            try writer.unsafeReentrantWrite { db in try db.insert(number: 2) }
            return ""
        },
        swift("nested write") { db, writer in
            try writer.write { db in try db.insert(number: 2) }
            return ""
        },
        swift("nested read") { db, writer in
            try db.insert(number: 1)
            return "\(try writer.read { db in try Int.fetchAll(db, sql: "SELECT a FROM t") })"
        },
        swift("spawnConcurrentRead") { db, writer in
            let result = Recorded("")
            writer.spawnConcurrentRead { value in result.update { $0 = "\(value)" } }
            return result.value
        },
        swift("afterNextTransaction") { db, _ in
            db.afterNextTransaction { db in try? db.execute(sql: "INSERT INTO t VALUES (90, 'committed')") }
            try db.insert(number: 1)
            return ""
        },
        swift("afterNextTransaction, then an error") { db, _ in
            db.afterNextTransaction { _ in
            } onRollback: { db in
                try? db.execute(sql: "INSERT INTO t VALUES (90, 'rolled back')")
            }
            try db.insert(number: 1)
            throw Failure()
        },
        swift("observer that refuses the commit", harm: .refusal) { db, _ in
            db.add(transactionObserver: Refusing(), extent: .nextTransaction)
            try db.insert(number: 1)
            return ""
        },
        swift("commitOrigin") { db, _ in
            db.commitOrigin = "a"
            try db.insert(number: 1)
            return "\(db.commitOrigin ?? "")"
        },
        swift("function") { db, _ in
            db.add(function: DatabaseFunction("one", argumentCount: 0) { _ in 1 })
            return "\(try Int.fetchOne(db, sql: "SELECT one()") ?? 0)"
        },
    ]

    private final class Refusing: TransactionObserver {
        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseWillCommit() throws { throw Failure() }
        func databaseDidCommit(_ db: Database) {}
        func databaseDidRollback(_ db: Database) {}
    }

    /// The writes that share a file with the subject.
    private static func neighbour(_ value: Int) -> WritesInLine.Write {
        WritesInLine.write { db in
            try db.execute(sql: "INSERT INTO u VALUES (?)", arguments: [value])
            try db.execute(sql: "INSERT INTO f VALUES ('neighbour ' || ?)", arguments: [value])
        }
    }

    private struct Outcome: Equatable, CustomStringConvertible {
        var text = ""
        var content: [String] = []
        var neighbours: [Int] = []
        var description: String { "\(text), then \(content)" }
    }

    /// Runs the subject between others, or alone.
    private func outcome(
        of subject: Subject, isPool: Bool, position: Int, groupCommit: Bool
    ) async throws -> (Outcome, [(any Error)?]) {
        let folder = try TemporaryFolder(isFast: true)
        var configuration = Configuration()
        configuration.groupCommit = groupCommit
        configuration.otherProcesses = .ignored
        let path = folder.file("a.sqlite")
        let writer: any GroupWriter =
            isPool
            ? try DatabasePool(path: path, configuration: configuration)
            : try DatabaseQueue(path: path, configuration: configuration)
        writer.writer.groupCommit?.withLock { $0.limits.time = .max }
        try await writer.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (a INTEGER PRIMARY KEY, b);
                    CREATE TABLE u (a);
                    CREATE TABLE child (t REFERENCES t DEFERRABLE INITIALLY DEFERRED, now REFERENCES t);
                    CREATE TABLE strict (a UNIQUE ON CONFLICT ROLLBACK);
                    CREATE TABLE raising (a);
                    CREATE VIRTUAL TABLE f USING fts5 (a);
                    CREATE TRIGGER r1 BEFORE INSERT ON raising WHEN new.a = 'ABORT' BEGIN SELECT RAISE(ABORT, 'x'); END;
                    CREATE TRIGGER r2 BEFORE INSERT ON raising WHEN new.a = 'FAIL' BEGIN SELECT RAISE(FAIL, 'x'); END;
                    CREATE TRIGGER r3 BEFORE INSERT ON raising WHEN new.a = 'IGNORE' BEGIN SELECT RAISE(IGNORE); END;
                    CREATE TRIGGER r4 BEFORE INSERT ON raising WHEN new.a = 'ROLLBACK' BEGIN
                        SELECT RAISE(ROLLBACK, 'x');
                    END;
                    """)
        }
        let text = Recorded("")
        var writes = (0..<4).map(Self.neighbour)
        writes[position] = { _ in
            let said = try await writer.write { db in try subject.body(db, writer) }
            text.update { $0 = said }
        }
        let errors = try await WritesInLine.errors(of: writes, in: writer)
        let said = errors[position].map { "\($0)" } ?? text.value
        var outcome = Outcome(text: said.replacing(path, with: "path"))
        (outcome.content, outcome.neighbours) = try await writer.writeWithoutTransaction { db in
            try db.execute(sql: "INSERT INTO f (f) VALUES ('integrity-check')")
            var content: [String] = []
            for sql in [
                "SELECT * FROM t ORDER BY a", "SELECT a FROM f WHERE f MATCH 'subject'",
                "SELECT name FROM sqlite_master ORDER BY name", "PRAGMA user_version", "PRAGMA foreign_keys",
                "PRAGMA journal_mode", "PRAGMA synchronous", "PRAGMA cache_size", "PRAGMA query_only",
                "PRAGMA database_list", "PRAGMA integrity_check", "PRAGMA defer_foreign_keys",
            ] {
                let rows = try Row.fetchAll(db, sql: sql).map { "\($0)" }
                content.append(contentsOf: rows.map { $0.replacing(path, with: "path") })
            }
            return (content, try Int.fetchAll(db, sql: "SELECT a FROM u ORDER BY a"))
        }
        return (outcome, errors)
    }

    @Test(arguments: statements + uses, [true, false]) func sameAsAlone(_ subject: Subject, isPool: Bool) async throws {
        let (alone, _) = try await outcome(of: subject, isPool: isPool, position: 1, groupCommit: false)
        for position in 0..<4 {
            let (shared, errors) = try await outcome(
                of: subject, isPool: isPool, position: position, groupCommit: true)
            if subject.differs, position > 0 {
                #expect(shared.text != alone.text, "\(position)")
            } else {
                #expect(shared.text == alone.text, "\(position)")
                #expect(shared.content == alone.content, "\(position)")
            }
            let kept = (0..<4).filter { $0 != position && !(subject.harm != .none && $0 < position) }
            #expect(shared.neighbours == kept, "\(position)")
            for index in 0..<4 where index != position {
                let error = errors[index]
                if kept.contains(index) {
                    #expect(error == nil, "\(position): \(index)")
                } else if subject.harm == .refusal {
                    #expect(error is Failure, "\(position): \(index)")
                } else {
                    #expect((error as? DatabaseError)?.resultCode == .SQLITE_ABORT, "\(position): \(index)")
                }
            }
        }
    }
}

extension Database {
    fileprivate func insert(number value: Int) throws {
        try execute(sql: "INSERT INTO t VALUES (?, NULL)", arguments: [value])
    }

    /// The rows of all statements.
    fileprivate func rows(of sql: String) throws -> [Row] {
        var rows: [Row] = []
        let statements = try allStatements(sql: sql)
        while let statement = try statements.next() { rows += try Row.fetchAll(statement) }
        return rows
    }
}
