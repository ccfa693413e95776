import Quarry
import Testing

/// Players of two teams, and what is written of them in JSON.
func withRequestTables(_ body: (Database) throws -> Void) throws {
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

struct Athlete: Codable, FetchableRecord, PersistableRecord, Identifiable, Hashable {
    var id: Int64
    var name: String
    var score: Int?
    var teamId: Int64?
    var info: String?

    enum Columns {
        static let id = Column("id")
        static let name = Column("name")
        static let score = Column("score")
        static let teamId = Column("teamId")
        static let info = JSONColumn("info")
    }
}

struct Squad: Codable, FetchableRecord, PersistableRecord, Identifiable, Hashable {
    static let databaseTableName = "team"
    var id: Int64
    var name: String
    var bonus: Int

    enum Columns {
        static let id = Column("id")
        static let name = Column("name")
        static let bonus = Column("bonus")
    }
}

/// The rows of a request, as text.
func rows<T>(_ db: Database, _ request: QueryInterfaceRequest<T>) throws -> [String] {
    try Row.fetchAll(db, request).map { row in
        row.databaseValues.map { value in
            switch value.storage {
            case .null: "NULL"
            case .int64(let number): "\(number)"
            case .double(let number): "\(number)"
            case .string(let text): text
            case .blob(let bytes): "\(Array(bytes))"
            }
        }.joined(separator: "|")
    }
}

/// The SQL and the values of an expression that is selected from the players, in the order of their ids.
func selected(_ db: Database, _ expression: some SQLSelectable) throws -> (sql: String, values: [String]) {
    let request = Athlete.select(expression)
    let text = try request.sql(db)
    let prefix = "SELECT "
    let suffix = " FROM \"athlete\""
    #expect(text.hasPrefix(prefix) && text.hasSuffix(suffix))
    let isAggregate = text.contains("GROUP_") && !text.contains("OVER")
    let values = try rows(db, isAggregate ? request : request.order(Column("id")))
    return (String(text.dropFirst(prefix.count).dropLast(suffix.count)), values)
}

/// Checks the SQL of an expression, and its values.
func expectSelected(
    _ db: Database, _ expression: some SQLSelectable, _ sql: String, _ values: [String],
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let found = try selected(db, expression)
    #expect(found.sql == sql, sourceLocation: sourceLocation)
    #expect(found.values == values, sourceLocation: sourceLocation)
}

/// Checks the SQL of a request, and its rows.
func expectRows<T>(
    _ db: Database, _ request: QueryInterfaceRequest<T>, _ expectedSQL: String, _ expectedRows: [String],
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let text = try request.sql(db)
    #expect(text == expectedSQL, sourceLocation: sourceLocation)
    let found = try rows(db, request)
    #expect(found == expectedRows, sourceLocation: sourceLocation)
}

/// `SQLITE_MISUSE`
func name(of code: ResultCode) -> String { "\(code)".split { " ()".contains($0) }.last.map { String($0) } ?? "" }
