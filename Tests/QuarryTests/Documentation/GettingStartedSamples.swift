import Quarry
import QuarryTestSupport
import Testing

@Suite struct GettingStartedSamples {
    struct Player: Codable, FetchableRecord, MutablePersistableRecord {
        var id: Int64?
        var name: String
        var score: Int

        enum Columns {
            static let name = Column("name")
            static let score = Column("score")
        }

        mutating func didInsert(_ inserted: InsertionSuccess) {
            id = inserted.rowID
        }
    }

    @Test func all() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("players.sqlite")
        let bonus = 50

        let dbPool = try await DatabasePool.open(path: path)

        var migrator = DatabaseMigrator()
        migrator.registerMigration("create player") { db in
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.column("score", .integer).notNull().defaults(to: 0)
            }
        }
        try migrator.migrate(dbPool)

        try await dbPool.write { db in
            var arthur = Player(id: nil, name: "Arthur", score: 300)
            try arthur.insert(db)
            try db.execute(literal: "UPDATE player SET score = score + \(bonus) WHERE name = \(arthur.name)")
        }

        let best = try await dbPool.read { db in
            try Player.order { $0.score.desc }.limit(10).fetchAll(db)
        }
        #expect(best.map(\.id) == [1])
        #expect(best.map(\.score) == [350])

        let database = try DatabaseQueue()
        try migrator.migrate(database)
        #expect(try await database.read { db in try Player.fetchCount(db) } == 0)
    }
}
