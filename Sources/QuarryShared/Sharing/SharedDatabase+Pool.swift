public import Quarry
public import QuarryCore

// The methods of pools that the protocols of readers and writers don't have. `SharedDatabaseMethodTests` compares them.

extension SharedDatabase {
    // MARK: - Snapshots

    /// Makes a connection that always sees the last commit before this call, as
    /// `DatabasePool.makeSnapshot(label:fileID:line:)` does.
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
    /// ```swift
    /// let snapshot = try await database.makeSnapshotAsync()
    /// ```
    ///
    /// - throws: the errors of `makeSnapshot`; `CancellationError`.
    public func makeSnapshotAsync(
        label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) async throws -> DatabaseSnapshot {
        try await pool.makeSnapshotAsync(label: label, fileID: fileID, line: line)
    }

    /// Makes several connections that always see the same commit, as
    /// `DatabasePool.makeSnapshotPool(label:fileID:line:)` does.
    ///
    /// ```swift
    /// let snapshot = try database.makeSnapshotPool()
    /// ```
    ///
    /// While it exists, `withClosedDatabase` throws `SQLITE_BUSY`.
    ///
    /// - throws: the errors of `makeSnapshot`; `SQLITE_BUSY` if other connections commit all the time and the database
    ///   is read-only.
    public func makeSnapshotPool(
        label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) throws -> DatabaseSnapshotPool {
        try pool.makeSnapshotPool(label: label, fileID: fileID, line: line)
    }

    /// As `makeSnapshotPool`; opening the connections holds none of Swift's threads, and waiting suspends the task.
    ///
    /// ```swift
    /// let snapshot = try await database.makeSnapshotPoolAsync()
    /// ```
    ///
    /// - throws: the errors of `makeSnapshotPool`; `CancellationError`.
    public func makeSnapshotPoolAsync(
        label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) async throws -> DatabaseSnapshotPool {
        try await pool.makeSnapshotPoolAsync(label: label, fileID: fileID, line: line)
    }

    // MARK: - Stable readers

    /// Makes a reader that sees the last commit before this call, until it is told to advance, as
    /// `DatabasePool.makeStableReader(keys:bufferingAtMost:label:fileID:line:)` does.
    ///
    /// ```swift
    /// let reader = try database.makeStableReader()
    /// ```
    ///
    /// It stays usable when the database is closed and opened again. While it exists, `withClosedDatabase` throws
    /// `SQLITE_BUSY`.
    ///
    /// - parameter keys: whether the commits that `advance` returns have the changed keys.
    /// - parameter limit: the number of commits that are kept for the reader.
    /// - parameter label: names the reader in reports and errors; by default the place of the call.
    /// - throws: the errors of `makeSnapshot`.
    public func makeStableReader(
        keys: Bool = false, bufferingAtMost limit: Int = 10_000, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) throws -> StableReader {
        try pool.makeStableReader(keys: keys, bufferingAtMost: limit, label: label, fileID: fileID, line: line)
    }

    /// As `makeStableReader`; opening the connection holds none of Swift's threads.
    ///
    /// ```swift
    /// let reader = try await database.makeStableReader()
    /// ```
    ///
    /// - throws: the errors of `makeStableReader`; `CancellationError`.
    public func makeStableReader(
        keys: Bool = false, bufferingAtMost limit: Int = 10_000, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) async throws -> StableReader {
        try await pool.makeStableReader(
            keys: keys, bufferingAtMost: limit, label: label, fileID: fileID, line: line)
    }

    /// Same as `makeStableReader`, its name until 0.2.0.
    @available(*, deprecated, renamed: "makeStableReader(keys:bufferingAtMost:label:fileID:line:)")
    public func makeStableReaderAsync(
        keys: Bool = false, bufferingAtMost limit: Int = 10_000, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) async throws -> StableReader {
        try await makeStableReader(keys: keys, bufferingAtMost: limit, label: label, fileID: fileID, line: line)
    }

    /// Makes several readers of the same state: the last commit before this call. Each advances by itself.
    ///
    /// ```swift
    /// let readers = try database.makeStableReaders(count: 4)
    /// ```
    ///
    /// - throws: the errors of `makeStableReader`.
    public func makeStableReaders(
        count: Int, keys: Bool = false, bufferingAtMost limit: Int = 10_000, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) throws -> [StableReader] {
        try pool.makeStableReaders(
            count: count, keys: keys, bufferingAtMost: limit, label: label, fileID: fileID, line: line)
    }

    // MARK: - Accesses

    /// Writes in a transaction of a given kind.
    ///
    /// ```swift
    /// try database.writeInTransaction(.exclusive) { db in
    ///     try db.execute(sql: "DELETE FROM player")
    ///     return .commit
    /// }
    /// ```
    ///
    /// - parameter kind: nil for IMMEDIATE, or DEFERRED if nothing can be written.
    /// - parameter updates: returns how the transaction ends.
    /// - throws: the error of `updates`, after the rollback; `DatabaseError` if the database can't be opened, or if the
    ///   commit fails.
    public func writeInTransaction(
        _ kind: Database.TransactionKind? = nil, _ updates: (Database) throws -> Database.TransactionCompletion
    ) throws {
        try pool.writeInTransaction(kind, updates)
    }

    /// Reads the state of the last commit, while this write continues. Call it inside a write, outside a transaction.
    ///
    /// ```swift
    /// try database.writeWithoutTransaction { db in
    ///     try db.inTransaction { … }
    ///     database.asyncConcurrentRead { result in
    ///         // sees the transaction above, and nothing after it
    ///     }
    /// }
    /// ```
    ///
    /// The method returns once the state is pinned, which may wait for a reader. Closing the database waits for the
    /// read.
    ///
    /// - parameter value: receives a reader's connection, or an error: `SQLITE_MISUSE` outside a write or inside a
    ///   transaction.
    public func asyncConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        pool.asyncConcurrentRead(value)
    }

    // MARK: - Memory

    /// Frees as much memory as possible: waits for the running accesses, then closes the readers. A closed database
    /// stays closed.
    ///
    /// ```swift
    /// database.releaseMemory()
    /// ```
    public func releaseMemory() { if isOpened { pool.releaseMemory() } }

    /// As `releaseMemory`, but waiting suspends the task. If the task is cancelled meanwhile, nothing is freed.
    ///
    /// ```swift
    /// await database.releaseMemoryAsync()
    /// ```
    public func releaseMemoryAsync() async { if isOpened { await pool.releaseMemoryAsync() } }

    /// As `releaseMemory`, without waiting: leased readers are closed when they come back.
    ///
    /// ```swift
    /// database.releaseMemoryEventually()
    /// ```
    public func releaseMemoryEventually() { if isOpened { pool.releaseMemoryEventually() } }

    /// Makes reads that start from now on open new connections.
    ///
    /// ```swift
    /// database.invalidateReadOnlyConnections()
    /// ```
    ///
    /// Running reads continue with their connections.
    public func invalidateReadOnlyConnections() { pool.invalidateReadOnlyConnections() }
}
