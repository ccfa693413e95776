import Quarry
import QuarryTables
import QuarryTestSupport
import Testing

@Suite struct BoundTablesSamples {
    struct Player: Codable, FetchableRecord, PersistableRecord, Equatable {
        static let databaseTableName = "player"
        var id: Int64
        var name: String
        var score: Int
    }

    @Test func playersInOneLine() throws {
        let folder = try TemporaryFolder(isFast: true)
        let dbPool = try DatabasePool(path: folder.file("a.sqlite"))
        try dbPool.write { db in
            try db.execute(
                sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER NOT NULL)")
        }
        let players = dbPool.table("player", of: Player.self)
        try players.insert(Player(id: 1, name: "Arthur", score: 100))
        let best = try players.fetchAll { $0.order(Column("score").desc).limit(10) }
        #expect(best == [Player(id: 1, name: "Arthur", score: 100)])
        try dbPool.write { _ in
            try players.insert(Player(id: 2, name: "Barbara", score: 200))
            print(try players.fetchCount())  // 2: it sees the new player
        }
        #expect(try players.fetchCount() == 2)
    }
}
