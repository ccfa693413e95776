public import QuarryCore

/// One of the databases of a connection: `main`, `temp`, or one that is attached.
public struct DatabaseSchemaID: Hashable, Sendable {
    /// The name in SQL.
    public let name: String

    private init(name: String) { self.name = name.lowercasedASCII }

    /// The database that was opened.
    public static let main = DatabaseSchemaID(name: "main")

    /// What only this connection sees.
    public static let temp = DatabaseSchemaID(name: "temp")

    /// The database that was attached under a name.
    public static func attached(_ name: String) -> DatabaseSchemaID { DatabaseSchemaID(name: name) }

    /// The table that holds the schema: <https://www.sqlite.org/schematab.html>.
    public var schemaTableName: String { self == .temp ? "sqlite_temp_master" : "sqlite_master" }
}

/// A table, view, index or trigger.
public struct DatabaseObjectID: Hashable, Sendable {
    /// The name.
    public var name: String

    /// Where it is.
    public var schemaID: DatabaseSchemaID

    /// The object of that name.
    public init(name: String, schemaID: DatabaseSchemaID) {
        self.name = name
        self.schemaID = schemaID
    }
}

/// Tells what the schema doesn't say.
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
    /// The columns that identify a row of a view; nil if this source doesn't know.
    ///
    /// It may use the connection. It must always answer the same for a schema.
    func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]?
}

extension DatabaseSchemaSource {
    /// Doesn't know.
    public func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? { nil }

    /// A source that asks another where this one doesn't know.
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

extension Database {
    /// The source that is asked: that of `withSchemaSource`, or the configuration's.
    public var schemaSource: (any DatabaseSchemaSource)? {
        if isOwned, let override = schema.source { return override.source }
        return configuration.schemaSource
    }

    /// Runs `block` with another source, or none.
    ///
    /// ```swift
    /// try db.withSchemaSource(nil) { try db.primaryKey("player").columns }
    /// ```
    public func withSchemaSource<T>(
        _ schemaSource: (any DatabaseSchemaSource)?, execute block: () throws -> T
    ) rethrows -> T {
        guard isOwned else {
            failingAccess { try checkAccess() }
            return try block()
        }
        let reader = schema
        let previous = reader.source
        reader.source = SchemaReader.SchemaSourceOverride(source: schemaSource)
        RecordPlans.forgetKeysOfViews(self)
        defer {
            reader.source = previous
            RecordPlans.forgetKeysOfViews(self)
        }
        return try block()
    }
}
