import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// The statements that accesses run around their closures.
@Suite struct ControlStatementTests {
    let folder: TemporaryFolder
    let trace = SQLTrace()
    var configuration = Configuration()

    init() throws {
        folder = try TemporaryFolder()
        trace.install(in: &configuration)
    }

    @Test func readsOfAPool() async throws {
        var configuration = configuration
        configuration.maximumReaderCount = 1
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        let expected = [
            "BEGIN DEFERRED TRANSACTION", "PRAGMA schema_version", "SELECT 1", "COMMIT TRANSACTION",
        ]
        try await pool.read { _ in }
        for _ in 0..<3 {
            _ = trace.take()
            _ = try await pool.read { db in try Int.fetchOne(db, sql: "SELECT 1") }
            #expect(trace.take() == expected)
            _ = try await onOwnThread { try pool.read { db in try Int.fetchOne(db, sql: "SELECT 1") } }
            #expect(trace.take() == expected)
        }
        for sql in expected where sql != "SELECT 1" {
            #expect(trace.statementCount(sql) == 1, "prepared once for a connection: \(sql)")
        }
    }

    @Test func readsOfAQueue() throws {
        let queue = try DatabaseQueue(path: folder.file("a.sqlite"), configuration: configuration)
        _ = trace.take()
        _ = try queue.read { db in try Int.fetchOne(db, sql: "SELECT 1") }
        #expect(trace.take() == ["BEGIN DEFERRED TRANSACTION", "SELECT 1", "COMMIT TRANSACTION"])
        _ = try queue.unsafeRead { db in try Int.fetchOne(db, sql: "SELECT 1") }
        #expect(trace.take() == ["SELECT 1"])
    }

    @Test(arguments: WriterKind.allCases) func writes(_ kind: WriterKind) async throws {
        var configuration = configuration
        // On a slow machine a pool is idle for a second between two writes, and its log is looked at.
        configuration.wal.idleDelay = 60
        let writer = try kind.make(folder, configuration)
        try await writer.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        for value in 0..<3 {
            _ = trace.take()
            try await writer.write { db in try db.execute(sql: "INSERT INTO t VALUES (1)") }
            let expected = ["BEGIN IMMEDIATE TRANSACTION", "INSERT INTO t VALUES (1)", "COMMIT TRANSACTION"]
            #expect(trace.take() == expected, "write \(value)")
            try await onOwnThread {
                try writer.write { db in try db.execute(sql: "INSERT INTO t VALUES (1)") }
            }
            #expect(trace.take() == expected, "write \(value)")
        }
        #expect(trace.statementCount("BEGIN IMMEDIATE TRANSACTION") == 1)
        #expect(trace.statementCount("COMMIT TRANSACTION") == 1)
        _ = try? await writer.write { db in try db.execute(sql: "INSERT INTO t (missing) VALUES (1)") }
        #expect(trace.take() == ["BEGIN IMMEDIATE TRANSACTION", "ROLLBACK TRANSACTION"])
        try await writer.writeWithoutTransaction { db in try db.execute(sql: "INSERT INTO t VALUES (2)") }
        #expect(trace.take() == ["INSERT INTO t VALUES (2)"])
        try await writer.barrierWriteWithoutTransaction { db in try db.execute(sql: "INSERT INTO t VALUES (3)") }
        #expect(trace.take() == ["INSERT INTO t VALUES (3)"])
    }

    @Test func kindsOfTransactions() throws {
        let queue = try DatabaseQueue(configuration: configuration)
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        let kinds: [(Database.TransactionKind?, String)] = [
            (nil, "IMMEDIATE"), (.deferred, "DEFERRED"), (.immediate, "IMMEDIATE"), (.exclusive, "EXCLUSIVE"),
        ]
        for (kind, name) in kinds {
            _ = trace.take()
            try queue.inTransaction(kind) { _ in .commit }
            #expect(trace.take() == ["BEGIN \(name) TRANSACTION", "COMMIT TRANSACTION"])
            try pool.writeInTransaction(kind) { _ in .rollback }
            #expect(trace.take() == ["BEGIN \(name) TRANSACTION", "ROLLBACK TRANSACTION"])
        }
        var readonly = configuration
        readonly.readonly = true
        let reader = try DatabaseQueue(path: folder.file("a.sqlite"), configuration: readonly)
        _ = trace.take()
        try reader.inTransaction { _ in .commit }
        #expect(trace.take() == ["BEGIN DEFERRED TRANSACTION", "COMMIT TRANSACTION"])
    }

    @Test func snapshotsKeepTheirTransaction() throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        try pool.makeTable(1)
        let snapshot = try pool.makeSnapshot()
        _ = trace.take()
        #expect(try snapshot.read { db in try db.values() } == [1])
        #expect(trace.take() == ["SELECT a FROM t ORDER BY a"])
    }

    @Test func vacuum() async throws {
        let queue = try DatabaseQueue(path: folder.file("a.sqlite"), configuration: configuration)
        try await queue.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)") }
        _ = trace.take()
        try await queue.vacuum()
        #expect(trace.take().filter { !$0.hasPrefix("--") } == ["VACUUM"])
        try await queue.vacuum(into: folder.file("copy.sqlite"))
        let copy = try DatabaseQueue(path: folder.file("copy.sqlite"))
        #expect(try await copy.read { db in try db.values() } == [1])
        await expectError(.SQLITE_ERROR, "output file already exists") {
            try await queue.vacuum(into: folder.file("copy.sqlite"))
        }
    }
}
