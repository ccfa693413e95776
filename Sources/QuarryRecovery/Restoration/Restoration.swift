import Quarry
import QuarryCore

/// The database whose content is replaced.
struct RestoredDatabase: Sendable {
    let configuration: Configuration
    let path: String
    let core: DatabaseCore
    let writer: AccessRunner
    /// The readers of a pool.
    let barrier: ConnectionGroup?

    init(_ database: any GroupWriter) {
        configuration = database.configuration
        path = database.path
        core = database.core
        writer = database.writer
        barrier = database.barrierRequest.barrier
    }

    /// The database to which a core belongs; nil if it is being released.
    init?(_ core: DatabaseCore, path: String, _ configuration: Configuration) {
        guard let runners = core.runners else { return nil }
        self.configuration = configuration
        self.path = path
        self.core = core
        writer = runners.writer
        barrier = runners.readers === writer ? nil : runners.readers.group
    }

    /// No other access reads meanwhile. It may take long, so a task never runs it where it is.
    func request(_ origin: AccessRequest.Origin) -> AccessRequest {
        barrier == nil
            ? AccessRequest(.bare, .offloaded, origin: origin) : AccessRequest(barrier: barrier, origin: origin)
    }
}

/// A file that is ready to replace the content of a database.
struct Restoration: Sendable {
    let database: RestoredDatabase
    let source: RestoreSource
    /// The copy that gets a number; nil for a database without numbers in the file.
    let numbered: NumberedSource?
    /// Whether the content still has to be replaced; nil if it has to be in any case. Asked again if another process
    /// has written meanwhile.
    var isNeeded: (@Sendable () throws -> Bool)?

    init(
        of database: RestoredDatabase, _ path: String, _ check: BackupCheck, _ files: FileOperations, followsTask: Bool
    ) throws {
        self.database = database
        source = try RestoreSource(path, for: database, check, files, followsTask: followsTask)
        numbered = database.configuration.commitNumbers == .stored ? try NumberedSource(source) : nil
    }

    /// Waits for the running accesses, and replaces the content.
    ///
    /// - returns: false if that wasn't needed any more.
    @discardableResult
    func run(_ origin: AccessRequest.Origin = .user) throws -> Bool {
        try database.writer.perform(database.request(origin)) { db in try run(db) }
    }

    /// As the synchronous `run`; waiting suspends the task.
    @discardableResult
    func run(_ origin: AccessRequest.Origin = .user) async throws -> Bool {
        try await database.writer.perform(database.request(origin)) { db in try run(db) }
    }

    /// Replaces the content, in the database's exclusive access. Writes are no longer refused on account of damage.
    private func run(_ db: Database) throws -> Bool {
        let refusal = db.writeRefusal
        db.refuseWrites(with: nil)
        let isReplaced: Bool
        do {
            isReplaced = try replaceContent(of: db)
        } catch {
            db.refuseWrites(with: refusal)
            throw error
        }
        database.core.corruptionIfMade?.databaseWasRestored()
        return isReplaced
    }

    private func replaceContent(of db: Database) throws -> Bool {
        do {
            try checkIsOtherFile(db)
            try checkEncoding(db)
            return try withPageSize(of: db) { try withDurableJournal(of: db) { try replace(db) } }
        } catch let error as DatabaseError {
            throw RestoreSource.naming(error, source.operation)
        }
    }

    /// - returns: false if that wasn't needed any more.
    private func replace(_ db: Database) throws -> Bool {
        var isReplaced = false
        var attempt = 0
        while !isReplaced {
            attempt += 1
            let number = nextNumber(db)
            let version = db.lastDataVersion
            guard try isNeeded?() ?? true else { return false }
            if let numbered {
                isReplaced = try numbered.read(numbered: number) { source in
                    // Another process may have used the number before the lock was taken.
                    try db.replaceContent(with: source, commitNumber: number) { db.lastDataVersion == version }
                }
            } else {
                // A file that can't be read at all may have a new version each time.
                let isCurrent = { isNeeded == nil || attempt == 4 || db.lastDataVersion == version }
                isReplaced = try source.read { source in try db.replaceContent(with: source, isCurrent: isCurrent) }
            }
        }
        return true
    }

    /// The number of the commit that replaces the content; 0 for a database without numbers in the file.
    private func nextNumber(_ db: Database) -> Int {
        guard numbered != nil else { return 0 }
        let known = max(db.lastStoredCommitNumber ?? 0, database.core.journal.commitNumber.rawValue)
        let last = max(known, db.commitNumberInFile ?? 0, source.commitNumber ?? 0)
        return last == .max ? .max : last + 1
    }

    private func checkIsOtherFile(_ db: Database) throws {
        guard let path = db.mainFilePath else { return }
        let identity = try BackupTarget.calling(source.operation) { try source.files.status(path)?.identity }
        guard identity == source.identity else { return }
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
    private func withPageSize(of db: Database, _ body: () throws -> Bool) throws -> Bool {
        guard let pageSize = try? db.pageSize(), pageSize != source.pageSize else { return try body() }
        let sizes = "the file has pages of \(source.pageSize) bytes, the database of \(pageSize)"
        guard let path = db.mainFilePath else {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR, message: "\(source.operation): \(sizes), which can't change in memory")
        }
        guard try db.journalMode() == .wal else { return try body() }
        // A pool's readers are idle, and are closed now.
        database.barrier?.retireAll(hasOwnBarrier: true)
        do {
            try db.setJournalMode(.delete)
        } catch DatabaseError.SQLITE_BUSY {
            throw DatabaseError(
                resultCode: .SQLITE_BUSY,
                message: "\(source.operation): \(sizes), which can change only while no other connection is open")
        }
        let result = Result { try body() }
        try db.restoringSettings { try db.activateWAL(path: path) }
        return try result.get()
    }

    /// Makes the transaction one that neither a killed process nor a power failure can leave half done.
    ///
    /// ```sql
    /// PRAGMA main.synchronous = FULL
    /// PRAGMA main.journal_mode = DELETE  -- if it is OFF or MEMORY
    /// ```
    private func withDurableJournal(of db: Database, _ body: () throws -> Bool) throws -> Bool {
        let synchronous = try db.synchronousMode()
        let mode = db.mainFilePath == nil ? nil : try? db.journalMode()
        let isUnsafe = mode == .off || mode == .memory
        if synchronous == .off || synchronous == .normal { try db.setSynchronousMode(.full) }
        defer {
            // Settings of the connection, which SQLite changes without touching the file.
            db.restoringSettings {
                if isUnsafe, let mode { try? db.setJournalMode(mode) }
                if synchronous == .off || synchronous == .normal { try? db.setSynchronousMode(synchronous) }
            }
        }
        if isUnsafe { try db.setJournalMode(.delete) }
        return try body()
    }
}
