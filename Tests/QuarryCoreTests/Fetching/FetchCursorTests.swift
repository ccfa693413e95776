import QuarryCore
import QuarryTestSupport
import Testing

@Suite("Cursors over statements")
struct FetchCursorTests {
    @Test func cursorKnowsItsSQLArgumentsAndColumns() throws {
        try withConnection { db throws in
            let cursor = try Row.fetchCursor(db, sql: "SELECT ? AS a, 2 AS b;", arguments: [1])
            #expect(cursor.sql == "SELECT ? AS a, 2 AS b")
            #expect(cursor.arguments == [1])
            #expect(cursor.columnNames == ["a", "b"])
            #expect(cursor.columnCount == 2)
        }
    }

    @Test func nextTakesOneStepAndNoneAfterTheEnd() throws {
        try withConnection { db throws in
            let endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c"
            let numbers = try Int.fetchCursor(db, sql: endless)
            for n in 1...5 { #expect(try numbers.next() == n) }
            let two = try Int.fetchCursor(db, sql: "SELECT 1 UNION ALL SELECT 2")
            #expect(try two.next() == 1)
            #expect(try two.next() == 2)
            for _ in 0..<3 { #expect(try two.next() == nil) }
            #expect(try numbers.next() == 6)
        }
    }

    @Test func cursorEndsAfterAnErrorOfAStep() throws {
        try withConnection { db throws in
            let sql = "SELECT abs(column1) FROM (VALUES (1), (-9223372036854775808), (3))"
            let cursor = try Int.fetchCursor(db, sql: sql)
            #expect(try cursor.next() == 1)
            expectError(.SQLITE_ERROR, "integer overflow", sql: sql) { try cursor.next() }
            for _ in 0..<3 { #expect(try cursor.next() == nil) }
        }
    }

    @Test func argumentsAreBoundWhenTheCursorIsMade() throws {
        try withConnection { db throws in
            let statement = try db.makeStatement(sql: "SELECT ? UNION ALL SELECT ?1")
            let cursor = try Int.fetchCursor(statement, arguments: [1])
            try statement.setArguments([2])
            #expect(try cursor.next() == 1)
            #expect(try cursor.next() == 1)
            #expect(try cursor.next() == nil)
            #expect(try Int.fetchAll(statement) == [2, 2])
        }
    }

    @Test func anotherExecutionEndsTheCursor() throws {
        let message = "The cursor has ended: its statement has been run again, or its access has ended."
        try withConnection { db throws in
            let statement = try db.makeStatement(sql: "SELECT 1 UNION ALL SELECT 2")
            let executions: [() throws -> Void] = [
                { try statement.execute() },
                { _ = try Int.fetchOne(statement) },
                { _ = try Int.fetchAll(statement) },
                { _ = try Int.fetchCursor(statement) },
            ]
            for execution in executions {
                let cursor = try Int.fetchCursor(statement)
                #expect(try cursor.next() == 1)
                try execution()
                expectError(.SQLITE_MISUSE, message, sql: statement.sql) { try cursor.next() }
                #expect(try cursor.next() == nil)
            }
            // Even before its first step.
            let cursor = try Int.fetchCursor(statement)
            try statement.execute()
            expectError(.SQLITE_MISUSE, message, sql: statement.sql) { try cursor.next() }
        }
    }

    @Test func endOfTheAccessEndsTheCursor() throws {
        let connection = try TestConnection()
        let cursor = try connection.access { db in
            let cursor = try Int.fetchCursor(db, sql: "SELECT 1 UNION ALL SELECT 2")
            _ = try cursor.next()
            return cursor
        }
        expectError(.SQLITE_MISUSE, "Database was used outside of its access.", sql: nil) { try cursor.next() }
        let late = try connection.access { try Int.fetchCursor($0, sql: "SELECT 1 UNION ALL SELECT 2") }
        try connection.access { _ in
            expectError(
                .SQLITE_MISUSE, "The cursor has ended: its statement has been run again, or its access has ended.",
                sql: "SELECT 1 UNION ALL SELECT 2"
            ) { try late.next() }
        }
    }

    @Test func firstStepOnAnotherThreadIsRefused() throws {
        try withConnection { db throws in
            // The other thread is refused, and this one waits for it.
            nonisolated(unsafe) let cursor = try Int.fetchCursor(db, sql: "SELECT 1 UNION ALL SELECT 2")
            for _ in 0..<2 {
                expectError(.SQLITE_MISUSE, "Database was not used on the correct thread.", sql: nil) {
                    try onOtherThread { try cursor.next() }
                }
            }
            #expect(try cursor.next() == 1)
            #expect(try cursor.next() == 2)
            #expect(try cursor.next() == nil)
        }
    }

    @Test func tableCanBeDroppedWhenItsCursorHasEnded() throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            do {
                let cursor = try Int.fetchCursor(db, sql: "SELECT a FROM t")
                #expect(try cursor.next() == 1)
                expectError(.SQLITE_LOCKED) { try db.execute(sql: "DROP TABLE t") }
            }
            try db.execute(sql: "DROP TABLE t; CREATE TABLE t (a); INSERT INTO t VALUES (3)")
            let cursor = try Int.fetchCursor(db, sql: "SELECT a FROM t")
            while try cursor.next() != nil {}
            try db.execute(sql: "DROP TABLE t")
            #expect(try cursor.next() == nil)
        }
    }

    @Test func changesMayBeMadeWhileTheCursorRuns() throws {
        try withConnection { db throws in
            try db.execute(
                sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 0), (2, 0), (3, 0)")
            let cursor = try Int.fetchCursor(db, sql: "SELECT id FROM t ORDER BY id")
            while let id = try cursor.next() {
                try db.execute(sql: "UPDATE t SET a = ? WHERE id = ?", arguments: [id * 10, id])
            }
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t ORDER BY id") == [10, 20, 30])
        }
    }
}
