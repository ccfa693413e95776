extension Database {
    /// The bytes of a database, as in a file.
    ///
    /// ```swift
    /// let bytes = try dbQueue.read { db in try db.serialize() }
    /// ```
    ///
    /// In WAL mode the bytes include the content of the log. See <https://www.sqlite.org/c3ref/serialize.html>.
    ///
    /// - parameter schema: `main`, `temp`, or the name of an attached database.
    /// - returns: no bytes for a database that was never written to.
    /// - throws: `DatabaseError`, for example if the schema doesn't exist, or is locked; `SQLITE_IOERR` if a page can't
    ///   be read; `SQLITE_NOMEM`.
    public func serialize(schema: String = "main") throws -> [UInt8] {
        try operationWillStart(writes: false)
        try checkName(schema, of: "schema")
        switch SerializationCalls.serialize(pointer, schema: schema) {
        case .bytes(let bytes):
            let empty = Self.emptyPages(of: bytes)
            if !empty.isEmpty { try checkArePages(empty, of: schema) }
            return bytes
        case .noSuchSchema: throw DatabaseError(message: "could not serialize \(schema): there is no such schema")
        case .failure(let code): throw error(code, operation: "could not serialize \(schema)")
        }
    }

    /// The ranges of pages of zeros in the bytes of a database.
    private static func emptyPages(of bytes: [UInt8]) -> [Range<Int>] {
        guard bytes.count >= 512 else { return [] }
        // A size of 65536 is written as 1: https://www.sqlite.org/fileformat.html#page_size
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        let pageSize = size == 1 ? 65_536 : max(512, size)
        var pages: [Range<Int>] = []
        for start in stride(from: 0, to: bytes.count, by: pageSize) where bytes[start] == 0 {
            let page = start..<min(start + pageSize, bytes.count)
            if bytes[page].allSatisfy({ $0 == 0 }) { pages.append(page) }
        }
        return pages
    }

    /// Throws unless pages that were serialized as zeros are zeros.
    ///
    /// `sqlite3_serialize` leaves zeros in place of an unreadable page, and reports no error. A backup reports it.
    private func checkArePages(_ pages: [Range<Int>], of schema: String) throws {
        let operation = "could not serialize \(schema)"
        let copy = try ConnectionHandle(path: ":memory:", mode: .readWriteCreate, vfs: nil)
        guard let backup = BackupHandle(from: pointer, schema: schema, to: copy.pointer) else {
            throw error(ResultCode.SQLITE_NOMEM.rawValue, operation: operation)
        }
        let code = backup.step(-1)
        let finishCode = backup.finish()
        guard code == ResultCode.SQLITE_DONE.rawValue, finishCode == ResultCode.SQLITE_OK.rawValue else {
            throw error(code == ResultCode.SQLITE_DONE.rawValue ? finishCode : code, operation: operation)
        }
        guard case .bytes(let bytes) = SerializationCalls.serialize(copy.pointer, schema: "main") else {
            throw error(ResultCode.SQLITE_NOMEM.rawValue, operation: operation)
        }
        for page in pages where page.upperBound > bytes.count || bytes[page].contains(where: { $0 != 0 }) {
            throw DatabaseError(
                resultCode: .SQLITE_IOERR_READ,
                message: "\(operation): the page at byte \(page.lowerBound) could not be read")
        }
    }

    /// Replaces a database of the connection by a database in memory with the given bytes.
    ///
    /// ```swift
    /// let dbQueue = try DatabaseQueue()
    /// try dbQueue.inDatabase { db in try db.deserialize(bytes) }
    /// ```
    ///
    /// The connection closes its file, if any, which keeps its content. The bytes are copied; a database in WAL mode
    /// leaves this mode. See <https://www.sqlite.org/c3ref/deserialize.html>.
    ///
    /// - parameter bytes: the result of `serialize`, or the content of a database file that is closed; no bytes for an
    ///   empty database.
    /// - parameter schema: `main`, or the name of an attached database.
    /// - parameter readOnly: whether the database can't be written.
    /// - throws: `SQLITE_NOTADB` for other bytes, before anything is changed; `SQLITE_BUSY` while a transaction or
    ///   statement uses the database; `SQLITE_MISUSE` for `main` of a pool, whose readers would keep the file; other
    ///   `DatabaseError`s.
    public func deserialize(_ bytes: [UInt8], schema: String = "main", readOnly: Bool = false) throws {
        try operationWillStart(writes: true, "could not deserialize into \(schema)")
        try checkName(schema, of: "schema")
        guard !options.isWriterOfPool || schema.lowercased() != "main" else {
            throw DatabaseError.misuse(
                "could not deserialize into main: its pool would keep reading the file")
        }
        // The shortest database is a page of 512 bytes: https://www.sqlite.org/fileformat.html
        guard bytes.isEmpty || (bytes.count >= 512 && bytes.starts(with: "SQLite format 3\0".utf8)) else {
            throw DatabaseError(
                resultCode: .SQLITE_NOTADB, message: "could not deserialize into \(schema): the bytes are no database")
        }
        // SQLite's documentation says that SQLite refuses this, but it doesn't: readers of the old content would read
        // freed memory.
        guard !isInsideTransaction, !isBackedUp, !ConnectionCalls.isInUse(pointer, schema: schema) else {
            throw DatabaseError(
                resultCode: .SQLITE_BUSY,
                message: "could not deserialize into \(schema): a transaction, statement or backup uses it")
        }
        forgetStatements()
        schemaMemory.clock.schemaWasReplaced()
        let (code, message) = bytes.withUnsafeBytes {
            SerializationCalls.deserialize(pointer, schema: schema, $0, readOnly: readOnly)
        }
        if code != ResultCode.SQLITE_OK.rawValue {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code), message: "could not deserialize into \(schema): \(message)")
        }
        contentWasReplaced()
    }
}
