import Quarry

struct Team: Codable, Equatable, FetchableRecord, MutablePersistableRecord, Identifiable {
    static let players = hasMany(Player.self)

    var id: Int64?
    var name: String

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

struct Player: Codable, Equatable, FetchableRecord, MutablePersistableRecord, Identifiable {
    static let team = belongsTo(Team.self)

    var id: Int64?
    var teamId: Int64?
    var name: String
    var score: Int?

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

struct TeamInfo: Decodable, Equatable, FetchableRecord {
    var team: Team
    var players: [Player]
}

struct PlayerInfo: Decodable, Equatable, FetchableRecord {
    var player: Player
    var team: Team?
}

extension DatabaseMigrator {
    /// Teams and players.
    static var teams: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("team") { db in
            try db.create(table: "team") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull().unique()
            }
        }
        migrator.registerMigration("player") { db in
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.belongsTo("team", onDelete: .cascade)
                t.column("name", .text).notNull()
                t.column("score", .integer).check { $0 >= 0 }
            }
            try db.create(index: "player_score", on: "player", columns: ["score"])
        }
        return migrator
    }
}
