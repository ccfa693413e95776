import Quarry

struct DumpedTeam: Codable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "team"
    static let players = hasMany(DumpedPlayer.self)
    static let awards = hasMany(DumpedAward.self, through: players, using: DumpedPlayer.awards)
    var id: Int64?
    var name: String
}

struct DumpedPlayer: Codable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "player"
    static let team = belongsTo(DumpedTeam.self)
    static let awards = hasMany(DumpedAward.self)
    var id: Int64?
    var name: String
    var score: Int?
    var teamId: Int64?
}

struct DumpedAward: Codable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "award"
    static let player = belongsTo(DumpedPlayer.self)
    var id: Int64?
    var title: String
    var playerId: Int64
}

extension DatabaseQueue {
    /// Three teams, four players, three awards.
    static func withPlayers() throws -> DatabaseQueue {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                    CREATE TABLE player (
                        id INTEGER PRIMARY KEY, name TEXT, score INTEGER, teamId INTEGER REFERENCES team(id));
                    CREATE TABLE award (id INTEGER PRIMARY KEY, title TEXT, playerId INTEGER REFERENCES player(id));
                    INSERT INTO team VALUES (1, 'Reds'), (2, 'Blues'), (3, 'None');
                    INSERT INTO player VALUES (1, 'Arthur', 100, 1), (2, 'Barbara', 1000, 1), (3, 'Craig', NULL, 2),
                        (4, 'Dan', 5, NULL);
                    INSERT INTO award VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 2);
                    """)
        }
        return dbQueue
    }
}
