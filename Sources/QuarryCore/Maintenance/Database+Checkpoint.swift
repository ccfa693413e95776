extension Database {
    /// How much a checkpoint does: <https://www.sqlite.org/c3ref/wal_checkpoint_v2.html>.
    ///
    /// ```swift
    /// try dbPool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
    /// ```
    public enum CheckpointMode: CInt, Sendable {
        /// What can be done without waiting for readers and writers.
        case passive = 0
        /// All of the log, after the writer, and the readers that don't see its end.
        case full = 1
        /// As `full`, and waits for readers, so that the next writer begins the log anew.
        case restart = 2
        /// As `restart`, and cuts the log to nothing.
        case truncate = 3
    }

    /// Takes the write-ahead log into the database.
    ///
    /// ```swift
    /// let (frames, taken) = try dbPool.writeWithoutTransaction { db in try db.checkpoint(.truncate) }
    /// ```
    ///
    /// The corresponding C function is `sqlite3_wal_checkpoint_v2`.
    ///
    /// - parameter kind: how much is done.
    /// - parameter dbName: the name of a database of the connection; nil for all.
    /// - returns: the number of frames (pages) in the log, and of those that have been taken; -1 outside WAL mode.
    /// - throws: `SQLITE_BUSY` if others don't let it finish; `SQLITE_LOCKED` inside a transaction.
    @discardableResult
    public func checkpoint(
        _ kind: CheckpointMode = .passive, on dbName: String? = "main"
    ) throws -> (walFrameCount: Int, checkpointedFrameCount: Int) {
        try checkAccess()
        if let dbName { try checkName(dbName, of: "schema") }
        let (code, frames, taken) = ConnectionCalls.checkpoint(pointer, schema: dbName, mode: kind.rawValue)
        guard code == ResultCode.SQLITE_OK.rawValue else {
            throw error(code, operation: "checkpoint of \(dbName ?? "all databases") in \(description)")
        }
        return (frames, taken)
    }
}
