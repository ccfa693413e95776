import CSQLite

/// Databases as bytes.
enum SerializationCalls {
    enum Outcome {
        case bytes([UInt8])
        case noSuchSchema
        case failure(CInt)
    }

    /// The bytes of a database file. The corresponding C functions are `sqlite3_serialize` and
    /// `sqlite3_db_readonly`, which tells whether there is such a database.
    static func serialize(_ connection: SQLiteConnection, schema: String) -> Outcome {
        // A database without a page has no byte. Newer versions would write a first page to have one, in a read too.
        if pageCount(connection, schema: schema) == 0 { return .bytes([]) }
        var size: sqlite3_int64 = 0
        guard let bytes = sqlite3_serialize(connection, schema, &size, 0) else {
            if size == 0 { return .bytes([]) }
            if sqlite3_db_readonly(connection, schema) < 0 { return .noSuchSchema }
            // It prepares and steps a PRAGMA, whose error is the connection's; of memory that is out it tells nothing.
            let code = sqlite3_extended_errcode(connection)
            return .failure(size < 0 && code != SQLITE_OK && code != SQLITE_DONE ? code : SQLITE_NOMEM)
        }
        defer { sqlite3_free(bytes) }
        return .bytes(Array(UnsafeBufferPointer(start: bytes, count: Int(size))))
    }

    /// How many pages a database has; nil where it can't be read, or there is no such schema.
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

    /// Makes a database of a connection one in memory, with a copy of these bytes. The corresponding C function is
    /// `sqlite3_deserialize`.
    ///
    /// - returns: SQLite's code, and what it means. After an error the connection is as it was.
    static func deserialize(
        _ connection: SQLiteConnection, schema: String, _ bytes: UnsafeRawBufferPointer, readOnly: Bool
    ) -> (code: CInt, message: String) {
        guard let copy = sqlite3_malloc64(UInt64(max(1, bytes.count))) else {
            return (SQLITE_NOMEM, SQLiteLibrary.errorString(SQLITE_NOMEM))
        }
        let buffer = UnsafeMutableRawBufferPointer(start: copy, count: bytes.count)
        buffer.copyMemory(from: bytes)
        // A database in memory has no log: with the version of WAL mode in its header it couldn't be opened.
        for index in 18...19 where index < buffer.count && buffer[index] == 2 { buffer[index] = 1 }
        let flags =
            SQLITE_DESERIALIZE_FREEONCLOSE | (readOnly ? SQLITE_DESERIALIZE_READONLY : SQLITE_DESERIALIZE_RESIZEABLE)
        let size = sqlite3_int64(bytes.count)
        let pages = copy.assumingMemoryBound(to: UInt8.self)
        // The connection loses the database it has: one that can't be read must not take its place.
        if let failure = failure(of: pages, size) {
            sqlite3_free(copy)
            return failure
        }
        // From here on SQLite frees it: when the database is closed, and when this fails.
        let code = sqlite3_deserialize(connection, schema, pages, size, size, UInt32(flags))
        let message = code == SQLITE_ERROR ? "there is no such schema to replace" : SQLiteLibrary.errorString(code)
        return (code, message)
    }

    /// Why the schema of a database can't be read; nil if it can.
    ///
    /// The corresponding C functions are `sqlite3_deserialize` and `sqlite3_exec`, with a connection of their own.
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
