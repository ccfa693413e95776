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
        let database = try restoredDatabase()
        let workers = WorkerThreads(connectionCount: 1)
        defer { workers.shutDown() }
        let restoration = try await withTaskExecutorPreference(workers, isolation: nil) {
            try Task.checkCancellation()
            return try Restoration(of: database, path, check, FileOperations(), followsTask: true)
        }
        try await database.writer.perform(database.restoringRequest) { db in try restoration.run(db) }
    }

    func restore(from path: String, check: BackupCheck, _ files: FileOperations) throws {
        let database = try restoredDatabase()
        // Before the file is checked, which takes a while.
        guard database.ownedConnection == nil else { throw DatabaseError.reentrantAccess() }
        let restoration = try Restoration(of: database, path, check, files, followsTask: false)
        try database.writer.perform(database.restoringRequest) { db in try restoration.run(db) }
    }

    private func restoredDatabase() throws -> any GroupWriter {
        let database = try groupWriter()
        guard !database.configuration.readonly else {
            throw DatabaseError(
                resultCode: .SQLITE_READONLY,
                message: "restoring \(database.configuration.label ?? database.path): the database is read-only")
        }
        return database
    }
}

extension GroupWriter {
    /// No other access reads meanwhile. It may take long, so a task never runs it where it is.
    fileprivate var restoringRequest: AccessRequest {
        barrierRequest.barrier == nil ? AccessRequest(.bare, .offloaded) : barrierRequest
    }
}

/// A file that is ready to replace the content of a database.
private struct Restoration: Sendable {
    let database: any GroupWriter
    let source: RestoreSource
    /// The copy that gets a number; nil for a database without numbers in the file.
    let numbered: NumberedSource?

    init(
        of database: any GroupWriter, _ path: String, _ check: BackupCheck, _ files: FileOperations, followsTask: Bool
    ) throws {
        self.database = database
        source = try RestoreSource(path, for: database, check, files, followsTask: followsTask)
        numbered = database.configuration.commitNumbers == .stored ? try NumberedSource(source) : nil
    }

    /// Replaces the content, in the database's exclusive access.
    func run(_ db: Database) throws {
        do {
            try checkIsOtherFile(db)
            try checkEncoding(db)
            try withPageSize(of: db) { try withDurableJournal(of: db) { try replace(db) } }
        } catch let error as DatabaseError {
            throw RestoreSource.naming(error, source.operation)
        }
    }

    private func replace(_ db: Database) throws {
        guard let numbered else {
            _ = try source.read { source in try db.replaceContent(with: source) }
            return
        }
        var isReplaced = false
        while !isReplaced {
            let known = max(db.lastStoredCommitNumber ?? 0, database.core.journal.commitNumber.rawValue)
            let last = max(known, db.commitNumberInFile ?? 0, source.commitNumber ?? 0)
            let version = db.lastDataVersion
            let number = last == .max ? .max : last + 1
            isReplaced = try numbered.read(numbered: number) { source in
                // Another process may have used the number before the lock was taken.
                try db.replaceContent(with: source, commitNumber: number) { db.lastDataVersion == version }
            }
        }
    }

    private func checkIsOtherFile(_ db: Database) throws {
        guard let path = db.mainFilePath, try FileOperations().status(path)?.identity == source.identity else { return }
        throw RestoreSource.isOwnFile(source.operation)
    }

    /// A connection can't change its encoding: <https://www.sqlite.org/pragma.html#pragma_encoding>.
    private func checkEncoding(_ db: Database) throws {
        // A damaged file may not say.
        guard let encoding = try? String.fetchOne(db, sql: "PRAGMA encoding"), encoding != source.encoding else {
            return
        }
        throw DatabaseError(
            resultCode: .SQLITE_ERROR,
            message: """
                \(source.operation): its text is in \(source.encoding), that of the open database in \(encoding), which \
                can't be changed
                """)
    }

    /// Leaves WAL mode for a source with another page size, which a log can't have.
    private func withPageSize(of db: Database, _ body: () throws -> Void) throws {
        guard let pageSize = try? db.pageSize(), pageSize != source.pageSize else { return try body() }
        let sizes = "the file has pages of \(source.pageSize) bytes, the database of \(pageSize)"
        guard let path = db.mainFilePath else {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR, message: "\(source.operation): \(sizes), which can't change in memory")
        }
        guard try db.journalMode() == .wal else { return try body() }
        // A pool's readers are idle, and are closed now.
        database.barrierRequest.barrier?.retireAll()
        do {
            try db.setJournalMode(.delete)
        } catch DatabaseError.SQLITE_BUSY {
            throw DatabaseError(
                resultCode: .SQLITE_BUSY,
                message: "\(source.operation): \(sizes), which can change only while no other connection is open")
        }
        let result = Result { try body() }
        try db.activateWAL(path: path)
        try result.get()
    }

    /// Makes the transaction one that neither a killed process nor a power failure can leave half done.
    ///
    /// ```sql
    /// PRAGMA main.synchronous = FULL
    /// PRAGMA main.journal_mode = DELETE  -- if it is OFF or MEMORY
    /// ```
    private func withDurableJournal(of db: Database, _ body: () throws -> Void) throws {
        let synchronous = try db.synchronousMode()
        let mode = db.mainFilePath == nil ? nil : try? db.journalMode()
        let isUnsafe = mode == .off || mode == .memory
        if synchronous == .off || synchronous == .normal { try db.setSynchronousMode(.full) }
        defer {
            // Settings of the connection, which SQLite changes without touching the file.
            if isUnsafe, let mode { try? db.setJournalMode(mode) }
            if synchronous == .off || synchronous == .normal { try? db.setSynchronousMode(synchronous) }
        }
        if isUnsafe { try db.setJournalMode(.delete) }
        try body()
    }
}
