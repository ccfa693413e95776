import CSQLite

/// The functions of a connection whose handle is held by `ConnectionLifetime`.
package enum ConnectionCalls {
    /// The corresponding C function is `sqlite3_get_autocommit`.
    @inline(__always)
    package static func isAutocommit(_ connection: SQLiteConnection) -> Bool { sqlite3_get_autocommit(connection) != 0 }

    /// Whether a statement or transaction reads or writes a database of the connection. The corresponding C function is
    /// `sqlite3_txn_state`.
    static func isInUse(_ connection: SQLiteConnection, schema: String) -> Bool {
        sqlite3_txn_state(connection, schema) > SQLITE_TXN_NONE
    }

    /// Whether the connection has a schema of that name. The corresponding C function is `sqlite3_db_readonly`.
    package static func hasSchema(_ connection: SQLiteConnection, _ schema: String) -> Bool {
        sqlite3_db_readonly(connection, schema) >= 0
    }

    /// Whether a schema has a table of that name; false for a view. The corresponding C function is
    /// `sqlite3_table_column_metadata`.
    static func hasTable(_ connection: SQLiteConnection, schema: String, named name: String) -> Bool {
        sqlite3_table_column_metadata(connection, schema, name, nil, nil, nil, nil, nil, nil) == SQLITE_OK
    }

    /// Whether a transaction has begun to write, or a statement or blob that writes outside a transaction hasn't ended.
    /// The corresponding C function is `sqlite3_txn_state`.
    static func hasOpenWrite(_ connection: SQLiteConnection) -> Bool {
        sqlite3_txn_state(connection, nil) == SQLITE_TXN_WRITE
    }

    /// A number that changes when the file changes, through this connection or another; nil for a database that is no
    /// file.
    ///
    /// The number belongs to the transaction that reads: it doesn't show changes made after the transaction began. The
    /// corresponding C function is `sqlite3_file_control`.
    ///
    /// - parameter schema: nil for the main database: a string would be copied for SQLite.
    static func dataVersion(_ connection: SQLiteConnection, schema: String? = nil) -> UInt32? {
        var version: UInt32 = 0
        let code = sqlite3_file_control(connection, schema, SQLITE_FCNTL_DATA_VERSION, &version)
        return code == SQLITE_OK ? version : nil
    }

    /// The absolute path of a file; nil for a database without one. The corresponding C function is
    /// `sqlite3_db_filename`.
    static func path(_ connection: SQLiteConnection, schema: String) -> UnsafePointer<CChar>? {
        sqlite3_db_filename(connection, schema).flatMap { $0.pointee == 0 ? nil : UnsafePointer($0) }
    }

    /// A number that SQLite keeps for a connection: <https://www.sqlite.org/c3ref/c_dbstatus_options.html>.
    enum Status {
        case cacheHits
        case cacheMisses
        case cacheWrites
        case cacheSpills
        case cacheBytes
        case schemaBytes
        case statementBytes

        fileprivate var operation: CInt {
            switch self {
            case .cacheHits: SQLITE_DBSTATUS_CACHE_HIT
            case .cacheMisses: SQLITE_DBSTATUS_CACHE_MISS
            case .cacheWrites: SQLITE_DBSTATUS_CACHE_WRITE
            case .cacheSpills: SQLITE_DBSTATUS_CACHE_SPILL
            case .cacheBytes: SQLITE_DBSTATUS_CACHE_USED
            case .schemaBytes: SQLITE_DBSTATUS_SCHEMA_USED
            case .statementBytes: SQLITE_DBSTATUS_STMT_USED
            }
        }
    }

    /// The corresponding C function is `sqlite3_db_status`.
    static func status(_ connection: SQLiteConnection, _ status: Status) -> Int {
        var (current, highest) = (CInt(0), CInt(0))
        sqlite3_db_status(connection, status.operation, &current, &highest, 0)
        return Int(current)
    }

    /// A switch of the connection: <https://www.sqlite.org/c3ref/c_dbconfig_defensive.html>.
    package enum Switch {
        case foreignKeys
        case legacyAlterTable
        case trustedSchema
        case defensive
        /// The next transaction that writes takes the file for an empty one, whatever it has.
        case resetDatabase

        fileprivate var option: CInt {
            switch self {
            case .foreignKeys: CInt(SQLITE_DBCONFIG_ENABLE_FKEY)
            case .legacyAlterTable: CInt(SQLITE_DBCONFIG_LEGACY_ALTER_TABLE)
            case .trustedSchema: CInt(SQLITE_DBCONFIG_TRUSTED_SCHEMA)
            case .defensive: CInt(SQLITE_DBCONFIG_DEFENSIVE)
            case .resetDatabase: CInt(SQLITE_DBCONFIG_RESET_DATABASE)
            }
        }
    }

    /// Whether a switch is on. The corresponding C function is `sqlite3_db_config`.
    package static func isOn(_ connection: SQLiteConnection, _ theSwitch: Switch) -> Bool {
        var result: CInt = 0
        _ = csqlite_db_config_bool(connection, theSwitch.option, -1, &result)
        return result != 0
    }

    /// Turns a switch on or off, even in a transaction, where a PRAGMA with that name would do nothing. The
    /// corresponding C function is `sqlite3_db_config`.
    package static func turn(_ connection: SQLiteConnection, _ theSwitch: Switch, on isOn: Bool) {
        _ = csqlite_db_config_bool(connection, theSwitch.option, isOn ? 1 : 0, nil)
    }

    /// Whether deferred foreign keys are currently violated. The corresponding C function is `sqlite3_db_status`.
    static func hasDeferredViolations(_ connection: SQLiteConnection) -> Bool {
        var current: CInt = 0
        var highest: CInt = 0
        sqlite3_db_status(connection, SQLITE_DBSTATUS_DEFERRED_FKS, &current, &highest, 0)
        return current != 0
    }

    /// The corresponding C function is `sqlite3_interrupt`.
    static func interrupt(_ connection: SQLiteConnection) { sqlite3_interrupt(connection) }

    /// Clears an interruption that no statement has received. Otherwise it would stop a later checkpoint or
    /// `sqlite3_blob_open`.
    ///
    /// SQLite clears the interruption when SQL is parsed while no statement runs. The corresponding C function is
    /// `sqlite3_prepare_v2`, with empty SQL.
    static func forgetInterruption(_ connection: SQLiteConnection) {
        var statement: OpaquePointer?
        sqlite3_prepare_v2(connection, "", 0, &statement, nil)
    }

    /// The corresponding C function is `sqlite3_changes64`.
    static func changes(_ connection: SQLiteConnection) -> Int { Int(sqlite3_changes64(connection)) }

    /// The corresponding C function is `sqlite3_total_changes64`.
    static func totalChanges(_ connection: SQLiteConnection) -> Int { Int(sqlite3_total_changes64(connection)) }

    /// The corresponding C function is `sqlite3_last_insert_rowid`.
    static func lastInsertedRowID(_ connection: SQLiteConnection) -> Int64 { sqlite3_last_insert_rowid(connection) }

    /// The corresponding C function is `sqlite3_extended_errcode`.
    package static func errorCode(_ connection: SQLiteConnection) -> ResultCode {
        ResultCode(rawValue: sqlite3_extended_errcode(connection))
    }

    /// The corresponding C function is `sqlite3_errmsg`.
    package static func errorMessage(_ connection: SQLiteConnection) -> String {
        String(cString: sqlite3_errmsg(connection))
    }

    /// The corresponding C function is `sqlite3_limit`. A negative value changes nothing.
    package static func limit(_ connection: SQLiteConnection, _ category: CInt, _ value: CInt) -> CInt {
        sqlite3_limit(connection, category, value)
    }

    /// The corresponding C function is `sqlite3_db_release_memory`.
    static func releaseMemory(_ connection: SQLiteConnection) { sqlite3_db_release_memory(connection) }

    /// The corresponding C function is `sqlite3_wal_checkpoint_v2`.
    static func checkpoint(
        _ connection: SQLiteConnection, schema: String?, mode: CInt
    ) -> (code: CInt, walFrames: Int, checkpointedFrames: Int) {
        var frames: CInt = -1
        var checkpointed: CInt = -1
        // An interruption is for the running statement: an earlier one must not stop the checkpoint.
        forgetInterruption(connection)
        let code = sqlite3_wal_checkpoint_v2(connection, schema, mode, &frames, &checkpointed)
        return (code, Int(frames), Int(checkpointed))
    }

    /// Turns foreign keys on or off. The corresponding C function is `sqlite3_db_config`.
    ///
    /// See <https://www.sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfigenablefkey>.
    static func setForeignKeysEnabled(_ connection: SQLiteConnection, _ enabled: Bool) {
        _ = csqlite_db_config_bool(connection, CInt(SQLITE_DBCONFIG_ENABLE_FKEY), enabled ? 1 : 0, nil)
    }

    /// Accepts or rejects string literals in double quotes. The corresponding C function is `sqlite3_db_config`.
    ///
    /// See <https://www.sqlite.org/quirks.html#double_quoted_string_literals_are_accepted>.
    static func setAcceptsDoubleQuotedStringLiterals(_ connection: SQLiteConnection, _ accepts: Bool) {
        for option in [SQLITE_DBCONFIG_DQS_DDL, SQLITE_DBCONFIG_DQS_DML] {
            _ = csqlite_db_config_bool(connection, CInt(option), accepts ? 1 : 0, nil)
        }
    }

    /// The SQL of the connection's prepared statements. The corresponding C functions are `sqlite3_next_stmt` and
    /// `sqlite3_sql`.
    static func statements(_ connection: SQLiteConnection) -> [String] {
        var texts: [String] = []
        var statement = sqlite3_next_stmt(connection, nil)
        while let current = statement {
            if let sql = sqlite3_sql(current) { texts.append(String(cString: sql)) }
            statement = sqlite3_next_stmt(connection, current)
        }
        return texts
    }

    /// Whether a running statement may write. The corresponding C functions are `sqlite3_next_stmt`,
    /// `sqlite3_stmt_busy` and `sqlite3_stmt_readonly`.
    static func isWriting(_ connection: SQLiteConnection) -> Bool {
        var statement = sqlite3_next_stmt(connection, nil)
        while let current = statement {
            if sqlite3_stmt_busy(current) != 0, sqlite3_stmt_readonly(current) == 0 { return true }
            statement = sqlite3_next_stmt(connection, current)
        }
        return false
    }

    /// Whether a statement that writes is running. The corresponding C functions are `sqlite3_next_stmt` and
    /// `sqlite3_stmt_readonly`.
    static func isChanging(_ connection: SQLiteConnection) -> Bool {
        var statement = sqlite3_next_stmt(connection, nil)
        while let current = statement {
            if sqlite3_stmt_busy(current) != 0, sqlite3_stmt_readonly(current) == 0 { return true }
            statement = sqlite3_next_stmt(connection, current)
        }
        return false
    }

    /// Ends every running statement of the connection. The corresponding C functions are `sqlite3_next_stmt` and
    /// `sqlite3_reset`.
    static func resetAllStatements(_ connection: SQLiteConnection) {
        var statement = sqlite3_next_stmt(connection, nil)
        while let current = statement {
            if sqlite3_stmt_busy(current) != 0 { sqlite3_reset(current) }
            statement = sqlite3_next_stmt(connection, current)
        }
    }
}
