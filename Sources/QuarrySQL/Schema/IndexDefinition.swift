package import QuarryCore

/// The options of CREATE INDEX: <https://www.sqlite.org/lang_createindex.html>.
///
/// ```swift
/// try db.create(index: "player_on_email", on: "player", columns: ["email"], options: [.unique, .ifNotExists])
/// ```
/// ```sql
/// CREATE UNIQUE INDEX IF NOT EXISTS "player_on_email" ON "player"("email")
/// ```
public struct IndexOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// The options with these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Has no effect if an index with that name exists.
    public static let ifNotExists = IndexOptions(rawValue: 1)
    /// Refuses rows with the same values as another row.
    public static let unique = IndexOptions(rawValue: 2)
}

/// The definition of a new index.
package struct IndexDefinition: Sendable {
    package var name: String
    package var schemaName: String?
    package var table: String
    /// Columns and expressions, each with its collation and order.
    package var terms: [SQL]
    package var options: IndexOptions
    package var condition: SQL?

    package init(
        name: String, schemaName: String?, table: String, terms: [SQL], options: IndexOptions = [],
        condition: SQL? = nil
    ) {
        self.name = name
        self.schemaName = schemaName
        self.table = table
        self.terms = terms
        self.options = options
        self.condition = condition
    }

    package init(
        name: String, schemaName: String?, table: String, columns: [String], options: IndexOptions = [],
        condition: SQL? = nil
    ) {
        self.init(
            name: name, schemaName: schemaName, table: table,
            terms: columns.map { SQL(sql: $0.quotedDatabaseIdentifier) }, options: options, condition: condition)
    }

    /// The name of an index without a given name: `index_player_on_teamId_number`.
    package static func defaultName(on table: String, columns: [String]) -> String {
        "index_\(table)_on_\(columns.joined(separator: "_"))"
    }

    package func sql(_ resolver: some SchemaResolver) throws -> String {
        var sql = "CREATE"
        if options.contains(.unique) { sql += " UNIQUE" }
        sql += " INDEX"
        if options.contains(.ifNotExists) { sql += " IF NOT EXISTS" }
        sql += " " + QualifiedName(name: name, schemaName: schemaName).sql
        let terms = try terms.map { try resolver.text(of: $0) }.joined(separator: ", ")
        sql += " ON \(table.quotedDatabaseIdentifier)(\(terms))"
        if let condition { sql += " WHERE \(try resolver.text(of: condition))" }
        return sql
    }
}
