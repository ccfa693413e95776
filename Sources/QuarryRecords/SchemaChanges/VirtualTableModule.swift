public import QuarryCore
public import QuarrySQL

/// A module of virtual tables, with its own type of definition.
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

    /// Makes an empty definition.
    func makeTableDefinition(configuration: VirtualTableConfiguration) -> TableDefinition

    /// The arguments of the module, as SQL.
    ///
    /// - throws: any error: creating the table throws it.
    func moduleArguments(for definition: TableDefinition, in db: Database) throws -> [String]

    /// Called when the table has been created, in the same transaction.
    ///
    /// - throws: any error: the creation is rolled back, and throws it.
    func database(_ db: Database, didCreate tableName: String, using definition: TableDefinition) throws
}
