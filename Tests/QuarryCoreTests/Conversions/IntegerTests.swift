import QuarryCore
import QuarryTestSupport
import Testing

@Suite("Integers")
struct IntegerTests {
    @Test func overflowNamesColumnValueAndType() throws {
        try withConnection { db throws in
            expectError(
                RowDecodingError.self,
                #"could not decode Int8 from database value INTEGER - column: "n", column index: 0, row: [n:INTEGER], "#
                    + "sql: `SELECT 128 AS n`"
            ) { try Int8.fetchOne(db, sql: "SELECT 128 AS n") }
            expectError(
                RowDecodingError.self,
                #"could not decode UInt8 from database value INTEGER - column: "n", column index: 1, "#
                    + "row: [a:TEXT n:INTEGER], "
                    + "sql: `SELECT 'x' AS a, -1 AS n`"
            ) {
                let cursor = try Row.fetchCursor(db, sql: "SELECT 'x' AS a, -1 AS n")
                let row = try #require(try cursor.next())
                return try row.decode(UInt8.self, forColumn: "N")
            }
            #expect(try Int8.fetchAll(db, sql: "SELECT -128 UNION ALL SELECT 127") == [-128, 127])
        }
    }

    @Test func integralRealsAloneAreReadAsIntegers() throws {
        try withConnection { db throws in
            #expect(try Int.fetchOne(db, sql: "SELECT 3.0") == 3)
            #expect(try UInt64.fetchOne(db, sql: "SELECT 1e19") == 10_000_000_000_000_000_000)
            for sql in ["SELECT 3.5", "SELECT '3'", "SELECT x'33'", "SELECT 1e19", "SELECT 9e999"] {
                #expect(throws: RowDecodingError.self, "\(sql)") { try Int.fetchOne(db, sql: sql) }
            }
        }
    }

    @Test(arguments: [
        UInt64(Int64.max) + 1, .max,
    ]) func tooLargeIntegerCannotBeBound(_ value: UInt64) throws {
        let problem = "it doesn't fit in a signed integer of 64 bits"
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a, b)")
            let sql = "INSERT INTO t VALUES (?, ?)"
            expectError(.SQLITE_MISMATCH, "could not bind \(value) to parameter 2: \(problem)", sql: sql) {
                try db.execute(sql: sql, arguments: [1, value])
            }
            let named = "SELECT :a"
            expectError(.SQLITE_MISMATCH, "could not bind \(value) to parameter :a: \(problem)", sql: named) {
                try Int.fetchOne(db, sql: named, arguments: ["a": value])
            }
            expectError(.SQLITE_MISMATCH, "could not bind \(value) to parameter 1: \(problem)", sql: "SELECT ?") {
                try Row.fetchAll(db, SQLRequest<Row>(literal: "SELECT \(UInt(value))"))
            }
            // The statement is usable afterwards.
            try db.execute(sql: sql, arguments: [1, UInt64(Int64.max)])
            #expect(try UInt64.fetchAll(db, sql: "SELECT b FROM t") == [UInt64(Int64.max)])
        }
    }

    @Test func valueAboveTheLimitCannotBeBound() throws {
        try withConnection { db throws in
            try db.setLimit(.length, to: 1000)
            let text = String(repeating: "x", count: 1001)
            for value in [text.databaseValue, [UInt8](text.utf8).databaseValue] {
                let error = expectError(
                    .SQLITE_TOOBIG, "could not bind parameter 1: string or blob too big", sql: "SELECT ?"
                ) { try Row.fetchOne(db, sql: "SELECT ?", arguments: [value]) }
                #expect(error?.arguments == [value])
                expectError(.SQLITE_TOOBIG, "could not bind parameter 1: string or blob too big", sql: "SELECT ?") {
                    try db.execute(sql: "SELECT ?", arguments: [value])
                }
            }
            #expect(
                try Int.fetchOne(db, sql: "SELECT length(?)", arguments: [String(repeating: "x", count: 900)]) == 900)
        }
    }
}
