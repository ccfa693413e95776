extension Database {
    /// The bytes of a database, as a file of it would have them.
    ///
    /// ```swift
    /// let bytes = try dbQueue.read { db in try db.serialize() }
    /// ```
    ///
    /// In WAL mode the bytes include what the log holds. See <https://www.sqlite.org/c3ref/serialize.html>.
    ///
    /// - parameter schema: `main`, `temp`, or the name of an attached database.
    /// - returns: no byte for a database that nothing was ever written to.
    /// - throws: `DatabaseError`, for example when there is no such schema; `SQLITE_NOMEM`.
    public func serialize(schema: String = "main") throws -> [UInt8] {
        try operationWillStart(writes: false)
        switch SerializationHandle.serialize(pointer, schema: schema) {
        case .bytes(let bytes): return bytes
        case .noSuchSchema: throw DatabaseError(message: "could not serialize \(schema): there is no such schema")
        case .outOfMemory:
            throw DatabaseError(resultCode: .SQLITE_NOMEM, message: "could not serialize \(schema): out of memory")
        }
    }

    /// Replaces a database of the connection with one in memory that has these bytes.
    ///
    /// ```swift
    /// let dbQueue = try DatabaseQueue()
    /// try dbQueue.inDatabase { db in try db.deserialize(bytes) }
    /// ```
    ///
    /// The connection leaves the file it had, if any, which keeps its content. The bytes are copied; a database in WAL
    /// mode becomes one without. See <https://www.sqlite.org/c3ref/deserialize.html>.
    ///
    /// - parameter bytes: what `serialize` gave, or the content of a database file that is closed; none for an empty
    ///   database.
    /// - parameter schema: `main`, or the name of an attached database.
    /// - parameter readOnly: whether the database can't be written.
    /// - throws: `SQLITE_NOTADB` for other bytes, before anything is changed; `SQLITE_BUSY` while a transaction or
    ///   statement uses the database; other `DatabaseError`s.
    public func deserialize(_ bytes: [UInt8], schema: String = "main", readOnly: Bool = false) throws {
        try operationWillStart(writes: true)
        // The shortest database is a page of 512 bytes: https://www.sqlite.org/fileformat.html
        guard bytes.isEmpty || (bytes.count >= 512 && bytes.starts(with: "SQLite format 3\0".utf8)) else {
            throw DatabaseError(
                resultCode: .SQLITE_NOTADB, message: "could not deserialize into \(schema): the bytes are no database")
        }
        // SQLite documents that it would refuse, and doesn't: what reads the old content would read freed memory.
        guard !isInsideTransaction, !isBackedUp, !ConnectionCalls.isInUse(pointer, schema: schema) else {
            throw DatabaseError(
                resultCode: .SQLITE_BUSY,
                message: "could not deserialize into \(schema): a transaction, statement or backup uses it")
        }
        forgetStatements()
        schemaClock.schemaWasReplaced()
        let code = bytes.withUnsafeBytes {
            SerializationHandle.deserialize(pointer, schema: schema, $0, readOnly: readOnly)
        }
        if code != ResultCode.SQLITE_OK.rawValue {
            throw error(code, operation: "could not deserialize into \(schema)")
        }
        // Finds out here whether it can be read at all.
        try execute(sql: "SELECT * FROM \(schema.quotedDatabaseIdentifier).sqlite_master LIMIT 1")
    }
}
