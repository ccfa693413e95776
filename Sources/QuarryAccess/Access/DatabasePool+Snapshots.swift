public import QuarryCore

extension DatabasePool {
    /// Makes a connection that always sees the last commit before this call, whatever is written later.
    ///
    /// ```swift
    /// let snapshot = try dbPool.makeSnapshot()
    /// try dbPool.write { db in try db.execute(sql: "DELETE FROM player") }
    /// let count = try snapshot.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")! } // not 0
    /// ```
    ///
    /// While the snapshot exists, a checkpoint can't move the whole log into the database:
    /// <https://www.sqlite.org/wal.html#avoiding_excessively_large_wal_files>.
    ///
    /// Making the snapshot doesn't wait for writes, and doesn't see the uncommitted changes of a running write.
    ///
    /// - parameter label: names the snapshot in reports of readers that hold the log back; by default the place of the
    ///   call.
    /// - throws: `SQLITE_MISUSE` inside a transaction of this pool's writer; `DatabaseError` if no connection can be
    ///   opened.
    public func makeSnapshot(
        label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) throws -> DatabaseSnapshot {
        let connections = try openConnections(count: 1)
        _ = try pinAlike(connections)
        return DatabaseSnapshot(
            of: self, connection: connections[0], workers: WorkerThreads(connectionCount: 1),
            label: label ?? "\(fileID):\(line)")
    }

    /// As `makeSnapshot`; opening the connection holds none of Swift's threads.
    ///
    /// ```swift
    /// let snapshot = try await dbPool.makeSnapshotAsync()
    /// ```
    ///
    /// - throws: the errors of `makeSnapshot`; `CancellationError`.
    public func makeSnapshotAsync(
        label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) async throws -> DatabaseSnapshot {
        let workers = WorkerThreads(connectionCount: 1)
        let connections = try await workers.opening {
            let connections = try self.openConnections(count: 1, followsTask: true)
            _ = try self.pinAlike(connections, followsTask: true)
            return connections
        }
        return DatabaseSnapshot(
            of: self, connection: connections[0], workers: workers, label: label ?? "\(fileID):\(line)")
    }

    /// Makes several connections that always see the same commit: the last one before this call, whatever is written
    /// later.
    ///
    /// ```swift
    /// let snapshot = try dbPool.makeSnapshotPool()
    /// async let players = snapshot.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")! }
    /// async let teams = snapshot.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM team")! }
    /// ```
    ///
    /// All `Configuration.maximumReaderCount` connections are opened at once. Making the snapshot waits for no write,
    /// unless other connections commit so often that no try fits between two commits: then it briefly takes the write
    /// lock.
    ///
    /// - throws: the errors of `makeSnapshot`; `SQLITE_BUSY` if other connections commit all the time and the pool is
    ///   read-only.
    public func makeSnapshotPool(
        label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) throws -> DatabaseSnapshotPool {
        let connections = try openConnections(count: configuration.maximumReaderCount)
        if try !pinAlike(connections) {
            try checkMayLock()
            try writer.performReentrant(writeRequest) { db in try pin(connections, locking: db) }
        }
        return DatabaseSnapshotPool(
            pool: self, connections: connections, workers: WorkerThreads(connectionCount: connections.count),
            label: label ?? "\(fileID):\(line)")
    }

    /// As `makeSnapshotPool`; opening the connections holds none of Swift's threads, and waiting suspends the task.
    ///
    /// ```swift
    /// let snapshot = try await dbPool.makeSnapshotPoolAsync()
    /// ```
    ///
    /// - throws: the errors of `makeSnapshotPool`; `CancellationError`.
    public func makeSnapshotPoolAsync(
        label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) async throws -> DatabaseSnapshotPool {
        let count = configuration.maximumReaderCount
        let workers = WorkerThreads(connectionCount: count)
        let (connections, isPinned) = try await workers.opening {
            let connections = try self.openConnections(count: count, followsTask: true)
            return (connections, try self.pinAlike(connections, followsTask: true))
        }
        if !isPinned {
            do {
                try checkMayLock()
                try await writer.perform(AccessRequest(.bare, .offloaded)) { db in
                    try self.pin(connections, locking: db)
                }
            } catch {
                workers.shutDown()
                throw error
            }
        }
        return DatabaseSnapshotPool(
            pool: self, connections: connections, workers: workers, label: label ?? "\(fileID):\(line)")
    }

    /// Reads the state of the last commit, while this write continues. Call it inside a write, outside a transaction.
    ///
    /// ```swift
    /// try dbPool.writeWithoutTransaction { db in
    ///     try db.inTransaction { … }
    ///     dbPool.asyncConcurrentRead { result in
    ///         // sees the transaction above, and nothing after it
    ///     }
    ///     try db.inTransaction { … }
    /// }
    /// ```
    ///
    /// The method returns once the state is pinned, which may wait for a reader.
    ///
    /// - parameter value: receives a reader's connection, or an error: `SQLITE_MISUSE` outside a write or inside a
    ///   transaction.
    public func asyncConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        guard let db = writer.group.ownedConnection else {
            return value(
                .failure(
                    DatabaseError.misuse("a concurrent read must begin inside a write of its pool"))
            )
        }
        guard !db.isInsideTransaction else { return value(.failure(DatabaseError.concurrentReadInTransaction())) }
        do {
            let lease = try readers.group.lease()
            try readers.group.use(lease) { db, end in
                try db.beginAccess(nil)
                do {
                    try db.beginRead(pinned: true)
                } catch {
                    _ = db.endAccess()
                    throw error
                }
                db.suspendAccess()
                end = .kept
            }
            readers.continueRead(lease, value)
        } catch {
            value(.failure(error))
        }
    }

    public func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        asyncConcurrentRead(value)
    }
}
