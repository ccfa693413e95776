import QuarryTestSupport
import Testing

@testable import QuarryCore

@Suite("Preparing statements")
struct StatementTests {
    @Test(arguments: ["", " ", ";", ";;", "-- a comment", "/* a comment */", "/* open", " \n\t;-- x\n;"])
    func emptySQLHasNoStatement(_ sql: String) throws {
        try withConnection { db throws in
            expectError(.SQLITE_ERROR, "empty statement", sql: sql) { try db.makeStatement(sql: sql) }
            expectError(.SQLITE_ERROR, "empty statement", sql: sql) { try db.cachedStatement(sql: sql) }
            expectError(.SQLITE_ERROR, "empty statement", sql: sql) { try Row.fetchAll(db, sql: sql) }
            try db.execute(sql: sql)
            #expect(try db.allStatements(sql: sql).next() == nil)
            expectError(.SQLITE_MISUSE, "wrong number of statement arguments: 1", sql: sql) {
                try db.execute(sql: sql, arguments: [1])
            }
        }
    }

    @Test(arguments: [
        "SELECT 1; SELECT 2", "SELECT 1;SELECT 2;", "SELECT 1; wrong", "SELECT 1;;;x", "SELECT 1; /* c */ -- d\n x",
    ]) func severalStatementsAreRefused(_ sql: String) throws {
        let message = "more than one statement: use execute(sql:) or allStatements(sql:)"
        try withConnection { db throws in
            expectError(.SQLITE_MISUSE, message, sql: sql) { try db.makeStatement(sql: sql) }
            expectError(.SQLITE_MISUSE, message, sql: sql) { try db.cachedStatement(sql: sql) }
            expectError(.SQLITE_MISUSE, message, sql: sql) { try Row.fetchAll(db, sql: sql) }
        }
    }

    @Test(arguments: [
        " \n SELECT 1 ; \t", "SELECT 1", ";;SELECT 1;;", "-- c\nSELECT 1", "/* c */ SELECT 1; -- d",
        "SELECT 1;/* open",
    ]) func surroundingSpaceAndCommentsAreTrimmed(_ sql: String) throws {
        try withConnection { db throws in
            #expect(try db.makeStatement(sql: sql).sql == "SELECT 1")
            #expect(try Int.fetchOne(db, sql: sql) == 1)
        }
    }

    @Test func commentsInsideStay() throws {
        try withConnection { db throws in
            let sql = "SELECT /* ; */ 1 -- ;\n + 1"
            #expect(try db.makeStatement(sql: sql).sql == sql)
            #expect(try Int.fetchOne(db, sql: sql) == 2)
            #expect(try String.fetchOne(db, sql: "SELECT ';--/*'") == ";--/*")
        }
    }

    @Test func nulInSQLIsAnError() throws {
        try withConnection { db throws in
            let sql = "SELECT 1; \0 DROP TABLE t"
            let message = "SQL has a NUL character at byte 10"
            expectError(.SQLITE_MISUSE, message, sql: sql) { try db.execute(sql: sql) }
            expectError(.SQLITE_MISUSE, message, sql: sql) { try db.makeStatement(sql: sql) }
            expectError(.SQLITE_MISUSE, message, sql: sql) { try db.allStatements(sql: sql).next() }
        }
    }

    @Test func tooLongSQLIsAnError() throws {
        try withConnection { db throws in
            try db.setLimit(.sqlLength, to: 100)
            let sql = "SELECT '" + String(repeating: "x", count: 200) + "'"
            expectError(.SQLITE_TOOBIG, "string or blob too big", sql: sql) { try db.makeStatement(sql: sql) }
            #expect(try Int.fetchOne(db, sql: "SELECT 1") == 1)
        }
    }

    @Test func errorHasTheWrongSQL() throws {
        try withConnection { db throws in
            expectError(.SQLITE_ERROR, #"near "SELEC": syntax error"#, sql: "SELEC 1") {
                try db.execute(sql: " SELEC 1 ;")
            }
            expectError(.SQLITE_ERROR, "no such table: größe", sql: "SELECT '日本語😀' FROM größe") {
                try db.execute(sql: "SELECT 'é'; SELECT '日本語😀' FROM größe")
            }
            expectError(.SQLITE_ERROR, "no such column: 😀", sql: "SELECT 😀") {
                try db.makeStatement(sql: "/* 👨‍👩‍👧‍👦 */ SELECT 😀")
            }
        }
    }

    @Test func statementKnowsItselfBeforeItRuns() throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (id INTEGER, name TEXT)")
            let query = try db.makeStatement(sql: "SELECT id, name AS Name, name, 1 + 1 FROM t")
            #expect(query.columnNames == ["id", "Name", "name", "1 + 1"])
            #expect(query.columnCount == 4)
            #expect(query.index(ofColumn: "NAME") == 1)
            #expect(query.index(ofColumn: "nome") == nil)
            #expect(query.isReadonly)
            #expect(query.description == query.sql)
            let change = try db.makeStatement(sql: "INSERT INTO t VALUES (1, 'a')")
            #expect(change.columnCount == 0 && change.columnNames == [] && !change.isReadonly)
            #expect(try db.makeStatement(sql: "BEGIN").isReadonly)
            #expect(try !db.makeStatement(sql: "BEGIN IMMEDIATE").isReadonly)
        }
    }

    @Test(
        arguments: [
            ("BEGIN", .begin), ("begin immediate", .begin), ("COMMIT", .commit), ("end transaction", .commit),
            ("ROLLBACK", .rollback), ("ROLLBACK TRANSACTION", .rollback), ("ROLLBACK TO a", .rollbackToSavepoint),
            ("rollback/* c */transaction -- d\n to savepoint a", .rollbackToSavepoint), ("SAVEPOINT a", .savepoint),
            ("RELEASE a", .release), ("SELECT 1", .query), ("select(1)", .query), ("VALUES (1)", .query),
            ("WITH a AS (SELECT 1) SELECT * FROM a", .query), ("REPLACE INTO t VALUES (1)", .query),
            ("EXPLAIN COMMIT", .other), ("PRAGMA user_version", .other), ("CREATE TABLE t (a)", .other),
            ("BEGINNING", .other), ("END TRANSACTION a", .commit), ("ROLLBACK TRANSACTION a", .rollback),
            ("ROLLBACK TRANSACTION a TO b", .rollbackToSavepoint), ("ROLLBACK TRANSACTION TO2", .rollback),
            ("ROLLBACK TRANSACTION \"TO\"", .rollback), ("ROLLBACK TRANSACTION TO\u{FEFF}", .rollback),
            ("ROLLBACK TRANSACTION 'to' TO SAVEPOINT [a b]", .rollbackToSavepoint),
            ("\u{FEFF}COMMIT", .commit), ("\u{FEFF} \u{FEFF}ROLLBACK\u{FEFF}", .rollback),
            ("ROLLBACK \u{FEFF}TO a", .rollbackToSavepoint), ("\u{FEFF}SELECT 1", .query),
            ("", .other),
        ] as [(String, StatementKind)]) func effectsOnTransactionsAreRecognized(_ sql: String, _ kind: StatementKind)
    {
        #expect(StatementKind(sql: Substring(sql).utf8) == kind)
    }

    @Test func columnsFollowASchemaChange() throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            let sql = "SELECT * FROM t"
            let statement = try db.makeStatement(sql: sql)
            #expect(try Row.fetchAll(statement) == [["a": 1]])
            #expect(try Row.fetchAll(db, sql: sql) == [["a": 1]])
            try db.execute(sql: "ALTER TABLE t ADD COLUMN b DEFAULT 2")
            #expect(try Row.fetchAll(db, sql: sql) == [["a": 1, "b": 2]])
            #expect(try Row.fetchOne(statement) == ["a": 1, "b": 2])
            #expect(statement.columnNames == ["a", "b"])
            try db.execute(sql: "ALTER TABLE t RENAME COLUMN a TO c")
            let cursor = try Row.fetchCursor(statement)
            let row = try #require(try cursor.next())
            #expect(row["c"] == 1)
            #expect(!row.hasColumn("a"))
            try db.execute(sql: "DROP TABLE IF EXISTS u; CREATE TABLE u (x)")
            #expect(try cursor.next() == nil)
            try db.execute(sql: "DROP TABLE t")
            expectError(.SQLITE_ERROR, "no such table: t", sql: sql) { try Row.fetchAll(statement) }
            expectError(.SQLITE_ERROR, "no such table: t", sql: sql) { try Row.fetchAll(db, sql: sql) }
            try db.execute(sql: "CREATE TABLE t (z)")
            #expect(try Row.fetchAll(statement) == [])
            #expect(statement.columnNames == ["z"])
        }
    }

    @Test func columnsFollowAnotherConnectionsSchemaChange() throws {
        try withTemporaryFolder { folder throws in
            let first = try TestConnection(path: folder + "/db")
            let second = try TestConnection(path: folder + "/db")
            try first.access { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
            try second.access { db throws in #expect(try Row.fetchAll(db, sql: "SELECT * FROM t") == [["a": 1]]) }
            try first.access { try $0.execute(sql: "ALTER TABLE t ADD COLUMN b DEFAULT 2") }
            try second.access { db throws in
                #expect(try Row.fetchAll(db, sql: "SELECT * FROM t") == [["a": 1, "b": 2]])
            }
        }
    }
}
