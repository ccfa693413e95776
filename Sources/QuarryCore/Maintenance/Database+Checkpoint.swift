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
