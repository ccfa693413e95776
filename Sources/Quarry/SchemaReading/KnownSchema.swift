import QuarryCore

/// What has been read of one schema, in one state of it.
final class KnownSchema {
    enum Kind {
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

    /// The number that tells, without running SQL, that nothing has changed; nil where there is none.
    var dataVersion: UInt32?

    /// Tables and views.
    private var tables: [SchemaName: Table] = [:]
    private var triggers: Set<SchemaName> = []

    /// Whether something was read since it was last known that the state is that of `version`.
    var hasRead = true

    /// Reads what there is. The query makes SQLite read the schema again, where another connection has changed it.
    init(_ db: Database, name: String, version: Int32) throws {
        self.name = name
        self.version = version
        let statement = try db.cachedStatement(
            sql: """
                SELECT type, name FROM \(name.quotedDatabaseIdentifier).sqlite_master \
                WHERE type IN ('table', 'view', 'trigger')
                """)
        let rows = try Row.fetchCursor(statement)
        while let row = try rows.next() {
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

    /// A fact of a table, read where it isn't known yet.
    ///
    /// - parameter name: the name of a table or view that is there.
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
