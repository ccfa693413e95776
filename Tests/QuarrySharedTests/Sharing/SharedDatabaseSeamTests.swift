import Foundation
import Quarry
import QuarryExpectations
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

/// Raw SQL, left-over statements and other settings under shared databases.
@Suite struct SharedDatabaseSeamTests {
    let folder: TemporaryFolder
    let database: SharedDatabase

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        database = SharedDatabase(path: folder.file("a.sqlite"))
        try database.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
    }

    private func values() throws -> [Int] {
        try database.read { db in try Int.fetchAll(db, sql: "SELECT a FROM t ORDER BY a") }
    }

    /// A statement that the program keeps doesn't prevent closing, and is an error afterwards, not another database.
    @Test func keptStatements() throws {
        let statement = try database.write { db in try db.makeStatement(sql: "SELECT a FROM t") }
        var hasClosed = false
        do {
            try database.close()
            hasClosed = true
        } catch DatabaseError.SQLITE_BUSY {}
        #expect(throws: (any Error).self) { try Int.fetchAll(statement) }
        #expect(try values() == [1])
        if hasClosed { #expect(throws: (any Error).self) { try Int.fetchAll(statement) } }
        try database.write { db in try db.execute(sql: "INSERT INTO t VALUES (2)") }
        #expect(try values() == [1, 2])
    }

    /// Cached statements, and the schema that is known, are those of the file that was put in place.
    @Test func anotherSchema() throws {
        #expect(try values() == [1])
        let other = folder.file("other.sqlite")
        try DatabaseQueue(path: other).write { db in
            try db.execute(sql: "CREATE TABLE t (b TEXT, a INTEGER); INSERT INTO t VALUES ('x', 7)")
        }
        try database.withClosedDatabase { files in try files.replace(with: other) }
        #expect(try values() == [7])
        #expect(try database.read { db in try db.columns(in: "t").map(\.name) } == ["b", "a"])
        try database.write { db in try db.execute(sql: "INSERT INTO t (a) VALUES (8)") }
        #expect(try values() == [7, 8])
    }

    /// No connection is opened to a file that another program has put in place meanwhile. The next opening finds it.
    @Test func theFileIsReplacedFromOutside() throws {
        let other = folder.file("other.sqlite")
        try DatabaseQueue(path: other).write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (7)")
        }
        #expect(try values() == [1])
        try FileManager.default.removeItem(atPath: database.path)
        try FileManager.default.moveItem(atPath: other, toPath: database.path)
        expectError(.SQLITE_READONLY_DBMOVED) { _ = try database.makeSnapshot() }
        #expect(try values() == [1])
        try database.close()
        // SQLite leaves the log of a file that has gone.
        try? FileManager.default.removeItem(atPath: database.path + "-wal")
        #expect(try values() == [7])
        try database.write { db in try db.execute(sql: "INSERT INTO t VALUES (8)") }
        #expect(try database.makeSnapshot().read { db in try Int.fetchAll(db, sql: "SELECT a FROM t") } == [7, 8])
    }

    /// SQL that ends the transaction by hand, and a transaction that stays open, leave no lock behind.
    @Test func transactionsByHand() throws {
        expectError(.SQLITE_ABORT) {
            try database.write { db in
                try db.execute(sql: "INSERT INTO t VALUES (2)")
                try db.execute(sql: "ROLLBACK")
            }
        }
        #expect(throws: DatabaseError.self) {
            try database.writeWithoutTransaction { db in try db.execute(sql: "BEGIN; INSERT INTO t VALUES (3)") }
        }
        try database.withClosedDatabase { files in
            let sizes = try files.sizes()
            #expect(sizes.log == 0)
        }
        #expect(try values() == [1])
    }

    /// Attached files are closed with the connection, and aren't attached to the next one.
    @Test func attachedDatabases() throws {
        let other = folder.file("other.sqlite")
        try DatabaseQueue(path: other).write { db in try db.execute(sql: "CREATE TABLE o (a)") }
        try database.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH ? AS other", arguments: [other])
            try db.execute(sql: "INSERT INTO other.o VALUES (1)")
        }
        try database.close()
        #expect(try folder.openFiles.isEmpty)
        #expect(throws: DatabaseError.self) {
            try database.writeWithoutTransaction { db in try db.execute(sql: "INSERT INTO other.o VALUES (2)") }
        }
        #expect(try values() == [1])
    }

    /// A temporary table ends with its connection.
    @Test func temporaryTables() throws {
        try database.writeWithoutTransaction { db in try db.execute(sql: "CREATE TEMP TABLE tt (a)") }
        try database.close()
        #expect(try database.writeWithoutTransaction { db in try db.tableExists("tt") } == false)
    }

    /// A stable reader keeps a window from opening; it ends with the reader.
    @Test func stableReaders() throws {
        let reader = try database.pool.makeStableReader(label: "a report")
        let error = #expect(throws: DatabaseError.self) { try database.withClosedDatabase { _ in } }
        #expect(error?.resultCode == .SQLITE_BUSY)
        #expect(error?.message?.contains("a report") ?? false)
        #expect(try reader.read { db in try Int.fetchAll(db, sql: "SELECT a FROM t") } == [1])
        try reader.close()
        try database.withClosedDatabase { _ in }
        #expect(try values() == [1])
    }
}

/// A shared database that is read-only.
@Suite struct ReadOnlySharedDatabaseTests {
    @Test func readOnly() throws {
        let folder = try TemporaryFolder(isFast: true)
        let path = folder.file("a.sqlite")
        var configuration = Configuration()
        configuration.readonly = true
        let database = SharedDatabase(path: path, configuration: configuration)
        #expect(!database.canOpen)
        expectError(.SQLITE_CANTOPEN) { try database.read { _ in } }
        let pool = try DatabasePool(path: path)
        try pool.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        #expect(try database.read { db in try Int.fetchOne(db, sql: "SELECT a FROM t") } == 1)
        expectError(.SQLITE_READONLY) { try database.write { db in try db.execute(sql: "DELETE FROM t") } }
        try database.close()
        #expect(!database.isOpened)
        #expect(try database.read { db in try Int.fetchOne(db, sql: "SELECT a FROM t") } == 1)
    }
}
