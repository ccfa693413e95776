import QuarryCore
import QuarryTestSupport
import Testing

/// Statements that were made before the schema changed.
@Suite("Statements and changes of the schema")
struct SchemaChangeTests {
    @Test func columnsAreThoseOfTheCurrentSchema() throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a, b)")
            let kept = try db.cachedStatement(sql: "SELECT * FROM t")
            let held = try db.makeStatement(sql: "SELECT * FROM t")
            #expect(kept.columnNames == ["a", "b"] && held.columnCount == 2)
            try db.execute(sql: "ALTER TABLE t RENAME COLUMN b TO new; ALTER TABLE t ADD COLUMN c")
            #expect(held.columnNames == ["a", "new", "c"] && held.columnCount == 3)
            #expect(held.index(ofColumn: "NEW") == 1 && held.index(ofColumn: "b") == nil)

            // Without a row, before the first step and after the last.
            let cursor = try Row.fetchCursor(kept)
            #expect(cursor.columnNames == ["a", "new", "c"] && cursor.columnCount == 3)
            #expect(try cursor.next() == nil)
            #expect(cursor.columnNames == ["a", "new", "c"] && cursor.columnCount == 3)
            #expect(try Row.fetchAll(held).isEmpty)
            #expect(held.columnCount == 3)
        }
    }

    @Test func rolledBackChangeIsNone() throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a)")
            let statement = try db.makeStatement(sql: "SELECT * FROM t")
            try db.inTransaction {
                try db.execute(sql: "ALTER TABLE t ADD COLUMN b")
                #expect(statement.columnNames == ["a", "b"])
                return .rollback
            }
            #expect(statement.columnNames == ["a"])
        }
    }

    @Test(arguments: [true, false]) func changesOfOtherConnectionsAreSeen(inRead: Bool) throws {
        try withTemporaryFolder { folder throws in
            let writer = try TestConnection(path: folder + "/db")
            let reader = try TestConnection(path: folder + "/db")
            try writer.access { writer in
                try writer.execute(sql: "PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
                try reader.access { reader throws in
                    let statement = try reader.makeStatement(sql: "SELECT * FROM t")
                    #expect(statement.columnNames == ["a"])
                    try writer.execute(sql: "ALTER TABLE t ADD COLUMN b")
                    if inRead {
                        try reader.beginRead(pinned: true)
                        try reader.finishRead {
                            #expect(statement.columnCount == 2)
                            try writer.execute(sql: "ALTER TABLE t ADD COLUMN c")
                            // The read sees the state of its beginning.
                            #expect(statement.columnNames == ["a", "b"])
                        }
                        #expect(statement.columnCount == 3)
                    } else {
                        #expect(statement.columnNames == ["a", "b"])
                    }
                }
            }
        }
    }

    @Test func keptStatementsReadATableThatHidesAnAttachedOne() throws {
        try withConnection { db throws in
            try db.execute(sql: "ATTACH ':memory:' AS att; CREATE TABLE att.t (a); INSERT INTO att.t VALUES ('att')")
            let sql = "SELECT a FROM t"
            func read() throws -> [String?] {
                [try String.fetchOne(db, sql: sql), try String.fetchOne(db.cachedStatement(sql: sql))]
            }
            #expect(try read() == ["att", "att"])
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO main.t VALUES ('main')")
            #expect(try read() == ["main", "main"])
            try db.execute(sql: "CREATE TEMP TABLE t (a); INSERT INTO temp.t VALUES ('temp')")
            #expect(try read() == ["temp", "temp"])
            try db.execute(sql: "DROP TABLE temp.t; DROP TABLE main.t")
            #expect(try read() == ["att", "att"])
            try db.inTransaction {
                try db.execute(sql: "ALTER TABLE att.t RENAME TO u; CREATE TABLE t (a); ALTER TABLE t RENAME TO v")
                return .rollback
            }
            #expect(try read() == ["att", "att"])
        }
    }

    @Test func keptStatementsReadATableThatAnotherConnectionMade() throws {
        try withTemporaryFolder { folder throws in
            let writer = try TestConnection(path: folder + "/db")
            let reader = try TestConnection(path: folder + "/db")
            try writer.access { writer in
                try writer.execute(sql: "PRAGMA journal_mode = WAL; CREATE TABLE other (a)")
                try reader.access { reader throws in
                    try reader.execute(
                        sql: "ATTACH ':memory:' AS att; CREATE TABLE att.t (a); INSERT INTO att.t VALUES ('att')")
                    func read() throws -> String? {
                        try reader.beginRead(pinned: true)
                        return try reader.finishRead { try String.fetchOne(reader, sql: "SELECT a FROM t") }
                    }
                    #expect(try read() == "att")
                    try writer.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES ('main')")
                    #expect(try read() == "main")
                    try writer.execute(sql: "DROP TABLE t")
                    #expect(try read() == "att")
                    try writer.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES ('main')")
                    try reader.inTransaction {
                        let value = try String.fetchOne(reader, sql: "SELECT a FROM t")
                        #expect(value == "main")
                        return .commit
                    }
                }
            }
        }
    }

    @Test(arguments: [true, false]) func keptStatementsMeanWhatNewOnesDo(isWAL: Bool) throws {
        try withTemporaryFolder { folder throws in
            let writer = try TestConnection(path: folder + "/db")
            let reader = try TestConnection(path: folder + "/db")
            try writer.access { writer in
                if isWAL { try writer.execute(sql: "PRAGMA journal_mode = WAL") }
                try writer.execute(sql: "CREATE TABLE other (a)")
                try reader.access { reader throws in
                    try reader.execute(
                        sql: "ATTACH ':memory:' AS att; CREATE TABLE att.t (a); INSERT INTO att.t VALUES ('att')")
                    let held = try reader.makeStatement(sql: "SELECT a FROM t")
                    var count = 0
                    func read() throws -> Set<String?> {
                        count += 1
                        return [
                            try String.fetchOne(reader, sql: "SELECT a FROM t"),
                            try String.fetchOne(reader.cachedStatement(sql: "SELECT a FROM t")),
                            try String.fetchOne(reader.makeStatement(sql: "SELECT a FROM t WHERE \(count)")),
                            try String.fetchOne(held),
                        ]
                    }
                    #expect(try read() == ["att"])
                    try writer.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES ('main')")
                    #expect(try read().count == 1)
                    try reader.inTransaction { () throws in
                        #expect(try read().subtracting(["main"]).count <= 1)
                        #expect(try String.fetchOne(reader, sql: "SELECT a FROM t") == "main")
                        return .commit
                    }
                    #expect(try String.fetchOne(reader, sql: "SELECT a FROM t") == "main")
                    try reader.execute(sql: "UPDATE t SET a = 'changed'")
                    #expect(try String.fetchOne(reader, sql: "SELECT a FROM main.t") == "changed")
                    #expect(try String.fetchOne(reader, sql: "SELECT a FROM att.t") == "att")
                    try writer.execute(sql: "DROP TABLE t")
                    #expect(try read().count == 1)
                }
            }
        }
    }
}
