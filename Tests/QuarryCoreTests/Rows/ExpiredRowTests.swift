import QuarryCore
import QuarryTestSupport
import Testing

/// A cursor returns the same row at each step. A row that is kept after the cursor's end has no values: it says so, and
/// never shows those of another row.
@Suite("Rows whose cursor is over")
struct ExpiredRowTests {
    private let message = "The row's cursor has ended: copy() a row to keep it."

    private func expectExpired(_ row: Row, sourceLocation: SourceLocation = #_sourceLocation) {
        expectError(.SQLITE_MISUSE, message, sql: nil, sourceLocation: sourceLocation) {
            try row.decode(Int.self, atIndex: 0)
        }
        expectError(.SQLITE_MISUSE, message, sql: nil, sourceLocation: sourceLocation) {
            try row.decode(Int?.self, forColumn: "a")
        }
        expectError(.SQLITE_MISUSE, message, sql: nil, sourceLocation: sourceLocation) {
            try row.withUnsafeBytes(atIndex: 0) { _ in }
        }
        #expect(row.description == "[a row whose cursor has ended]", sourceLocation: sourceLocation)
        expectError(.SQLITE_MISUSE, message, sql: nil, sourceLocation: sourceLocation) {
            try row.copy().decode(Int.self, atIndex: 0)
        }
    }

    @Test func rowExpiresAtTheEndOfItsCursor() throws {
        try withConnection { db throws in
            let cursor = try Row.fetchCursor(db, sql: "SELECT 1 AS a")
            let row = try #require(try cursor.next())
            #expect(row["a"] == 1)
            #expect(try cursor.next() == nil)
            expectExpired(row)
        }
    }

    @Test func rowExpiresWithItsCursor() throws {
        try withConnection { db throws in
            let row = try #require(try Row.fetchCursor(db, sql: "SELECT 1 AS a").next())
            expectExpired(row)
        }
    }

    @Test func rowExpiresWhenItsStatementRunsAgain() throws {
        try withConnection { db throws in
            let statement = try db.makeStatement(sql: "SELECT ? AS a")
            let cursor = try Row.fetchCursor(statement, arguments: [1])
            let row = try #require(try cursor.next())
            let other = try Row.fetchCursor(statement, arguments: [2])
            #expect(try other.next() == ["a": 2])
            expectExpired(row)
            expectError(
                .SQLITE_MISUSE, "The cursor has ended: its statement has been run again, or its access has ended.",
                sql: "SELECT ? AS a"
            ) { try cursor.next() }
            #expect(try cursor.next() == nil)
            #expect(try other.next() == nil)
        }
    }

    @Test func rowExpiresAtTheEndOfItsAccess() throws {
        let connection = try TestConnection()
        var kept: Row?
        var cursor: FetchCursor<Row>?
        try connection.access { db throws in
            cursor = try Row.fetchCursor(db, sql: "SELECT 1 AS a UNION ALL SELECT 2")
            kept = try cursor?.next()
        }
        let row = try #require(kept)
        expectExpired(row)
        try connection.access { db throws in
            #expect(try Row.fetchAll(db, sql: "SELECT 1 AS a UNION ALL SELECT 2").count == 2)
            expectExpired(row)
            #expect(throws: DatabaseError.self) { try cursor?.next() }
        }
    }

    @Test func rowExpiresWhenAStepFails() throws {
        try withConnection { db throws in
            let cursor = try Row.fetchCursor(
                db, sql: "SELECT abs(column1) AS a FROM (VALUES (1), (-9223372036854775808))")
            let row = try #require(try cursor.next())
            expectError(.SQLITE_ERROR, "integer overflow", sql: cursor.sql) { try cursor.next() }
            expectExpired(row)
        }
    }

    @Test func copyDoesNotExpire() throws {
        try withConnection { db throws in
            let cursor = try Row.fetchCursor(db, sql: "SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, 'y'")
            var copies: [Row] = []
            while let row = try cursor.next() { copies.append(row.copy()) }
            #expect(copies == [["a": 1, "b": "x"], ["a": 2, "b": "y"]])
            #expect(copies[0].copy() === copies[0])
        }
    }

    @Test func rowIsReusedUnlessKept() throws {
        try withConnection { db throws in
            let statement = try db.makeStatement(sql: "SELECT ? AS a")
            var kept: [Row] = []
            for n in 0..<3 {
                let cursor = try Row.fetchCursor(statement, arguments: [n])
                let row = try #require(try cursor.next())
                #expect(row["a"] == n)
                kept.append(row)
                #expect(!kept.dropLast().contains { $0 === row })
            }
            for row in kept { expectExpired(row) }
        }
    }

    @Test func subscriptsOfExpiredRowsEndTheProcess() async {
        let message = "SQLite error 21: The row's cursor has ended: copy() a row to keep it."
        let untyped = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withConnection { db throws in
                let row = try #require(try Row.fetchCursor(db, sql: "SELECT 1 AS a").next())
                _ = row["a"] as DatabaseValue
            }
        }
        expectError(message, of: untyped)
        let optional = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withConnection { db throws in
                let row = try #require(try Row.fetchCursor(db, sql: "SELECT 1 AS a").next())
                _ = row["a"] as Int?
            }
        }
        expectError(message, of: optional)
    }
}
