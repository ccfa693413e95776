import Quarry
import QuarryFixtures
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// A way to commit, or not to.
struct CommitWay: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// The number of commits that have a number.
    let count: Int
    let commit: @Sendable (Database) throws -> Void

    init(_ description: String, count: Int = 1, _ commit: @escaping @Sendable (Database) throws -> Void) {
        testDescription = description
        self.count = count
        self.commit = commit
    }

    static func sql(_ sql: String, count: Int = 1) -> CommitWay {
        CommitWay(sql, count: count) { try $0.execute(sql: sql) }
    }

    /// Each runs outside a transaction, with a table `t` that has two rows.
    static let all: [CommitWay] = [
        .sql("INSERT INTO t VALUES (3)"),
        .sql("BEGIN; INSERT INTO t VALUES (3); COMMIT"),
        .sql("BEGIN DEFERRED; INSERT INTO t VALUES (3); END TRANSACTION"),
        .sql("SAVEPOINT s; INSERT INTO t VALUES (3); RELEASE s"),
        .sql("SAVEPOINT s; INSERT INTO t VALUES (3); SAVEPOINT s; DELETE FROM t; RELEASE s; RELEASE S"),
        .sql("BEGIN; SAVEPOINT s; INSERT INTO t VALUES (3); RELEASE s; COMMIT"),
        .sql("BEGIN; INSERT INTO t VALUES (3); SAVEPOINT s; DELETE FROM t; ROLLBACK TO s; COMMIT"),
        .sql("SAVEPOINT s; INSERT INTO t VALUES (3); COMMIT"),
        .sql("CREATE TABLE u (a); INSERT INTO u VALUES (1); DROP TABLE u", count: 3),
        .sql("ALTER TABLE t ADD COLUMN b"),
        .sql("ANALYZE; REINDEX"),
        .sql("UPDATE t SET a = 5"),
        .sql("INSERT INTO t VALUES (9); DELETE FROM t", count: 2),
        .sql("WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x"),
        .sql("CREATE TEMP TABLE temporary (a); INSERT INTO temporary VALUES (1)", count: 2),
        // Nothing is committed.
        .sql("BEGIN; INSERT INTO t VALUES (3); ROLLBACK", count: 0),
        .sql("BEGIN IMMEDIATE; COMMIT", count: 0),
        .sql("BEGIN; SELECT * FROM t; COMMIT", count: 0),
        .sql("UPDATE t SET a = 5 WHERE a = 77", count: 0),
        .sql("BEGIN; SAVEPOINT s; DELETE FROM t; ROLLBACK TO s; RELEASE s; COMMIT", count: 0),
        .sql("SAVEPOINT s; DELETE FROM t; ROLLBACK TO s; RELEASE s", count: 0),
        // These can't write a number.
        .sql("PRAGMA user_version = 7", count: 0),
        .sql(" /* space */ VACUUM", count: 0),
        .sql("ATTACH ':memory:' AS other; DETACH other", count: 0),
        CommitWay("RETURNING") { db throws in
            #expect(try Int.fetchAll(db, sql: "INSERT INTO t VALUES (3) RETURNING a") == [3])
        },
        CommitWay("a cursor that is read to its end") { db in
            let cursor = try Int.fetchCursor(db, sql: "UPDATE t SET a = 1 RETURNING a")
            while let value = try cursor.next() { #expect(value == 1) }
            #expect(!db.isInsideTransaction)
        },
        CommitWay("a cursor that is released early") { db in
            do {
                let cursor = try Int.fetchCursor(db, sql: "UPDATE t SET a = 1 RETURNING a")
                _ = try cursor.next()
                #expect(db.isInsideTransaction)
            }
            #expect(!db.isInsideTransaction)
        },
        CommitWay("a cursor that takes no step", count: 0) { db in
            _ = try Int.fetchCursor(db, sql: "UPDATE t SET a = 1 RETURNING a")
            #expect(!db.isInsideTransaction)
        },
        CommitWay("a statement while a cursor writes") { db in
            let cursor = try Int.fetchCursor(db, sql: "UPDATE t SET a = 1 RETURNING a")
            _ = try cursor.next()
            try db.execute(sql: "INSERT INTO t VALUES (3)")
            while try cursor.next() != nil {}
            #expect(!db.isInsideTransaction)
        },
        CommitWay("statements while a cursor reads", count: 2) { db in
            let cursor = try Int.fetchCursor(db, sql: "SELECT rowid FROM t ORDER BY rowid")
            while let id = try cursor.next() {
                #expect(!db.isInsideTransaction)
                try db.execute(sql: "UPDATE t SET a = a + 1 WHERE rowid = ?", arguments: [id])
                #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO t (rowid) VALUES (1)") }
                #expect(!db.isInsideTransaction)
            }
        },
        CommitWay("a full-text table", count: 3) { db in
            try db.execute(sql: "CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f VALUES ('b')")
            try db.execute(sql: "INSERT INTO f(f) VALUES ('optimize')")
        },
        CommitWay("an upsert with RETURNING") { db in
            let id = try Int.fetchOne(
                db, sql: "INSERT INTO t (rowid, a) VALUES (1, 7) ON CONFLICT DO UPDATE SET a = 8 RETURNING rowid")
            #expect(id == 1 && !db.isInsideTransaction)
        },
        CommitWay("two cursors, the first ends first") { db in
            var first: OpenCursor? = try OpenCursor(db, "UPDATE t SET a = a + 10 RETURNING a")
            let second = try OpenCursor(db, "INSERT INTO t VALUES (5), (6) RETURNING a")
            first = nil
            #expect(first == nil && db.isInsideTransaction)
            second.finish()
            #expect(!db.isInsideTransaction)
        },
        CommitWay("a cursor that was rolled back ends later") { db in
            try db.beginTransaction()
            let old = try OpenCursor(db, "UPDATE t SET a = a + 10 RETURNING a")
            try db.rollback()
            let new = try OpenCursor(db, "INSERT INTO t VALUES (5), (6) RETURNING a")
            old.finish()
            #expect(db.isInsideTransaction)
            new.finish()
            #expect(!db.isInsideTransaction)
        },
        CommitWay("ON CONFLICT FAIL keeps rows", count: 2) { db in
            try db.execute(sql: "CREATE TEMP TABLE k (a UNIQUE); BEGIN; COMMIT")
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT OR FAIL INTO k VALUES (1), (2), (1)")
            }
            #expect(error?.resultCode == .SQLITE_CONSTRAINT)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM k") == 2)
            #expect(!db.isInsideTransaction)
        },
        CommitWay("ON CONFLICT ROLLBACK", count: 0) { db in
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT OR ROLLBACK INTO t (rowid, a) VALUES (8, 1), (1, 1)")
            }
            #expect(!db.isInsideTransaction)
        },
        CommitWay("a failing statement", count: 0) { db in
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO t (rowid, a) VALUES (8, 1), (1, 1)")
            }
            #expect(!db.isInsideTransaction)
        },
        CommitWay("a statement with a missing argument", count: 0) { db in
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO t VALUES (?)") }
            #expect(!db.isInsideTransaction)
        },
        CommitWay("inSavepoint") { db in
            try db.inSavepoint {
                try db.insert(4)
                return .commit
            }
        },
        CommitWay("a blob", count: 2) { db in
            try db.execute(sql: "INSERT INTO t VALUES (zeroblob(4))")
            let blob = try db.openBlob(table: "t", column: "a", rowID: db.lastInsertedRowID, readOnly: false)
            try blob.write([1, 2])
            try blob.close()
            #expect(!db.isInsideTransaction)
            #expect(throws: DatabaseError.self) { try db.openBlob(table: "t", column: "x", rowID: 1, readOnly: false) }
            #expect(!db.isInsideTransaction)
        },
        CommitWay("ROLLBACK while a cursor writes", count: 0) { db in
            let cursor = try OpenCursor(db, "UPDATE t SET a = 1 RETURNING a")
            try db.rollback()
            cursor.finish()
            #expect(!db.isInsideTransaction)
        },
    ]
}

/// A cursor in the middle of a change.
private final class OpenCursor {
    private var cursor: FetchCursor<Int>?

    init(_ db: Database, _ sql: String) throws {
        cursor = try Int.fetchCursor(db, sql: sql)
        _ = try cursor?.next()
    }

    func finish() { cursor = nil }
}
