import Foundation
import QuarryCore
import QuarryTestSupport
import Testing

@Suite struct SerializationTests {
    @Test func roundTrip() throws {
        var bytes: [UInt8] = []
        try withConnection { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES ('é'), (x'00'), (NULL)")
            bytes = try db.serialize()
            #expect(try bytes.count == Int.fetchOne(db, sql: "PRAGMA page_count")! * 4096)
        }
        try withConnection { db in
            // Statements prepared before see the new content.
            try db.execute(sql: "CREATE TABLE t (b, c)")
            let statement = try db.cachedStatement(sql: "SELECT * FROM t")
            try db.deserialize(bytes)
            #expect(
                try DatabaseValue.fetchAll(statement) == ["é".databaseValue, ([0] as [UInt8]).databaseValue, .null])
            try db.execute(sql: "INSERT INTO t SELECT zeroblob(100000) FROM t")
            #expect(try db.serialize().count > 300_000)
            #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
        }
    }

    @Test func emptyDatabase() throws {
        try withConnection { (db) throws in
            #expect(try db.serialize() == [])
            try db.execute(sql: "CREATE TABLE t (a)")
            try db.deserialize([])
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") == 0)
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            #expect(try Int.fetchOne(db, sql: "SELECT a FROM t") == 1)
        }
    }

    /// Newer versions of SQLite would write the first page to have a byte to give.
    @Test func emptyFileStaysEmpty() throws {
        try withTemporaryFolder { folder throws in
            let path = "\(folder)/empty"
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            try withConnection(path: path) { db throws in
                let bytes = try db.readOnly { try db.serialize() }
                #expect(bytes == [])
                #expect(try db.serialize() == [])
            }
            // Not with `Data(contentsOf:)`, which leaks a block for an empty file.
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            #expect(try file.seekToEnd() == 0)
            try file.close()
        }
    }

    @Test func largeDatabase() throws {
        try withConnection { source in
            try source.execute(
                sql: """
                    CREATE TABLE t (a);
                    WITH c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c WHERE n < 32) INSERT INTO t
                    SELECT randomblob(1 << 20) FROM c;
                    """)
            let bytes = try source.serialize()
            #expect(bytes.count > 32 << 20)
            try withConnection { (db) throws in
                try db.deserialize(bytes)
                #expect(try Int.fetchOne(db, sql: "SELECT SUM(length(a)) FROM t") == 32 << 20)
                #expect(try db.serialize() == bytes)
            }
        }
    }

    /// The header of a database in WAL mode says so; one in memory can't be.
    @Test func databaseInWALMode() throws {
        try withTemporaryFolder { folder in
            var bytes: [UInt8] = []
            try withConnection(path: folder + "/db") { db in
                try db.execute(sql: "PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)")
                bytes = try db.serialize()
                #expect(bytes[18...19] == [2, 2])
            }
            try withConnection { (db) throws in
                try db.deserialize(bytes)
                #expect(try Int.fetchOne(db, sql: "SELECT a FROM t") == 1)
            }
            // A file is left as it is, by a connection that goes on in memory.
            try withConnection(path: folder + "/db") { db in
                try db.deserialize([])
                try db.execute(sql: "CREATE TABLE other (a)")
            }
            try withConnection(path: folder + "/db") { (db) throws in
                #expect(try String.fetchAll(db, sql: "SELECT name FROM sqlite_master") == ["t"])
            }
        }
    }

    @Test func aDatabaseThatIsLocked() throws {
        try withTemporaryFolder { folder in
            let holder = try TestConnection(path: folder + "/db")
            var options = ConnectionOptions()
            options.busyMode = .immediateError
            let connection = try TestConnection(path: folder + "/db", options: options)
            try holder.access { holder in
                try holder.execute(sql: "CREATE TABLE t (a)")
                try holder.inTransaction(.exclusive) {
                    try connection.access { db in
                        expectError(.SQLITE_BUSY, "could not serialize main: database is locked") { try db.serialize() }
                    }
                    return .commit
                }
            }
        }
    }

    /// SQLite itself leaves zeros for a page that it can't read.
    @Test func pagesThatCannotBeRead() throws {
        let faults = try FaultVFS()
        let folder = try TemporaryFolder(isFast: true)
        var options = ConnectionOptions()
        options.vfs = faults.name
        options.pragmas = ["PRAGMA cache_size = 2"]
        let connection = try TestConnection(path: folder.file("db"), options: options)
        try connection.access { db in
            // With pages that are empty: the ends of zeroblobs.
            try db.execute(
                sql: """
                    CREATE TABLE t (a);
                    INSERT INTO t VALUES (printf('%.*c', 30000, 'x')), (zeroblob(30000));
                    """)
            let bytes = try db.serialize()
            var errors = 0
            for isLasting in [false, true] {
                var nth = 0
                repeat {
                    nth += 1
                    db.releaseMemory()
                    faults.arm(.read, nth: nth, andAllAfter: isLasting)
                    defer { faults.disarm() }
                    do {
                        let found = try db.serialize()
                        #expect(found == bytes, "read \(nth)")
                    } catch let error as DatabaseError {
                        errors += 1
                        #expect(error.extendedResultCode == .SQLITE_IOERR_READ, "read \(nth)")
                        #expect(error.message?.hasPrefix("could not serialize main: ") == true, "\(error)")
                    }
                } while faults.failures > 0
            }
            #expect(errors > 20)
            #expect(try db.serialize() == bytes)
        }
    }

    @Test func readOnly() throws {
        try withConnection { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            try db.deserialize(db.serialize(), readOnly: true)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") == 0)
            expectError(.SQLITE_READONLY) { try db.execute(sql: "INSERT INTO t VALUES (1)") }
        }
    }

    @Test func attachedSchema() throws {
        try withConnection { db in
            try db.execute(
                sql: "ATTACH ':memory:' AS \"my db\"; CREATE TABLE \"my db\".t (a); INSERT INTO t VALUES (1)")
            let bytes = try db.serialize(schema: "my db")
            try db.execute(sql: "DELETE FROM t")
            try db.deserialize(bytes, schema: "my db")
            #expect(try Int.fetchOne(db, sql: "SELECT a FROM \"my db\".t") == 1)
            #expect(try db.serialize() == [])
        }
    }

    @Test func unknownSchema() throws {
        try withConnection { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            let bytes = try db.serialize()
            let serialize = expectError(DatabaseError.self) { _ = try db.serialize(schema: "nope") }
            #expect(serialize?.message == "could not serialize nope: there is no such schema")
            let deserialize = expectError(DatabaseError.self) { try db.deserialize(bytes, schema: "nope") }
            #expect(deserialize?.message?.hasPrefix("could not deserialize into nope: ") == true)
        }
    }

    @Test(arguments: [[1, 2, 3], [UInt8](repeating: 7, count: 4096), Array("SQLite format 3\0".utf8)])
    func otherBytes(_ bytes: [UInt8]) throws {
        try withConnection { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            expectError(.SQLITE_NOTADB, "could not deserialize into main: the bytes are no database") {
                try db.deserialize(bytes)
            }
            #expect(try Int.fetchOne(db, sql: "SELECT a FROM t") == 1)
        }
    }

    /// A header alone doesn't make a database: the error comes at once, not with the first query.
    @Test func damagedBytes() throws {
        try withConnection { db in
            let bytes = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 255, count: 4080)
            expectError(.SQLITE_NOTADB) { try db.deserialize(bytes) }
            try db.deserialize([])
            try db.execute(sql: "CREATE TABLE t (a)")
        }
    }

    @Test func refusedInATransaction() throws {
        try withConnection { db in
            try db.execute(sql: "BEGIN")
            expectError(.SQLITE_BUSY, "could not deserialize into main: a transaction, statement or backup uses it") {
                try db.deserialize([])
            }
            try db.execute(sql: "COMMIT")
        }
    }

    @Test func refusedWhileStatementsRun() throws {
        try withConnection { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), ('x')")
            let cursor = try Int.fetchCursor(db, sql: "SELECT a FROM t")
            #expect(try cursor.next() == 1)
            expectError(.SQLITE_BUSY) { try db.deserialize([]) }
            #expect(try cursor.next() == 2)
            let blob = try db.openBlob(table: "t", column: "a", rowID: 3)
            expectError(.SQLITE_BUSY) { try db.deserialize([]) }
            #expect(try blob.read() == [120])
        }
    }

    @Test func refusedDuringABackup() throws {
        try withConnection { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            try TestConnection().access { destination in
                try db.backup(to: destination, pagesPerStep: 1) { _ in
                    expectError(.SQLITE_BUSY) { try db.deserialize([]) }
                }
            }
        }
    }

    @Test func refusedWhereNothingCanBeWritten() throws {
        try withConnection { db in
            expectError(.SQLITE_READONLY) { try db.readOnly { try db.deserialize([]) } }
            let bytes = try db.readOnly { try db.serialize() }
            #expect(bytes == [])
        }
    }
}
