public import QuarryCore

extension DatabaseReader {
    /// Copies the database into a file, on this thread.
    ///
    /// ```swift
    /// let backup = try dbPool.backup(toFile: "/var/backups/players.sqlite")
    /// print("\(backup.byteCount) bytes")
    /// ```
    ///
    /// The copy is written to a file beside the target, checked, synced, and then gets its name: the path has a whole
    /// backup or, after an error, the file that it had before. The file needs no log beside it: it isn't in WAL mode,
    /// to which a pool switches it when it is opened. It has the permissions of the database's file.
    ///
    /// The backup of a pool, and of a queue in WAL mode, has the last commit before the call, and writes go on
    /// meanwhile; the log grows. A queue in another journal mode serves accesses between the steps of the copy, which
    /// has the last commit at its end. A database in memory is copied in one access. A snapshot's connection, or a
    /// stable reader's, is in use until the copy is complete.
    ///
    /// See <https://www.sqlite.org/backup.html>.
    ///
    /// - parameter path: the path of the file, never a URI.
    /// - parameter options: the check, the speed, and whether a file that exists is replaced.
    /// - parameter progress: called between steps, outside of accesses to the database if it has a file. An error ends
    ///   the backup, and is thrown. The last call, with `isCompleted`, comes when the file has its name; its error is
    ///   ignored.
    /// - returns: the size, the duration and the number of the commit.
    /// - throws: `SQLITE_CANTOPEN` for a path where no backup can be, such as that of a database that the process has
    ///   open, of its log or of its journal; `SQLITE_FULL`; `SQLITE_CORRUPT` if the check finds a problem;
    ///   `SQLITE_MISUSE` inside an access of a queue or a transaction of a pool's writer; `SQLITE_INTERRUPT` if the
    ///   database closes, and its grace period has ended; other `DatabaseError`s; the error of `progress`.
    @discardableResult
    public func backup(
        toFile path: String, options: BackupOptions = BackupOptions(),
        progress: ((DatabaseBackupProgress) throws -> Void)? = nil
    ) throws -> BackupResult {
        let database = try backedUpDatabase()
        let backup = try FileBackup(of: database, toFile: path, options, followsTask: false)
        defer { backup.discard() }
        do {
            try database.copy(into: backup) { state in try backup.telling { try progress?(state) } }
            let result = try backup.finish()
            backup.tell(result, progress)
            return result
        } catch {
            throw backup.reason(of: error)
        }
    }

    /// Copies the database into a file, as `backup(toFile:)`, on a thread of the library.
    ///
    /// ```swift
    /// var options = BackupOptions()
    /// options.bytesPerSecond = 20 << 20
    /// try await dbPool.backup(toFile: "/var/backups/players.sqlite", options: options)
    /// ```
    ///
    /// A pause for `BackupOptions.bytesPerSecond` suspends the task, and holds no thread. Cancelling the task ends the
    /// backup between two steps, or in the middle of the check.
    ///
    /// - parameter path: the path of the file, never a URI.
    /// - parameter options: the check, the speed, and whether a file that exists is replaced.
    /// - parameter progress: called between steps, on the library's threads.
    /// - returns: the size, the duration and the number of the commit.
    /// - throws: the errors of `backup(toFile:)`; `CancellationError`.
    @discardableResult
    public func backup(
        toFile path: String, options: BackupOptions = BackupOptions(),
        progress: (@Sendable (DatabaseBackupProgress) throws -> Void)? = nil
    ) async throws -> BackupResult {
        let database = try backedUpDatabase()
        let workers = WorkerThreads(connectionCount: 1)
        defer { workers.shutDown() }
        return try await withTaskExecutorPreference(workers, isolation: nil) {
            try Task.checkCancellation()
            let backup = try FileBackup(of: database, toFile: path, options, followsTask: true)
            defer { backup.discard() }
            return try await withTaskCancellationHandler {
                do {
                    try await database.copyAsync(into: backup) { state in try backup.telling { try progress?(state) } }
                    let result = try backup.finish()
                    backup.tell(result, progress)
                    return result
                } catch {
                    throw backup.reason(of: error)
                }
            } onCancel: {
                backup.ending.token.cancel()
            }
        }
    }

    /// Same as `backup(toFile:options:progress:)`, its name until 0.2.0.
    @available(*, deprecated, renamed: "backup(toFile:options:progress:)")
    @discardableResult
    public func backupAsync(
        toFile path: String, options: BackupOptions = BackupOptions(),
        progress: (@Sendable (DatabaseBackupProgress) throws -> Void)? = nil
    ) async throws -> BackupResult {
        try await backup(toFile: path, options: options, progress: progress)
    }

    private func backedUpDatabase() throws -> any GroupReader {
        guard let database = groupReader else {
            throw DatabaseError.misuse("a backup needs a queue, a pool, or a reader of one")
        }
        try database.checkIsLocal("a backup, which quarry-node makes")
        return database
    }
}

extension FileBackup {
    /// Tells that the file has its name: an error no longer ends the backup.
    fileprivate func tell(_ result: BackupResult, _ progress: ((DatabaseBackupProgress) throws -> Void)?) {
        telling {
            try? progress?(
                DatabaseBackupProgress(remainingPageCount: 0, totalPageCount: result.pageCount, isCompleted: true))
        }
    }
}

// MARK: - Copying

extension GroupReader {
    /// Copies all pages, on this thread.
    fileprivate func copy(
        into backup: FileBackup, _ progress: @escaping (DatabaseBackupProgress) throws -> Void
    ) throws {
        if let queue = self as? DatabaseQueue {
            let runner = queue.runner
            switch try runner.perform(AccessRequest(.bare), { db in try QueueFile(db) }) {
            case .none:
                return try runner.perform(AccessRequest(.read, origin: .library)) { db in
                    try backup.copyWhole(db, number: countedCommitNumber, progress: progress)
                }
            case .otherJournal:
                return try copySteps(into: backup, number: countedCommitNumber, progress) { kind, body in
                    try runner.perform(AccessRequest(kind, origin: .library), body)
                }
            case .wal: break
            }
        }
        if let database = self as? any GroupWriter {
            let (snapshot, number) = try DatabaseSnapshot.forBackup(
                of: database, backup.path, WorkerThreads(connectionCount: 1), followsTask: false)
            defer { try? snapshot.close() }
            return try snapshot.copyPinned(into: backup, number: { _ in number }, progress)
        }
        try copyPinned(into: backup, number: countedCommitNumber, progress)
    }

    /// Copies all pages through a connection whose transaction stays open, on this thread.
    private func copyPinned(
        into backup: FileBackup, number: @escaping (Database) -> CommitNumber?,
        _ progress: @escaping (DatabaseBackupProgress) throws -> Void
    ) throws {
        let group = readers.group
        let lease = try group.lease(.user)
        let kind = readRequest.kind
        // A use of the connection by `progress` is refused: it would wait for the backup.
        try group.use(lease, holder: Database.currentThread) { db in
            try copySteps(into: backup, number: number, progress) { _, body in
                try AccessRunner.frame(db, nil, kind: kind, body)
            }
        }
    }

    /// Copies all pages, on this thread.
    ///
    /// - parameter perform: runs an access of the same connection.
    private func copySteps(
        into backup: FileBackup, number: @escaping (Database) -> CommitNumber?,
        _ progress: @escaping (DatabaseBackupProgress) throws -> Void,
        perform: (AccessRequest.Kind, (Database) throws -> DatabaseBackupProgress?) throws -> DatabaseBackupProgress?
    ) throws {
        do {
            var state = try perform(.bare) { db in try backup.begin(db, number: number) }
            while let copied = state {
                try progress(copied)
                backup.options.sleep(backup.pause(after: copied))
                state =
                    backup.isDisturbed
                    ? try perform(.pinnedRead) { db in try backup.copyAll(db, number: number, progress: progress) }
                    : try perform(.bare) { db in try backup.step(db, number: number) }
            }
        } catch {
            _ = try? perform(.bare) { _ in backup.abandon() }
            throw error
        }
    }

    // MARK: Asynchronous

    /// As `copy`; waiting suspends the task.
    fileprivate func copyAsync(
        into backup: FileBackup, _ progress: @escaping @Sendable (DatabaseBackupProgress) throws -> Void
    ) async throws {
        let number: @Sendable (Database) -> CommitNumber? = { db in self.countedCommitNumber(db) }
        if let queue = self as? DatabaseQueue {
            let runner = queue.runner
            switch try await runner.perform(AccessRequest(.bare), { db in try QueueFile(db) }) {
            case .none:
                return try await runner.perform(AccessRequest(.read, origin: .library)) { db in
                    try backup.copyWhole(db, number: number, progress: progress)
                }
            case .otherJournal:
                return try await copySteps(into: backup, number: number, progress) { kind, body in
                    try await runner.perform(AccessRequest(kind, origin: .library), body)
                } abandon: {
                    // Not cancelled with this task: SQLite's backup ends in an access of its source.
                    let end = Task { () async -> Void in
                        _ = try? await runner.perform(AccessRequest(.bare, origin: .library)) { _ in backup.abandon() }
                    }
                    await end.value
                }
            case .wal: break
            }
        }
        if let database = self as? any GroupWriter {
            let (snapshot, commitNumber) = try DatabaseSnapshot.forBackup(
                of: database, backup.path, WorkerThreads(connectionCount: 1), followsTask: true)
            defer { try? snapshot.close() }
            return try await snapshot.copyPinned(into: backup, number: { _ in commitNumber }, progress)
        }
        try await copyPinned(into: backup, number: number, progress)
    }

    /// As the synchronous `copyPinned`.
    private func copyPinned(
        into backup: FileBackup, number: @escaping @Sendable (Database) -> CommitNumber?,
        _ progress: @escaping @Sendable (DatabaseBackupProgress) throws -> Void
    ) async throws {
        let kind = readRequest.kind
        let task = DeadlockDetector.newTask()
        defer { DeadlockDetector.end(task: task) }
        let group = readers.group
        try await readers.withLease(task: task) { lease, token in
            let telling: @Sendable (DatabaseBackupProgress) throws -> Void = { state in
                group.setHolder(Database.currentThread, of: lease.slot)
                defer { group.setHolder(task, of: lease.slot) }
                try progress(state)
            }
            try await self.copySteps(into: backup, number: number, telling) { _, body in
                try AccessRunner.frame(lease.database, token, kind: kind, body)
            } abandon: {
                _ = try? AccessRunner.frame(lease.database, nil) { _ in backup.abandon() }
            }
        }
    }

    /// As the synchronous `copySteps`.
    ///
    /// - parameter abandon: calls `FileBackup.abandon` in an access of the same connection.
    private func copySteps(
        into backup: FileBackup, number: @escaping @Sendable (Database) -> CommitNumber?,
        _ progress: @escaping @Sendable (DatabaseBackupProgress) throws -> Void,
        perform:
            @Sendable (
                AccessRequest.Kind, @escaping @Sendable (Database) throws -> DatabaseBackupProgress?
            ) async throws -> DatabaseBackupProgress?,
        abandon: @Sendable () async -> Void
    ) async throws {
        do {
            var state = try await perform(.bare) { db in try backup.begin(db, number: number) }
            while let copied = state {
                try progress(copied)
                try await backup.options.sleepAsync(backup.pause(after: copied))
                state =
                    backup.isDisturbed
                    ? try await perform(.pinnedRead) { db in
                        try backup.copyAll(db, number: number, progress: progress)
                    } : try await perform(.bare) { db in try backup.step(db, number: number) }
            }
        } catch {
            await abandon()
            throw error
        }
    }
}
