import QuarryCore
import QuarryTestSupport
import Testing

/// A cursor's row remembers which columns it was asked for, and in which order. Whatever the order, the answer is that
/// of a search.
@Suite("Columns by name, in any order")
struct ColumnLookupTests {
    /// The index of the leftmost column of that name, by a plain search.
    private func search(_ name: String, _ columns: [String]) -> Int? {
        columns.firstIndex { $0.lowercased() == name.lowercased() }
    }

    @Test func randomLookupsAgreeWithAModel() throws {
        var random = SeededGenerator()
        print("ColumnLookupTests.random seed: \(random.seed)")
        // Short names are kept in a String itself, long ones elsewhere.
        let pool = (0..<40).flatMap { n in
            ["c\(n)", "C\(n)", "a_column_with_a_long_name_\(n)", "A_Column_With_A_Long_Name_\(n)"]
        }
        try withConnection { db throws in
            for _ in 0..<100 {
                let columns = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                    pool.randomElement(using: &random)!
                }
                let list = columns.enumerated().map { "\($0.offset) AS \($0.element)" }.joined(separator: ", ")
                let cursor = try Row.fetchCursor(
                    db, sql: "SELECT \(list) FROM (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10))")
                let habit = (0..<8).map { _ in
                    (Bool.random(using: &random) ? columns : pool).randomElement(using: &random)!
                }
                var rows = 0
                while let row = try cursor.next() {
                    rows += 1
                    for name in habit {
                        // Mostly the same names in the same order; sometimes another, spelled anew.
                        let asked =
                            Int.random(in: 0..<6, using: &random) == 0
                            ? String(Array(pool.randomElement(using: &random)!)) : name
                        let expected = search(asked, columns)
                        #expect(row[asked] as Int? == expected, "\(asked) in \(columns), seed \(random.seed)")
                        #expect(row.hasColumn(asked) == (expected != nil))
                    }
                }
                #expect(rows == 10)
            }
        }
    }

    @Test(arguments: [0, 20]) func namesThatSwiftAloneHoldsEqualAreTwoColumns(others: Int) throws {
        let columns = (0..<others).map { ", 0 AS c\($0)" }.joined()
        try withConnection { db throws in
            let sql = "SELECT 1 AS \"\u{E9}\", 2 AS \"e\u{301}\"\(columns)"
            let row = try #require(try Row.fetchOne(db, sql: sql))
            #expect(row["\u{E9}"] == 1 && row["e\u{301}"] == 2)
            let cursor = try Row.fetchCursor(db, sql: "SELECT 1 AS \"\u{E9}\"\(columns)")
            let first = try #require(try cursor.next())
            #expect(first.hasColumn("\u{E9}") && !first.hasColumn("e\u{301}"))
        }
    }

    @Test func statementWithChangingColumnsKeepsItsRow() throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (first_column_name, second_column_name); INSERT INTO t VALUES (1, 2)")
            let statement = try db.makeStatement(sql: "SELECT * FROM t")
            func values() throws -> [Int?] {
                let cursor = try Row.fetchCursor(statement)
                let row = try #require(try cursor.next())
                return ["first_column_name", "second_column_name", "third_column_name"].map { row[$0] }
            }
            #expect(try values() == [1, 2, nil])
            #expect(try values() == [1, 2, nil])
            try db.execute(sql: "ALTER TABLE t RENAME COLUMN first_column_name TO third_column_name")
            #expect(try values() == [nil, 2, 1])
            try db.execute(sql: "ALTER TABLE t RENAME COLUMN second_column_name TO first_column_name")
            #expect(try values() == [2, nil, 1])
        }
    }

    @Test func equivalentNamesAreSeveralColumns() throws {
        try withConnection { (db) throws in
            let row = try #require(
                try Row.fetchOne(db, sql: "SELECT 1 AS \"\u{E9}\", 2 AS \"e\u{301}\", 3 AS \"\u{E5}\""))
            #expect(row["\u{E9}"] == 1)
            #expect(row["e\u{301}"] == 2)
            #expect(!row.hasColumn("a\u{30A}"))
        }
    }

    @Test func moreNamesThanRememberedAreFound() throws {
        try withConnection { db throws in
            let list = (0..<600).map { "\($0) AS c\($0)" }.joined(separator: ", ")
            let cursor = try Row.fetchCursor(db, sql: "SELECT \(list) UNION ALL SELECT \(list)")
            while let row = try cursor.next() {
                for _ in 0..<2 {
                    for n in 0..<600 { #expect(row["c\(n)"] == n) }
                }
            }
        }
    }

    @Test func mutatedNamesAreFound() throws {
        try withConnection { db throws in
            let cursor = try Row.fetchCursor(
                db, sql: "SELECT 1 AS a_rather_long_column_1, 2 AS a_rather_long_column_2 UNION ALL SELECT 3, 4")
            var name = "a_rather_long_column_1"
            var seen: [Int] = []
            while let row = try cursor.next() {
                seen.append(row[name])
                name.removeLast()
                name += "2"
                seen.append(row[name])
                name.removeLast()
                name += "1"
            }
            #expect(seen == [1, 2, 3, 4])
        }
    }
}
