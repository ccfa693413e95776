import Quarry
import QuarryTestSupport
import Testing

@Suite struct GroupCommitSamples {
    let folder = try! TemporaryFolder()

    @Test func groupCommit() async throws {
        let dbPool = try DatabasePool(path: folder.file("players.sqlite"))
        try await dbPool.write { db in try db.makePlayers() }
        try await dbPool.write { db in
            try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
        }
        #expect(try await dbPool.read { db in try String.fetchAll(db, sql: "SELECT name FROM player") } == ["Arthur"])
    }

    @Test func withoutSharingOrWaiting() async throws {
        let path = folder.file("players.sqlite")
        var config = Configuration()
        config.groupCommit = false
        config.synchronous = .normal
        let dbPool = try DatabasePool(path: path, configuration: config)
        #expect(try await dbPool.writeWithoutTransaction { db in try db.synchronousMode() } == .normal)
    }

    /// A write that has returned survives a power failure.
    @Test(arguments: [Configuration.JournalModeConfiguration.default, .wal])
    func durableByDefault(journalMode: Configuration.JournalModeConfiguration) async throws {
        var config = Configuration()
        config.journalMode = journalMode
        let databases: [any DatabaseWriter] = [
            try DatabasePool(path: folder.file("pool.sqlite"), configuration: config),
            try DatabaseQueue(path: folder.file("queue.sqlite"), configuration: config),
        ]
        for database in databases {
            #expect(try await database.writeWithoutTransaction { db in try db.synchronousMode() } == .full)
            #expect(database.configuration.groupCommit)
        }
    }
}
