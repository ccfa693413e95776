import QuarryCore
import QuarryTestSupport
import Testing

@Suite("DatabaseValue, optionals and raw values")
struct DatabaseValueTests {
    @Test func equalityFollowsSQLAndHashesAgree() {
        let classes: [[DatabaseValue]] = [
            [.null, Double.nan.databaseValue],
            [0.databaseValue, 0.0.databaseValue, (-0.0).databaseValue, false.databaseValue],
            [1.databaseValue, 1.0.databaseValue, true.databaseValue],
            [(1.5).databaseValue],
            [(1 << 53).databaseValue, 9_007_199_254_740_992.0.databaseValue],
            [((1 << 53) + 1).databaseValue],
            [Int64.max.databaseValue],
            [(9_223_372_036_854_775_808.0).databaseValue],
            [Int64.min.databaseValue, (-9_223_372_036_854_775_808.0).databaseValue],
            ["1".databaseValue], ["".databaseValue], [[UInt8]().databaseValue], [[0x31].databaseValue],
            ["\u{E9}".databaseValue], ["e\u{301}".databaseValue],
            [UInt64.max.databaseValue],
        ]
        for (i, left) in classes.enumerated() {
            for (j, right) in classes.enumerated() {
                for a in left {
                    for b in right {
                        #expect((a == b) == (i == j), "\(a) \(b)")
                        if i == j { #expect(a.hashValue == b.hashValue, "\(a) \(b)") }
                    }
                }
            }
        }
        #expect(Set(classes.joined()).count == classes.count)
    }

    @Test func descriptionsAreLiterals() {
        let values: [DatabaseValue] = [
            .null, 1.databaseValue, 1.5.databaseValue, "a\"b".databaseValue, [0x0F, 0xF0].databaseValue,
            [UInt8]().databaseValue, UInt64.max.databaseValue,
        ]
        #expect(
            values.map(\.description)
                == ["NULL", "1", "1.5", #""a\"b""#, "x'0ff0'", "x''", "18446744073709551615"])
    }

    @Test func storageRoundTrips() {
        let storages: [DatabaseValue.RawStorage] = [.null, .int64(1), .double(1.5), .string("a"), .blob([1])]
        for storage in storages {
            let value = DatabaseValue(rawStorage: storage)
            #expect(DatabaseValue(rawStorage: value.rawStorage) == value)
        }
        #expect(DatabaseValue(rawStorage: .null).isNull)
        #expect(!DatabaseValue(rawStorage: .int64(0)).isNull)
        #expect(
            storages.map { DatabaseValue(rawStorage: $0).storageClass } == ["NULL", "INTEGER", "REAL", "TEXT", "BLOB"])
    }

    @Test func optionalsNest() throws {
        try withConnection { db throws in
            #expect(try Int?.fetchAll(db, sql: "SELECT 1 UNION ALL SELECT NULL") == [1, nil])
            #expect(try Int??.fetchAll(db, sql: "SELECT NULL").count == 1)
            #expect(Int?.none.databaseValue == .null)
            #expect((1 as Int?).databaseValue == 1.databaseValue)
            #expect((nil as Int??).databaseValue == .null)
            expectError(
                RowDecodingError.self,
                #"could not decode Optional<Int> from database value TEXT - column: "a", column index: 0, "#
                    + #"row: [a:TEXT], sql: `SELECT 'x' AS a`"#
            ) { try Int?.fetchAll(db, sql: "SELECT 'x' AS a") }
            expectError(
                RowDecodingError.self,
                "could not decode Int from database value NULL - column: \"NULL\", column index: 0, row: [NULL:NULL], "
                    + "sql: `SELECT NULL`"
            ) { try Int.fetchAll(db, sql: "SELECT NULL") }
            let none: String? = nil
            #expect(try Bool.fetchOne(db, sql: "SELECT ? IS NULL", arguments: [none]) == true)
        }
    }

    private enum Size: Int, DatabaseValueConvertible {
        case small = 1
        case large = 2
    }
    private enum Color: String, DatabaseValueConvertible {
        case red
        case green = "grün\0"
    }
    private struct Identifier: RawRepresentable, DatabaseValueConvertible, Hashable {
        var rawValue: Int64
    }

    @Test func rawValuesAreConverted() throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (size, color, id)")
            try db.execute(
                sql: "INSERT INTO t VALUES (?, ?, ?)", arguments: [Size.large, Color.green, Identifier(rawValue: 7)])
            let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM t"))
            #expect(row == ["size": 2, "color": "grün\0", "id": 7])
            #expect(row["size"] == Size.large)
            #expect(row["color"] == Color.green)
            #expect(try Size.fetchOne(db, sql: "SELECT size FROM t") == .large)
            #expect(try Color?.fetchAll(db, sql: "SELECT color FROM t UNION ALL SELECT NULL") == [.green, nil])
            #expect(try Identifier.fetchSet(db, sql: "SELECT id FROM t") == [Identifier(rawValue: 7)])
            expectError(
                RowDecodingError.self,
                """
                could not decode Size from database value INTEGER: no value of Size has this raw value - column: "3", \
                column index: 0, row: [3:INTEGER], sql: `SELECT 3`
                """
            ) { try Size.fetchOne(db, sql: "SELECT 3") }
        }
    }
}
