public import QuarryCore
public import QuarrySQL

// The modules of full-text search, for `create(virtualTable:using:)`.

extension FTS3: VirtualTableModule {
    /// An empty definition.
    public func makeTableDefinition(configuration: VirtualTableConfiguration) -> FTS3TableDefinition {
        FTS3TableDefinition()
    }

    /// The columns, and the tokenizer.
    public func moduleArguments(for definition: FTS3TableDefinition, in db: Database) -> [String] {
        definition.arguments
    }

    /// Has no effect.
    public func database(_ db: Database, didCreate tableName: String, using definition: FTS3TableDefinition) {}
}

extension FTS4: VirtualTableModule {
    /// An empty definition.
    public func makeTableDefinition(configuration: VirtualTableConfiguration) -> FTS4TableDefinition {
        FTS4TableDefinition(configuration: configuration)
    }

    /// The columns, and the options.
    public func moduleArguments(for definition: FTS4TableDefinition, in db: Database) -> [String] {
        definition.arguments
    }

    /// Creates the triggers of a synchronized table, and indexes the existing texts.
    ///
    /// - throws: `DatabaseError`: "no such table: book".
    public func database(_ db: Database, didCreate tableName: String, using definition: FTS4TableDefinition) throws {
        guard
            let triggers = try db.synchronizationTriggers(
                for: tableName, columns: definition.columnNames, content: definition.contentTable,
                definition.configuration)
        else { return }
        for sql in triggers.fts4 + [triggers.rebuild] { try db.execute(sql: sql) }
    }
}

extension FTS5: VirtualTableModule {
    /// An empty definition.
    public func makeTableDefinition(configuration: VirtualTableConfiguration) -> FTS5TableDefinition {
        FTS5TableDefinition(configuration: configuration)
    }

    /// The columns, and the options.
    ///
    /// - throws: `DatabaseError`: "an FTS5 table has at least one column", "no such table: book".
    public func moduleArguments(for definition: FTS5TableDefinition, in db: Database) throws -> [String] {
        guard definition.contentTable.isSynchronized, let table = definition.contentTable.name else {
            return try definition.arguments()
        }
        let key = try db.primaryKey(table, in: definition.configuration.schemaName)
        let rowID = key.nameOfRowID
        return try definition.arguments(synchronizedRowID: rowID == Column.rowID.name ? key.rowIDColumn : rowID)
    }

    /// Creates the triggers of a synchronized table, and indexes the existing texts.
    ///
    /// - throws: `DatabaseError`: "no such table: book".
    public func database(_ db: Database, didCreate tableName: String, using definition: FTS5TableDefinition) throws {
        guard
            let triggers = try db.synchronizationTriggers(
                for: tableName, columns: definition.columnNames, content: definition.contentTable,
                definition.configuration)
        else { return }
        for sql in triggers.fts5 + [triggers.rebuild] { try db.execute(sql: sql) }
    }
}

extension PrimaryKeyInfo {
    /// The rowid column, or the name of a hidden rowid.
    fileprivate var nameOfRowID: String { rowIDColumn ?? (isRowID ? columns[0] : Column.rowID.name) }
}

extension Database {
    /// The triggers of a full-text table; nil if it isn't synchronized.
    fileprivate func synchronizationTriggers(
        for table: String, columns: [String], content: FullTextContent, _ configuration: VirtualTableConfiguration
    ) throws -> FullTextTriggers? {
        guard content.isSynchronized, let contentTable = content.name else { return nil }
        guard configuration.schemaName?.isSameName(as: "temp") != true else {
            // Other connections couldn't run the triggers, which belong to the content table.
            throw DatabaseError.misuse(
                "temporary full-text table \(table) can't be synchronized with table \(contentTable)")
        }
        let key = try primaryKey(contentTable, in: configuration.schemaName)
        guard key.tableHasRowID else {
            throw DatabaseError.misuse(
                "full-text table \(table) can't be synchronized with table \(contentTable), which has no rowid")
        }
        return FullTextTriggers(
            table: table, schemaName: configuration.schemaName, contentTable: contentTable,
            rowID: key.nameOfRowID, columns: columns,
            ifNotExists: configuration.options.contains(.ifNotExists))
    }
}
