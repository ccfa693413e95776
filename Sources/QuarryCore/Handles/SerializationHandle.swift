import CSQLite

/// Databases as bytes.
enum SerializationHandle {
    enum Outcome {
        case bytes([UInt8])
        case noSuchSchema
        case outOfMemory
    }

    /// The bytes of a database file. The corresponding C function is `sqlite3_serialize`.
    static func serialize(_ connection: SQLiteConnection, schema: String) -> Outcome {
        var size: sqlite3_int64 = 0
        guard let bytes = sqlite3_serialize(connection, schema, &size, 0) else {
            // A database without a page has no byte.
            return size < 0 ? .noSuchSchema : size == 0 ? .bytes([]) : .outOfMemory
        }
        defer { sqlite3_free(bytes) }
        return .bytes(Array(UnsafeBufferPointer(start: bytes, count: Int(size))))
    }

    /// Makes a database of a connection one in memory, with a copy of these bytes. The corresponding C function is
    /// `sqlite3_deserialize`.
    static func deserialize(
        _ connection: SQLiteConnection, schema: String, _ bytes: UnsafeRawBufferPointer, readOnly: Bool
    ) -> CInt {
        // SQLite frees it: when the database is closed, and when this fails.
        guard let copy = sqlite3_malloc64(UInt64(max(1, bytes.count))) else { return SQLITE_NOMEM }
        let buffer = UnsafeMutableRawBufferPointer(start: copy, count: bytes.count)
        buffer.copyMemory(from: bytes)
        // A database in memory has no log: with the version of WAL mode in its header it couldn't be opened.
        for index in 18...19 where index < buffer.count && buffer[index] == 2 { buffer[index] = 1 }
        let flags =
            SQLITE_DESERIALIZE_FREEONCLOSE | (readOnly ? SQLITE_DESERIALIZE_READONLY : SQLITE_DESERIALIZE_RESIZEABLE)
        let size = sqlite3_int64(bytes.count)
        return sqlite3_deserialize(
            connection, schema, copy.assumingMemoryBound(to: UInt8.self), size, size, UInt32(flags))
    }
}
