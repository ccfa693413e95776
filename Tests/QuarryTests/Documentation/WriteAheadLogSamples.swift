import Quarry
import QuarryTestSupport
import Testing

/// The code of the article "The write-ahead log".
@Suite struct WriteAheadLogSamples {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func settings() async throws {
        let logged = Recorded(0)
        let log = { @Sendable (_: String) in logged.update { $0 += 1 } }
        let print = { @Sendable (_: Any...) in }
        var config = Configuration()
        config.wal.sizeLimit = 16 << 20  // bytes
        config.wal.ageLimit = 10  // seconds
        config.wal.idleDelay = 0.5  // seconds
        config.wal.readerWait = 0.5  // seconds
        config.onWALEvent { event in
            switch event {
            case .checkpoint(let checkpoint): log("\(checkpoint.bytes) bytes in \(checkpoint.duration)")
            case .logIsLarge(let bytes, let readers): log("\(bytes) bytes: \(readers)")
            default: log("\(event)")
            }
        }
        config.wal.staleReaders = .end(after: 300)  // seconds
        config.maintenance.interval = 6 * 3600  // seconds
        config.maintenance.timeBudget = 1  // seconds
        config.maintenance.analyzes = true  // ANALYZE, which reads some hundred entries of each index
        config.wal.networkFileSystems = .allowed
        let dbPool = try DatabasePool(path: folder.file("players.sqlite"), configuration: config)
        try await dbPool.write { db in try db.makePlayers("Arthur") }
        try labels(dbPool)
        if let log = dbPool.walStatistics {
            print(log.bytes, log.commitCount, log.checkpointCount, log.emptyingCount)
            if let reader = log.oldestReader { print(reader) }
        }
        #expect(dbPool.walStatistics?.commitCount == 1)
        let checkpoint = try await dbPool.maintain(for: .seconds(2))
        #expect(checkpoint?.isEmptied == true)
        try await until("the idle log is checkpointed") { logged.value > 0 }
    }

    private func labels(_ dbPool: DatabasePool) throws {
        let snapshot = try dbPool.makeSnapshot(label: "nightly report")
        let count = try dbPool.read { db in
            db.accessLabel = "player count"
            return try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")!
        }
        #expect(count == 1)
        #expect(dbPool.walStatistics?.oldestReader?.label == "nightly report")
        try snapshot.close()
    }

    @Test func unmanaged() throws {
        var config = Configuration()
        config.wal = .unmanaged  // SQLite's automatic checkpoints alone
        config.maintenance = .off
        let dbPool = try DatabasePool(path: folder.file("players.sqlite"), configuration: config)
        try dbPool.write { db in try db.makePlayers() }
        #expect(dbPool.walStatistics == nil)
    }
}
