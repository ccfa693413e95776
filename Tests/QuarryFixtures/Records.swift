public import Quarry

/// Runs `body` in a database in memory with the empty tables of `Player` and others.
@discardableResult
public func withTables<T>(_ configuration: Configuration = Configuration(), _ body: (Database) throws -> T) throws -> T
{
    try DatabaseQueue(configuration: configuration).write { db in
        try db.execute(
            sql: """
                CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT UNIQUE, score INTEGER NOT NULL DEFAULT 100);
                CREATE TABLE "only" (id INTEGER PRIMARY KEY);
                CREATE TABLE pair (a INTEGER NOT NULL, b TEXT NOT NULL, c INTEGER, PRIMARY KEY (a, b));
                CREATE TABLE country (code TEXT PRIMARY KEY NOT NULL, name TEXT) WITHOUT ROWID;
                CREATE TABLE noKey (x INTEGER);
                """)
        return try body(db)
    }
}

/// A record that learns its id, and encodes its columns itself.
public struct Player: MutablePersistableRecord, FetchableRecord, Identifiable, Hashable {
    public var id: Int64?
    public var name: String
    public var score: Int

    public init(id: Int64? = nil, name: String, score: Int = 1) {
        self.id = id
        self.name = name
        self.score = score
    }

    public init(row: Row) throws {
        id = try row.decode(forColumn: "id")
        name = try row.decode(forColumn: "name")
        score = try row.decode(forColumn: "score")
    }

    public func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["name"] = name
        container["score"] = score
    }

    public mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// The same, encoded by its properties.
public struct CodablePlayer: Codable, MutablePersistableRecord, FetchableRecord, Identifiable, Hashable {
    public static let databaseTableName = "player"
    public var id: Int64?
    public var name: String
    public var score: Int

    public init(id: Int64? = nil, name: String, score: Int) {
        self.id = id
        self.name = name
        self.score = score
    }

    public mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

public struct Only: Codable, FetchableRecord, PersistableRecord, Hashable {
    public var id: Int64

    public init(id: Int64) {
        self.id = id
    }
}

public struct Pair: Codable, FetchableRecord, PersistableRecord, Hashable {
    public var a: Int
    public var b: String
    public var c: Int?

    public init(a: Int, b: String, c: Int? = nil) {
        self.a = a
        self.b = b
        self.c = c
    }
}

public struct Country: Codable, FetchableRecord, PersistableRecord, Identifiable, Hashable {
    public var code: String
    public var name: String

    public init(code: String, name: String) {
        self.code = code
        self.name = name
    }
    public var id: String { code }
}

public struct NoKey: Codable, FetchableRecord, PersistableRecord, Hashable {
    public var x: Int

    public init(x: Int) {
        self.x = x
    }
}
