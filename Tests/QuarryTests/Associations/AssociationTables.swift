import Quarry
import QuarryTestSupport
import Testing

/// Records of the tests of associations.
enum Sport {
    struct Team: Codable, FetchableRecord, PersistableRecord, Identifiable, Hashable {
        var id: Int64?
        var name: String
        var color: String?

        static let players = hasMany(Player.self)
        static let awards = hasMany(Award.self, through: players, using: Player.awards)

        enum Columns {
            static let id = Column("id")
            static let name = Column("name")
            static let color = Column("color")
        }
    }

    struct Player: Codable, FetchableRecord, PersistableRecord, Identifiable, Hashable {
        var id: Int64
        var name: String
        var score: Int
        var teamId: Int64?

        static let team = belongsTo(Team.self)
        static let awards = hasMany(Award.self)
        static let profile = hasOne(Profile.self)

        enum Columns {
            static let id = Column("id")
            static let name = Column("name")
            static let score = Column("score")
            static let teamId = Column("teamId")
        }
    }

    struct Award: Codable, FetchableRecord, PersistableRecord, Hashable {
        var id: Int64
        var title: String
        var playerId: Int64

        static let player = belongsTo(Player.self)
        static let team = hasOne(Team.self, through: player, using: Player.team)

        enum Columns {
            static let id = Column("id")
            static let title = Column("title")
            static let playerId = Column("playerId")
        }
    }

    struct Profile: Codable, FetchableRecord, PersistableRecord, Hashable {
        var playerId: Int64
        var bio: String

        static let player = belongsTo(Player.self)
    }

    struct Match: Codable, FetchableRecord, PersistableRecord, Hashable {
        var id: Int64
        var homeId: Int64
        var guestId: Int64

        static let home = belongsTo(Team.self, key: "home", using: ForeignKey(["homeId"]))
        static let guest = belongsTo(Team.self, key: "guest", using: ForeignKey([Column("guestId")]))
        static let ambiguous = belongsTo(Team.self)
    }

    struct Pair: Codable, FetchableRecord, PersistableRecord, Hashable {
        var a: Int
        var b: String

        static let parts = hasMany(Part.self)
        static let things = hasMany(Thing.self, using: ForeignKey(["x", "y"], to: ["a", "b"]))
    }

    struct Part: Codable, FetchableRecord, PersistableRecord, Hashable {
        var id: Int64
        var pairA: Int?
        var pairB: String?

        static let pair = belongsTo(Pair.self)
    }

    struct Thing: Codable, FetchableRecord, PersistableRecord, Hashable {
        var x: Int
        var y: String

        static let pair = belongsTo(Pair.self, using: ForeignKey(["x", "y"]))
        static let undeclared = belongsTo(Pair.self)
    }

    struct Person: Codable, FetchableRecord, PersistableRecord, Hashable {
        var id: Int64
        var parentId: Int64?
        var name: String

        static let parent = belongsTo(Person.self, key: "parent")
        static let children = hasMany(Person.self, key: "children")
    }

    struct Country: Codable, FetchableRecord, PersistableRecord, Hashable {
        var code: String

        static let citizenships = hasMany(Citizenship.self)
        static let citizens = hasMany(Person.self, through: citizenships, using: Citizenship.person)
    }

    struct Citizenship: Codable, FetchableRecord, PersistableRecord, Hashable {
        var countryCode: String
        var personId: Int64

        static let person = belongsTo(Person.self)
        static let country = belongsTo(Country.self)
    }
}

/// Runs `body` in a database in memory with teams, players and others.
@discardableResult
func withSport<T>(_ configuration: Configuration = Configuration(), _ body: (Database) throws -> T) throws -> T {
    try DatabaseQueue(configuration: configuration).write { db in
        try db.execute(
            sql: """
                CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT, color TEXT);
                CREATE TABLE player (
                    id INTEGER PRIMARY KEY, name TEXT, score INTEGER NOT NULL, teamId INTEGER REFERENCES team (id));
                CREATE TABLE award (id INTEGER PRIMARY KEY, title TEXT, playerId INTEGER REFERENCES player (id));
                CREATE TABLE profile (playerId INTEGER PRIMARY KEY REFERENCES player (id), bio TEXT);
                CREATE TABLE match (
                    id INTEGER PRIMARY KEY, homeId INTEGER REFERENCES team (id), guestId INTEGER REFERENCES team (id));
                CREATE TABLE pair (a INTEGER NOT NULL, b TEXT NOT NULL, PRIMARY KEY (a, b)) WITHOUT ROWID;
                CREATE TABLE part (
                    id INTEGER PRIMARY KEY, pairA INTEGER, pairB TEXT,
                    FOREIGN KEY (pairA, pairB) REFERENCES pair (a, b));
                CREATE TABLE thing (x INTEGER, y TEXT);
                CREATE TABLE person (id INTEGER PRIMARY KEY, parentId INTEGER REFERENCES person (id), name TEXT);
                CREATE TABLE country (code TEXT PRIMARY KEY NOT NULL);
                CREATE TABLE citizenship (
                    countryCode TEXT NOT NULL REFERENCES country (code),
                    personId INTEGER NOT NULL REFERENCES person (id), PRIMARY KEY (countryCode, personId));
                INSERT INTO team VALUES (1, 'Reds', 'red'), (2, 'Blues', 'blue'), (3, 'Greens', 'green');
                INSERT INTO player VALUES
                    (1, 'Arthur', 100, 1), (2, 'Barbara', 1000, 1), (3, 'Craig', 200, 2), (4, 'Dan', 5, NULL),
                    (5, 'Eve', 300, 1);
                INSERT INTO award VALUES (1, 'gold', 1), (2, 'silver', 1), (3, 'gold', 3);
                INSERT INTO profile VALUES (1, 'tall');
                INSERT INTO match VALUES (1, 1, 2);
                INSERT INTO pair VALUES (1, 'x'), (1, 'y'), (2, 'y');
                INSERT INTO part VALUES (1, 1, 'x'), (2, 1, 'x'), (3, 2, 'y'), (4, 1, NULL);
                INSERT INTO thing VALUES (1, 'x'), (1, 'y'), (7, 'z');
                INSERT INTO person VALUES (1, NULL, 'Root'), (2, 1, 'Kid'), (3, 2, 'Grandchild');
                INSERT INTO country VALUES ('DE'), ('FR');
                INSERT INTO citizenship VALUES ('DE', 1), ('DE', 2), ('FR', 2);
                """)
        return try body(db)
    }
}

/// The statements that a request runs when its rows are fetched, and what the rows show.
func fetched<R>(_ db: Database, _ request: QueryInterfaceRequest<R>) throws -> (sql: [String], rows: [String]) {
    var rows: [String] = []
    let sql = try emitted(db) { rows = try Row.fetchAll(db, request).map(\.debugDescription) }
    return (sql, rows)
}

/// Checks the one statement of a request.
func expectSQL<R>(
    _ db: Database, _ request: QueryInterfaceRequest<R>, _ expected: String...,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let sql = try fetched(db, request).sql
    #expect(sql == expected, sourceLocation: sourceLocation)
}

/// A long text in pieces: the compiler takes long over a sum of many.
func text(_ pieces: String...) -> String { pieces.joined() }
