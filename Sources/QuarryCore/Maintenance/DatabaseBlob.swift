/// An open blob or text of a row, to read and write in pieces.
///
/// ```swift
/// try dbQueue.write { db in
///     try db.execute(sql: "INSERT INTO file (id, content) VALUES (1, zeroblob(?))", arguments: [size])
///     let blob = try db.openBlob(table: "file", column: "content", rowID: 1, readOnly: false)
///     while let piece = try nextPiece() { try blob.write(piece) }
/// }
/// ```
///
/// A blob keeps its length: reserve it with `zeroblob`. A blob is used inside the access that opened it, and becomes
/// invalid when the access ends; elsewhere it throws `SQLITE_MISUSE`. If its row is changed in another way, the blob
/// becomes invalid too, and throws `SQLITE_ABORT`.
///
/// Positions count bytes, from 0. See <https://www.sqlite.org/c3ref/blob_open.html>.
public final class DatabaseBlob {
    /// The schema of the table, such as `main`.
    public let schema: String

    /// The table.
    public let table: String

    /// The column.
    public let column: String

    /// The row.
    public private(set) var rowID: Int64

    /// Whether the blob can't be written.
    public let isReadOnly: Bool

    /// The number of bytes; 0 when the blob is closed.
    public private(set) var count: Int

    /// The start of the next read or write.
    public private(set) var position = 0

    private let lifetime: ConnectionLifetime
    private let open: OpenBlob

    init(
        _ open: OpenBlob, schema: String, table: String, column: String, rowID: Int64, isReadOnly: Bool,
        lifetime: ConnectionLifetime
    ) {
        self.open = open
        self.schema = schema
        self.table = table
        self.column = column
        self.rowID = rowID
        self.isReadOnly = isReadOnly
        self.lifetime = lifetime
        count = open.handle?.count ?? 0
    }

    deinit {
        // On another thread, the end of the access closes the blob.
        guard lifetime.isOwned, let database = lifetime.database else { return }
        database.failingAccess { try database.close(open) }
    }

    // MARK: - Reading

    /// Reads from the position on, and moves the position past the bytes read.
    ///
    /// ```swift
    /// let header = try blob.read(count: 16)
    /// let rest = try blob.read()
    /// ```
    ///
    /// - parameter count: the maximum number of bytes; nil for all.
    /// - returns: fewer bytes if the blob ends, no bytes at its end.
    /// - throws: `DatabaseError`; `CancellationError` in a cancelled task.
    public func read(count: Int? = nil) throws -> [UInt8] {
        let wanted = min(max(0, count ?? .max), self.count - position)
        let bytes = try read(count: wanted, at: position)
        position += wanted
        return bytes
    }

    /// Reads bytes at an offset. The position doesn't change.
    ///
    /// ```swift
    /// let header = try blob.read(count: 16, at: 0)
    /// ```
    ///
    /// - throws: `SQLITE_RANGE` unless the blob has all of these bytes; the other errors of `read(count:)`.
    public func read(count: Int, at offset: Int) throws -> [UInt8] {
        try check(count: count, at: offset)
        guard count > 0 else {
            // The initializer below would write to the one empty array that all threads share.
            var nothing: Void = ()
            try withUnsafeMutableBytes(of: &nothing) { try read(into: $0, count: 0, at: offset) }
            return []
        }
        return try [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            try read(into: UnsafeMutableRawBufferPointer(buffer), count: count, at: offset)
            initializedCount = count
        }
    }

    /// Reads from the position on into the caller's memory, and moves the position past the bytes read.
    ///
    /// - returns: the number of bytes read: the size of the buffer, fewer if the blob ends, 0 at its end.
    /// - throws: the errors of `read(count:)`.
    public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let wanted = min(buffer.count, count - position)
        try read(into: buffer, count: wanted, at: position)
        position += wanted
        return wanted
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer, count: Int, at offset: Int) throws {
        let database = try checkUse(writes: false)
        let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
        try check(open.handle?.read(into: part, at: offset), database)
    }

    // MARK: - Writing

    /// Overwrites the bytes from the position on, and moves the position past them.
    ///
    /// ```swift
    /// let blob = try db.openBlob(table: "file", column: "content", rowID: 1, readOnly: false)
    /// try blob.write(header)
    /// ```
    ///
    /// - throws: `SQLITE_RANGE` for more bytes than the blob has left, before anything is written; `SQLITE_READONLY` if
    ///   the blob can't be written; the other errors of `read(count:)`.
    public func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try write($0) }
    }

    /// Overwrites the bytes from the position on, and moves the position past them.
    ///
    /// - throws: the errors of `write(_:)` of an array.
    public func write(_ bytes: UnsafeRawBufferPointer) throws {
        try write(bytes, at: position)
        position += bytes.count
    }

    /// Overwrites bytes at an offset. The position doesn't change.
    ///
    /// ```swift
    /// try blob.write([0, 1], at: 16)
    /// ```
    ///
    /// - throws: the errors of `write(_:)`.
    public func write(_ bytes: [UInt8], at offset: Int) throws {
        try bytes.withUnsafeBytes { try write($0, at: offset) }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
        try check(count: bytes.count, at: offset)
        if isReadOnly { throw error(.SQLITE_READONLY, "it was opened for reading only") }
        let database = try checkUse(writes: true)
        open.hasWritten = true
        guard let monitor = database.watchers.monitor else {
            return try check(open.handle?.write(bytes, at: offset), database)
        }
        database.watchers.writtenBlobColumn = column
        defer { database.watchers.writtenBlobColumn = nil }
        try check(open.handle?.write(bytes, at: offset), database)
        monitor.blobDidChange(TableName(schema: schema, name: table), column: column, rowID: rowID, database)
    }

    // MARK: - Moving

    /// Moves the position, from 0 to `count`.
    ///
    /// ```swift
    /// try blob.seek(to: 16)
    /// ```
    ///
    /// - throws: `SQLITE_RANGE` for another position; the other errors of `read(count:)`.
    public func seek(to position: Int) throws {
        guard 0...count ~= position else {
            throw error(.SQLITE_RANGE, "position \(position) is outside of its \(count) bytes")
        }
        self.position = position
    }

    /// Moves to the same column of another row, at its first byte: faster than opening another blob.
    ///
    /// ```swift
    /// let blob = try db.openBlob(table: "file", column: "content", rowID: 1)
    /// let first = try blob.read()
    /// try blob.reopen(rowID: 2)
    /// let second = try blob.read()
    /// ```
    ///
    /// - throws: `DatabaseError` if the row doesn't exist, or has no blob or text: then this blob is invalid.
    public func reopen(rowID: Int64) throws {
        let database = try checkUse(writes: false)
        position = 0
        self.rowID = rowID
        let code = open.handle?.reopen(rowID: rowID)
        count = open.handle?.count ?? 0
        try check(code, database)
    }

    /// Closes the blob; has no effect on a closed blob. Without this call, the blob is closed with its last reference,
    /// or at the end of its access.
    ///
    /// ```swift
    /// let blob = try db.openBlob(table: "file", column: "content", rowID: 1, readOnly: false)
    /// try blob.write([0, 1])
    /// try blob.close()
    /// ```
    ///
    /// - throws: `DatabaseError` if writes outside a transaction can't be committed.
    public func close() throws {
        try lifetime.accessedDatabase().close(open)
        count = 0
        position = 0
    }

    // MARK: - Checks

    private func checkUse(writes: Bool) throws -> Database {
        let database = try lifetime.accessedDatabase()
        try database.operationWillStart(writes: writes, "blob \(name)")
        guard open.handle != nil else { throw error(.SQLITE_MISUSE, "it is closed, or its access has ended") }
        return database
    }

    private func check(count: Int, at offset: Int) throws {
        guard count >= 0, offset >= 0, offset <= self.count, count <= self.count - offset else {
            throw error(
                .SQLITE_RANGE, "\(count) bytes from position \(offset) on are outside of its \(self.count) bytes")
        }
    }

    private func check(_ code: CInt?, _ database: Database) throws {
        guard let code, code != ResultCode.SQLITE_OK.rawValue else { return }
        let error = database.error(code, operation: "blob \(name)")
        database.noteUntoldEnd()
        throw error
    }

    private var name: String { OpenBlob.name(schema, table, column, rowID) }

    @inline(never)
    private func error(_ code: ResultCode, _ message: String) -> DatabaseError {
        DatabaseError(resultCode: code, message: "blob \(name): \(message)")
    }
}

extension DatabaseBlob: CustomStringConvertible {
    /// `<DatabaseBlob main.file.content of row 1>`
    public var description: String { "<DatabaseBlob \(name)>" }
}

@available(*, unavailable)
extension DatabaseBlob: Sendable {}

extension Database {
    /// Opens a blob or text of a row, to read or write it in pieces.
    ///
    /// ```swift
    /// let blob = try db.openBlob(table: "file", column: "content", rowID: 1)
    /// var hash = Hasher()
    /// while case let piece = try blob.read(count: 65_536), !piece.isEmpty { hash.combine(piece) }
    /// ```
    ///
    /// If no transaction is open, writes are committed when the blob is closed. A transaction can't be committed
    /// (`SQLITE_BUSY`) before blobs opened for writing are closed, or have lost their last reference. See
    /// <https://www.sqlite.org/c3ref/blob_open.html>.
    ///
    /// - parameter rowID: the row; a table WITHOUT ROWID has no rowids.
    /// - parameter schema: `main`, `temp`, or the name of an attached database.
    /// - parameter readOnly: false to write; indexed columns and foreign key columns can't be written.
    /// - throws: `DatabaseError` that names table, column and row if there is no blob or text; `SQLITE_READONLY` if the
    ///   connection can't write.
    public func openBlob(
        table: String, column: String, rowID: Int64, schema: String = "main", readOnly: Bool = true
    ) throws -> DatabaseBlob {
        try operationWillStart(writes: !readOnly, "blob \(OpenBlob.name(schema, table, column, rowID))")
        try checkName(schema, of: "schema")
        try checkName(table, of: "table")
        try checkName(column, of: "column")
        if !readOnly { try beginOwnTransaction(for: self) }
        // The open blob takes the transaction over.
        defer { if !readOnly { failingAccess { try endOwnTransaction(of: self) } } }
        switch BlobHandle.open(
            pointer, schema: schema, table: table, column: column, rowID: rowID, writes: !readOnly)
        {
        case .blob(let handle):
            let open = OpenBlob(handle)
            running.blobs.append(open)
            if !readOnly { try beginOwnTransaction(for: open) }
            return DatabaseBlob(
                open, schema: schema, table: table, column: column, rowID: rowID, isReadOnly: readOnly,
                lifetime: lifetime)
        case .failure(let code):
            throw error(code, operation: "blob \(OpenBlob.name(schema, table, column, rowID))")
        }
    }

    func close(_ blob: OpenBlob) throws {
        guard let handle = blob.handle.take() else { return }
        running.blobs.removeAll { $0 === blob }
        let wasWriting = ConnectionCalls.hasOpenWrite(pointer)
        let code = handle.close()
        let isCommitted = code == ResultCode.SQLITE_OK.rawValue
        // An expired blob reports the error again here.
        let isFailure = blob.hasWritten && !isCommitted && ResultCode(rawValue: code).primaryResultCode != .SQLITE_ABORT
        let failure = isFailure ? error(code, operation: "closing a blob") : nil
        if wasWriting, !isInsideTransaction, !openTransaction.state.isInside, !ConnectionCalls.hasOpenWrite(pointer) {
            transactionDidEnd(committed: isCommitted)
        } else {
            noteUntoldEnd()
        }
        if let failure {
            try? endOwnTransaction(of: blob)
            throw failure
        }
        try endOwnTransaction(of: blob)
    }

    /// Tells of the end of a transaction that SQLite has ended in an operation that isn't a statement: a blob that
    /// becomes invalid ends what it has written outside a transaction, and a C function may commit or roll back.
    func noteUntoldEnd() {
        let end = watchers.monitor?.takeUntoldEnd(self) ?? .none
        var isCommitted = end == .didCommit
        if hasUntoldEnd {
            isCommitted = hooks.countsRollbacks && hooks.rollbackCount == openTransaction.rollbackCountAtBegin
            openTransaction.state.endWasNotTold(isCommitted: isCommitted)
        } else if end == .none {
            return
        }
        transactionDidEnd(committed: isCommitted)
    }

    /// Whether SQLite's C functions have ended the transaction.
    var hasUntoldEnd: Bool { openTransaction.state.isInside && ConnectionCalls.isAutocommit(pointer) }

    /// Closes the blobs that the access has left open.
    func closeBlobs() {
        while let blob = running.blobs.last { failingAccess { try close(blob) } }
    }
}
