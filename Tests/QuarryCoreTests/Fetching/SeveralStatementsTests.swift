import QuarryCore
import QuarryTestSupport
import Testing

@Suite("SQL of several statements")
struct SeveralStatementsTests {
    @Test func eachStatementSeesTheChangesOfThePreviousOnes() throws {
        try withConnection { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE t (a, b); -- first; then
                    INSERT INTO t VALUES (1, 'x;y');
                    ;;
                    /* last; */ UPDATE t SET a = a + 1
                    """)
            #expect(try Row.fetchAll(db, sql: "SELECT * FROM t") == [["a": 2, "b": "x;y"]])
        }
    }

    @Test func argumentsAreTakenInOrderOrByName() throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a, b)")
            let sql = "INSERT INTO t VALUES (?, ?); INSERT INTO t VALUES (?, 0); INSERT INTO t VALUES (1, ?)"
            try db.execute(sql: sql, arguments: [1, 2, 3, 4])
            #expect(
                try Row.fetchAll(db, sql: "SELECT * FROM t").map { Array($0.databaseValues.map(\.description)) }
                    == [["1", "2"], ["3", "0"], ["1", "4"]])
            try db.execute(sql: "DELETE FROM t")
            try db.execute(
                sql: "INSERT INTO t VALUES (:x, ?); INSERT INTO t VALUES (?, :x)", arguments: ["x": "n"] + [1, 2])
            #expect(try Row.fetchAll(db, sql: "SELECT * FROM t") == [["a": "n", "b": 1], ["a": 2, "b": "n"]])
        }
    }

    @Test func failingStatementLeavesTheEffectsOfThePreviousOnes() throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a)")
            func count() throws -> Int { try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") ?? -1 }
            let insert = "INSERT INTO t VALUES (?)"
            expectError(.SQLITE_MISUSE, "wrong number of statement arguments: 1", sql: insert) {
                try db.execute(sql: "\(insert); \(insert)", arguments: [1])
            }
            #expect(try count() == 1)
            expectError(.SQLITE_MISUSE, "wrong number of statement arguments: 3", sql: "\(insert); \(insert)") {
                try db.execute(sql: "\(insert); \(insert)", arguments: [1, 2, 3])
            }
            // The last statement, to which they are left over, doesn't run.
            #expect(try count() == 2)
            for rest in ["", ";", " ; -- end", "/* end */"] {
                expectError(.SQLITE_MISUSE) { try db.execute(sql: insert + rest, arguments: [1, 2]) }
                expectError(.SQLITE_MISUSE) { try db.execute(sql: insert + rest, arguments: [1, 2]) }
            }
            #expect(try count() == 2)
            expectError(.SQLITE_MISUSE, "missing statement argument: b", sql: "INSERT INTO t VALUES (:b)") {
                try db.execute(sql: "INSERT INTO t VALUES (:a); INSERT INTO t VALUES (:b)", arguments: ["a": 1])
            }
            #expect(try count() == 3)
            expectError(.SQLITE_ERROR, "no such table: u", sql: "DELETE FROM u") {
                try db.execute(sql: "DELETE FROM t; DELETE FROM u")
            }
            #expect(try count() == 0)
        }
    }

    @Test func allStatementsPreparesEachWhenAskedForIt() throws {
        try withConnection { db throws in
            let statements = try db.allStatements(
                sql: "CREATE TABLE t (a); INSERT INTO t VALUES (?); SELECT a FROM t WHERE a = :a; wrong",
                arguments: ["x"] + ["a": "x"])
            var seen: [String] = []
            for _ in 0..<3 {
                let statement = try #require(try statements.next())
                seen.append(statement.sql)
                try statement.execute()
            }
            #expect(seen == ["CREATE TABLE t (a)", "INSERT INTO t VALUES (?)", "SELECT a FROM t WHERE a = :a"])
            #expect(try String.fetchAll(db, sql: "SELECT a FROM t") == ["x"])
            expectError(.SQLITE_ERROR, #"near "wrong": syntax error"#, sql: "wrong") { try statements.next() }
        }
    }

    @Test func verticalTabIsSpaceBehindOtherSpace() throws {
        try withConnection { db throws in
            let statement = try db.makeStatement(sql: "\r\u{b}\rBEGIN \n\u{b}")
            #expect(statement.sql == "BEGIN")
            #expect(statement.kind == .begin)
            #expect(try db.makeStatement(sql: "SELECT 1; \u{b}").sql == "SELECT 1")
            expectError(.SQLITE_ERROR, "unrecognized token: \"\u{b}\"", sql: "BEGIN") {
                try db.makeStatement(sql: "\u{b}BEGIN")
            }
        }
    }

    @Test func unfinishedCommentIsAComment() throws {
        try withConnection { db throws in
            for (sql, kept) in [("SELECT 1/* ; ", "SELECT 1/* "), ("SELECT 1 /* a ; ", "SELECT 1 /* a")] {
                let statement = try db.makeStatement(sql: sql)
                #expect(statement.sql == kept)
                #expect(try db.makeStatement(sql: kept).sql == kept)
            }
        }
    }

    @Test func allStatementsChecksArgumentsUnlessNoneAreSet() throws {
        try withConnection { db throws in
            let few = try db.allStatements(sql: "SELECT ?; SELECT ?", arguments: [1])
            #expect(try Int.fetchOne(try #require(try few.next())) == 1)
            expectError(.SQLITE_MISUSE, "wrong number of statement arguments: 1", sql: "SELECT ?") { try few.next() }
            let many = try db.allStatements(sql: "SELECT ?", arguments: [1, 2])
            expectError(.SQLITE_MISUSE, "wrong number of statement arguments: 2", sql: "SELECT ?") { try many.next() }
            let unset = try db.allStatements(sql: "SELECT ?; SELECT :a")
            #expect(try Int.fetchOne(try #require(try unset.next()), arguments: [1]) == 1)
            let second = try #require(try unset.next())
            expectError(.SQLITE_MISUSE, "missing statement argument: a", sql: "SELECT :a") { try second.execute() }
            #expect(try unset.next() == nil)
            #expect(try unset.next() == nil)
            let literal = try db.allStatements(literal: "SELECT \(1); SELECT \(2)")
            #expect(try literal.map { try Int.fetchOne($0) ?? 0 }.next() == 1)
            let later = try db.allStatements(literal: "SELECT ?; SELECT ? + 1")
            #expect(try Array(later.map { try Int.fetchOne($0, arguments: [30]) }) == [30, 31])
        }
    }

    @Test func allStatementsReadsALongTextOnce() throws {
        try withConnection { db throws in
            let sql = String(repeating: "SELECT 'a text of more than fifteen bytes';\n", count: 5000)
            let statements = try db.allStatements(sql: sql)
            var count = 0
            while try statements.next() != nil { count += 1 }
            #expect(count == 5000)
            let broken = try db.allStatements(sql: "SELECT 1;\0SELECT 2")
            expectError(.SQLITE_MISUSE) { try broken.next() }
            expectError(.SQLITE_MISUSE) { try broken.next() }
        }
        let connection = try TestConnection()
        let token = AccessToken()
        try connection.database.beginAccess(token)
        let statements = try connection.database.allStatements(sql: "SELECT 1; SELECT 2")
        _ = try statements.next()
        token.cancel()
        #expect(throws: CancellationError.self) { try statements.next() }
        _ = connection.database.endAccess()
    }

    @Test func executeRunsAQueryToItsEnd() throws {
        try withConnection { db throws in
            var steps = 0
            let client = db.hooks.onTrace(.profiles) { _ in steps += 1 }
            try db.execute(sql: "SELECT 1 UNION ALL SELECT 2; VALUES (3)")
            db.hooks.remove(client)
            #expect(steps == 2)
            expectError(
                .SQLITE_ERROR, "integer overflow",
                sql: "SELECT abs(column1) FROM (VALUES (1), (-9223372036854775808))"
            ) { try db.execute(sql: "SELECT abs(column1) FROM (VALUES (1), (-9223372036854775808))") }
        }
    }
}
