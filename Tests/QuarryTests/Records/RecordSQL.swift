import Quarry
import Testing

/// The statements that SQLite runs in `body`, with their arguments, but for those that read the schema.
func emitted(_ db: Database, _ body: () throws -> Void) throws -> [String] {
    var statements: [String] = []
    db.trace { event in
        guard case .statement(let statement) = event else { return }
        let sql = statement.expandedSQL
        if !sql.hasPrefix("PRAGMA"), !sql.hasPrefix("-- PRAGMA"), !sql.contains("pragma_table_list"),
            !sql.contains(".sqlite_master WHERE type IN")
        {
            statements.append(sql)
        }
    }
    defer { db.trace() }
    try body()
    return statements
}

/// The error of `body`, which must be a `DatabaseError`.
func databaseFailure<T>(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> T
) -> DatabaseError? {
    #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) { () throws in _ = try body() }
}

/// The description of the `RecordError` of `body`.
func recordFailure<T>(sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> T) -> String? {
    let error = #expect(throws: RecordError.self, sourceLocation: sourceLocation) { () throws in _ = try body() }
    return error?.description
}

/// Runs `body` in a database in memory with the tables of the tests.
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
