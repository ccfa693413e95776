import QuarryCore
import QuarryTestSupport
import Testing

@Suite("Values come back as they were stored")
struct RoundTripTests {
    /// Stores values in a column without affinity and reads them by all ways of binding and reading.
    private func roundTrip<T: DatabaseValueConvertible & Equatable>(
        _ values: [T], type: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a)")
            let insert = try db.makeStatement(sql: "INSERT INTO t VALUES (?)")
            for value in values {
                try db.execute(sql: "DELETE FROM t")
                try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [value])
                try insert.execute(arguments: [value])
                try db.execute(sql: "INSERT INTO t VALUES (:value)", arguments: ["value": value])
                try db.execute(literal: "INSERT INTO t VALUES (\(value))")
                #expect(
                    try T.fetchAll(db, sql: "SELECT a FROM t") == [value, value, value, value],
                    sourceLocation: sourceLocation)
                #expect(
                    try String.fetchSet(db, sql: "SELECT typeof(a) FROM t") == [type], "\(value)",
                    sourceLocation: sourceLocation)
                let row = try #require(try Row.fetchOne(db, sql: "SELECT a FROM t"))
                #expect(row[0] == value, sourceLocation: sourceLocation)
                #expect(
                    try T.fetchOne(db, sql: "SELECT ?", arguments: [value]) == value, sourceLocation: sourceLocation)
                #expect(T.fromDatabaseValue(value.databaseValue) == value, sourceLocation: sourceLocation)
            }
        }
    }

    @Test func integersOfAllWidthsRoundTrip() throws {
        func edges<T: SQLInteger>(_ type: T.Type) -> [T] { [.min, .max, 0, 1, T.max - 1, T.min + 1] }
        try roundTrip(edges(Int.self), type: "integer")
        try roundTrip(edges(Int8.self), type: "integer")
        try roundTrip(edges(Int16.self), type: "integer")
        try roundTrip(edges(Int32.self), type: "integer")
        try roundTrip(edges(Int64.self), type: "integer")
        try roundTrip(edges(UInt8.self), type: "integer")
        try roundTrip(edges(UInt16.self), type: "integer")
        try roundTrip(edges(UInt32.self), type: "integer")
        try roundTrip([0, 1, UInt64(Int64.max)], type: "integer")
        try roundTrip([0, 1, UInt(Int.max)], type: "integer")
    }

    @Test func booleansRoundTrip() throws {
        try roundTrip([true, false], type: "integer")
        try withConnection { db throws in
            #expect(try Bool.fetchOne(db, sql: "SELECT 0.5") == true)
            #expect(try Bool.fetchOne(db, sql: "SELECT -7") == true)
            #expect(try Bool.fetchOne(db, sql: "SELECT 0.0") == false)
            expectError(
                RowDecodingError.self,
                #"could not decode Bool from database value TEXT - column: "a", column index: 0, row: [a:TEXT], "#
                    + "sql: `SELECT 'true' AS a`"
            ) { try Bool.fetchOne(db, sql: "SELECT 'true' AS a") }
        }
    }

    @Test func realsRoundTripAndNaNIsNULL() throws {
        try roundTrip(
            [0, -0.0, 1.5, .pi, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude] as [Double],
            type: "real")
        try roundTrip(
            [0, 1.5, .pi, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude] as [Float],
            type: "real")
        try withConnection { db throws in
            #expect(try String.fetchOne(db, sql: "SELECT typeof(?)", arguments: [Double.nan]) == "null")
            #expect(try Double.fetchOne(db, sql: "SELECT ?", arguments: [Double.nan]) == nil)
            #expect(try Double.fetchOne(db, sql: "SELECT ?", arguments: [-0.0])?.sign == .minus)
            #expect(try Float.fetchOne(db, sql: "SELECT 1e300") == .infinity)
            #expect(try Double.fetchOne(db, sql: "SELECT 9007199254740993") == 9_007_199_254_740_992)
        }
    }

    @Test func textsRoundTrip() throws {
        try roundTrip(
            [
                "", "a", "\0", "a\0b", "\0\0\0", "é", "e\u{301}", "日本語", "😀👨‍👩‍👧‍👦", "\u{10FFFF}", "\u{FEFF}a",
                "it's", "\"quoted\"", "\r\n", String(repeating: "é", count: 10_000),
                String(repeating: "x", count: 2 << 20),
            ], type: "text")
        try withConnection { db throws in
            for text in ["e\u{301}", "\u{E9}", "a\0b"] {
                let read = try String.fetchOne(db, sql: "SELECT ?", arguments: [text])
                #expect(read.map { Array($0.utf8) } == Array(text.utf8))
            }
            let lengths = try Row.fetchOne(
                db, sql: "SELECT length(CAST(? AS BLOB)), hex(?1)", arguments: ["a\0b"])
            #expect(lengths?.databaseValues.map(\.self) == [3.databaseValue, "610062".databaseValue])
        }
    }

    @Test func blobsRoundTrip() throws {
        try roundTrip(
            [
                [], [0], [0, 0, 0], [0xFF, 0x00, 0xFE], [UInt8](repeating: 7, count: 4096),
                [UInt8](repeating: 8, count: 4097), [UInt8](repeating: 9, count: 2 << 20),
            ], type: "blob")
    }

    @Test func emptyTextsAndBlobsAreNotNULL() throws {
        try withConnection { db throws in
            let sql = "SELECT typeof(?1), ?1 IS NULL, length(?1)"
            #expect(
                try Row.fetchOne(db, sql: sql, arguments: [""])?.databaseValues.map(\.description) == [
                    #""text""#, "0", "0",
                ])
            #expect(
                try Row.fetchOne(db, sql: sql, arguments: [[UInt8]()])?.databaseValues.map(\.description)
                    == [#""blob""#, "0", "0"])
            #expect(
                try Row.fetchOne(db, sql: sql, arguments: [nil])?.databaseValues.map(\.description)
                    == [#""null""#, "1", "NULL"])
            #expect(try [UInt8]?.fetchAll(db, sql: "SELECT x'' UNION ALL SELECT NULL") == [[], nil])
            #expect(try String?.fetchAll(db, sql: "SELECT '' UNION ALL SELECT NULL") == ["", nil])
        }
    }

    @Test func severalTextsAndBlobsShareTheArena() throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a, b, c, d, e)")
            let insert = try db.makeStatement(sql: "INSERT INTO t VALUES (?, ?, ?, ?, ?)")
            var expected: [[DatabaseValue]] = []
            for size in [0, 1, 100, 1000, 2000, 4095, 4096, 4097, 100_000] {
                let values: [DatabaseValue] = [
                    String(repeating: "a", count: size).databaseValue, [UInt8](repeating: 1, count: size).databaseValue,
                    size.databaseValue, String(repeating: "é", count: size).databaseValue, .null,
                ]
                try insert.execute(arguments: StatementArguments(values))
                // Again, with what is still set.
                try insert.execute()
                expected += [values, values]
            }
            #expect(try Row.fetchAll(db, sql: "SELECT * FROM t").map { Array($0.databaseValues) } == expected)
        }
    }

    @Test func textsAndBlobsConvert() throws {
        try withConnection { db throws in
            #expect(try String.fetchOne(db, sql: "SELECT x'C3A9'") == "é")
            #expect(try [UInt8].fetchOne(db, sql: "SELECT 'é'") == [0xC3, 0xA9])
            #expect(try Character.fetchOne(db, sql: "SELECT 'e\u{301}'") == "é")
            #expect(try Substring.fetchOne(db, sql: "SELECT ?", arguments: ["abc".dropFirst()]) == "bc")
            expectError(
                RowDecodingError.self,
                #"could not decode Character from database value TEXT - column: "a", column index: 0, row: [a:TEXT], "#
                    + "sql: `SELECT 'ab' AS a`"
            ) { try Character.fetchOne(db, sql: "SELECT 'ab' AS a") }
            expectError(
                RowDecodingError.self,
                #"could not decode String from database value BLOB - column: "a", column index: 0, row: [a:BLOB], "#
                    + #"sql: `SELECT CAST(x'FF' AS TEXT) AS a`"#
            ) { try String.fetchOne(db, sql: "SELECT CAST(x'FF' AS TEXT) AS a") }
        }
    }

    @Test func numbersAsTextAreThoseOfSQLite() throws {
        try withConnection { db throws in
            let numbers = [
                "0", "-1", "9223372036854775807", "1.0", "0.1", "-0.0", "1.0/3", "1e15", "1e20", "1e-7", "1e300",
                "123456789012345678.0", "9e999", "-9e999",
            ]
            for number in numbers {
                let row = try #require(
                    try Row.fetchOne(db, sql: "SELECT \(number) AS number, CAST(\(number) AS TEXT) AS text"))
                let text: String = row["text"]
                #expect(try String.fetchAll(db, sql: "SELECT \(number)") == [text])
                #expect(try String.fetchOne(db, sql: "SELECT \(number)") == text)
                #expect(try String?.fetchAll(db, sql: "SELECT \(number)") == [text])
                #expect(row["number"] as String == text)
                #expect(try row.decode(String.self, atIndex: 0) == text)
                #expect(String.fromDatabaseValue(row["number"]) == text)
                #expect(Substring.fromDatabaseValue(row["number"]) == text[...])
                let cursor = try Row.fetchCursor(db, sql: "SELECT \(number) AS number")
                let live = try #require(try cursor.next())
                let value: DatabaseValue = live[0]
                #expect(live["number"] as String == text)
                // The text is a copy: the column is still a number.
                #expect(live[0] as DatabaseValue == value)
            }
            #expect(try String.fetchOne(db, sql: "SELECT NULL") == nil)
            #expect(try String.fetchOne(db, sql: "PRAGMA user_version") == "0")
        }
    }

    /// Reads an integer, and counts on not being asked for NULL.
    private struct Fast: DatabaseValueConvertible, StatementColumnConvertible, Hashable {
        var value: Int64

        init(_ value: Int64) { self.value = value }

        init(sqliteStatement: SQLiteStatement, index: CInt) {
            value = StatementColumns.int64(sqliteStatement, index)
        }

        var databaseValue: DatabaseValue { value.databaseValue }

        static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Fast? {
            Int64.fromDatabaseValue(dbValue).map { Fast($0) }
        }
    }

    @Test func nullIsNilForEachType() throws {
        try withConnection { db throws in
            let sql = "SELECT NULL AS a UNION ALL SELECT 4"
            #expect(try Fast?.fetchAll(db, sql: sql) == [nil, Fast(4)])
            #expect(try Fast?.fetchSet(db, sql: sql) == [nil, Fast(4)])
            #expect(try Fast?.fetchCursor(db, sql: sql).next() == .some(.none))
            #expect(try Fast.fetchOne(db, sql: "SELECT NULL") == nil)
            for type in ["a", "adapted"] {
                let adapter: (any RowAdapter)? = type == "a" ? nil : ColumnMapping(["a": "a"])
                #expect(throws: RowDecodingError.self) { try Fast.fetchAll(db, sql: sql, adapter: adapter) }
                #expect(throws: RowDecodingError.self) { try Fast.fetchCursor(db, sql: sql, adapter: adapter).next() }
                let cursor = try Row.fetchCursor(db, sql: sql, adapter: adapter)
                let live = try #require(try cursor.next())
                for row in [live, live.copy()] {
                    #expect(row["a"] as Fast? == nil)
                    #expect(row[0] as Fast? == nil)
                    #expect(try row.decode(Fast?.self, atIndex: 0) == nil)
                    #expect(throws: RowDecodingError.self) { try row.decode(Fast.self, atIndex: 0) }
                }
            }
        }
    }
}
