import Quarry
import QuarryTestSupport
import Testing

/// The code of the article "Deployment".
@Suite struct DeploymentSamples {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("players.sqlite")
    }

    @Test func permissions() throws {
        var config = Configuration()
        config.filePermissions = 0o600  // the server's user alone
        let dbPool = try DatabasePool(path: path, configuration: config)

        #expect(dbPool.configuration.filePermissions == 0o600)
    }

    func shutDown(_ dbPool: DatabasePool) async throws {
        try await dbPool.close(gracePeriod: .seconds(10))
    }

    @Test func requestsAndShutdown() async throws {
        var still = Configuration()
        still.monotonicClock = ManualMonotonicClock().monotonicClock
        let dbPool = try DatabasePool(path: path, configuration: still)
        try await dbPool.write { db in try db.makePlayers() }
        let names = try await dbPool.read(timeout: .milliseconds(200)) { db in
            try String.fetchAll(db, sql: "SELECT name FROM player")
        }
        #expect(names == [])
        let count = try await dbPool.read(timeout: .milliseconds(200)) { db in
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")!
        }
        #expect(count == 0)
        try await shutDown(dbPool)
        try await dbPool.close(gracePeriod: .seconds(10))
        await expectError(.SQLITE_MISUSE, "Connection is closed") { try await dbPool.read { _ in } }
    }

    @Test func litestream() throws {
        var config = Configuration()
        config.prepareDatabase { db in
            if !db.configuration.readonly { try db.execute(sql: "PRAGMA wal_autocheckpoint = 0") }
        }
        let dbPool = try DatabasePool(path: path, configuration: config)
        let pages = try dbPool.writeWithoutTransaction { db in
            try Int.fetchOne(db, sql: "PRAGMA wal_autocheckpoint")
        }
        #expect(pages == 0)
    }
}
