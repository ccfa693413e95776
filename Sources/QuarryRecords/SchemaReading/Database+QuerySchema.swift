public import QuarryCore
import QuarrySQL

/// The schema from which a connection's queries are rendered.
extension Database: QuerySchema {
    package func keyColumns(of table: String) throws -> [String] { try primaryKey(table).columns }

    package func rowColumn(of table: String) throws -> String? {
        let key = try primaryKey(table)
        if !key.tableHasRowID { return key.columns.first }
        if key.columns.count == 1, try !mayBeNull(key, of: table) { return key.columns[0] }
        return try SchemaReader.rowIDName(besides: columns(in: table))
    }

    package func rowIDName(of table: String) throws -> String? {
        if try schema.find(table, in: nil, self)?.kind == .view { return nil }
        let key = try primaryKey(table)
        if key.isRowID { return key.columns.first }
        return try key.tableHasRowID ? SchemaReader.rowIDName(besides: columns(in: table)) : nil
    }

    package func keyMayBeNull(of table: String) throws -> Bool { try mayBeNull(primaryKey(table), of: table) }

    /// Only the rowid, and the keys of WITHOUT ROWID and STRICT tables, are implicitly NOT NULL.
    private func mayBeNull(_ key: PrimaryKeyInfo, of table: String) throws -> Bool {
        guard key.tableHasRowID, !key.isRowID else { return false }
        return try columns(in: table).contains { $0.primaryKeyIndex > 0 && !$0.isNotNull }
    }

    package func isViewWithoutKey(_ table: String) throws -> Bool {
        guard let found = try schema.find(table, in: nil, self), found.kind == .view else { return false }
        let view = DatabaseObjectID(name: found.name, schemaID: .attached(found.schema))
        return try schemaSource?.columnsForPrimaryKey(self, inView: view) == nil
    }

    package func columnNames(of table: String) throws -> [String] { try columns(in: table).map(\.name) }

    package func columnMayBeNull(_ column: String, of table: String) throws -> Bool {
        if let key = try? primaryKey(table), key.columns.contains(where: { $0.isSameName(as: column) }) {
            // NULL in a column of the key is a row's own only if the whole key may be NULL.
            return try mayBeNull(key, of: table)
        }
        return try !columns(in: table).contains { $0.name.isSameName(as: column) && $0.isNotNull }
    }

    package func uniqueKeys(of table: String) throws -> [[String]] {
        // A virtual table has no index; a view has only the key that a schema source provides.
        guard let key = try? primaryKey(table) else { return [] }
        guard try tableExists(table) else { return [key.columns] }
        let indexes = try indexes(on: table).filter { $0.isUnique && !$0.isPartial }.map(\.columns)
        var keys = [key.columns]
        if key.tableHasRowID, key.columns != ["rowid"],
            try !columns(in: table).contains(where: { $0.name.isSameName(as: "rowid") })
        {
            keys.append(["rowid"])
        }
        return keys + indexes
    }

    package func references(from table: String) throws -> [TableReference] {
        try foreignKeys(on: table).map { key in
            TableReference(
                destination: key.destinationTable,
                columns: key.mapping.map { (origin: $0.origin, destination: $0.destination) })
        }
    }
}

extension QuerySchema {
    /// The connection that runs the query.
    ///
    /// - throws: `SQLITE_MISUSE` if the schema isn't a connection.
    func connection() throws -> Database {
        guard let database = self as? Database else {
            throw DatabaseError.misuse(
                "a part of the request needs a connection, but the request is rendered without one")
        }
        return database
    }
}

extension Database {
    /// The current source: the one set by `withSchemaSource`, or the configuration's.
    public var schemaSource: (any DatabaseSchemaSource)? {
        if isOwned, let override = schema.source { return override.source }
        return context?.setting(SchemaSourceSetting.self)?.source
    }
}

extension Database {
    /// The schema reader of the connection. Outside the connection's access, a reader whose methods throw.
    package var schema: SchemaReader {
        guard isOwned else { return SchemaReader() }
        if let reader = attachment(SchemaReader.self) { return reader }
        let reader = SchemaReader()
        attach(reader)
        return reader
    }
}
