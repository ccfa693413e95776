import CSQLite
import Foundation
import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// The prohibitions of the article "Raw SQLite", and their reasons.
@Suite struct RawSQLiteTests {
    let folder: TemporaryFolder
    let dbQueue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.execute(sql: "CREATE TABLE file (id INTEGER PRIMARY KEY, content BLOB)")
            try db.execute(sql: "INSERT INTO file VALUES (1, x'0001'), (2, NULL)")
        }
    }

    // MARK: - Transactions

    @Test func theEndOfATransactionIsFinal() throws {
        for sql in ["COMMIT", "ROLLBACK", "END"] {
            expectError(.SQLITE_ABORT) {
                try dbQueue.write { db in
                    try db.execute(sql: sql)
                    try db.execute(sql: "DELETE FROM file")
                }
            }
        }
        #expect(try dbQueue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM file") } == 2)
    }

    @Test func aTransactionThatStaysOpenIsRolledBack() throws {
        expectError(.SQLITE_MISUSE) {
            try dbQueue.writeWithoutTransaction { db in
                try db.execute(sql: "BEGIN; DELETE FROM file")
            }
        }
        #expect(try dbQueue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM file") } == 2)
    }

    // MARK: - Settings that stay

    @Test func queryOnlyStaysForTheConnection() throws {
        try dbQueue.read { db in try db.execute(sql: "PRAGMA query_only = 1") }
        let deletion = { [dbQueue] in try dbQueue.write { db in try db.execute(sql: "DELETE FROM file WHERE id = 1") } }
        expectError(.SQLITE_READONLY) { try deletion() }
        // A read refuses changes with or without it.
        for setting in [1, 0] {
            expectError(.SQLITE_READONLY) {
                try dbQueue.read { db in try db.execute(sql: "PRAGMA query_only = \(setting); DELETE FROM file") }
            }
        }
        try deletion()
        #expect(try dbQueue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM file") } == 1)
    }

    /// An exclusive lock and the readers of a pool exclude each other.
    @Test(arguments: [false, true]) func anExclusiveWriterAndReadersShutEachOtherOut(_ hasReader: Bool) throws {
        var configuration = Configuration()
        configuration.busyMode = .immediateError
        configuration.otherProcesses = .ignored
        // Opening a reader tries again for some seconds.
        configuration.monotonicClock = ManualMonotonicClock(tick: .milliseconds(1)).monotonicClock
        let pool = try DatabasePool(path: folder.file("pool.sqlite"), configuration: configuration)
        try pool.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        let count = { try pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } }
        if hasReader { #expect(try count() == 0) }
        let insertion = { (mode: String) throws in
            try pool.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA locking_mode = \(mode); INSERT INTO t VALUES (1)")
            }
        }
        if hasReader {
            expectError(.SQLITE_BUSY) { try insertion("EXCLUSIVE") }
            #expect(try count() == 0)
        } else {
            try insertion("EXCLUSIVE")
            expectError(.SQLITE_BUSY) { try count() }
        }
        try insertion("NORMAL")
        #expect(try count() == (hasReader ? 1 : 2))
    }

    // MARK: - Hooks

    /// SQLite has one hook of each kind: one that is set by hand takes the library's place.
    @Test func hooksByHandTakeTheLibrarysPlace() throws {
        try dbQueue.write { db in
            var lines: [String] = []
            db.trace { lines.append("\($0)") }
            try db.execute(sql: "DELETE FROM file WHERE id = 1")
            #expect(lines == ["DELETE FROM file WHERE id = 1"])
            sqlite3_trace_v2(db.sqliteConnection, 0, nil, nil)
            try db.execute(sql: "DELETE FROM file WHERE id = 2")
            #expect(lines.count == 1)
            db.trace()
        }
    }

    /// `PRAGMA busy_timeout` replaces the library's wait, which can be cancelled.
    @Test func theBusyTimeoutReplacesTheBusyMode() throws {
        let calls = Recorded(0)
        var config = Configuration()
        config.busyMode = .callback { _ in
            calls.update { $0 += 1 }
            return false
        }
        let path = folder.file("a.sqlite")
        let holder = try DatabaseQueue(path: path)
        let waiter = try DatabaseQueue(path: path, configuration: config)
        try holder.inTransaction(.immediate) { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            expectError(.SQLITE_BUSY) { try waiter.write { _ in } }
            #expect(calls.value == 1)
            try waiter.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA busy_timeout = 1") }
            expectError(.SQLITE_BUSY) { try waiter.write { _ in } }
            #expect(calls.value == 1)
            return .commit
        }
    }

    // MARK: - Handles

    @Test func blobsEndWithTheirAccessAndRow() throws {
        var escaped: DatabaseBlob?
        try dbQueue.write { db in
            let blob = try db.openBlob(table: "file", column: "content", rowID: 1, readOnly: false)
            expectError(.SQLITE_RANGE) { try blob.write([1, 2, 3]) }
            try db.execute(sql: "UPDATE file SET content = x'0203' WHERE id = 1")
            expectError(.SQLITE_ABORT) { _ = try blob.read() }
            escaped = try db.openBlob(table: "file", column: "content", rowID: 1)
            expectError(DatabaseError.self) { try db.openBlob(table: "file", column: "content", rowID: 2) }
        }
        expectError(.SQLITE_MISUSE) { try escaped?.read() }
    }

    @Test func handlesEndWithTheirAccess() throws {
        var statement: Statement?
        try dbQueue.read { db in statement = try db.makeStatement(sql: "SELECT 1") }
        expectError(.SQLITE_MISUSE, "Database was used outside of its access.") { try statement?.execute() }
        statement = nil
        var connection: Database?
        try dbQueue.read { db in connection = db }
        try dbQueue.close()
        #expect(connection?.sqliteConnection == nil)
    }

    @Test func deserializationIsRefused() throws {
        let bytes = try dbQueue.read { db in try db.serialize() }
        expectError(.SQLITE_NOTADB) { try dbQueue.inDatabase { db in try db.deserialize([1, 2, 3]) } }
        expectError(.SQLITE_BUSY) { try dbQueue.write { db in try db.deserialize(bytes) } }
        let pool = try DatabasePool(path: folder.file("pool.sqlite"))
        expectError(.SQLITE_MISUSE, "could not deserialize into main: its pool would keep reading the file") {
            try pool.writeWithoutTransaction { db in try db.deserialize(bytes) }
        }
        // In an attached schema of a pool's writer it may be done.
        let count = try pool.writeWithoutTransaction { db in
            try db.attach(":memory:", as: "copy")
            try db.deserialize(bytes, schema: "copy")
            defer { try? db.detach("copy") }
            return try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM copy.file")
        }
        #expect(count == 2)
    }

    /// A pool's readers are other connections: a pragma of one access concerns one of them.
    @Test func pragmasConcernOneConnection() throws {
        let pool = try DatabasePool(path: folder.file("pool.sqlite"))
        try pool.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA cache_size = 77") }
        let writer = try pool.writeWithoutTransaction { db in try Int.fetchOne(db, sql: "PRAGMA cache_size") }
        let reader = try pool.read { db in try Int.fetchOne(db, sql: "PRAGMA cache_size") }
        #expect(writer == 77)
        #expect(reader != 77)
    }

    /// `PRAGMA foreign_keys` does nothing inside a transaction.
    @Test func pragmasInTransactions() throws {
        try dbQueue.write { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            #expect(try Int.fetchOne(db, sql: "PRAGMA foreign_keys") == 1)
        }
    }
}
