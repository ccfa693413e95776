// Functions that the layers above need to cache the schema and to rebuild tables.

extension Database {
    /// A count that changes whenever this connection may have changed its schema, or the attached databases.
    package var schemaChangeCount: Int { schemaMemory.clock.changeCount }

    /// The schemas, and SQLite's numbers for their states.
    struct SeenSchemas: Equatable {
        var versions: [String: Int32] = [:]

        // While these two numbers are unchanged, the versions are current, and no query is needed.
        var dataVersion: UInt32? = nil
        var changeCount = -1
    }

    /// Finds out whether other connections have changed the schemas, and makes SQLite notice: runs one `PRAGMA
    /// schema_version` for each schema, and none in a transaction that has run it before.
    ///
    /// SQLite itself notices such a change when a statement that reads the schema runs. Until then, names in other
    /// statements keep their previous meaning.
    @inline(never)
    package func noteForeignSchemaChanges() throws {
        let isKnown =
            !schemaMemory.hasAttached && schemaMemory.seenSchemas.changeCount == schemaMemory.clock.changeCount
        if isKnown, openTransaction.state.isInside, let dataVersion = pinnedDataVersion(schema: "main"),
            dataVersion == schemaMemory.seenSchemas.dataVersion
        {
            return
        }
        try untraced { try readSchemaVersions() }
    }

    private func readSchemaVersions() throws {
        let names = schemaMemory.hasAttached ? try attachedDatabases().map(\.name) : ["main"]
        var versions: [String: Int32] = [:]
        for name in names where name != "temp" { versions[name] = try schemaVersion(of: name) }
        if versions != schemaMemory.seenSchemas.versions {
            try withoutRecordingRegion {
                for name in versions.keys {
                    try executeOnce(sql: "SELECT 1 FROM \(name.quotedDatabaseIdentifier).sqlite_master LIMIT 0")
                }
            }
            schemaMemory.foreignSchemaChangeCount &+= 1
            if schemaMemory.hasAttached { forgetKeptStatements() }
        }
        schemaMemory.seenSchemas = SeenSchemas(
            versions: versions, dataVersion: pinnedDataVersion(schema: "main"),
            changeCount: schemaMemory.clock.changeCount)
    }

    /// A number that changes whenever this connection may have changed its schema, or has noticed that others may have.
    var schemaStamp: Int { schemaMemory.clock.changeCount &+ schemaMemory.foreignSchemaChangeCount }

    /// The names of the columns of a statement, which is prepared only for this.
    func columnNames(ofFirst sql: String) throws -> [String] {
        try withSQL(sql) { text in
            var start = 0
            switch StatementHandle.prepare(pointer, sql: text, from: &start, persistent: false) {
            case .statement(let handle): return handle.columnNames
            case .empty: return []
            case .failure(let code): throw error(code, sql: sql)
            }
        }
    }

    /// The number that changes when the current state of the database changes.
    ///
    /// - returns: nil if no transaction reads the database, because the state to read isn't decided yet.
    package func pinnedDataVersion(schema: String) -> UInt32? {
        guard ConnectionCalls.isInUse(pointer, schema: schema) else { return nil }
        return ConnectionCalls.dataVersion(pointer, schema: schema)
    }

    /// The number of the state that the connection has last read, or reads now; nil for a database that is no file.
    package var lastDataVersion: UInt32? { ConnectionCalls.dataVersion(pointer) }

    /// The number that SQLite changes with each change of a schema.
    ///
    /// - parameter schema: `main`, `temp`, or the name of an attached database.
    package func schemaVersion(of schema: String) throws -> Int32 {
        if schema == "main" { return try schemaVersion() }
        let statement = try cachedStatement(sql: "PRAGMA \(schema.quotedDatabaseIdentifier).schema_version")
        return try Int32.fetchOne(statement) ?? 0
    }

    /// Whether foreign keys are enforced: <https://www.sqlite.org/pragma.html#pragma_foreign_keys>.
    package var checksForeignKeys: Bool { ConnectionCalls.isOn(pointer, .foreignKeys) }

    /// Whether deferred foreign keys are currently violated.
    package var hasDeferredForeignKeyViolations: Bool { ConnectionCalls.hasDeferredViolations(pointer) }

    /// Runs `body` with foreign key enforcement and actions suspended. Renaming a table doesn't change references to
    /// it.
    ///
    /// `PRAGMA foreign_keys` does nothing in a transaction, in order that no deferred violation is forgotten. The
    /// caller checks for violations that existed before, and for violations that `body` leaves.
    package func withoutForeignKeysAndReferences<T>(_ body: () throws -> T) throws -> T {
        try checkAccess()
        let checked = ConnectionCalls.isOn(pointer, .foreignKeys)
        let wasLegacy = ConnectionCalls.isOn(pointer, .legacyAlterTable)
        if checked { try route?.setForeignKeys(on: false, self) }
        ConnectionCalls.turn(pointer, .foreignKeys, on: false)
        ConnectionCalls.turn(pointer, .legacyAlterTable, on: true)
        defer {
            ConnectionCalls.turn(pointer, .foreignKeys, on: checked)
            ConnectionCalls.turn(pointer, .legacyAlterTable, on: wasLegacy)
        }
        return try withSettingsOfRoute(
            { try $0.setLegacyAlterTable(on: true, self) },
            restore: {
                try $0.setLegacyAlterTable(on: wasLegacy, self)
                if checked { try $0.setForeignKeys(on: true, self) }
            }, body)
    }

    /// Runs `body` with foreign key enforcement and actions suspended, and then restores the setting, even after an
    /// error.
    ///
    /// Has the effect of `PRAGMA foreign_keys = OFF`, without a statement that could fail or be cancelled.
    package func withoutForeignKeys<T>(_ body: () throws -> T) throws -> T {
        try checkAccess()
        let checked = ConnectionCalls.isOn(pointer, .foreignKeys)
        ConnectionCalls.turn(pointer, .foreignKeys, on: false)
        defer { ConnectionCalls.turn(pointer, .foreignKeys, on: checked) }
        return try withSettingsOfRoute(
            { if checked { try $0.setForeignKeys(on: false, self) } },
            restore: { if checked { try $0.setForeignKeys(on: true, self) } }, body)
    }

    /// Runs `body` while renaming a table is checked against the whole schema.
    package func withCheckedRenaming<T>(_ body: () throws -> T) throws -> T {
        try checkAccess()
        let wasLegacy = ConnectionCalls.isOn(pointer, .legacyAlterTable)
        ConnectionCalls.turn(pointer, .legacyAlterTable, on: false)
        defer { ConnectionCalls.turn(pointer, .legacyAlterTable, on: wasLegacy) }
        return try withSettingsOfRoute(
            { try $0.setLegacyAlterTable(on: false, self) },
            restore: { try $0.setLegacyAlterTable(on: wasLegacy, self) }, body)
    }
}

extension Database {
    /// `"main"."player"`
    package func qualified(_ name: String, _ schemaName: String?) -> String {
        (schemaName.map { $0.quotedDatabaseIdentifier + "." } ?? "") + name.quotedDatabaseIdentifier
    }
}
