extension Database {
    /// Loads an extension of SQLite from a shared library.
    ///
    /// ```swift
    /// var config = Configuration()
    /// config.allowsLoadingExtensions = true
    /// config.prepareDatabase { db in try db.loadExtension(path: "/usr/lib/sqlite3/pcre.so") }
    /// ```
    ///
    /// An extension is native code: load only code you trust. The SQL function `load_extension()` stays disabled. See
    /// <https://www.sqlite.org/loadext.html>.
    ///
    /// - parameter path: the shared library; the suffix may be omitted.
    /// - parameter entryPoint: the name of its C function; nil for the name that SQLite derives from the file's name.
    /// - throws: `SQLITE_MISUSE` unless `Configuration.allowsLoadingExtensions` is set; `DatabaseError` with the
    ///   linker's message if the library is missing or can't be loaded.
    public func loadExtension(path: String, entryPoint: String? = nil) throws {
        try operationWillStart(writes: false)
        guard options.allowsLoadingExtensions else {
            throw DatabaseError.misuse(
                "could not load the extension \(path): Configuration.allowsLoadingExtensions is off")
        }
        guard !path.utf8.contains(0), entryPoint?.utf8.contains(0) != true else {
            throw DatabaseError.misuse("the path or entry point of an extension has a NUL: \(String(reflecting: path))")
        }
        let (code, message) = ExtensionCalls.load(pointer, path: path, entryPoint: entryPoint)
        guard code == ResultCode.SQLITE_OK.rawValue else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code),
                message: "could not load the extension \(path): \(message ?? SQLiteLibrary.errorString(code))")
        }
    }
}

extension Database {
    /// The extent of a checkpoint: <https://www.sqlite.org/c3ref/wal_checkpoint_v2.html>.
    ///
    /// ```swift
    /// try dbPool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
    /// ```
    public enum CheckpointMode: CInt, Sendable {
        /// Checkpoints the frames that can be copied without waiting for readers and writers.
        case passive = 0
        /// Checkpoints all frames, after waiting for the writer, and for readers that don't see the end of the log.
        case full = 1
        /// As `full`, and waits for readers, so that the next writer restarts the log.
        case restart = 2
        /// As `restart`, and truncates the log to zero bytes.
        case truncate = 3
    }

    /// Copies the write-ahead log into the database.
    ///
    /// ```swift
    /// let (frames, taken) = try dbPool.writeWithoutTransaction { db in try db.checkpoint(.truncate) }
    /// ```
    ///
    /// The corresponding C function is `sqlite3_wal_checkpoint_v2`.
    ///
    /// - parameter kind: the extent of the checkpoint.
    /// - parameter dbName: the name of a database of the connection; nil for all.
    /// - returns: the number of frames (pages) in the log, and the number of checkpointed frames; -1 outside WAL mode.
    /// - throws: `SQLITE_BUSY` if other connections prevent it from finishing; `SQLITE_LOCKED` inside a transaction.
    @discardableResult
    public func checkpoint(
        _ kind: CheckpointMode = .passive, on dbName: String? = "main"
    ) throws -> (walFrameCount: Int, checkpointedFrameCount: Int) {
        try checkAccess()
        try checkIsLocal("a checkpoint")
        if let dbName { try checkName(dbName, of: "schema") }
        let (code, frames, taken) = ConnectionCalls.checkpoint(pointer, schema: dbName, mode: kind.rawValue)
        guard code == ResultCode.SQLITE_OK.rawValue else {
            throw error(code, operation: "checkpoint of \(dbName ?? "all databases") in \(description)")
        }
        return (frames, taken)
    }
}

// Operations that aren't statements: blobs, backups, extensions. They follow the same rules as statements.

extension Database {
    /// Called before an operation: throws if it must not run.
    ///
    /// - parameter operation: the operation, for the error of an operation that writes.
    /// - parameter method: the caller.
    package func operationWillStart(
        writes: Bool, _ operation: @autoclosure () -> String = "", method: StaticString = #function
    ) throws {
        try checkAccess()
        try checkIsLocal("\(method)")
        if writes, isReadOnly {
            throw DatabaseError(
                resultCode: .SQLITE_READONLY, message: "\(operation()): attempt to write a readonly database"
            ).with(circumstances: hintOfReadOnly)
        }
        try checkGoesOn()
        try checkTransactionIsOpen()
    }

    /// Throws for a name with a NUL. C strings end there, so that it would be another name.
    package func checkName(_ name: String, of kind: String) throws(DatabaseError) {
        guard !name.utf8.contains(0) else {
            throw DatabaseError.misuse("the name of a \(kind) has a NUL character: \(String(reflecting: name))")
        }
    }

    package func checkCancellation() throws {
        if access.isCancelled { throw CancellationError() }
    }

    /// Throws if the access is cancelled, or if another thread has ended it.
    func checkGoesOn() throws {
        try checkCancellation()
        if let endError { throw endError }
    }

    /// The error of an operation that failed, with the operation's description.
    package func error(_ code: CInt, operation: String) -> any Error {
        let error = error(code, sql: nil)
        guard let error = error as? DatabaseError else { return error }
        return DatabaseError(
            resultCode: error.extendedResultCode,
            message: "\(operation): \(error.message ?? SQLiteLibrary.errorString(code))")
    }
}
