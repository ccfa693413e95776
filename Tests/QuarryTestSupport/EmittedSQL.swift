public import QuarryCore
public import Testing

/// The statements that `body` runs, in their order, with their arguments as literals.
///
/// PRAGMA statements and queries of `sqlite_master` are left out unless they are asked for: they depend on what the
/// connection has read of the schema before. Statements that SQLite runs for another statement, as triggers and virtual
/// tables do, are always left out.
///
/// ```swift
/// let sql = try emitted(db) { try player.update(db) }
/// #expect(sql == [#"UPDATE "player" SET "name"='Arthur' WHERE "id"=1"#])
/// ```
public func emitted(
    _ db: Database, includingSchemaReads: Bool = false, _ body: () throws -> Void
) throws -> [String] {
    var statements: [String] = []
    db.trace(includesOwnStatements: true) { event in
        guard case .statement(let statement) = event, !statement.sql.hasPrefix("--") else { return }
        let sql = statement.expandedSQL
        let isSchemaRead = sql.hasPrefix("PRAGMA") || sql.contains("sqlite_master")
        if includingSchemaReads || !isSchemaRead { statements.append(sql) }
    }
    defer { db.trace() }
    try body()
    return statements
}

/// Expects the statements that `body` runs, as `emitted` returns them.
public func expectEmitted(
    _ db: Database, _ expected: String..., sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) throws {
    let found = try emitted(db, body)
    if found != expected {
        Issue.record("the statements are \(found), not \(expected)", sourceLocation: sourceLocation)
    }
}
