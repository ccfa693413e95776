import Quarry
import QuarryTestSupport
import Testing

/// The code of the article "Stable reads".
@Suite struct StableReadsSamples {
    let folder: TemporaryFolder
    let dbPool: DatabasePool

    init() throws {
        folder = try TemporaryFolder()
        dbPool = try DatabasePool(path: folder.file("players.sqlite"))
        try dbPool.write { db in try db.makePlayers("Arthur", "Barbara") }
    }

    @Test func advancing() throws {
        let print = { @Sendable (_: Any) in }
        let reader = try dbPool.makeStableReader(keys: true)
        let players = try reader.read { db in try Row.fetchAll(db, sql: "SELECT * FROM player") }
        let count = try reader.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")! }
        var copy: [RowKey: Row] = [:]
        for row in players { copy[RowKey(row["id"] as Int64)] = row }
        try dbPool.write { db in try db.execute(sql: "UPDATE player SET name = 'Anna' WHERE id = 1") }

        let commits = try reader.advance()
        if commits.changes.containsChange(in: "player", key: 1) { print("player 1 has changed") }
        for (key, change) in commits.changes.changedKeys(in: "player") ?? [:] {
            copy[key] =
                if change == .deleted {
                    nil
                } else {
                    try reader.read { db in
                        try Row.fetchOne(db, sql: "SELECT * FROM player WHERE id = ?", arguments: [key.values[0]])
                    }
                }
        }
        #expect(count == 2 && copy[1]?["name"] == "Anna" && copy[2]?["name"] == "Barbara")
    }

    @Test func severalReaders() async throws {
        let readers = try dbPool.makeStableReaders(count: 2)
        #expect(readers[0].commitNumber == readers[1].commitNumber)
        let reader = readers[0]
        let (_, number) = try await dbPool.writeWithCommitNumber { db in
            try db.execute(sql: "INSERT INTO player (name) VALUES ('Craig')")
        }
        let newCommits = try await reader.advance(to: number)
        #expect(newCommits.map(\.number) == [number])
    }
}
