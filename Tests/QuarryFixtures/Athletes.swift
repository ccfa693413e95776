public import Quarry

/// Runs `body` in a database in memory with athletes of two teams, and with JSON about them.
public func withAthletes(_ body: (Database) throws -> Void) throws {
    try DatabaseQueue().write { db in
        try db.execute(
            sql: """
                CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL, bonus INTEGER NOT NULL DEFAULT 0);
                CREATE TABLE athlete (
                    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, score INTEGER, teamId INTEGER, info TEXT);
                CREATE TABLE archive (id INTEGER PRIMARY KEY, name TEXT, score INTEGER, teamId INTEGER, info TEXT);
                INSERT INTO team VALUES (1, 'Red', 5), (2, 'Blue', 7), (3, 'Green', 0);
                INSERT INTO athlete VALUES
                    (1, 'Arthur', 10, 1, '{"city": "Paris", "tags": ["captain", "left"], "age": 30}'),
                    (2, 'Barbara', 30, 1, '{"city": "Rome", "tags": [], "age": 25}'),
                    (3, 'Craig', 20, 2, '{"city": "Paris", "tags": ["left"], "age": null}'),
                    (4, 'Diane', NULL, NULL, NULL);
                """)
        try body(db)
    }
}

public struct Athlete: Codable, FetchableRecord, PersistableRecord, Identifiable, Hashable {
    public var id: Int64
    public var name: String
    public var score: Int?
    public var teamId: Int64?
    public var info: String?

    public init(id: Int64, name: String, score: Int? = nil, teamId: Int64? = nil, info: String? = nil) {
        self.id = id
        self.name = name
        self.score = score
        self.teamId = teamId
        self.info = info
    }

    public enum Columns {
        public static let id = Column("id")
        public static let name = Column("name")
        public static let score = Column("score")
        public static let teamId = Column("teamId")
        public static let info = JSONColumn("info")
    }
}

public struct Squad: Codable, FetchableRecord, PersistableRecord, Identifiable, Hashable {
    public static let databaseTableName = "team"
    public var id: Int64
    public var name: String
    public var bonus: Int

    public init(id: Int64, name: String, bonus: Int) {
        self.id = id
        self.name = name
        self.bonus = bonus
    }

    public enum Columns {
        public static let id = Column("id")
        public static let name = Column("name")
        public static let bonus = Column("bonus")
    }
}
