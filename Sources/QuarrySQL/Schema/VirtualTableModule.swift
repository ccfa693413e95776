public import QuarryCore

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

/// A module of virtual tables, with a definition of its own.
///
/// ```swift
/// struct RTree: VirtualTableModule {
///     final class Definition { var columns: [String] = [] }
///     let moduleName = "rtree"
///     func makeTableDefinition(configuration: VirtualTableConfiguration) -> Definition { Definition() }
///     func moduleArguments(for definition: Definition, in db: Database) throws -> [String] { definition.columns }
///     func database(_ db: Database, didCreate tableName: String, using definition: Definition) throws {}
/// }
///
/// try db.create(virtualTable: "area", using: RTree()) { t in t.columns = ["id", "minX", "maxX"] }
/// ```
/// ```sql
/// CREATE VIRTUAL TABLE "area" USING rtree(id, minX, maxX)
/// ```
///
/// See <https://www.sqlite.org/vtab.html>.
public protocol VirtualTableModule<TableDefinition> {
    /// What the closure that defines a table gets.
    associatedtype TableDefinition

    /// The name of the module in SQL.
    var moduleName: String { get }

    /// A definition to begin with.
    func makeTableDefinition(configuration: VirtualTableConfiguration) -> TableDefinition

    /// The arguments of the module, as SQL.
    func moduleArguments(for definition: TableDefinition, in db: Database) throws -> [String]

    /// Called when the table has been created, in the same transaction.
    func database(_ db: Database, didCreate tableName: String, using definition: TableDefinition) throws
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
