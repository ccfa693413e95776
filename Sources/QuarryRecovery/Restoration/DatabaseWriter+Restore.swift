public import Quarry
import QuarryCore

extension DatabaseWriter {
    /// Replaces the content of the database by that of a file, on this thread.
    ///
    /// ```swift
    /// try dbPool.restore(from: "/var/backups/players.sqlite")
    /// ```
    ///
    /// The file is opened and checked first, while accesses go on. Then the running accesses end, later ones wait, and
    /// the content is replaced in one transaction, which is on the disk afterwards: a process that is killed, or a
    /// failing disk, leaves the old content or the new one. The file itself isn't changed.
    ///
    /// Observers and streams of commits are told of a commit that changes everything. Snapshots and stable readers keep
    /// the state that they see. With `CommitNumbers.stored` the commit has the next number, whatever number the
    /// file has: it is then copied to a temporary file first. A backup of this database that is under way ends with
    /// `SQLITE_ABORT` if it uses the same connection.
    ///
    /// The file may be in WAL mode, with its log beside it; the database keeps its own mode. A file with another size
    /// of pages is restored into a database in WAL mode only while no snapshot, other queue, pool or process has it
    /// open, and never into memory.
    ///
    /// See <https://www.sqlite.org/backup.html>.
    ///
    /// - parameter path: the path of a database, never a URI.
    /// - parameter check: the check of the file. With `none`, damage is restored, too.
    /// - throws: `SQLITE_CANTOPEN`, `SQLITE_NOTADB` or `SQLITE_CORRUPT` for a file that can't be restored;
    ///   `SQLITE_BUSY` if another process holds a lock; `SQLITE_READONLY`; `SQLITE_MISUSE` inside an access of this
    ///   thread, and for the database's own file; other `DatabaseError`s. The content is then as it was.
    public func restore(from path: String, check: BackupCheck = .quick) throws {
        try restore(from: path, check: check, FileOperations())
    }

    /// As the synchronous `restore`; waiting suspends the task, and the file is checked and copied on the library's
    /// threads.
    ///
    /// ```swift
    /// try await dbPool.restore(from: "/var/backups/players.sqlite")
    /// ```
    ///
    /// Cancelling the task ends the check, the wait, or the copy: the content is then as it was.
    ///
    /// - throws: the errors of the synchronous `restore`; `CancellationError`.
    public func restore(from path: String, check: BackupCheck = .quick) async throws {
        try await restore(from: path, check: check, FileOperations())
    }

    func restore(from path: String, check: BackupCheck, _ files: FileOperations) async throws {
        let database = try restoredDatabase()
        let workers = WorkerThreads(connectionCount: 1)
        defer { workers.shutDown() }
        let restoration = try await withTaskExecutorPreference(workers, isolation: nil) {
            try Task.checkCancellation()
            return try Restoration(of: RestoredDatabase(database), path, check, files, followsTask: true)
        }
        try await restoration.run()
    }

    func restore(from path: String, check: BackupCheck, _ files: FileOperations) throws {
        let database = try restoredDatabase()
        // Before the file is checked, which takes a while.
        if let owned = database.ownedConnection { throw DatabaseError.reentrantAccess(owned.description) }
        let restoration = try Restoration(of: RestoredDatabase(database), path, check, files, followsTask: false)
        try restoration.run()
    }

    private func restoredDatabase() throws -> any GroupWriter {
        let database = try groupWriter()
        guard !database.configuration.readonly else {
            throw DatabaseError(
                resultCode: .SQLITE_READONLY,
                message: "restoring \(database.configuration.label ?? database.path): the database is read-only")
        }
        try database.checkIsLocal("restoring a backup")
        return database
    }
}
