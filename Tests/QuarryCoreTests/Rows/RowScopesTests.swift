import QuarryCore
import QuarryTestSupport
import Testing

@Suite("Scopes of rows")
struct RowScopesTests {
    /// a2 and a3 with the scopes x: [a0 a1], y: all columns, with a scope deep: [a2], and n: [a2]
    private let adapter = SuffixRowAdapter(fromIndex: 2).addingScopes([
        "x": RangeRowAdapter(0..<2),
        "y": ScopeAdapter(["deep": RangeRowAdapter(2..<3)]),
        "n": RangeRowAdapter(2..<3),
    ])

    private let sql = "SELECT 0 AS a0, 1 AS a1, NULL AS a2, 3 AS a3"

    /// Runs `body` with a cursor's row and with a copy.
    private func withRows(_ adapter: (any RowAdapter)?, _ body: (Row) throws -> Void) throws {
        try withConnection { db in
            let cursor = try Row.fetchCursor(db, sql: sql, adapter: adapter)
            let row = try #require(try cursor.next())
            try body(row)
            try body(row.copy())
        }
    }

    @Test func scopesAreFoundByNameAndInOrder() throws {
        try withRows(adapter) { row in
            #expect(row.scopes.names == ["n", "x", "y"])
            #expect(row.scopes.count == 3)
            #expect(row.scopes.map(\.name) == ["n", "x", "y"])
            #expect(row.scopes.map { "\($0.row)" } == ["[a2:NULL]", "[a0:0 a1:1]", "[a0:0 a1:1 a2:NULL a3:3]"])
            let scope = try #require(row.scopes["x"])
            #expect(scope == ["a0": 0, "a1": 1])
            #expect(scope[0] as Int == 0)
            #expect(scope["A1"] as Int == 1)
            #expect(scope.scopes.isEmpty)
            #expect(scope.unadapted == ["a0": 0, "a1": 1, "a2": nil, "a3": 3])
            #expect(row.scopes["X"] == nil)
            #expect(row.scopes["a0"] == nil)
            #expect(row.scopes["y"]?.scopes["deep"] == ["a2": nil])
            #expect(row.scopes["deep"] == nil)
        }
    }

    @Test func rowsWithoutAdaptersHaveNoScopes() throws {
        try withRows(nil) { row in
            #expect(row.scopes.isEmpty)
            #expect(row.scopes.names == [])
            #expect(row.scopes["x"] == nil)
            #expect(row.scopesTree.names == [])
            #expect(row.scopesTree["x"] == nil)
            #expect(row.unscoped === row)
            #expect(row.unadapted === row)
            #expect(row.debugDescription == "[a0:0 a1:1 a2:NULL a3:3]")
        }
        #expect((["a": 1] as Row).scopes.isEmpty)
    }

    @Test func scopesTreeIsSearchedBreadthFirst() throws {
        try withRows(adapter) { row in
            #expect(row.scopesTree.names == ["deep", "n", "x", "y"])
            #expect(row.scopesTree["deep"] == ["a2": nil])
            #expect(row.scopesTree["x"] == ["a0": 0, "a1": 1])
            #expect(row.scopesTree["nope"] == nil)
        }
        let nested = ScopeAdapter([
            "a": EmptyRowAdapter().addingScopes([
                "target": RangeRowAdapter(0..<1),
                "b": EmptyRowAdapter().addingScopes(["deepest": RangeRowAdapter(2..<3)]),
            ]),
            "z": EmptyRowAdapter().addingScopes(["target": RangeRowAdapter(1..<2), "deepest": RangeRowAdapter(1..<2)]),
        ])
        try withRows(nested) { row in
            #expect(row.scopesTree["target"] == ["a0": 0])
            #expect(row.scopesTree["deepest"] == ["a1": 1])
        }
        try withRows(nested.addingScopes(["target": RangeRowAdapter(3..<4)])) { row in
            #expect(row.scopesTree["target"] == ["a3": 3])
        }
    }

    @Test func addedScopesWinOverThoseOfTheSameName() throws {
        let adapter = RangeRowAdapter(0..<1)
            .addingScopes(["x": RangeRowAdapter(0..<1), "y": RangeRowAdapter(1..<2)])
            .addingScopes(["x": RangeRowAdapter(3..<4)])
            .addingScopes([:])
        try withRows(adapter) { row in
            #expect(
                row.debugDescription == """
                    ▿ [a0:0]
                      unadapted: [a0:0 a1:1 a2:NULL a3:3]
                      - x: [a3:3]
                      - y: [a1:1]
                    """)
        }
        try withRows(ScopeAdapter(base: EmptyRowAdapter(), scopes: ["x": RangeRowAdapter(3..<4)])) { row in
            #expect(row.count == 0)
            #expect(row.scopes["x"] == ["a3": 3])
        }
    }

    @Test func unscopedAndUnadaptedRowsAreReached() throws {
        try withRows(adapter) { row in
            #expect(row.unscoped == ["a2": nil, "a3": 3])
            #expect(row.unscoped.scopes.isEmpty)
            #expect(row.unscoped.unadapted == row.unadapted)
            #expect(row.unscoped[1] as Int == 3)
            #expect(row.unscoped["a3"] as Int == 3)
            #expect(row.unadapted == ["a0": 0, "a1": 1, "a2": nil, "a3": 3])
            #expect(row.unadapted.scopes.isEmpty)
            #expect(
                row.debugDescription == """
                    ▿ [a2:NULL a3:3]
                      unadapted: [a0:0 a1:1 a2:NULL a3:3]
                      - n: [a2:NULL]
                      - x: [a0:0 a1:1]
                      - y: [a0:0 a1:1 a2:NULL a3:3]
                        - deep: [a2:NULL]
                    """)
            #expect(row.description == "[a2:NULL a3:3]")
        }
    }

    @Test func equalityAndHashLookAtScopes() throws {
        try withConnection { db in
            func row(_ sql: String, _ adapter: any RowAdapter) throws -> Row {
                try #require(try Row.fetchOne(db, sql: sql, adapter: adapter))
            }
            let first = RangeRowAdapter(0..<1)
            let plain = try row("SELECT 1 AS a, 2 AS b", first)
            #expect(plain == ["a": 1])
            #expect(try plain == row("SELECT 1 AS a, 3 AS b", first))
            #expect(try plain == row("SELECT 0 AS z, 1 AS a", SuffixRowAdapter(fromIndex: 1)))
            #expect(plain.hashValue == (["a": 1] as Row).hashValue)

            let scoped = try row("SELECT 1 AS a, 2 AS b", first.addingScopes(["x": RangeRowAdapter(1..<2)]))
            #expect(scoped != plain)
            #expect(plain != scoped)
            #expect(scoped.unscoped == plain)
            #expect(try scoped == row("SELECT 1 AS a, 2 AS b", first.addingScopes(["x": RangeRowAdapter(1..<2)])))
            #expect(try scoped != row("SELECT 1 AS a, 3 AS b", first.addingScopes(["x": RangeRowAdapter(1..<2)])))
            #expect(try scoped != row("SELECT 1 AS a, 2 AS b", first.addingScopes(["y": RangeRowAdapter(1..<2)])))

            let union = "SELECT 1 AS a, 2 AS b UNION ALL SELECT 1, 3 UNION ALL SELECT 1, 2"
            #expect(try Row.fetchSet(db, sql: union, adapter: first).count == 1)
            let scopedSet = try Row.fetchSet(db, sql: union, adapter: first.addingScopes(["x": RangeRowAdapter(1..<2)]))
            #expect(scopedSet.count == 2)
        }
    }

    @Test func containsNonNullValueLooksAtScopesAtAnyDepth() throws {
        let null = RangeRowAdapter(2..<3)
        let value = RangeRowAdapter(0..<1)
        func contains(_ adapter: any RowAdapter) throws -> Bool {
            var answers: Set<Bool> = []
            try withRows(adapter) { answers.insert($0.containsNonNullValue) }
            #expect(answers.count == 1)
            return answers == [true]
        }
        #expect(try !contains(null))
        #expect(try contains(value))
        #expect(try !contains(EmptyRowAdapter()))
        #expect(try !contains(null.addingScopes(["x": null])))
        #expect(try contains(null.addingScopes(["x": value])))
        #expect(try contains(null.addingScopes(["x": EmptyRowAdapter().addingScopes(["deep": value])])))
    }

    @Test func scopesAreThoseOfTheCurrentStep() throws {
        try withConnection { db in
            let cursor = try Row.fetchCursor(
                db, sql: "SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, 'y'",
                adapter: SuffixRowAdapter(fromIndex: 1).addingScopes(["x": RangeRowAdapter(0..<1)]))
            let row = try #require(try cursor.next())
            let scope = try #require(row.scopes["x"])
            let unscoped = row.unscoped
            let copies = [row.copy(), scope.copy(), unscoped.copy()]
            #expect(row["b"] as String == "x")
            #expect(scope["a"] as Int == 1)
            #expect(try cursor.next() === row)
            #expect(row.scopes["x"] === scope)
            #expect(row["b"] as String == "y")
            #expect(scope["a"] as Int == 2)
            #expect(unscoped["b"] as String == "y")
            #expect(copies[0].unscoped == ["b": "x"])
            #expect(copies[0].scopes["x"] == ["a": 1])
            #expect(copies[1] == ["a": 1])
            #expect(copies[2] == ["b": "x"])
        }
    }

    @Test func expiredRowsThrowInTheirScopes() throws {
        try withConnection { db in
            func expectExpired(_ rows: [Row]) throws {
                for row in rows {
                    let error = try #require(throws: DatabaseError.self) { try row.decode(Int.self, atIndex: 0) }
                    #expect(error.resultCode == .SQLITE_MISUSE)
                }
            }
            let adapter = SuffixRowAdapter(fromIndex: 1).addingScopes([
                "x": RangeRowAdapter(0..<1).addingScopes(["deep": RangeRowAdapter(0..<1)]),
                "late": RangeRowAdapter(0..<1),
                "mapped": ColumnMapping(["b": "b", "a": "a"]),
            ])
            func leftBehind(_ statement: Statement, toEnd: Bool) throws -> [Row] {
                let cursor = try Row.fetchCursor(statement, adapter: adapter)
                let row = try #require(try cursor.next())
                let scope = try #require(row.scopes["x"])
                let deep = try #require(scope.scopes["deep"])
                let mapped = try #require(row.scopes["mapped"])
                let rows = [row, scope, deep, mapped, row.unscoped, row.unadapted]
                #expect(try rows.map { try $0.decode(Int.self, atIndex: 0) } == [2, 1, 1, 1, 2, 1])
                if toEnd {
                    #expect(try cursor.next() == nil)
                    try expectExpired(rows)
                }
                return rows
            }
            let sql = "SELECT 1 AS a, 2 AS b"
            try expectExpired(leftBehind(db.makeStatement(sql: sql), toEnd: true))
            let gone = try leftBehind(db.makeStatement(sql: sql), toEnd: false)
            try expectExpired(gone)
            try expectExpired([gone[0].scopes["late"], gone[0].unscoped].compactMap { $0 })

            let statement = try db.makeStatement(sql: sql)
            let kept = try leftBehind(statement, toEnd: false)
            let other = try Row.fetchCursor(statement, adapter: adapter)
            let row = try #require(try other.next())
            try expectExpired(kept)
            #expect(row !== kept[0])
            #expect(try row.decode(Int.self, atIndex: 0) == 2)
        }
    }
}
