import Quarry
import QuarryTestSupport
import Testing

/// Records of the tests of requests.
enum Query {
    struct Team: Codable, FetchableRecord, MutablePersistableRecord, Identifiable, Hashable {
        var id: Int64?
        var name: String
        var color: String?

        enum Columns {
            static let id = Column("id")
            static let name = Column("name")
            static let color = Column("color")
        }
    }

    struct Player: Codable, FetchableRecord, MutablePersistableRecord, Identifiable, Hashable {
        var id: Int64?
        var name: String
        var score: Int
        var teamId: Int64?

        enum Columns {
            static let id = Column("id")
            static let name = Column("name")
            static let score = Column("score")
            static let teamId = Column("teamId")
        }
    }

    struct Award: Codable, FetchableRecord, MutablePersistableRecord, Identifiable, Hashable {
        var id: Int64?
        var title: String
        var playerId: Int64
    }

    struct Pair: Codable, FetchableRecord, PersistableRecord, Hashable {
        var a: Int
        var b: String
        var c: Int?
    }

    struct NoKey: Codable, FetchableRecord, PersistableRecord, Hashable {
        var x: Int
    }

    /// Some columns of a player.
    struct Sel: TableRecord, FetchableRecord {
        static let databaseTableName = "player"
        static var databaseSelection: [any SQLSelectable] { [Column("id"), Column("name")] }

        init(row: Row) {}
    }

    /// A player with its rowid.
    struct RowID: TableRecord, FetchableRecord {
        static let databaseTableName = "player"
        static var databaseSelection: [any SQLSelectable] { [.allColumns, .rowID] }

        init(row: Row) {}
    }
}

/// Runs `body` in a database in memory with teams and players.
@discardableResult
func withPlayers<T>(_ configuration: Configuration = Configuration(), _ body: (Database) throws -> T) throws -> T {
    try DatabaseQueue(configuration: configuration).write { db in
        try db.execute(
            sql: """
                CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT, color TEXT);
                CREATE TABLE player (
                    id INTEGER PRIMARY KEY, name TEXT UNIQUE, score INTEGER, teamId INTEGER REFERENCES team (id));
                CREATE TABLE award (id INTEGER PRIMARY KEY, title TEXT, playerId INTEGER REFERENCES player (id));
                CREATE TABLE pair (a INTEGER NOT NULL, b TEXT NOT NULL, c INTEGER, PRIMARY KEY (a, b));
                CREATE TABLE noKey (x INTEGER);
                INSERT INTO team VALUES (1, 'Reds', 'red'), (2, 'Blues', 'blue');
                INSERT INTO player VALUES
                    (1, 'Arthur', 100, 1), (2, 'Barbara', 1000, 1), (3, 'Craig', 200, 2), (4, 'Dan', 5, NULL);
                INSERT INTO award VALUES (1, 'gold', 1), (2, 'silver', 1), (3, 'gold', 3);
                INSERT INTO pair VALUES (1, 'x', 3), (2, 'y', 4);
                """)
        return try body(db)
    }
}

/// Checks the statements that SQLite runs in `body`.
func expectSQL(
    _ db: Database, _ expected: String..., sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
) throws {
    let sql = try emitted(db, body)
    #expect(sql == expected, sourceLocation: sourceLocation)
}
