import Quarry
import QuarryTestSupport
import Testing

@Suite struct GroupCommitSamples {
    let folder = try! TemporaryFolder()

    @Test func groupCommit() async throws {
        let path = folder.file("players.sqlite")
        var config = Configuration()
        config.groupCommit = true
        config.synchronous = .full
        let dbPool = try DatabasePool(path: path, configuration: config)
        try await dbPool.write { db in try db.execute(sql: "CREATE TABLE player (name TEXT)") }
        try await dbPool.write { db in
            try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
        }
        #expect(try await dbPool.read { db in try String.fetchAll(db, sql: "SELECT name FROM player") } == ["Arthur"])
    }
}
