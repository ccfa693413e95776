import QuarryTestSupport
import Synchronization
import Testing

@testable import QuarryCore

/// A change with RETURNING gives rows, but is committed, or refused, at its end:
/// <https://www.sqlite.org/lang_returning.html>.
@Suite("Changes that return rows")
struct ReturningTests {
    private func withTables(_ body: (Database) throws -> Void) throws {
        try withConnection { db throws in
            try createTables(db)
            try body(db)
        }
    }

    private func createTables(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE parent (id INTEGER PRIMARY KEY);
                CREATE TABLE child (
                    id INTEGER PRIMARY KEY,
                    parentId REFERENCES parent(id) DEFERRABLE INITIALLY DEFERRED);
                """)
    }

    // Of several rows: one alone is refused at once.
    private let refused = "INSERT INTO child (parentId) VALUES (1) RETURNING id"

    @Test func everyVerbRunsAChangeToItsEnd() throws {
        try withTables { db throws in
            let sql = "INSERT INTO parent DEFAULT VALUES RETURNING id"
            #expect(try Int.fetchOne(db, sql: sql) == 1)
            #expect(try Int.fetchAll(db, sql: sql) == [2])
            #expect(try Int.fetchSet(db, sql: sql) == [3])
            #expect(try Row.fetchOne(db, sql: sql) == ["id": 4])
            try db.execute(sql: sql)
            let several = "INSERT INTO parent VALUES (10), (11) RETURNING id"
            #expect(try Int.fetchOne(db, sql: several) == 10)
            #expect(try Int.fetchAll(db, sql: "SELECT id FROM parent") == [1, 2, 3, 4, 5, 10, 11])
        }
    }

    @Test func fetchOneThrowsTheRefusalAtTheEnd() throws {
        try withTables { db throws in
            expectError(.SQLITE_CONSTRAINT_FOREIGNKEY, "FOREIGN KEY constraint failed", sql: refused) {
                try Int.fetchOne(db, sql: refused)
            }
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM child") == 0)
        }
    }

    @Test func refusalOfALeftCursorThrowsOnceAtTheEndOfTheAccess() throws {
        let connection = try TestConnection()
        try connection.access(createTables)
        expectError(.SQLITE_CONSTRAINT_FOREIGNKEY, "FOREIGN KEY constraint failed", sql: refused) {
            try connection.access { db throws in
                #expect(try Int.fetchCursor(db, sql: refused).next() == 1)
                #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM child") == 0)
            }
        }
        expectError(.SQLITE_CONSTRAINT_FOREIGNKEY, "FOREIGN KEY constraint failed", sql: refused) {
            var cursor: FetchCursor<Int>?
            try connection.access { db throws in
                cursor = try Int.fetchCursor(db, sql: refused)
                #expect(try cursor?.next() == 1)
            }
        }
        try connection.access { db throws in
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM child") == 0)
        }
    }

    @Test func nothingIsRefusedBeforeTheCommit() throws {
        try withTables { db throws in
            try db.inTransaction {
                let id = try Int.fetchCursor(db, sql: refused).next()
                #expect(id == 1)
                try db.execute(sql: "INSERT INTO parent VALUES (1)")
                return .commit
            }
            #expect(try Int.fetchOne(db, sql: "SELECT parentId FROM child") == 1)
        }
    }

    @Test func changeOfALeftCursorIsATransaction() throws {
        try withTables { db throws in
            let commits = Atomic(0)
            db.afterNextTransaction { _ in commits.add(1, ordering: .relaxed) }
            let cursor = try Int.fetchCursor(db, sql: "INSERT INTO parent VALUES (1), (2) RETURNING id")
            #expect(try cursor.next() == 1)
            #expect(commits.load(ordering: .relaxed) == 0)
            _ = consume cursor
            #expect(commits.load(ordering: .relaxed) == 1)
            #expect(try Int.fetchAll(db, sql: "SELECT id FROM parent") == [1, 2])
        }
    }
}
