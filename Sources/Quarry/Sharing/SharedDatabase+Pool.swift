public import QuarryCore

// The methods of pools that the protocols of readers and writers don't have.

extension SharedDatabase {
    /// Makes a connection that always sees the last commit before this call, as
    /// ``DatabasePool/makeSnapshot(label:fileID:line:)`` does.
    ///
    /// ```swift
    /// let snapshot = try database.makeSnapshot()
    /// ```
    ///
    /// While it exists, `withClosedDatabase` throws `SQLITE_BUSY`.
    ///
    /// - throws: `SQLITE_MISUSE` inside a transaction of this database's writer; `DatabaseError` if no connection can
    ///   be opened.
    public func makeSnapshot(
        label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) throws -> DatabaseSnapshot {
        try pool.makeSnapshot(label: label, fileID: fileID, line: line)
    }

    /// As `makeSnapshot`; opening the connection holds none of Swift's threads.
    ///
    /// - throws: the errors of `makeSnapshot`; `CancellationError`.
    public func makeSnapshotAsync(
        label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) async throws -> DatabaseSnapshot {
        try await pool.makeSnapshotAsync(label: label, fileID: fileID, line: line)
    }

    /// Frees as much memory as possible: waits for the running accesses, then closes the readers.
    public func releaseMemory() { pool.releaseMemory() }

    /// As `releaseMemory`, but waiting suspends the task.
    public func releaseMemoryAsync() async { await pool.releaseMemoryAsync() }
}
