import QuarryCore
import QuarryTestSupport
import Testing

@Suite("Rows")
struct RowTests {
    private enum Columns: String, NamedColumn { case id, name, missing }

    /// Runs `body` with the same row in its three forms: a cursor's, a copy, a literal.
    private func withRows(_ body: (Row) throws -> Void) throws {
        try withConnection { db throws in
            let cursor = try Row.fetchCursor(
                db, sql: "SELECT 1 AS id, 'a' AS name, NULL AS none, 2.5 AS real, x'01' AS blob, 'z' AS Name")
            let row = try #require(try cursor.next())
            try body(row)
            try body(row.copy())
            try body(["id": 1, "name": "a", "none": nil, "real": 2.5, "blob": [1] as [UInt8], "Name": "z"])
        }
    }

    @Test func columnsAreReadByIndex() throws {
        try withRows { row throws in
            #expect(row.count == 6)
            #expect(row[0] == 1 && row[1] == "a" && row[3] == 2.5 && row[4] == [1] as [UInt8])
            #expect(row[2] as Int? == nil)
            #expect(row[0] as Int? == 1)
            #expect(try row.decode(Int8.self, atIndex: 0) == 1)
            #expect(try row.decode(atIndex: 1) == "a")
            #expect(try row.decode(String?.self, atIndex: 2) == nil)
        }
    }

    @Test func columnsAreReadByNameInAnyCase() throws {
        try withRows { row throws in
            for name in ["name", "NAME", "Name", "nAmE"] {
                #expect(row[name] == "a")
                #expect(try row.decode(String.self, forColumn: name) == "a")
                #expect(row.hasColumn(name))
            }
            #expect(row["missing"] as String? == nil)
            #expect(!row.hasColumn("missing") && !row.hasColumn(""))
            #expect(try row.decode(String?.self, forColumn: "missing") == nil)
        }
    }

    @Test func columnsAreReadByExpression() throws {
        try withRows { row throws in
            #expect(row[Columns.id] == 1)
            #expect(row[Columns.name] as String? == "a")
            #expect(row[Columns.missing] as Int? == nil)
            #expect(try row.decode(Int.self, forColumn: Columns.id) == 1)
        }
    }

    @Test func nullsAreDecodedAsNil() throws {
        try withRows { row throws in
            #expect((0..<6).map { row.hasNull(atIndex: $0) } == [false, false, true, false, false, false])
            #expect(row.containsNonNullValue)
            #expect(row.coalesce(["none", "missing", "name", "id"]) == "a")
            #expect(row.coalesce(["none"]) as Int? == nil)
            let columns: [any NamedColumn] = [Columns.missing, Columns.id]
            #expect(row.coalesce(columns) == 1)
        }
        #expect(!(["a": nil, "b": nil] as Row).containsNonNullValue)
        #expect(!Row().containsNonNullValue)
    }

    @Test func decodingErrorsNameTheColumn() throws {
        try withRows { row throws in
            let sql =
                row.copy() === row
                ? "" : ", sql: `SELECT 1 AS id, 'a' AS name, NULL AS none, 2.5 AS real, x'01' AS blob, 'z' AS Name`"
            let place = #"row: [id:INTEGER name:TEXT none:NULL real:REAL blob:BLOB Name:TEXT]"# + sql
            expectError(
                RowDecodingError.self,
                #"could not decode Int from database value TEXT - column: "name", column index: 1, "# + place
            ) { try row.decode(Int.self, forColumn: "NAME") }
            expectError(
                RowDecodingError.self,
                #"could not decode Int from database value NULL - column: "none", column index: 2, "# + place
            ) { try row.decode(Int.self, atIndex: 2) }
            expectError(RowDecodingError.self, #"column not found: "missing" - "# + place) {
                try row.decode(Int.self, forColumn: "missing")
            }
            expectError(RowDecodingError.self, #"column not found: "missing" - "# + place) {
                try row.decode(Int.self, forColumn: Columns.missing)
            }
            for index in [6, -1, Int.max, Int.min] {
                expectError(RowDecodingError.self, "column index \(index) is out of range 0..<6 - " + place) {
                    try row.decode(Int?.self, atIndex: index)
                }
            }
        }
    }

    @Test func bytesAreReadWithoutACopy() throws {
        try withRows { row throws in
            #expect(try row.withUnsafeBytes(atIndex: 4) { $0.map { Array($0) } } == [1])
            #expect(try row.withUnsafeBytes(atIndex: 1) { $0.map { Array($0) } } == [0x61])
            #expect(try row.withUnsafeBytes(atIndex: 2) { $0 == nil })
            #expect(try row.withUnsafeBytes(atIndex: 0) { $0 == nil })
            #expect(throws: RowDecodingError.self) { try row.withUnsafeBytes(atIndex: 6) { _ in } }
            struct Failure: Error {}
            #expect(throws: Failure.self) { try row.withUnsafeBytes(atIndex: 1) { _ in throw Failure() } }
        }
        let empty: Row = ["a": [UInt8](), "b": ""]
        #expect(try empty.withUnsafeBytes(atIndex: 0) { $0?.count } == 0)
        #expect(try empty.withUnsafeBytes(atIndex: 1) { $0?.count } == 0)
    }

    @Test func rowIsACollectionOfNamesAndValues() throws {
        try withRows { row throws in
            #expect(row.map(\.0) == ["id", "name", "none", "real", "blob", "Name"])
            #expect(Array(row.columnNames) == ["id", "name", "none", "real", "blob", "Name"])
            #expect(Array(row.databaseValues.map(\.description)) == ["1", #""a""#, "NULL", "2.5", "x'01'", #""z""#])
            #expect(row.first?.0 == "id" && row.last?.1 == "z".databaseValue)
            #expect(row.reversed().map(\.0).first == "Name")
            #expect(row.distance(from: row.startIndex, to: row.endIndex) == 6)
            #expect(row[row.index(row.startIndex, offsetBy: 3)].1 == 2.5.databaseValue)
            #expect(row.firstIndex { $0.0 == "real" } == row.index(row.startIndex, offsetBy: 3))
            #expect(row.description == #"[id:1 name:"a" none:NULL real:2.5 blob:x'01' Name:"z"]"#)
            #expect("\(row)" == row.description)
        }
        #expect(Row().isEmpty && Row().description == "[]" && Row() == [:])
    }

    @Test func equalityComparesNamesOrderAndValues() throws {
        try withConnection { db throws in
            let cursor = try Row.fetchCursor(db, sql: "SELECT 1 AS a, 'x' AS b")
            let row = try #require(try cursor.next())
            let literal: Row = ["a": 1, "b": "x"]
            #expect(row == literal && literal == row && row == row.copy() && row == row)
            #expect(row.hashValue == literal.hashValue && row.copy().hashValue == literal.hashValue)
            #expect(row == ["a": 1.0, "b": "x"] && row.hashValue == (["a": 1.0, "b": "x"] as Row).hashValue)
            let others: [Row] = [
                ["A": 1, "b": "x"], ["b": "x", "a": 1], ["a": 1], ["a": 1, "b": "y"], ["a": 1, "b": "x", "c": nil],
                ["a": "1", "b": "x"], ["a": nil, "b": "x"], [:],
            ]
            for other in others { #expect(row != other && other != row) }
            #expect(Set([row.copy(), literal] + others).count == others.count + 1)
        }
    }

    @Test func wideRowsAreRead() throws {
        try withConnection { db throws in
            let count = 2000
            let columns = (0..<count).map { "\($0) AS column\($0)" }.joined(separator: ", ")
            let cursor = try Row.fetchCursor(db, sql: "SELECT \(columns)")
            let row = try #require(try cursor.next())
            for form in [row, row.copy()] {
                #expect(form.count == count)
                for n in 0..<count { #expect(form["COLUMN\(n)"] == n) }
                for n in stride(from: count - 1, through: 0, by: -7) { #expect(form["column\(n)"] == n) }
            }
        }
    }

    @Test func columnsMayHaveOddNames() throws {
        try withConnection { db throws in
            let row = try #require(
                try Row.fetchOne(db, sql: #"SELECT 1 AS "", 2 AS "a b", 3 AS "é😀", 4 AS "É😀", 5 AS x, 6 AS x, 7 AS X"#))
            #expect(row[""] == 1 && row["a b"] == 2 && row["é😀"] == 3)
            // Only ASCII letters are alike, as in SQLite.
            #expect(row["É😀"] == 4)
            #expect(row["x"] == 5 && row["X"] == 5)
            #expect(row[5] == 6 && row[6] == 7)
        }
    }
}
