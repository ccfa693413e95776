import Foundation
import QuarryCore
import QuarryTestSupport
import Testing

/// The faults that a server meets: full disks, files without permission, files that were overwritten. Each gives its
/// own error, and leaves the connection usable.
@Suite("Faults of files")
struct FaultTests {
    private func withFile(_ body: (String) throws -> Void) throws {
        try withTemporaryFolder { folder throws in
            let path = folder + "/db"
            try withConnection(path: path) { db in
                try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            }
            try body(path)
        }
    }

    @Test func fullDiskIsAnError() throws {
        try withFile { path throws in
            let connection = try TestConnection(path: path)
            try connection.access { db throws in
                try db.execute(sql: "PRAGMA max_page_count = 4")
                let sql = "INSERT INTO t VALUES (zeroblob(100000))"
                expectError(.SQLITE_FULL, "database or disk is full", sql: sql) { try db.execute(sql: sql) }
                expectError(.SQLITE_FULL, "database or disk is full", sql: sql) {
                    try db.inTransaction {
                        try db.execute(sql: "INSERT INTO t VALUES (2)")
                        try db.execute(sql: sql)
                        return .commit
                    }
                }
                #expect(!db.isInsideTransaction)
                #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1])
                try db.execute(sql: "PRAGMA max_page_count = 1000")
                try db.execute(sql: sql)
                #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") == 2)
            }
        }
    }

    @Test func fileWithoutWritePermissionIsReadOnly() throws {
        // Root may write whatever the permissions say: the directory of a process's own files can't be written by
        // anybody.
        try withFile { path throws in
            try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: path)
            guard !FileManager.default.isWritableFile(atPath: path) else {
                try readOnlyByURI(path)
                return
            }
            try withConnection(path: path) { db throws in
                let sql = "INSERT INTO t VALUES (2)"
                expectError(.SQLITE_READONLY, "attempt to write a readonly database", sql: sql) {
                    try db.execute(sql: sql)
                }
                #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1])
            }
        }
    }

    private func readOnlyByURI(_ path: String) throws {
        try withConnection(path: "file:\(path)?mode=ro") { db throws in
            let sql = "INSERT INTO t VALUES (2)"
            expectError(.SQLITE_READONLY, "attempt to write a readonly database", sql: sql) { try db.execute(sql: sql) }
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1])
        }
    }

    @Test func movedFileIsAnError() throws {
        try withFile { path throws in
            try withConnection(path: path) { db throws in
                #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1])
                try FileManager.default.moveItem(atPath: path, toPath: path + "2")
                let sql = "INSERT INTO t VALUES (2)"
                expectError(.SQLITE_READONLY_DBMOVED, "attempt to write a readonly database", sql: sql) {
                    try db.execute(sql: sql)
                }
                try FileManager.default.moveItem(atPath: path + "2", toPath: path)
                try db.execute(sql: sql)
                #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1, 2])
            }
        }
    }

    @Test func overwrittenPagesAreCorrupt() throws {
        try withTemporaryFolder { folder throws in
            let path = folder + "/db"
            try withConnection(path: path) { db in
                try db.execute(
                    sql: """
                        CREATE TABLE good (a); INSERT INTO good VALUES (1);
                        CREATE TABLE bad (a);
                        WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 2000)
                        INSERT INTO bad SELECT 'some text ' || n FROM c;
                        """)
            }
            let file = try #require(FileHandle(forUpdatingAtPath: path))
            // Pages 1 to 3: the schema, the table `good`, the root of `bad`.
            for page in 3..<10 {
                try file.seek(toOffset: UInt64(page * 4096))
                try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
            }
            try file.close()
            try withConnection(path: path) { db throws in
                let sql = "SELECT COUNT(a) FROM bad"
                for _ in 0..<2 {
                    expectError(.SQLITE_CORRUPT, "database disk image is malformed", sql: sql) {
                        try Int.fetchOne(db, sql: sql)
                    }
                }
                expectError(.SQLITE_CORRUPT) {
                    try db.inTransaction {
                        try db.execute(sql: "INSERT INTO good VALUES (2)")
                        try db.execute(sql: "DELETE FROM bad")
                        return .commit
                    }
                }
                #expect(!db.isInsideTransaction)
                #expect(try Int.fetchAll(db, sql: "SELECT a FROM good") == [1])
                #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check(1)") != "ok")
            }
        }
    }

    @Test func truncatedFileIsAnError() throws {
        try withFile { path throws in
            let file = try #require(FileHandle(forUpdatingAtPath: path))
            try file.truncate(atOffset: 4096)
            try file.close()
            expectError(.SQLITE_CORRUPT) {
                try withConnection(path: path) { try Int.fetchAll($0, sql: "SELECT a FROM t") }
            }
        }
    }

    @Test(arguments: ["DELETE", "WAL"]) func killedProcessLosesItsTransactionAlone(_ journal: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("db")
        try withConnection(path: path) { db in
            try db.execute(
                sql: """
                    PRAGMA journal_mode = \(journal);
                    CREATE TABLE t (a);
                    WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5000)
                    INSERT INTO t SELECT n FROM c;
                    """)
        }
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            try withConnection(path: path) { db in
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO t VALUES (-1)")
                    return .commit
                }
                // With a small cache, pages are written to the file before the commit.
                try db.execute(sql: "PRAGMA cache_size = 5")
                try db.inTransaction {
                    try db.execute(sql: "UPDATE t SET a = a + 1000000")
                    try db.execute(sql: "DELETE FROM t WHERE a % 2 = 0")
                    kill(getpid(), SIGKILL)
                    return .commit
                }
            }
        }
        try withConnection(path: path) { db throws in
            #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"])
            #expect(
                try Row.fetchOne(db, sql: "SELECT COUNT(*) AS n, MIN(a) AS low, MAX(a) AS high FROM t")
                    == ["n": 5001, "low": -1, "high": 5000])
            try db.execute(sql: "DELETE FROM t")
        }
    }
}
