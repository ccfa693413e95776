public import Quarry

/// Records of teams, players and others, with their associations: the tables of `withSport(_:_:)`.
public enum Sport {
    public struct Team: Codable, FetchableRecord, PersistableRecord, Identifiable, Hashable {
        public var id: Int64?
        public var name: String
        public var color: String?

        public init(id: Int64? = nil, name: String, color: String? = nil) {
            self.id = id
            self.name = name
            self.color = color
        }

        public static let players = hasMany(Player.self)
        public static let awards = hasMany(Award.self, through: players, using: Player.awards)

        public enum Columns {
            public static let id = Column("id")
            public static let name = Column("name")
            public static let color = Column("color")
        }
    }

    public struct Player: Codable, FetchableRecord, PersistableRecord, Identifiable, Hashable {
        public var id: Int64
        public var name: String
        public var score: Int
        public var teamId: Int64?

        public init(id: Int64, name: String, score: Int, teamId: Int64? = nil) {
            self.id = id
            self.name = name
            self.score = score
            self.teamId = teamId
        }

        public static let team = belongsTo(Team.self)
        public static let awards = hasMany(Award.self)
        public static let profile = hasOne(Profile.self)

        public enum Columns {
            public static let id = Column("id")
            public static let name = Column("name")
            public static let score = Column("score")
            public static let teamId = Column("teamId")
        }
    }

    public struct Award: Codable, FetchableRecord, PersistableRecord, Hashable {
        public var id: Int64
        public var title: String
        public var playerId: Int64

        public init(id: Int64, title: String, playerId: Int64) {
            self.id = id
            self.title = title
            self.playerId = playerId
        }

        public static let player = belongsTo(Player.self)
        public static let team = hasOne(Team.self, through: player, using: Player.team)

        public enum Columns {
            public static let id = Column("id")
            public static let title = Column("title")
            public static let playerId = Column("playerId")
        }
    }

    public struct Profile: Codable, FetchableRecord, PersistableRecord, Hashable {
        public var playerId: Int64
        public var bio: String

        public init(playerId: Int64, bio: String) {
            self.playerId = playerId
            self.bio = bio
        }

        public static let player = belongsTo(Player.self)
    }

    public struct Match: Codable, FetchableRecord, PersistableRecord, Hashable {
        public var id: Int64
        public var homeId: Int64
        public var guestId: Int64

        public init(id: Int64, homeId: Int64, guestId: Int64) {
            self.id = id
            self.homeId = homeId
            self.guestId = guestId
        }

        public static let home = belongsTo(Team.self, key: "home", using: ForeignKey(["homeId"]))
        public static let guest = belongsTo(Team.self, key: "guest", using: ForeignKey([Column("guestId")]))
        public static let ambiguous = belongsTo(Team.self)
    }

    public struct Pair: Codable, FetchableRecord, PersistableRecord, Hashable {
        public var a: Int
        public var b: String

        public init(a: Int, b: String) {
            self.a = a
            self.b = b
        }

        public static let parts = hasMany(Part.self)
        public static let things = hasMany(Thing.self, using: ForeignKey(["x", "y"], to: ["a", "b"]))
    }

    public struct Part: Codable, FetchableRecord, PersistableRecord, Hashable {
        public var id: Int64
        public var pairA: Int?
        public var pairB: String?

        public init(id: Int64, pairA: Int? = nil, pairB: String? = nil) {
            self.id = id
            self.pairA = pairA
            self.pairB = pairB
        }

        public static let pair = belongsTo(Pair.self)
    }

    public struct Thing: Codable, FetchableRecord, PersistableRecord, Hashable {
        public var x: Int
        public var y: String

        public init(x: Int, y: String) {
            self.x = x
            self.y = y
        }

        public static let pair = belongsTo(Pair.self, using: ForeignKey(["x", "y"]))
        public static let undeclared = belongsTo(Pair.self)
    }

    public struct Person: Codable, FetchableRecord, PersistableRecord, Hashable {
        public var id: Int64
        public var parentId: Int64?
        public var name: String

        public init(id: Int64, parentId: Int64? = nil, name: String) {
            self.id = id
            self.parentId = parentId
            self.name = name
        }

        public static let parent = belongsTo(Person.self, key: "parent")
        public static let children = hasMany(Person.self, key: "children")
    }

    public struct Country: Codable, FetchableRecord, PersistableRecord, Hashable {
        public var code: String

        public init(code: String) {
            self.code = code
        }

        public static let citizenships = hasMany(Citizenship.self)
        public static let citizens = hasMany(Person.self, through: citizenships, using: Citizenship.person)
    }

    public struct Citizenship: Codable, FetchableRecord, PersistableRecord, Hashable {
        public var countryCode: String
        public var personId: Int64

        public init(countryCode: String, personId: Int64) {
            self.countryCode = countryCode
            self.personId = personId
        }

        public static let person = belongsTo(Person.self)
        public static let country = belongsTo(Country.self)
    }

    public struct NoKey: Codable, FetchableRecord, PersistableRecord, Hashable {
        public var x: Int

        public init(x: Int) {
            self.x = x
        }
    }
}

/// Runs `body` in a database in memory with teams, players and others.
@discardableResult
public func withSport<T>(_ configuration: Configuration = Configuration(), _ body: (Database) throws -> T) throws -> T {
    try DatabaseQueue(configuration: configuration).write { db in
        try db.execute(
            sql: """
                CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT, color TEXT);
                CREATE TABLE player (
                    id INTEGER PRIMARY KEY, name TEXT UNIQUE, score INTEGER NOT NULL,
                    teamId INTEGER REFERENCES team (id));
                CREATE TABLE award (id INTEGER PRIMARY KEY, title TEXT, playerId INTEGER REFERENCES player (id));
                CREATE TABLE profile (playerId INTEGER PRIMARY KEY REFERENCES player (id), bio TEXT);
                CREATE TABLE match (
                    id INTEGER PRIMARY KEY, homeId INTEGER REFERENCES team (id), guestId INTEGER REFERENCES team (id));
                CREATE TABLE pair (a INTEGER NOT NULL, b TEXT NOT NULL, PRIMARY KEY (a, b)) WITHOUT ROWID;
                CREATE TABLE part (
                    id INTEGER PRIMARY KEY, pairA INTEGER, pairB TEXT,
                    FOREIGN KEY (pairA, pairB) REFERENCES pair (a, b));
                CREATE TABLE noKey (x INTEGER);
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
