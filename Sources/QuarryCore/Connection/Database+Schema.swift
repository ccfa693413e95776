// What the layers above need to keep knowledge of the schema, and to rebuild tables.

extension Database {
    /// A count that another number follows whenever this connection may have changed its schema, or what is attached.
    package var schemaChangeCount: Int { schemaClock.changeCount }

    /// The number that tells whether the schema that is read has changed since.
    ///
    /// - returns: nil where no transaction reads the database: the state it will read isn't decided yet.
    package func pinnedDataVersion(schema: String) -> UInt32? {
        guard ConnectionCalls.isInUse(pointer, schema: schema) else { return nil }
        return ConnectionCalls.dataVersion(pointer, schema: schema)
    }

    /// The number SQLite changes with each change of a schema.
    ///
    /// - parameter schema: `main`, `temp`, or the name of an attached database.
    package func schemaVersion(of schema: String) throws -> Int32 {
        if schema == "main" { return try schemaVersion() }
        let statement = try cachedStatement(sql: "PRAGMA \(schema.quotedDatabaseIdentifier).schema_version")
        return try Int32.fetchOne(statement) ?? 0
    }

    /// Whether foreign keys are checked: <https://www.sqlite.org/pragma.html#pragma_foreign_keys>.
    package var checksForeignKeys: Bool { ConnectionCalls.isOn(pointer, .foreignKeys) }

    /// Whether deferred foreign keys are violated for the moment.
    package var hasDeferredForeignKeyViolations: Bool { ConnectionCalls.hasDeferredViolations(pointer) }

    /// Runs `body` while foreign keys are neither checked nor acted upon, and renaming a table changes no other.
    ///
    /// `PRAGMA foreign_keys` does nothing in a transaction, so that no deferred violation is forgotten. The caller
    /// looks for violations that were there before, and for those that `body` leaves.
    package func withoutForeignKeysAndReferences<T>(_ body: () throws -> T) throws -> T {
        try checkAccess()
        let checked = ConnectionCalls.isOn(pointer, .foreignKeys)
        let wasLegacy = ConnectionCalls.isOn(pointer, .legacyAlterTable)
        ConnectionCalls.turn(pointer, .foreignKeys, on: false)
        ConnectionCalls.turn(pointer, .legacyAlterTable, on: true)
        defer {
            ConnectionCalls.turn(pointer, .foreignKeys, on: checked)
            ConnectionCalls.turn(pointer, .legacyAlterTable, on: wasLegacy)
        }
        return try body()
    }

    /// Runs `body` while foreign keys are neither checked nor acted upon. They are what they were again, however it
    /// ends.
    ///
    /// As `PRAGMA foreign_keys = OFF`, but no statement, which could fail, or be cancelled.
    package func withoutForeignKeys<T>(_ body: () throws -> T) throws -> T {
        try checkAccess()
        let checked = ConnectionCalls.isOn(pointer, .foreignKeys)
        ConnectionCalls.turn(pointer, .foreignKeys, on: false)
        defer { ConnectionCalls.turn(pointer, .foreignKeys, on: checked) }
        return try body()
    }

    /// Runs `body` while renaming a table is checked against the whole schema.
    package func withCheckedRenaming<T>(_ body: () throws -> T) throws -> T {
        try checkAccess()
        let wasLegacy = ConnectionCalls.isOn(pointer, .legacyAlterTable)
        ConnectionCalls.turn(pointer, .legacyAlterTable, on: false)
        defer { ConnectionCalls.turn(pointer, .legacyAlterTable, on: wasLegacy) }
        return try body()
    }
}
