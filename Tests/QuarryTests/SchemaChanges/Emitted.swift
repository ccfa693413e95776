import Quarry
import QuarryCore
import Testing

/// The statements that `body` runs, in their order; those that SQLite runs for them, which come as comments, left out.
func emitted(_ db: Database, _ body: (Database) throws -> Void) throws -> [String] {
    var statements: [String] = []
    let client = db.hooks.onTrace(statements: true, profiles: false) { event in
        guard case .statement(_, let text) = event else { return }
        let sql = String(cString: text)
        if !sql.hasPrefix("--") { statements.append(sql) }
    }
    defer { db.hooks.remove(client) }
    try body(db)
    return statements
}

/// The statements that change the schema, among those that `body` runs.
func emittedDDL(_ db: Database, _ body: (Database) throws -> Void) throws -> [String] {
    try emitted(db, body).filter { sql in
        ["CREATE ", "ALTER ", "DROP ", "REINDEX "].contains { sql.hasPrefix($0) }
    }
}

/// Expects a `DatabaseError` with that code and message.
func expectSchemaError<T>(
    _ message: String, code: ResultCode = .SQLITE_ERROR, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> T
) {
    let error = #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) { _ = try body() }
    #expect(error?.extendedResultCode == code, sourceLocation: sourceLocation)
    #expect(error?.message == message, sourceLocation: sourceLocation)
}

/// The SQL of the schema's objects, by their names.
func schemaSQL(_ db: Database, in schema: String = "main") throws -> [String] {
    try String.fetchAll(db, sql: "SELECT sql FROM \(schema).sqlite_master WHERE sql IS NOT NULL ORDER BY name")
}
