extension Database {
    // Outside an access these are 0 or empty, because another thread may use or close the connection.

    /// The rowid of the last inserted row: <https://www.sqlite.org/c3ref/last_insert_rowid.html>.
    ///
    /// ```swift
    /// try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
    /// let id = db.lastInsertedRowID
    /// ```
    public var lastInsertedRowID: Int64 { lifetime.isOwned ? ConnectionCalls.lastInsertedRowID(pointer) : 0 }

    /// The number of rows that the last INSERT, UPDATE or DELETE changed: <https://www.sqlite.org/c3ref/changes.html>.
    ///
    /// ```swift
    /// try db.execute(sql: "DELETE FROM player WHERE score = 0")
    /// print("\(db.changesCount) players are gone")
    /// ```
    public var changesCount: Int { lifetime.isOwned ? ConnectionCalls.changes(pointer) : 0 }

    /// The number of rows changed since the connection was opened: <https://www.sqlite.org/c3ref/total_changes.html>.
    public var totalChangesCount: Int { lifetime.isOwned ? ConnectionCalls.totalChanges(pointer) : 0 }

    /// The code of the last error: <https://www.sqlite.org/c3ref/errcode.html>.
    public var lastErrorCode: ResultCode { lifetime.isOwned ? ConnectionCalls.errorCode(pointer) : .SQLITE_MISUSE }

    /// The message of the last error.
    public var lastErrorMessage: String? { lifetime.isOwned ? ConnectionCalls.errorMessage(pointer) : nil }

    /// SQLite's version as a number: 3040001 for 3.40.1.
    public static var sqliteLibVersionNumber: CInt { SQLiteLibrary.versionNumber }

    /// The maximum number of arguments of a statement: <https://www.sqlite.org/limits.html#max_variable_number>.
    public var maximumStatementArgumentCount: Int { limit(.variableNumber) }

    /// The number that SQLite changes with each change of the schema.
    ///
    /// ```swift
    /// let version = try db.schemaVersion()
    /// ```
    /// ```sql
    /// PRAGMA schema_version
    /// ```
    ///
    /// - throws: `DatabaseError`; `CancellationError` in a cancelled task.
    public func schemaVersion() throws -> Int32 {
        let statement = try controlStatement(.schemaVersion)
        return try Int32.fetchOne(statement) ?? 0
    }
}
