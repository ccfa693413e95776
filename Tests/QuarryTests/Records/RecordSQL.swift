import Quarry
import Testing

/// Runs `body` in a database in memory with the tables of the tests.
@discardableResult
func withTables<T>(_ configuration: Configuration = Configuration(), _ body: (Database) throws -> T) throws -> T {
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
struct Player: MutablePersistableRecord, FetchableRecord, Identifiable, Hashable {
    var id: Int64?
    var name: String
    var score: Int

    init(id: Int64? = nil, name: String, score: Int = 1) {
        self.id = id
        self.name = name
        self.score = score
    }

    init(row: Row) throws {
        id = try row.decode(forColumn: "id")
        name = try row.decode(forColumn: "name")
        score = try row.decode(forColumn: "score")
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["name"] = name
        container["score"] = score
    }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// The same, encoded by its properties.
struct CodablePlayer: Codable, MutablePersistableRecord, FetchableRecord, Identifiable, Hashable {
    static let databaseTableName = "player"
    var id: Int64?
    var name: String
    var score: Int

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

struct Only: Codable, FetchableRecord, PersistableRecord, Hashable { var id: Int64 }

struct Pair: Codable, FetchableRecord, PersistableRecord, Hashable {
    var a: Int
    var b: String
    var c: Int?
}

struct Country: Codable, FetchableRecord, PersistableRecord, Identifiable, Hashable {
    var code: String
    var name: String
    var id: String { code }
}

struct NoKey: Codable, FetchableRecord, PersistableRecord, Hashable { var x: Int }
