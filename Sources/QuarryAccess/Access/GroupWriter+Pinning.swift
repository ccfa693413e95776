import QuarryCore

// Connections that see one commit: of snapshots, stable readers and backups. The database is in WAL mode.

extension GroupWriter {
    /// How often connections are pinned without the write lock, before it is taken.
    static var pinningTries: Int { 20 }

    /// Opens connections for a snapshot.
    func openConnections(count: Int, followsTask: Bool = false) throws -> [ConnectionGroup.Connection] {
        guard let opener = (self as? DatabasePool)?.opener else {
            return try openPinned(count: count, followsTask: followsTask)
        }
        guard readers.group.ownedConnection == nil else {
            let connections = try openPinned(count: count, followsTask: followsTask)
            opener.note(connections.map(\.database))
            return connections
        }
        // With a reader, the database is open, and no window closes it meanwhile.
        return try readers.perform(AccessRequest(.bare, origin: .library)) { _ in
            let connections = try openPinned(count: count, followsTask: followsTask)
            opener.note(connections.map(\.database))
            return connections
        }
    }

    private func openPinned(count: Int, followsTask: Bool) throws -> [ConnectionGroup.Connection] {
        try writer.group.checkIsOpen()
        if writer.group.ownedConnection?.isInsideTransaction ?? false { throw Self.isInsideTransaction() }
        var options = configuration.connectionOptions(readonly: true)
        options.busyMode = configuration.readonlyBusyMode ?? .timeout(10)
        // The transaction stays open from access to access.
        options.allowsUnsafeTransactions = true
        return try (0..<count).map { _ in
            ConnectionGroup.Connection(
                database: try configuration.open(
                    path: path, readonly: true, options: options, core: core, role: .snapshot,
                    configuredTracers: writer.configuredTracers, followsTask: followsTask))
        }
    }

    /// Makes connections see one commit, while other connections may write.
    ///
    /// The first connection begins its read again after the others have begun theirs. If SQLite finds no change since
    /// that connection's last read, no commit came in between, so all connections see the same state.
    ///
    /// - returns: false if there was a commit in between at each try.
    func pinAlike(_ connections: [ConnectionGroup.Connection], followsTask: Bool = false) throws -> Bool {
        var version = try Self.pin(connections[0], followsTask: followsTask)
        guard connections.count > 1 else { return true }
        for _ in 0..<Self.pinningTries {
            for connection in connections.dropFirst() { _ = try Self.pin(connection, followsTask: followsTask) }
            let newVersion = try Self.pin(connections[0], followsTask: followsTask)
            if let version, newVersion == version { return true }
            version = newVersion
        }
        return false
    }

    /// Makes connections see the same commit, under the write lock: no process can write meanwhile.
    ///
    /// - parameter db: the writer.
    func pin(_ connections: [ConnectionGroup.Connection], locking db: Database) throws {
        guard !db.isInsideTransaction else { throw Self.isInsideTransaction() }
        try db.withWriteLock {
            for connection in connections { _ = try Self.pin(connection, followsTask: false) }
        }
    }

    /// Makes a connection see the last commit, until it is pinned again.
    ///
    /// - returns: a number that changes if another connection has committed since the last call.
    private static func pin(_ connection: ConnectionGroup.Connection, followsTask: Bool) throws -> UInt32? {
        let db = connection.database
        try db.beginAccess(nil, followsTask: followsTask)
        defer { db.suspendAccess() }
        if db.isInsideTransaction { try db.finishRead {} }
        try db.beginRead(pinned: true)
        return db.pinnedDataVersion(schema: "main")
    }

    /// Throws if the database can't prevent other connections from writing.
    func checkMayLock() throws {
        guard configuration.readonly else { return }
        throw DatabaseError(
            resultCode: .SQLITE_BUSY,
            message: "other connections commit too often to pin \(configuration.maximumReaderCount) connections")
    }

    private static func isInsideTransaction() -> DatabaseError {
        DatabaseError.misuse("a snapshot sees the last commit: it can't be made inside a transaction")
    }
}
