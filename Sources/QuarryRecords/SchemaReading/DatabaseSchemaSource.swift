public import QuarryCore

/// The name of one of a connection's databases: `main`, `temp`, or an attached one.
public struct DatabaseSchemaID: Hashable, Sendable {
    /// The name in SQL.
    public let name: String

    private init(name: String) { self.name = name.lowercasedASCII }

    /// The main database.
    public static let main = DatabaseSchemaID(name: "main")

    /// The temporary database, which only this connection sees.
    public static let temp = DatabaseSchemaID(name: "temp")

    /// The database that was attached with the given name.
    public static func attached(_ name: String) -> DatabaseSchemaID { DatabaseSchemaID(name: name) }

    /// The table that holds the schema: <https://www.sqlite.org/schematab.html>.
    public var schemaTableName: String { self == .temp ? "sqlite_temp_master" : "sqlite_master" }
}

/// A table, view, index or trigger.
public struct DatabaseObjectID: Hashable, Sendable {
    /// The name.
    public var name: String

    /// The schema that it belongs to.
    public var schemaID: DatabaseSchemaID

    /// The object with the given name.
    public init(name: String, schemaID: DatabaseSchemaID) {
        self.name = name
        self.schemaID = schemaID
    }
}

/// A source of facts that the database's schema doesn't contain.
///
/// ```swift
/// struct ViewKeys: DatabaseSchemaSource {
///     func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
///         view.name == "bestPlayer" ? ["id"] : nil
///     }
/// }
///
/// config.schemaSource = ViewKeys()
/// ```
public protocol DatabaseSchemaSource: Sendable {
    /// The columns that identify a row of a view; nil if this source doesn't know the view. They must never be NULL.
    ///
    /// The method may use the connection. It must always return the same columns for a schema.
    ///
    /// - throws: any error: the request that needs the key throws it.
    func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]?
}

extension DatabaseSchemaSource {
    /// nil: the source doesn't know the view.
    ///
    /// - throws: nothing.
    public func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? { nil }

    /// A source that asks another one for views that this source doesn't know.
    public func then(_ other: some DatabaseSchemaSource) -> some DatabaseSchemaSource {
        SchemaSources(first: self, second: other)
    }
}

private struct SchemaSources<First: DatabaseSchemaSource, Second: DatabaseSchemaSource>: DatabaseSchemaSource {
    let first: First
    let second: Second

    func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
        try first.columnsForPrimaryKey(db, inView: view) ?? second.columnsForPrimaryKey(db, inView: view)
    }
}

/// `Configuration.schemaSource`.
package struct SchemaSourceSetting: Sendable {
    package let source: any DatabaseSchemaSource

    package init(source: any DatabaseSchemaSource) { self.source = source }
}
