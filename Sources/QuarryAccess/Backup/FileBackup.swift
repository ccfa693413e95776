import QuarryCore

/// One backup into a file: the steps of the synchronous and the asynchronous form, in order.
///
/// ```
/// begin         in an access: looks at the target, and makes an empty file beside it
/// step …        in accesses, until all pages are copied
/// finish        compacts and checks the copy, syncs it, and gives it the name of the target
/// ```
///
/// After an error, `abandon` is called in an access, and `discard` at last.
final class FileBackup: @unchecked Sendable {
    // Sendable: one task or thread at a time uses it.

    let operation: String
    let options: BackupOptions
    private let target: BackupTarget
    private let configuration: Configuration
    private let setups: ConnectionSetups
    /// Whether opening the copy is cancelled with the task that runs the backup.
    private let followsTask: Bool
    /// Cancels the backup, or ends it, from another thread.
    let ending = BackupEnding()
    private let inProgress: BackupsInProgress
    /// Closing the database waits for it.
    private let work: ConnectionGroup
    private let start: UInt64
    private var pace: BackupPace
    private var partial: PartialFile?
    private var copy: Database?
    private var running: RunningBackup?
    private var pageSize = 0
    private var restartCount = 0
    private var completedPageCount = 0
    private var commitNumber: CommitNumber?

    /// - throws: `SQLITE_MISUSE` for invalid options; `SQLITE_CANTOPEN` for a path that can't be one of a backup.
    init(
        of database: any GroupReader, toFile path: String, _ options: BackupOptions, followsTask: Bool
    ) throws {
        operation = "backup of \(database.configuration.label ?? database.path) to \(path)"
        self.options = options
        self.followsTask = followsTask
        configuration = database.configuration
        setups = database.core.setups
        try options.check(operation)
        start = configuration.monotonicClock.now
        pace = BackupPace(options, now: start)
        target = try BackupTarget(path, options.files, operation)
        inProgress = database.core.backups
        work = inProgress.add("the \(operation)", of: database.readers.group, ending)
    }

    /// The path of the file.
    var path: String { target.path }

    // MARK: - Copying

    /// Looks at the target, makes the file beside it, and copies the first pages, in an access of the database.
    ///
    /// - returns: as `step`.
    func begin(_ db: Database, number: (Database) -> CommitNumber?) throws -> DatabaseBackupProgress? {
        pageSize = try db.pageSize()
        let status = try target.calling { try db.mainFilePath.flatMap { try options.files.status($0) } }
        try target.check(replacesExisting: options.replacesExisting, source: db.mainFilePath)
        PartialFile.removeLeftovers(in: target.folderPath, options.files) { $0 == target.name }
        partial = try PartialFile(target, permissions: status?.permissions)
        let copy = try openCopy()
        self.copy = copy
        running = try AccessRunner.frame(copy, ending.token) { copy in
            try naming { try RunningBackup(from: db, to: copy) }
        }
        return try step(db, number: number)
    }

    /// Opens the empty file.
    ///
    /// ```sql
    /// PRAGMA locking_mode = EXCLUSIVE
    /// PRAGMA journal_mode = OFF
    /// PRAGMA synchronous = OFF
    /// ```
    ///
    /// A file that is removed after any error needs no journal. It is synced at its end.
    private func openCopy() throws -> Database {
        var plain = Configuration()
        plain.vfs = configuration.vfs
        plain.acceptsURIs = false
        plain.trustedSchema = false
        var options = plain.connectionOptions(readonly: false)
        options.checksSchema = false
        options.pragmas = ["locking_mode = EXCLUSIVE", "journal_mode = OFF", "synchronous = OFF"].map { "PRAGMA " + $0 }
        return try naming { try plain.open(path: partial?.path ?? "", readonly: false, options: options) }
    }

    /// Copies pages, in an access of the database.
    ///
    /// - parameter number: called after the last page, in the access: the number of the commit that the copy has.
    /// - returns: nil after the last step.
    func step(_ db: Database, number: (Database) -> CommitNumber?) throws -> DatabaseBackupProgress? {
        guard let copy, let running else { throw isOver() }
        return try AccessRunner.frame(copy, ending.token) { _ in
            let state = try naming { try running.step(pace.pageCount(pageSize: pageSize)) }
            if state.isCompleted {
                commitNumber = number(db)
                self.running = nil
                return nil
            }
            // Another connection has written, so that SQLite has begun anew.
            if state.completedPageCount < completedPageCount { restartCount += 1 }
            completedPageCount = state.completedPageCount
            return state
        }
    }

    /// Whether other connections write so often that the rest has to be copied in one access.
    var isDisturbed: Bool { restartCount >= 3 }

    /// Copies the rest, in one access of the database.
    ///
    /// - returns: nil, as the last step.
    func copyAll(
        _ db: Database, number: (Database) -> CommitNumber?, progress: (DatabaseBackupProgress) throws -> Void
    ) throws -> DatabaseBackupProgress? {
        while let state = try step(db, number: number) { try progress(state) }
        return nil
    }

    /// Copies all pages, in one access of the database.
    func copyWhole(
        _ db: Database, number: (Database) -> CommitNumber?, progress: (DatabaseBackupProgress) throws -> Void
    ) throws {
        defer { abandon() }
        guard let state = try begin(db, number: number) else { return }
        try progress(state)
        _ = try copyAll(db, number: number, progress: progress)
    }

    /// The pause after a step, in nanoseconds.
    func pause(after state: DatabaseBackupProgress) -> UInt64 {
        let pages = Int(pace.pageCount(pageSize: pageSize))
        return pace.pause(afterCopying: pages * pageSize, now: configuration.monotonicClock.now)
    }

    /// Ends the copying, in an access of the database.
    @discardableResult
    func abandon() -> DatabaseBackupProgress? {
        running?.abandon()
        running = nil
        return nil
    }

    // MARK: - After the last page

    /// Checks the copy, and gives it the name of the target.
    func finish() throws -> BackupResult {
        guard let copy, let copied = partial else { throw isOver() }
        try leaveWAL(copy)
        self.copy = nil
        // SQLite goes on if it can't remove a log that it has emptied.
        try target.calling { try copied.removeCompanions() }
        if options.compact { try compact(copied) }
        guard let partial else { throw isOver() }
        let pageCount = try check(partial)
        let byteCount = try target.calling { try options.files.status(partial.path)?.byteCount ?? 0 }
        if ending.token.isCancelled { throw CancellationError() }
        try partial.publish(replacesExisting: options.replacesExisting)
        self.partial = nil
        return BackupResult(
            path: target.path, pageCount: pageCount, byteCount: byteCount,
            duration: .nanoseconds(configuration.monotonicClock.now - start), commitNumber: commitNumber,
            check: options.check)
    }

    /// Makes the file complete without a log, as it also can be read from a folder where none can be made; closes it.
    ///
    /// ```sql
    /// PRAGMA main.journal_mode = DELETE
    /// ```
    private func leaveWAL(_ copy: Database) throws {
        try naming {
            try copy.asAccess { copy in
                // An empty file has no header to change.
                if try copy.journalMode() == .wal { try copy.setJournalMode(.delete) }
            }
            try copy.beginClosing()
            defer { _ = copy.endAccess() }
            try copy.close()
        }
    }

    /// Writes a compact copy, which takes the place of the first.
    private func compact(_ copied: PartialFile) throws {
        let status = try target.calling { try options.files.status(copied.path) }
        let compacted = try PartialFile(target, permissions: status?.permissions)
        partial = compacted
        defer { copied.discard() }
        do {
            try withCopy(copied) { db in try db.execute(sql: "VACUUM INTO ?", arguments: [compacted.path]) }
        } catch {
            compacted.discard()
            throw error
        }
    }

    /// - returns: the number of pages.
    private func check(_ partial: PartialFile) throws -> Int {
        try withCopy(partial) { db in
            try db.pass(options.check, operation)
            return try db.pageCount()
        }
    }

    /// Opens the copy as the database is opened: its indexes may need the functions and collations of the program.
    private func withCopy<T>(_ partial: PartialFile, _ body: (Database) throws -> T) throws -> T {
        var configuration = configuration
        configuration.acceptsURIs = false
        configuration.statementTimeout = nil
        let db = try naming {
            let db = try configuration.open(path: partial.path, readonly: true, followsTask: followsTask)
            try db.asAccess { db in try setups.prepare(db) }
            return db
        }
        return try naming { try AccessRunner.frame(db, ending.token, body) }
    }

    /// Ends the backup, and removes all files, unless it is complete.
    func discard() {
        // Its release needs no access any more: `abandon` was called, or the source is closed.
        running = nil
        copy = nil
        partial?.discard()
        partial = nil
        inProgress.remove(work)
    }

    /// Runs code of the program, which must not wait for the backup.
    func telling(_ body: () throws -> Void) rethrows {
        work.setHolder(Database.currentThread, of: 0)
        defer { work.setHolder(nil, of: 0) }
        try body()
    }

    // MARK: - Errors

    /// The error that the program gets: the reason, if the backup was ended.
    func reason(of error: any Error) -> any Error {
        guard let reason = ending.error else { return error }
        return DatabaseError(
            resultCode: reason.extendedResultCode, message: "\(operation): \(reason.message ?? "")")
    }

    /// Runs a part of the backup, whose errors name the backup rather than the file beside the target.
    private func naming<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let error as DatabaseError {
            guard error.message?.hasPrefix(operation) != true else { throw error }
            throw DatabaseError(
                resultCode: error.extendedResultCode, message: "\(operation): \(error.message ?? "")"
            ).with(circumstances: error.circumstances ?? "")
        }
    }

    private func isOver() -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_INTERNAL, message: "\(operation): a step of the backup is out of order")
    }
}
