import QuarryCore
import QuarryTestSupport
import Testing

@Suite("Arguments of statements")
struct StatementArgumentsTests {
    private func values(_ sql: String, _ arguments: StatementArguments) throws -> [String] {
        try withConnection { db throws in
            let row = try #require(try Row.fetchOne(db, sql: sql, arguments: arguments))
            // The same by the other roads.
            let statement = try db.makeStatement(sql: sql)
            try statement.validateArguments(arguments)
            try statement.setArguments(arguments)
            #expect(try Row.fetchOne(statement) == row)
            statement.arguments = arguments
            #expect(try Row.fetchOne(statement) == row)
            statement.setUncheckedArguments(arguments)
            #expect(try Row.fetchOne(statement) == row)
            return row.databaseValues.map(\.description)
        }
    }

    @Test func positionalArgumentsAreBoundInOrder() throws {
        #expect(try values("SELECT ?, ?", [1, "a"]) == ["1", #""a""#])
        #expect(try values("SELECT ?, ?", [nil, 1.5]) == ["NULL", "1.5"])
        #expect(try values("SELECT ?", StatementArguments([1] as [Int])) == ["1"])
        #expect(try values("SELECT 1", []) == ["1"])
        let optionals: [(any DatabaseValueConvertible)?] = [1, nil]
        #expect(try values("SELECT ?, ?", StatementArguments(optionals)) == ["1", "NULL"])
    }

    @Test func namedArgumentsMayHaveAnyPrefix() throws {
        #expect(try values("SELECT :a, @b, $c, :a", ["a": 1, "b": nil, "c": "x"]) == ["1", "NULL", #""x""#, "1"])
        let pairs: [(String, (any DatabaseValueConvertible)?)] = [("a", 1), ("a", 2)]
        #expect(try values("SELECT :a", StatementArguments(pairs)) == ["2"])
        #expect(try values("SELECT :a, @a", ["a": 1]) == ["1", "1"])
        #expect(try values("SELECT :a", ["a": 1, "unused": 2]) == ["1"])
        #expect(try values("SELECT :é", ["é": 1]) == ["1"])
    }

    @Test func namedParametersTakePositionalArguments() throws {
        #expect(try values("SELECT :a, :b, :a", [1, 2]) == ["1", "2", "1"])
        #expect(try values("SELECT :a, ?, :b", ["b": 3] + [1, 2]) == ["1", "2", "3"])
        #expect(try values("SELECT ?, :b, ?", [1, 2] + ["b": 3]) == ["1", "3", "2"])
    }

    @Test func numberedParametersCountFromOne() throws {
        #expect(try values("SELECT ?2, ?1", ["a", "b"]) == [#""b""#, #""a""#])
        #expect(try values("SELECT ?5", [1, 2, 3, 4, 5]) == ["5"])
        try withConnection { db throws in
            expectError(.SQLITE_MISUSE, "wrong number of statement arguments: 1", sql: "SELECT ?5") {
                try Row.fetchOne(db, sql: "SELECT ?5", arguments: [1])
            }
        }
    }

    @Test(
        arguments: [
            ("SELECT ?, ?", [1], "wrong number of statement arguments: 1"),
            ("SELECT ?, ?", [1, 2, 3], "wrong number of statement arguments: 3"),
            ("SELECT ?", [], "wrong number of statement arguments: 0"),
            ("SELECT 1", [1], "wrong number of statement arguments: 1"),
            ("SELECT :a", [], "missing statement argument: a"),
            ("SELECT :a", ["b": 1], "missing statement argument: a"),
            ("SELECT :a, :b", ["b": 1], "missing statement argument: a"),
            ("SELECT :a, ?", ["a": 1], "wrong number of statement arguments: 0"),
            ("SELECT :a", ["a": 1] + [2], "wrong number of statement arguments: 1"),
        ] as [(String, StatementArguments, String)]) func mismatchesThrowOnEachWay(
            _ sql: String, _ arguments: StatementArguments, _ message: String
        ) throws
    {
        try withConnection { db throws in
            func expectMisuse<T>(sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> T) {
                expectError(.SQLITE_MISUSE, message, sql: sql, sourceLocation: sourceLocation, body)
            }
            let statement = try db.makeStatement(sql: sql)
            expectMisuse { try statement.validateArguments(arguments) }
            expectMisuse { try statement.setArguments(arguments) }
            expectMisuse { try statement.execute(arguments: arguments) }
            expectMisuse { try Row.fetchOne(statement, arguments: arguments) }
            expectMisuse { try Row.fetchCursor(statement, arguments: arguments) }
            expectMisuse { try Row.fetchAll(db, sql: sql, arguments: arguments) }
            expectMisuse { try db.execute(sql: sql, arguments: arguments) }
            expectMisuse { try SQLRequest<Row>(sql: sql, arguments: arguments).fetchAll(db) }
            // Assigned arguments wait for the execution.
            statement.arguments = arguments
            expectMisuse { try statement.execute() }
            expectMisuse { try Row.fetchAll(statement) }
            // And again, as an error must not count for a check.
            expectMisuse { try statement.execute() }
        }
    }

    @Test func uncheckedArgumentsMayNotMatch() throws {
        try withConnection { db throws in
            let statement = try db.makeStatement(sql: "SELECT ?, :a")
            statement.setUncheckedArguments([1])
            #expect(try Row.fetchOne(statement) == ["?": 1, ":a": nil])
            statement.setUncheckedArguments(["a": 2])
            #expect(try Row.fetchOne(statement) == ["?": nil, ":a": 2])
            statement.setUncheckedArguments([1, 2, 3])
            #expect(try Row.fetchOne(statement) == ["?": 1, ":a": 2])
            #expect(statement.arguments == [1, 2, 3])
        }
    }

    @Test func argumentsStayForTheNextExecutions() throws {
        try withConnection { db throws in
            let statement = try db.makeStatement(sql: "SELECT ?")
            try statement.setArguments(["x"])
            for _ in 0..<3 { #expect(try String.fetchOne(statement) == "x") }
            try statement.execute()
            #expect(try String.fetchOne(statement) == "x")
            #expect(throws: DatabaseError.self) { try statement.setArguments([1, 2]) }
            #expect(statement.arguments == ["x"])
            #expect(try String.fetchOne(statement) == "x")
        }
    }

    @Test func manyArgumentsAreBound() throws {
        try withConnection { db throws in
            let count = 3000
            let marks = Array(repeating: "?", count: count).joined(separator: ",")
            try db.execute(sql: "CREATE TABLE t (a)")
            try db.execute(
                sql: "INSERT INTO t SELECT count(*) FROM (SELECT 1 WHERE 'text2999' IN (\(marks)))",
                arguments: StatementArguments((0..<count).map { "text\($0)" }))
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1])
            try db.setLimit(.variableNumber, to: 10)
            #expect(db.maximumStatementArgumentCount == 10)
            expectError(.SQLITE_ERROR, "too many SQL variables", sql: "SELECT ?,?,?,?,?,?,?,?,?,?,?") {
                try db.makeStatement(sql: "SELECT ?,?,?,?,?,?,?,?,?,?,?")
            }
        }
    }

    @Test func combinedArgumentsReplaceOrThrow() throws {
        let left: StatementArguments = ["a": 1, "b": 2]
        let right: StatementArguments = ["b": 3, "c": 4]
        try withConnection { db throws in
            let sql = "SELECT :a, :b, :c"
            expectError(.SQLITE_MISUSE, "already defined statement argument: b", sql: sql) {
                try Row.fetchOne(db, sql: sql, arguments: left + right)
            }
            var sum = left
            sum += right
            expectError(.SQLITE_MISUSE, "already defined statement argument: b", sql: sql) {
                try db.execute(sql: sql, arguments: sum)
            }
            #expect(try Row.fetchOne(db, sql: sql, arguments: left &+ right) == [":a": 1, ":b": 3, ":c": 4])
        }
        var appended = left
        #expect(appended.append(contentsOf: right) == ["b": 2.databaseValue])
        #expect(appended == ["a": 1, "b": 3, "c": 4])
        #expect([1, 2] + [3] as StatementArguments == [1, 2, 3])
        #expect(StatementArguments().isEmpty && !left.isEmpty)
    }

    @Test func argumentsAreDescribed() {
        #expect((["a", 1, nil, [UInt8]([1])] as StatementArguments).description == #"["a", 1, NULL, x'01']"#)
        #expect((["b": 1, "a": "x"] as StatementArguments).description == #"["a": "x", "b": 1]"#)
        #expect(([1] + ["a": 2] as StatementArguments).description == #"[1, "a": 2]"#)
        #expect(StatementArguments().description == "[]")
    }

    @Test(
        arguments: [
            ([1.5], [2.5]), ([nil], [3]), (["a"], ["b"]), (["a"], [4]),
        ] as [(StatementArguments, StatementArguments)])
    func argumentsSetDuringAnExecution(_ first: StatementArguments, _ second: StatementArguments) throws {
        try withConnection { db throws in
            // Unsafe: the connection calls the function on this thread.
            nonisolated(unsafe) var statement: Statement?
            nonisolated(unsafe) var received: [StatementArguments] = []
            db.add(
                function: DatabaseFunction("receive", argumentCount: 1) { values in
                    received.append(StatementArguments(values))
                    statement?.arguments = second
                    return nil
                })
            defer { statement = nil }
            statement = try db.makeStatement(sql: "SELECT receive(?)")
            try statement?.execute(arguments: first)
            try statement?.execute()
            #expect(received == [first, second])
            received = []
            statement?.arguments = first
            try statement?.execute()
            #expect(try statement.map { try Row.fetchAll($0).count } == 1)
            #expect(received == [first, second])
        }
    }
}
