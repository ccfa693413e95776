import QuarryCore
import QuarryTestSupport
import Synchronization
import Testing

@Suite("Row adapters")
struct RowAdapterTests {
    /// The columns that an adapter shows of `[a0:0 a1:1 a2:NULL a3:3]`: read from a cursor's row, from its copy, and
    /// fetched.
    private func seen(_ adapter: any RowAdapter) throws -> String {
        try withConnection { db in
            let sql = "SELECT 0 AS a0, 1 AS a1, NULL AS a2, 3 AS a3"
            let cursor = try Row.fetchCursor(db, sql: sql, adapter: adapter)
            let row = try #require(try cursor.next())
            let live = row.debugDescription
            let copy = row.copy()
            #expect(copy.debugDescription == live)
            #expect(copy == row)
            #expect(try cursor.next() == nil)
            #expect(copy.debugDescription == live)
            #expect(try Row.fetchOne(db, sql: sql, adapter: adapter)?.debugDescription == live)
            #expect(try Row.fetchAll(db, sql: sql, adapter: adapter).map(\.debugDescription) == [live])
            #expect(try Row.fetchSet(db, sql: sql, adapter: adapter) == [copy])
            return live
        }
    }

    private let unadapted = "\n  unadapted: [a0:0 a1:1 a2:NULL a3:3]"

    @Test func columnMappingShowsTheNamedColumns() throws {
        #expect(try seen(ColumnMapping(["z": "a0", "b": "a3", "c": "a1"])) == "▿ [z:0 c:1 b:3]" + unadapted)
        #expect(try seen(ColumnMapping(["z": "A0", "y": "a0"])) == "▿ [y:0 z:0]" + unadapted)
        #expect(try seen(ColumnMapping(["z": "a1", "Z": "a0"])) == "▿ [Z:0 z:1]" + unadapted)
        #expect(try seen(ColumnMapping([:])) == "▿ []" + unadapted)
    }

    @Test func columnMappingTakesTheLeftmostOfDuplicates() throws {
        try withConnection { db in
            let sql = "SELECT 1 AS x, 2 AS X, 3 AS y"
            for name in ["x", "X"] {
                let row = try Row.fetchOne(db, sql: sql, adapter: ColumnMapping(["q": name]))
                #expect(row == ["q": 1])
            }
        }
    }

    @Test func rangesAndSuffixesShowTheirColumns() throws {
        #expect(try seen(RangeRowAdapter(1..<3)) == "▿ [a1:1 a2:NULL]" + unadapted)
        #expect(try seen(RangeRowAdapter(1...2)) == "▿ [a1:1 a2:NULL]" + unadapted)
        #expect(try seen(RangeRowAdapter(4..<4)) == "▿ []" + unadapted)
        #expect(try seen(SuffixRowAdapter(fromIndex: 0)) == "[a0:0 a1:1 a2:NULL a3:3]")
        #expect(try seen(SuffixRowAdapter(fromIndex: 3)) == "▿ [a3:3]" + unadapted)
        #expect(try seen(SuffixRowAdapter(fromIndex: 4)) == "▿ []" + unadapted)
        #expect(try seen(EmptyRowAdapter()) == "▿ []" + unadapted)
    }

    @Test func renameShowsAllColumnsRenamed() throws {
        let adapter = RenameColumnAdapter { $0 == "a1" ? "a0" : $0 + "x" }
        #expect(try seen(adapter) == "▿ [a0x:0 a0:1 a2x:NULL a3x:3]" + unadapted)
    }

    @Test func splittingCutsFromLeftToRight() throws {
        func parts(_ columnCounts: [Int]) throws -> [String] {
            try splittingRowAdapters(columnCounts: columnCounts).map { try seen($0) }
        }
        #expect(try parts([2, 0, 1]) == ["[a0:0 a1:1]", "[]", "[a2:NULL]", "[a3:3]"].map { "▿ \($0)" + unadapted })
        #expect(try parts([4]) == ["[a0:0 a1:1 a2:NULL a3:3]", "▿ []" + unadapted])
        #expect(try parts([]) == ["[a0:0 a1:1 a2:NULL a3:3]"])
    }

    @Test func customAdapterChoosesColumns() throws {
        struct Reversed: RowAdapter {
            func projection(of columnNames: [String]) throws -> RowProjection {
                RowProjection(
                    columns: columnNames.enumerated().reversed().map { .init(index: $0, name: $1) },
                    scopes: ["first": RowProjection(columns: [.init(index: 0, name: "x")])])
            }
        }
        #expect(try seen(Reversed()) == "▿ [a3:3 a2:NULL a1:1 a0:0]" + unadapted + "\n  - first: [x:0]")
        #expect(try seen(Reversed().addingScopes(["first": EmptyRowAdapter()])).hasSuffix("\n  - first: []"))
    }

    @Test func missingColumnsAreErrorsThatNameThem() throws {
        struct Wrong: RowAdapter {
            var index: Int
            func projection(of columnNames: [String]) throws -> RowProjection {
                RowProjection(columns: [.init(index: index, name: "x")])
            }
        }
        func expectMisuse(_ adapter: any RowAdapter, _ message: String) throws {
            try withConnection { db in
                let sql = "SELECT 0 AS a0, 1 AS a1, NULL AS a2, 3 AS a3"
                for adapter in [adapter, EmptyRowAdapter().addingScopes(["scope": adapter])] {
                    let error = try #require(throws: DatabaseError.self) {
                        try Row.fetchCursor(db, sql: sql, adapter: adapter)
                    }
                    #expect(error.resultCode == .SQLITE_MISUSE)
                    #expect(error.message == message)
                    #expect(error.sql == sql)
                    #expect(throws: DatabaseError.self) { try Int.fetchAll(db, sql: sql, adapter: adapter) }
                }
                #expect(try Int.fetchAll(db, sql: sql) == [0])
            }
        }
        let names = "a0, a1, a2, a3"
        try expectMisuse(
            ColumnMapping(["a": "a0", "b": "nope"]),
            "Mapping references missing column nope. Valid column names are: \(names).")
        let range = "RangeRowAdapter references columns"
        try expectMisuse(RangeRowAdapter(3..<5), "\(range) 3..<5 of a row that has 4: \(names).")
        try expectMisuse(RangeRowAdapter(5..<5), "\(range) 5..<5 of a row that has 4: \(names).")
        try expectMisuse(RangeRowAdapter(-1..<2), "\(range) -1..<2 of a row that has 4: \(names).")
        try expectMisuse(RangeRowAdapter(0...Int.max), "\(range) 0..<\(Int.max) of a row that has 4: \(names).")
        let suffix = "SuffixRowAdapter references columns"
        try expectMisuse(SuffixRowAdapter(fromIndex: 5), "\(suffix) from 5 on of a row that has 4: \(names).")
        try expectMisuse(SuffixRowAdapter(fromIndex: -1), "\(suffix) from -1 on of a row that has 4: \(names).")
        try expectMisuse(Wrong(index: 4), "A row adapter references column 4 as x, out of a row of 4 columns.")
        try expectMisuse(Wrong(index: -1), "A row adapter references column -1 as x, out of a row of 4 columns.")
        let parts = splittingRowAdapters(columnCounts: [1, -1, .max, .max])
        try expectMisuse(parts[1], "\(range) 1..<0 of a row that has 4: \(names).")
        try expectMisuse(parts[3], "\(range) \(Int.max)..<\(Int.max) of a row that has 4: \(names).")
        try expectMisuse(parts[4], "\(suffix) from \(Int.max) on of a row that has 4: \(names).")
    }

    @Test func adaptedRequestIsAdaptedAgain() throws {
        try withConnection { db in
            let request = SQLRequest<Row>(
                sql: "SELECT 0 AS a0, 1 AS a1, NULL AS a2, 3 AS a3",
                adapter: RangeRowAdapter(1..<3).addingScopes(["x": RangeRowAdapter(3..<4)]))
            let adapted = request.adapted { _ in
                SuffixRowAdapter(fromIndex: 1).addingScopes(["w": ColumnMapping(["y": "a1"])])
            }
            #expect(
                try adapted.fetchOne(db)?.debugDescription == """
                    ▿ [a2:NULL]
                      unadapted: [a0:0 a1:1 a2:NULL a3:3]
                      - w: [y:1]
                    """)
            let wrong = request.adapted { _ in ColumnMapping(["y": "a0"]) }
            let error = try #require(throws: DatabaseError.self) { try wrong.fetchOne(db) }
            #expect(error.message == "Mapping references missing column a0. Valid column names are: a1, a2.")
        }
    }

    @Test func valuesAreThoseOfTheLeftmostVisibleColumn() throws {
        try withConnection { db in
            let sql = "SELECT 0 AS a0, 1 AS a1, NULL AS a2, 'x' AS a3"
            #expect(try Int.fetchAll(db, sql: sql, adapter: SuffixRowAdapter(fromIndex: 1)) == [1])
            #expect(try String.fetchAll(db, sql: sql, adapter: ColumnMapping(["a": "a3"])) == ["x"])
            #expect(try String.fetchSet(db, sql: sql, adapter: ColumnMapping(["b": "a3"])) == ["x"])
            #expect(try Int.fetchOne(db, sql: sql, adapter: ColumnMapping(["a": "a3", "b": "a1"])) == 1)
            #expect(try Int?.fetchAll(db, sql: sql, adapter: SuffixRowAdapter(fromIndex: 2)) == [nil])
            #expect(try Int.fetchOne(db, sql: sql, adapter: SuffixRowAdapter(fromIndex: 2)) == nil)
            #expect(try DatabaseValue.fetchAll(db, sql: sql, adapter: ColumnMapping(["a": "a2"])) == [.null])
            let statement = try db.makeStatement(sql: "SELECT 0, ?")
            let adapter = SuffixRowAdapter(fromIndex: 1)
            #expect(try Int.fetchAll(statement, arguments: [1], adapter: adapter) == [1])
            #expect(try Int.fetchCursor(statement, arguments: [2], adapter: adapter).next() == 2)

            #expect(throws: RowDecodingError.self) {
                try Int.fetchAll(db, sql: sql, adapter: SuffixRowAdapter(fromIndex: 2))
            }
            #expect(throws: RowDecodingError.self) { try Int.fetchAll(db, sql: sql, adapter: EmptyRowAdapter()) }
            #expect(throws: RowDecodingError.self) { try Int.fetchOne(db, sql: sql, adapter: EmptyRowAdapter()) }
        }
    }

    @Test(
        arguments: [
            RangeRowAdapter(1..<4),
            ColumnMapping(["b": "b", "c": "c", "d": "d"]),
            ColumnMapping(["b": "b", "c": "c", "d": "e"]),
        ] as [any RowAdapter]) func adaptedRowAnswersAsAnyRow(adapter: any RowAdapter) throws
    {
        try withConnection { db in
            let sql = "SELECT 1 AS a, 'x' AS b, NULL AS c, x'0102' AS d, x'0102' AS e"
            let cursor = try Row.fetchCursor(db, sql: sql, adapter: adapter)
            let live = try #require(try cursor.next())
            for row in [live, live.copy()] {
                #expect(row.count == 3)
                #expect(Array(row.columnNames) == ["b", "c", "d"])
                #expect(Array(row.databaseValues) == ["x".databaseValue, .null, ([1, 2] as [UInt8]).databaseValue])
                #expect(row[0] as String == "x")
                #expect(row["B"] as String == "x")
                #expect(row["c"] as String? == nil)
                #expect(row["a"] as Int? == nil)
                #expect(row["e"] as [UInt8]? == nil)
                #expect(row[2] as [UInt8] == [1, 2])
                #expect(row.hasColumn("D"))
                #expect(!row.hasColumn("a"))
                #expect([0, 1, 2].map { row.hasNull(atIndex: $0) } == [false, true, false])
                #expect(row.containsNonNullValue)
                #expect(row.coalesce(["c", "b"]) == "x")
                #expect(try row.withUnsafeBytes(atIndex: 2) { $0.map(Array.init) } == [1, 2])
                #expect(try row.withUnsafeBytes(atIndex: 1) { $0.map(Array.init) } == nil)
                #expect(try row.decode(String.self, atIndex: 0) == "x")
                #expect(throws: RowDecodingError.self) { try row.decode(String.self, atIndex: 1) }
                #expect(throws: RowDecodingError.self) { try row.decode(String.self, atIndex: 3) }
                #expect(throws: RowDecodingError.self) { try row.decode(String.self, atIndex: -1) }
                #expect(throws: RowDecodingError.self) { try row.decode(Int.self, forColumn: "a") }
            }
        }
    }

    @Test func adapterIsAskedOnceForAnExecution() throws {
        final class Calls: Sendable {
            let count = Atomic(0)
        }
        struct Counting: RowAdapter {
            let calls = Calls()
            func projection(of columnNames: [String]) throws -> RowProjection {
                calls.count.wrappingAdd(1, ordering: .relaxed)
                return try RangeRowAdapter(1..<2).projection(of: columnNames)
            }
        }
        try withConnection { db in
            let counting = Counting()
            var count: Int { counting.calls.count.load(ordering: .relaxed) }
            let statement = try db.makeStatement(sql: "SELECT 1, 2 UNION ALL SELECT 3, 4")
            #expect(try Int.fetchAll(statement, adapter: counting) == [2, 4])
            #expect(count == 1)
            #expect(try Int.fetchAll(statement, adapter: counting) == [2, 4])
            #expect(count == 2)

            let scoped = EmptyRowAdapter().addingScopes(["x": counting])
            for _ in 0..<3 {
                let rows = try Row.fetchAll(statement, adapter: scoped)
                #expect(rows.map { $0.scopes["x"]?[0] } == [2, 4])
            }
            #expect(count == 3)
            let other = EmptyRowAdapter().addingScopes(["y": counting])
            #expect(try Row.fetchAll(statement, adapter: other).map { $0.scopes["y"]?[0] } == [2, 4])
            #expect(count == 4)
        }
    }

    @Test func columnsAreAdaptedAgainAfterASchemaChange() throws {
        try withConnection { db in
            try db.execute(sql: "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2)")
            let statement = try db.makeStatement(sql: "SELECT * FROM t")
            let adapter = SuffixRowAdapter(fromIndex: 1).addingScopes(["x": RenameColumnAdapter { $0 + $0 }])
            #expect(try Row.fetchOne(statement, adapter: adapter)?.unscoped == ["b": 2])
            try db.execute(sql: "ALTER TABLE t ADD COLUMN c DEFAULT 3")
            let row = try #require(try Row.fetchOne(statement, adapter: adapter))
            #expect(row.unscoped == ["b": 2, "c": 3])
            #expect(row.scopes["x"] == ["aa": 1, "bb": 2, "cc": 3])

            try db.execute(sql: "ALTER TABLE t DROP COLUMN b")
            let error = try #require(throws: DatabaseError.self) {
                try Row.fetchAll(statement, adapter: ColumnMapping(["y": "b"]))
            }
            #expect(error.message == "Mapping references missing column b. Valid column names are: a, c.")
        }
    }
}
