import Foundation
import QuarryCore
import QuarryTestSupport
import Testing

@Suite("Opening a connection")
struct OpeningTests {
    private func options(_ change: (inout ConnectionOptions) -> Void) -> ConnectionOptions {
        var options = ConnectionOptions()
        change(&options)
        return options
    }

    @Test func missingFolderCannotBeOpened() throws {
        try withTemporaryFolder { folder throws in
            let path = folder + "/missing/db.sqlite"
            let error = expectError(.SQLITE_CANTOPEN, "unable to open database file", sql: nil) {
                try TestConnection(path: path)
            }
            #expect(
                error?.description
                    == "SQLite error 14: unable to open database file: No such file or directory - while opening \(path)"
            )
        }
    }

    @Test func folderIsNoDatabase() throws {
        try withTemporaryFolder { folder throws in
            let error = expectError(.SQLITE_CANTOPEN, "unable to open database file", sql: nil) {
                try TestConnection(path: folder)
            }
            #expect(
                error?.description
                    == "SQLite error 14: unable to open database file: it is a folder - while opening \(folder)")
        }
    }

    @Test func pathWithNULOpensNoOtherFile() throws {
        try withTemporaryFolder { folder throws in
            let path = folder + "/a\0b"
            expectError(.SQLITE_CANTOPEN, "the path has a NUL character: \(String(reflecting: path))", sql: nil) {
                try TestConnection(path: path)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        }
    }

    @Test func otherFileIsRefusedAndLeftAsItIs() throws {
        try withTemporaryFolder { folder throws in
            let path = folder + "/text"
            let content = String(repeating: "This is no database. ", count: 100)
            try content.write(toFile: path, atomically: true, encoding: .utf8)
            let error = expectError(.SQLITE_NOTADB) { try TestConnection(path: path) }
            #expect(error?.message == "file is not a database", "SQLite's message, which programs compare")
            #expect(error?.description == "SQLite error 26: file is not a database - while opening \(path)")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == content)
        }
    }

    @Test func readonlyConnectionRefusesAMissingFile() throws {
        try withTemporaryFolder { folder throws in
            let path = folder + "/missing"
            expectError(.SQLITE_CANTOPEN, "unable to open database file", sql: nil) {
                try TestConnection(path: path, options: options { $0.readonly = true })
            }
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func readonlyConnectionRefusesChangesAndStaysUsable() throws {
        try withTemporaryFolder { folder throws in
            let path = folder + "/db"
            try withConnection(path: path) { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
            try TestConnection(path: path, options: options { $0.readonly = true }).access { db throws in
                for sql in ["INSERT INTO t VALUES (2)", "PRAGMA user_version = 1", "CREATE TABLE u (a)"] {
                    expectError(.SQLITE_READONLY, "attempt to write a readonly database", sql: sql) {
                        try db.execute(sql: sql)
                    }
                }
                #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1])
                try db.inTransaction { .commit }
            }
        }
    }

    @Test func defaultsAreStrictAndOptionsChangeThem() throws {
        try withConnection { db throws in
            #expect(try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == true)
            let error = #expect(throws: DatabaseError.self) { try String.fetchOne(db, sql: #"SELECT "text""#) }
            #expect(error?.extendedResultCode == .SQLITE_ERROR)
            #expect(noSuchColumn("text").contains(error?.message))
            try db.execute(sql: "CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1)")
            expectError(.SQLITE_CONSTRAINT_UNIQUE) { try db.execute(sql: "INSERT INTO t VALUES (1)") }
        }
        let other = options {
            $0.foreignKeysEnabled = false
            $0.acceptsDoubleQuotedStringLiterals = true
        }
        try TestConnection(options: other).access { db throws in
            #expect(try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == false)
            #expect(try String.fetchOne(db, sql: #"SELECT "text""#) == "text")
        }
    }

    @Test func pragmasRunInOrderAndAWrongOneFailsTheOpening() throws {
        try TestConnection(options: options { $0.pragmas = ["PRAGMA user_version = 7", "PRAGMA application_id = 8"] })
            .access { db throws in
                #expect(try Int.fetchOne(db, sql: "PRAGMA user_version") == 7)
                #expect(try Int.fetchOne(db, sql: "PRAGMA application_id") == 8)
            }
        let error = expectError(.SQLITE_ERROR, #"unrecognized token: "!""#, sql: nil) {
            try TestConnection(options: options { $0.pragmas = ["PRAGMA !"] })
        }
        #expect(error?.description == #"SQLite error 1: unrecognized token: "!" - while opening :memory:"#)
        expectError(.SQLITE_ERROR, "no such vfs: nowhere", sql: nil) {
            try TestConnection(options: options { $0.vfs = "nowhere" })
        }
    }

    @Test func untrustedSchemaAndDefensiveModeAreSet() throws {
        let sql = "PRAGMA writable_schema = ON; UPDATE sqlite_master SET name = name"
        try withConnection { db throws in
            #expect(try Bool.fetchOne(db, sql: "PRAGMA trusted_schema") == true)
            try db.execute(sql: sql)
        }
        let defended = options {
            $0.trustedSchema = false
            $0.isDefensive = true
        }
        try TestConnection(options: defended).access { db throws in
            #expect(try Bool.fetchOne(db, sql: "PRAGMA trusted_schema") == false)
            expectError(.SQLITE_ERROR) { try db.execute(sql: sql) }
        }
    }

    @Test func pathIsNoURIUnlessAccepted() throws {
        try withTemporaryFolder { folder throws in
            // No parameter is seen: `mode=ro` would refuse to write.
            let file = folder + "/a?mode=ro"
            let uri = "file:" + file
            try withConnection(path: file) { try $0.execute(sql: "CREATE TABLE a (b)") }
            try withConnection { db throws in
                try db.attach("file:\(folder)/b?mode=memory", as: "b")
                try db.execute(sql: "CREATE TABLE b.t (a)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a?mode=ro"])
            let plain = options { $0.acceptsURIs = false }
            // A relative path, of folders that don't exist.
            expectError(.SQLITE_CANTOPEN) { try TestConnection(path: uri, options: plain) }
            try TestConnection(options: plain).access { db throws in
                expectError(.SQLITE_CANTOPEN) { try db.attach(uri, as: "b") }
                try db.attach(file, as: "b")
                #expect(try db.attachedDatabases().last?.path.hasSuffix("/a?mode=ro") == true)
            }
        }
    }

    @Test func labelOrPathDescribesAConnection() throws {
        #expect(try TestConnection().database.description == ":memory:")
        let labelled = try TestConnection(options: options { $0.label = "main" })
        #expect(labelled.database.description == "main")
        #expect(labelled.database.debugDescription == "<Database: main>")
    }

    @Test func failingPreparationFailsTheOpening() throws {
        struct Failure: Error {}
        #expect(throws: Failure.self) {
            try Database(path: ":memory:", options: ConnectionOptions()) { _ in throw Failure() }
        }
        expectError(.SQLITE_MISUSE, "A transaction has been left open at the end of a database access.", sql: nil) {
            try Database(path: ":memory:", options: ConnectionOptions()) { try $0.beginTransaction() }
        }
    }
}
