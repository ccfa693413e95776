import QuarryCore

/// The known facts about one schema, in one state.
package final class KnownSchema {
    package enum Kind {
        case table
        case view
    }

    struct Table {
        /// The name as it was created.
        var name: String
        var kind: Kind
        var columns: [ColumnInfo]?
        var primaryKey: PrimaryKeyInfo?
        var indexes: [IndexInfo]?
        var foreignKeys: [ForeignKeyInfo]?
    }

    /// `main`, `temp`, or the name of an attached database.
    let name: String

    /// SQLite's number of the state.
    let version: Int32

    /// A number that reveals without SQL whether the file has changed; nil if there is none.
    var dataVersion: UInt32?

    /// Tables and views.
    private var tables: [SchemaName: Table] = [:]
    private var triggers: Set<SchemaName> = []

    /// Whether facts were read since the state was last known to be `version`.
    var hasRead = true

    /// Reads the names of tables, views and triggers. The query makes SQLite read the schema again if another
    /// connection has changed it.
    init(_ db: Database, name: String, version: Int32) throws {
        self.name = name
        self.version = version
        let statement = try db.cachedStatement(
            sql: """
                SELECT type, name FROM \(name.quotedDatabaseIdentifier).sqlite_master \
                WHERE type IN ('table', 'view', 'trigger')
                """)
        // Only the first fetch of a connection reads the names: they aren't a part of what it fetches.
        let rows = try db.withoutRecordingRegion { try Row.fetchAll(statement) }
        for row in rows {
            let type: String = row[0]
            let name: String = row[1]
            switch type {
            case "table": tables[SchemaName(name)] = Table(name: name, kind: .table)
            case "view": tables[SchemaName(name)] = Table(name: name, kind: .view)
            default: triggers.insert(SchemaName(name))
            }
        }
    }

    func table(_ name: String) -> Table? { tables[SchemaName(name)] }

    func hasTrigger(_ name: String) -> Bool { triggers.contains(SchemaName(name)) }

    var tableNames: [String] { tables.values.filter { $0.kind == .table }.map(\.name) }

    /// A fact about a table, read if it isn't known yet.
    ///
    /// - parameter name: the name of an existing table or view.
    func fact<Fact>(
        _ fact: WritableKeyPath<Table, Fact?>, of name: String, read: () throws -> Fact
    ) throws -> Fact {
        let key = SchemaName(name)
        if let known = tables[key]?[keyPath: fact] { return known }
        hasRead = true
        let value = try read()
        tables[key]?[keyPath: fact] = value
        return value
    }
}
