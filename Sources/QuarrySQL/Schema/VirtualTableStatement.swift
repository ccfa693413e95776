/// How a virtual table is created: <https://www.sqlite.org/lang_createvtab.html>.
public struct VirtualTableOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// Options of these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Does nothing if there is a table of that name.
    public static let ifNotExists = VirtualTableOptions(rawValue: 1)
    /// Makes a table that only this connection sees, and that goes with it.
    public static let temporary = VirtualTableOptions(rawValue: 2)
}

/// What a module knows of the virtual table that is created.
public struct VirtualTableConfiguration: Sendable {
    /// The table's name.
    public let tableName: String

    /// The schema that the table is created in; nil for `main`, or `temp` where it is temporary.
    public let schemaName: String?

    /// How the table is created.
    public let options: VirtualTableOptions

    package init(tableName: String, schemaName: String?, options: VirtualTableOptions) {
        self.tableName = tableName
        self.schemaName = schemaName
        self.options = options
    }
}

/// A virtual table that is created.
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
