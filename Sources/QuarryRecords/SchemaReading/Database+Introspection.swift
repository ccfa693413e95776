public import QuarryCore

extension Database {
    // MARK: - Existence

    /// Whether a table with that name exists, ignoring case.
    ///
    /// ```swift
    /// try db.tableExists("player")
    /// try db.tableExists("player", in: "archive")
    /// ```
    ///
    /// - parameter name: the table's name.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for any.
    /// - throws: `DatabaseError` if the schema doesn't exist.
    public func tableExists(_ name: String, in schemaName: String? = nil) throws -> Bool {
        try exists(name, .table, in: schemaName)
    }

    /// Whether a view with that name exists, ignoring case.
    ///
    /// ```swift
    /// try db.viewExists("bestPlayer")
    /// ```
    ///
    /// - parameter name: the view's name.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for any.
    /// - throws: `DatabaseError` if the schema doesn't exist.
    public func viewExists(_ name: String, in schemaName: String? = nil) throws -> Bool {
        try exists(name, .view, in: schemaName)
    }

    /// Whether a trigger with that name exists, ignoring case.
    ///
    /// ```swift
    /// try db.triggerExists("player_score")
    /// ```
    ///
    /// - parameter name: the trigger's name.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for any.
    /// - throws: `DatabaseError` if the schema doesn't exist.
    public func triggerExists(_ name: String, in schemaName: String? = nil) throws -> Bool {
        try checkAccess()
        return try schema.hasTrigger(name, in: schemaName, self)
    }

    private func exists(_ name: String, _ kind: KnownSchema.Kind, in schemaName: String?) throws -> Bool {
        try checkAccess()
        let schemas = try schemaName.map { [try schema.schema(named: $0, self)] } ?? schema.lookupOrder(self)
        return try schemas.contains { schemaName in
            try schema.find(name, in: schemaName, self)?.kind == kind
        }
    }

    /// Whether a table is SQLite's own: its name begins with `sqlite_` or `pragma_`.
    ///
    /// ```swift
    /// Database.isSQLiteInternalTable("sqlite_sequence") // true
    /// ```
    public static func isSQLiteInternalTable(_ tableName: String) -> Bool {
        let name = tableName.lowercasedASCII
        return name.hasPrefix("sqlite_") || name.hasPrefix("pragma_")
    }

    /// Whether a table is the library's own: its name begins with `grdb_`.
    public static func isGRDBInternalTable(_ tableName: String) -> Bool {
        tableName.lowercasedASCII.hasPrefix("grdb_")
    }

    // MARK: - Columns and keys

    /// The columns of a table or view, in order.
    ///
    /// ```swift
    /// for column in try db.columns(in: "player") { print(column.name, column.type) }
    /// ```
    ///
    /// Generated columns are included, hidden columns of virtual tables aren't.
    ///
    /// - parameter tableName: the name of a table or view.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for the first schema with the
    ///   table.
    /// - throws: `DatabaseError`: "no such table: player".
    public func columns(in tableName: String, in schemaName: String? = nil) throws -> [ColumnInfo] {
        try checkAccess()
        if let found = try schema.find(tableName, in: schemaName, self) { return try schema.columns(of: found, self) }
        // Some tables belong to no schema: `sqlite_master`, and tables of modules.
        let columns = try SchemaReader.columns(named: tableName, schema: schemaName ?? "main", self)
        guard !columns.isEmpty else { throw noSuchTable(tableName, in: schemaName) }
        return columns
    }

    /// The primary key of a table: a rowid, hidden or not, or columns.
    ///
    /// ```swift
    /// let key = try db.primaryKey("player")
    /// print(key.columns) // ["id"]
    /// ```
    ///
    /// For views, `Configuration.schemaSource` provides it.
    ///
    /// - parameter tableName: the name of a table or view.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for the first schema with the
    ///   table.
    /// - throws: `DatabaseError`: "no such table: player", "database view bestPlayer has no primary key".
    public func primaryKey(_ tableName: String, in schemaName: String? = nil) throws -> PrimaryKeyInfo {
        try checkAccess()
        guard let found = try schema.find(tableName, in: schemaName, self) else {
            throw noSuchTable(tableName, in: schemaName)
        }
        guard found.kind == .view else { return try schema.primaryKey(of: found, self) }
        guard let columns = try primaryKeyColumns(ofView: found) else {
            throw DatabaseError(message: "database view \(found.name) has no primary key")
        }
        return PrimaryKeyInfo(columns: columns, isRowID: false, tableHasRowID: false)
    }

    /// The primary key of a view from the schema source; nil for none.
    private func primaryKeyColumns(ofView view: SchemaReader.Found) throws -> [String]? {
        let view = DatabaseObjectID(name: view.name, schemaID: .attached(view.schema))
        return try schemaSource?.columnsForPrimaryKey(self, inView: view)
    }

    /// The indexes of a table, including those of its constraints. Indexes on expressions are left out.
    ///
    /// ```swift
    /// for index in try db.indexes(on: "player") where index.isUnique { print(index.name, index.columns) }
    /// ```
    ///
    /// - parameter tableName: the name of a table.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for the first schema with the
    ///   table.
    /// - throws: `DatabaseError`: "no such table: player".
    public func indexes(on tableName: String, in schemaName: String? = nil) throws -> [IndexInfo] {
        try checkAccess()
        return try schema.indexes(of: schema.table(tableName, in: schemaName, self), self)
    }

    /// Whether the given columns are unique: they contain the primary key, the rowid, or the columns of a unique index
    /// that isn't partial.
    ///
    /// ```swift
    /// try db.table("player", hasUniqueKey: ["email"])
    /// try db.table("player", hasUniqueKey: ["email", "name"]) // true too
    /// ```
    ///
    /// A view has the primary key from `Configuration.schemaSource`, or none.
    ///
    /// - parameter tableName: the name of a table or view.
    /// - parameter columns: the columns, in any order and case.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for the first schema with the
    ///   table.
    /// - throws: `DatabaseError`: "no such table: player".
    public func table(
        _ tableName: String, hasUniqueKey columns: some Collection<String>, in schemaName: String? = nil
    ) throws -> Bool {
        try checkAccess()
        guard let found = try schema.find(tableName, in: schemaName, self) else {
            throw noSuchTable(tableName, in: schemaName)
        }
        let set = Set(columns.schemaNames)
        if found.kind == .view {
            let key = try primaryKeyColumns(ofView: found)
            return key.map { !$0.isEmpty && set.isSuperset(of: $0.schemaNames) } ?? false
        }
        let key = try schema.primaryKey(of: found, self)
        if set.isSuperset(of: key.columns.schemaNames) { return true }
        if key.tableHasRowID {
            let others = try schema.columns(of: found, self).map(\.name).schemaNames
            let names = RowID.names.schemaNames
            if names.contains(where: { set.contains($0) && !others.contains($0) }) { return true }
        }
        return try schema.indexes(of: found, self).contains { index in
            index.isUnique && !index.isPartial && set.isSuperset(of: index.columns.schemaNames)
        }
    }

    /// The foreign keys of a table.
    ///
    /// ```swift
    /// for key in try db.foreignKeys(on: "player") { print(key.originColumns, key.destinationTable) }
    /// ```
    ///
    /// - parameter tableName: the name of a table.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for the first schema with the
    ///   table.
    /// - throws: `DatabaseError`: "no such table: player", also for a missing referenced table.
    public func foreignKeys(on tableName: String, in schemaName: String? = nil) throws -> [ForeignKeyInfo] {
        try checkAccess()
        return try schema.foreignKeys(of: schema.table(tableName, in: schemaName, self), self)
    }

    /// Clears the cached schema, so that it is read again.
    ///
    /// ```swift
    /// db.clearSchemaCache()
    /// ```
    ///
    /// Changes by SQLite connections are noticed without this call; changes that bypass SQLite, such as a replaced
    /// file, aren't.
    public func clearSchemaCache() {
        failingAccess {
            try checkAccess()
            schema.forget()
        }
    }
}
