import Quarry
import QuarryTestSupport
import Testing

/// The code of the root page of the documentation.
@Suite struct RootPageSamples {
    struct Player: Codable, FetchableRecord, MutablePersistableRecord {
        var id: Int64?
        var name: String
        var score: Int

        enum Columns {
            static let score = Column("score")
        }

        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }

    @Test func tour() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("players.sqlite")

        let dbPool = try await DatabasePool.open(path: path)

        try await dbPool.write { db in
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.column("score", .integer).notNull()
            }
            var player = Player(id: nil, name: "Arthur", score: 300)
            try player.insert(db)
        }

        let best = try await dbPool.read { db in
            try Player.order(\.score.desc).limit(10).fetchAll(db)
        }

        #expect(best.map(\.name) == ["Arthur"])
        try await dbPool.read { db in
            try expectEmitted(db, #"SELECT * FROM "player" ORDER BY "score" DESC LIMIT 10"#) {
                _ = try Player.order(\.score.desc).limit(10).fetchAll(db)
            }
        }
    }
}
