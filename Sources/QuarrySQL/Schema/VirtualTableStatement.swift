/// The options of CREATE VIRTUAL TABLE: <https://www.sqlite.org/lang_createvtab.html>.
public struct VirtualTableOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// The options with these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Has no effect if a table with that name exists.
    public static let ifNotExists = VirtualTableOptions(rawValue: 1)
    /// Creates a temporary table, which only this connection sees, and which is dropped when it is closed.
    public static let temporary = VirtualTableOptions(rawValue: 2)
}

/// The name and options of a new virtual table, for its module.
public struct VirtualTableConfiguration: Sendable {
    /// The table's name.
    public let tableName: String

    /// The schema of the new table; nil for `main`, or for `temp` if the table is temporary.
    public let schemaName: String?

    /// The options of the table.
    public let options: VirtualTableOptions

    package init(tableName: String, schemaName: String?, options: VirtualTableOptions) {
        self.tableName = tableName
        self.schemaName = schemaName
        self.options = options
    }
}

/// The definition of a new virtual table.
package struct VirtualTableStatement: Sendable {
    package var name: String
    package var schemaName: String?
    package var options: VirtualTableOptions
    /// The module, with its arguments if it has any.
    package var module: String

    package init(name: String, schemaName: String?, options: VirtualTableOptions, module: String) {
        self.name = name
        self.schemaName = options.contains(.temporary) ? "temp" : schemaName
        self.options = options
        self.module = module
    }

    package var sql: String {
        var sql = "CREATE VIRTUAL TABLE"
        if options.contains(.ifNotExists) { sql += " IF NOT EXISTS" }
        return sql + " \(QualifiedName(name: name, schemaName: schemaName).sql) USING \(module)"
    }
}
