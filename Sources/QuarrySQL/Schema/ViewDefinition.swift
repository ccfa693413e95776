package import QuarryCore

/// How a view is created: <https://www.sqlite.org/lang_createview.html>.
public struct ViewOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// Options of these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Does nothing if there is a view of that name.
    public static let ifNotExists = ViewOptions(rawValue: 1)
    /// Makes a view that only this connection sees, and that goes with it.
    public static let temporary = ViewOptions(rawValue: 2)
}

/// A view that is created.
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
