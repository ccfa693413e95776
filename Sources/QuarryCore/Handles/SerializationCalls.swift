import CSQLite

/// Converts databases to bytes and back.
enum SerializationCalls {
    enum Outcome {
        case bytes([UInt8])
        case noSuchSchema
        case failure(CInt)
    }

    /// The bytes of a database file. The corresponding C functions are `sqlite3_serialize` and `sqlite3_db_readonly`,
    /// which tells whether the database exists.
    static func serialize(_ connection: SQLiteConnection, schema: String) -> Outcome {
        // A database without pages has no bytes. Newer versions of SQLite would write a first page, even in a read.
        if pageCount(connection, schema: schema) == 0 { return .bytes([]) }
        var size: sqlite3_int64 = 0
        guard let bytes = sqlite3_serialize(connection, schema, &size, 0) else {
            if size == 0 { return .bytes([]) }
            if sqlite3_db_readonly(connection, schema) < 0 { return .noSuchSchema }
            // SQLite prepares and steps a PRAGMA, whose error the connection keeps. It keeps none if memory has run
            // out.
            let code = sqlite3_extended_errcode(connection)
            return .failure(size < 0 && code != SQLITE_OK && code != SQLITE_DONE ? code : SQLITE_NOMEM)
        }
        defer { sqlite3_free(bytes) }
        return .bytes(Array(UnsafeBufferPointer(start: bytes, count: Int(size))))
    }

    /// The number of pages of a database; nil if the schema doesn't exist or can't be read.
    ///
    /// The corresponding C functions are `sqlite3_prepare_v3`, `sqlite3_step` and `sqlite3_column_int64`.
    private static func pageCount(_ connection: SQLiteConnection, schema: String) -> Int64? {
        let sql = "PRAGMA \"\(schema.replacing("\"", with: "\"\""))\".page_count"
        var statement: OpaquePointer?
        guard sqlite3_prepare_v3(connection, sql, -1, 0, &statement, nil) == SQLITE_OK else { return nil }
        defer { sqlite3_finalize(statement) }
        guard sqlite3_step(statement) == SQLITE_ROW else { return nil }
        return sqlite3_column_int64(statement, 0)
    }

    /// Replaces a database of a connection with a database in memory that has a copy of these bytes. The corresponding
    /// C function is `sqlite3_deserialize`.
    ///
    /// - returns: SQLite's code and its meaning. After an error the connection is unchanged.
    static func deserialize(
        _ connection: SQLiteConnection, schema: String, _ bytes: UnsafeRawBufferPointer, readOnly: Bool
    ) -> (code: CInt, message: String) {
        guard let copy = sqlite3_malloc64(UInt64(max(1, bytes.count))) else {
            return (SQLITE_NOMEM, SQLiteLibrary.errorString(SQLITE_NOMEM))
        }
        let buffer = UnsafeMutableRawBufferPointer(start: copy, count: bytes.count)
        buffer.copyMemory(from: bytes)
        // A database in memory has no log: it couldn't be opened with the version of WAL mode in its header.
        for index in 18...19 where index < buffer.count && buffer[index] == 2 { buffer[index] = 1 }
        let flags =
            SQLITE_DESERIALIZE_FREEONCLOSE | (readOnly ? SQLITE_DESERIALIZE_READONLY : SQLITE_DESERIALIZE_RESIZEABLE)
        let size = sqlite3_int64(bytes.count)
        let pages = copy.assumingMemoryBound(to: UInt8.self)
        // The connection loses its present database, so an unreadable database must not replace it.
        if let failure = failure(of: pages, size) {
            sqlite3_free(copy)
            return failure
        }
        // From here on SQLite frees the copy: when the database is closed, or if this call fails.
        let code = sqlite3_deserialize(connection, schema, pages, size, size, UInt32(flags))
        let message = code == SQLITE_ERROR ? "there is no such schema to replace" : SQLiteLibrary.errorString(code)
        return (code, message)
    }

    /// The reason why the schema of a database can't be read; nil if it can.
    ///
    /// The corresponding C functions are `sqlite3_deserialize` and `sqlite3_exec`, on a separate connection.
    private static func failure(
        of pages: UnsafeMutablePointer<UInt8>, _ size: sqlite3_int64
    ) -> (code: CInt, message: String)? {
        var connection: SQLiteConnection?
        defer { sqlite3_close_v2(connection) }
        var code = sqlite3_open_v2(":memory:", &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
        if code == SQLITE_OK {
            code = sqlite3_deserialize(connection, "main", pages, size, size, UInt32(SQLITE_DESERIALIZE_READONLY))
        }
        if code == SQLITE_OK {
            code = sqlite3_exec(connection, "SELECT * FROM sqlite_master LIMIT 1", nil, nil, nil)
        }
        guard code != SQLITE_OK else { return nil }
        return (sqlite3_extended_errcode(connection), String(cString: sqlite3_errmsg(connection)))
    }
}
