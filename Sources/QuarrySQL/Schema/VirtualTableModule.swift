public import QuarryCore

/// The options of CREATE VIRTUAL TABLE: <https://www.sqlite.org/lang_createvtab.html>.
public struct VirtualTableOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// Options of these bits.
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
    /// The argument of the closure that defines a table.
    associatedtype TableDefinition

    /// The name of the module in SQL.
    var moduleName: String { get }

    /// An empty definition.
    func makeTableDefinition(configuration: VirtualTableConfiguration) -> TableDefinition

    /// The arguments of the module, as SQL.
    ///
    /// - throws: any error: the creation of the table throws it.
    func moduleArguments(for definition: TableDefinition, in db: Database) throws -> [String]

    /// Called after the creation of the table, in the same transaction.
    ///
    /// - throws: any error: the creation of the table throws it, and is rolled back.
    func database(_ db: Database, didCreate tableName: String, using definition: TableDefinition) throws
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
