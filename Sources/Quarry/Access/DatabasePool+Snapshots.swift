public import QuarryCore

extension DatabasePool {
    /// A connection that goes on seeing the last commit, whatever is written.
    ///
    /// ```swift
    /// let snapshot = try dbPool.makeSnapshot()
    /// try dbPool.write { db in try db.execute(sql: "DELETE FROM player") }
    /// let count = try snapshot.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")! } // not 0
    /// ```
    ///
    /// While it lives, the log can't be taken into the database as a whole:
    /// <https://www.sqlite.org/wal.html#avoiding_excessively_large_wal_files>.
    ///
    /// - throws: `SQLITE_MISUSE` inside a transaction of this pool's writer; `DatabaseError` if no connection can be
    ///   opened.
    public func makeSnapshot() throws -> DatabaseSnapshot {
        let connections = try pinnedConnections(count: 1)
        return DatabaseSnapshot(pool: self, connection: connections[0])
    }

    /// Several connections that go on seeing the last commit, the same one, whatever is written.
    ///
    /// ```swift
    /// let snapshot = try dbPool.makeSnapshotPool()
    /// async let players = snapshot.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")! }
    /// async let teams = snapshot.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM team")! }
    /// ```
    ///
    /// All `Configuration.maximumReaderCount` connections are opened at once: what they see is pinned while nobody
    /// writes.
    ///
    /// - throws: as `makeSnapshot`.
    public func makeSnapshotPool() throws -> DatabaseSnapshotPool {
        let connections = try pinnedConnections(count: configuration.maximumReaderCount)
        return DatabaseSnapshotPool(pool: self, connections: connections)
    }

    /// Opens connections that see the last commit of now, for good.
    private func pinnedConnections(count: Int) throws -> [ConnectionLane.Lent] {
        var options = configuration.connectionOptions(readonly: true)
        options.busyMode = configuration.readonlyBusyMode ?? .timeout(10)
        // The transaction goes from access to access.
        options.allowsUnsafeTransactions = true
        let connections = try (0..<count).map { _ in
            ConnectionLane.Lent(database: try configuration.open(path: path, readonly: true, options: options))
        }
        try writer.reentrant { db in
            guard !db.isInsideTransaction else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message: "a snapshot sees the last commit: it can't be made inside a transaction")
            }
            let pin = {
                for connection in connections {
                    try connection.database.beginAccess(nil)
                    defer { connection.database.suspendAccess() }
                    try connection.database.beginRead(pinned: true)
                }
            }
            // The write lock keeps other processes out as well, so that all connections see one commit.
            if count > 1, !configuration.readonly { try db.withWriteLock(pin) } else { try pin() }
        }
        return connections
    }

    /// Reads the state of the last commit, while this write goes on. Called inside a write, outside a transaction.
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
    /// It returns when the state is pinned; that may wait for a reader.
    ///
    /// - parameter value: gets a reader's connection, or why there is none: `SQLITE_MISUSE` outside a write or inside a
    ///   transaction.
    public func asyncConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        guard let db = writer.lane.ownedConnection else {
            return value(
                .failure(
                    DatabaseError(
                        resultCode: .SQLITE_MISUSE, message: "a concurrent read is begun inside a write of its pool")))
        }
        guard !db.isInsideTransaction else { return value(.failure(DatabaseError.concurrentReadInTransaction())) }
        let lease: ConnectionLane.Lease
        do {
            lease = try readers.lane.lease()
        } catch {
            return value(.failure(error))
        }
        do {
            try lease.database.beginAccess(nil)
            try lease.database.beginRead(pinned: true)
            lease.database.suspendAccess()
        } catch {
            _ = lease.database.endAccess()
            readers.lane.release(lease)
            return value(.failure(error))
        }
        readers.continueRead(lease, value)
    }

    public func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        asyncConcurrentRead(value)
    }
}
