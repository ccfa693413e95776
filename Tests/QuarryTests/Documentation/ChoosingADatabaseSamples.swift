import Quarry
import QuarryShared
import QuarryTestSupport
import Testing

/// The code of the article "Choosing queue or pool", and its statements on waiting.
@Suite struct ChoosingADatabaseSamples {
    struct PlayerReports: Sendable {
        let reader: any DatabaseReader  // a pool, a queue, a shared database, a snapshot

        func count() async throws -> Int {
            try await reader.read { db in
                try Int.fetchOne(db, sql: "SELECT count(*) FROM player")!
            }
        }
    }

    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        path = folder.file("players.sqlite")
    }

    @Test func allOfThemRead() async throws {
        try await DatabasePool(path: path).write { db in try db.makePlayers("Arthur") }
        let (exportPath, sharedPath) = (folder.file("export.sqlite"), folder.file("shared.sqlite"))
        let folderPath = folder.path
        let dbPool = try await DatabasePool.open(path: path)
        let dbQueue = try await DatabaseQueue.open(path: exportPath)
        let inMemory = try DatabaseQueue()
        let named = try DatabaseQueue(named: "sessions")
        let shared = SharedDatabase(path: sharedPath)
        let tenants = try DatabaseDirectory(path: folderPath, maximumOpenCount: 100)
        let snapshot = try await dbPool.makeSnapshotAsync(label: "monthly report")
        let stableReader = try await dbPool.makeStableReader()

        let acme = try tenants.database(named: "acme")
        let empty: [any DatabaseWriter] = [dbQueue, inMemory, named, shared, acme]
        for database in empty { try await database.write { db in try db.makePlayers("Arthur") } }
        let snapshots = try await dbPool.makeSnapshotPoolAsync()
        let readers: [any DatabaseReader] = [dbPool, snapshot, snapshots, stableReader]
        for reader in readers + empty { #expect(try await PlayerReports(reader: reader).count() == 1) }

        #expect(try await Self.settings(of: dbPool) == ["wal", "2"])
        #expect(try await Self.settings(of: dbQueue) == ["delete", "2"])
        #expect(try await Self.settings(of: inMemory)[0] == "memory")
        try stableReader.close()
        try await snapshot.closeAsync()
        try await snapshots.closeAsync()
        try await tenants.closeAsync()
    }

    /// The journal mode, and `synchronous`, of the connection that writes.
    private static func settings(of database: any DatabaseWriter) async throws -> [String] {
        try await database.writeWithoutTransaction { db in
            let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode")!
            return [mode, try String.fetchOne(db, sql: "PRAGMA synchronous")!]
        }
    }

    @Test func aReadInAWrite() throws {
        let dbPool = try DatabasePool(path: path)
        try dbPool.write { db in try db.makePlayers("Arthur") }
        try dbPool.write { db in
            try db.execute(sql: "DELETE FROM player")
            let visible = try dbPool.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM player")! }  // 1
            #expect(visible == 1)
        }
        let dbQueue = try DatabaseQueue()
        expectError(.SQLITE_MISUSE, "Database methods are not reentrant.") {
            try dbQueue.write { _ in try dbQueue.read { _ in } }
        }
    }

    @Test func transactionsOfAccesses() throws {
        let dbPool = try DatabasePool(path: path)
        let statements = Recorded<[String]>([])
        let registration = dbPool.addTracer(DatabaseTracing.Options([.statements])) { event in
            if case .statement(let statement) = event { statements.update { $0.append(statement.sql) } }
        }
        try dbPool.write { db in try db.makePlayers("Arthur") }
        try dbPool.read { db in _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM player") }
        registration.remove()
        #expect(statements.value.contains("BEGIN IMMEDIATE TRANSACTION"))
        #expect(statements.value.contains("BEGIN DEFERRED TRANSACTION"))
    }

    @Test func queuesOfOneNameDoNotWait() throws {
        let first = try DatabaseQueue(named: "ChoosingADatabaseSamples")
        let second = try DatabaseQueue(named: "ChoosingADatabaseSamples")
        try first.write { db in try db.makePlayers("Arthur") }
        #expect(try second.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM player") } == 1)
        try first.write { db in
            try db.execute(sql: "DELETE FROM player")
            expectError(.SQLITE_LOCKED) {
                try second.read { db in _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM player") }
            }
        }
    }

    @Test func aWriteMakesReadsOfAQueueWait() async throws {
        var config = Configuration()
        config.acquireTimeout = 0.001
        let clock = ManualMonotonicClock()
        config.monotonicClock = clock.monotonicClock
        let dbQueue = try DatabaseQueue(path: path, configuration: config)
        let writes = Step("a write runs")
        let mayEnd = Step("the write may end")
        let writer = OwnThread {
            try dbQueue.write { _ in
                writes.reach()
                try mayEnd.wait()
            }
        }
        try await writes.reached(by: writer)
        try await clock.advance(by: .milliseconds(1), when: "it waits", dbQueue.statistics.writer.waiters == 1) {
            await expectError(.SQLITE_BUSY) { try await dbQueue.read { _ in } }
        }
        mayEnd.reach()
        try await writer.value
    }
}
