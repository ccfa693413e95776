import QuarryTestSupport
import Testing

@testable import QuarryCore

@Suite("What a connection tells of itself")
struct DatabaseTests {
    @Test func changesAndRowIDsAreCounted() throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
            #expect(db.lastInsertedRowID == 0 && db.totalChangesCount == 0)
            try db.execute(sql: "INSERT INTO t VALUES (7, 1), (9, 2)")
            #expect(db.lastInsertedRowID == 9 && db.changesCount == 2 && db.totalChangesCount == 2)
            try db.execute(sql: "INSERT INTO t VALUES (?, 3)", arguments: [Int64.max])
            #expect(db.lastInsertedRowID == .max && db.changesCount == 1)
            try db.execute(sql: "UPDATE t SET a = 0")
            #expect(db.changesCount == 3 && db.totalChangesCount == 6 && db.lastInsertedRowID == .max)
            try db.execute(sql: "DELETE FROM t WHERE 0")
            #expect(db.changesCount == 0 && db.totalChangesCount == 6)
        }
    }

    @Test func schemaVersionCountsSchemaChanges() throws {
        try withConnection { db throws in
            let version = try db.schemaVersion()
            try db.execute(sql: "CREATE TABLE t (a)")
            #expect(try db.schemaVersion() == version + 1)
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            #expect(try db.schemaVersion() == version + 1)
        }
    }

    @Test func limitsAreReadAndSet() throws {
        try withConnection { db throws in
            let columns = db.limit(.column)
            #expect(columns > 0)
            #expect(try db.setLimit(.column, to: 2) == columns)
            #expect(db.limit(.column) == 2)
            expectError(.SQLITE_ERROR, "too many columns in result set", sql: "SELECT 1, 2, 3") {
                try db.makeStatement(sql: "SELECT 1, 2, 3")
            }
            // No higher than SQLite was built with.
            try db.setLimit(.column, to: Int(CInt.max))
            #expect(db.limit(.column) == columns)
            for value in [-1, Int.max, Int.min] {
                expectError(.SQLITE_MISUSE, "a limit is a number from 0 to 2147483647, not \(value)", sql: nil) {
                    try db.setLimit(.column, to: value)
                }
            }
            #expect(db.limit(Database.Limit(rawValue: 0)) == db.limit(.length))
            #expect(db.maximumStatementArgumentCount == db.limit(.variableNumber))
        }
    }

    @Test func memoryIsReleasedAtAnyTime() throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            let cursor = try Int.fetchCursor(db, sql: "SELECT a FROM t")
            #expect(try cursor.next() == 1)
            db.releaseMemory()
            #expect(db.statementCache.count == 0)
            #expect(try cursor.next() == 2)
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1, 2])
        }
    }

    @Test func versionIsThatOfTheLibrary() throws {
        try withConnection { db throws in
            let text = try #require(try String.fetchOne(db, sql: "SELECT sqlite_version()"))
            let parts = text.split(separator: ".").compactMap { CInt($0) }
            #expect(Database.sqliteLibVersionNumber == parts[0] * 1_000_000 + parts[1] * 1000 + parts[2])
        }
    }
}
