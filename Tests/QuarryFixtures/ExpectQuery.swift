public import Quarry
import QuarryTestSupport
public import Testing

/// Expects the statements that a request runs, with their arguments, and its rows.
///
/// ```swift
/// try expectQuery(
///     db, Athlete.filter { $0.score > 10 }.select(\.name),
///     sql: #"SELECT "name" FROM "athlete" WHERE "score" > 10"#, rows: ["Barbara", "Craig"])
/// ```
///
/// A row is written as its values, `1|Arthur|NULL`; a row with scopes or prefetched rows as its `debugDescription`.
public func expectQuery<T>(
    _ db: Database, _ request: QueryInterfaceRequest<T>, sql: String..., rows: [String],
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    var found: [String] = []
    let statements = try emitted(db) { found = try QuarryFixtures.rows(db, request) }
    expect(statements, sql, "statements", sourceLocation)
    expect(found, rows, "rows", sourceLocation)
}

/// Expects the SQL of an expression that is selected from the athletes, and its values in the order of their ids.
public func expectQuery(
    _ db: Database, selecting expression: some SQLSelectable, sql: String, rows: [String],
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let request = Athlete.select(expression)
    let isAggregate = sql.contains("GROUP_") && !sql.contains("OVER")
    let order = isAggregate ? "" : #" ORDER BY "id""#
    try expectQuery(
        db, isAggregate ? request : request.order(Column("id")), sql: "SELECT \(sql) FROM \"athlete\"" + order,
        rows: rows,
        sourceLocation: sourceLocation)
}

/// The rows of a request, as `expectQuery` writes them.
public func rows<T>(_ db: Database, _ request: QueryInterfaceRequest<T>) throws -> [String] {
    try Row.fetchAll(db, request).map { row in
        if !row.scopes.isEmpty || !row.prefetchedRows.isEmpty { return row.debugDescription }
        return row.databaseValues.map { value in
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

private func expect(_ found: [String], _ expected: [String], _ name: String, _ sourceLocation: SourceLocation) {
    if found != expected {
        Issue.record("the \(name) are \(found), not \(expected)", sourceLocation: sourceLocation)
    }
}

/// A long text in pieces: the compiler takes long over a sum of many.
public func text(_ pieces: String...) -> String { pieces.joined() }
