package import QuarryCore

/// The options of CREATE VIEW: <https://www.sqlite.org/lang_createview.html>.
public struct ViewOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// The options with these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Has no effect if a view with that name exists.
    public static let ifNotExists = ViewOptions(rawValue: 1)
    /// Creates a temporary view, which only this connection sees, and which is dropped when it is closed.
    public static let temporary = ViewOptions(rawValue: 2)
}

/// The definition of a new view.
package struct ViewDefinition: Sendable {
    package var name: String
    package var schemaName: String?
    package var options: ViewOptions
    package var columns: [String]?
    package var query: SQL

    package init(name: String, schemaName: String?, options: ViewOptions, columns: [String]?, query: SQL) {
        self.name = name
        self.schemaName = schemaName
        self.options = options
        self.columns = columns
        self.query = query
    }

    package func sql(_ resolver: some SchemaResolver) throws -> String {
        var sql = "CREATE"
        if options.contains(.temporary) { sql += " TEMPORARY" }
        sql += " VIEW"
        if options.contains(.ifNotExists) { sql += " IF NOT EXISTS" }
        sql += " " + QualifiedName(name: name, schemaName: schemaName).sql
        if let columns { sql += " (\(columns.quotedList))" }
        return sql + " AS " + (try resolver.text(of: query))
    }
}
