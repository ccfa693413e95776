import QuarryCore

/// Work on a log that needs the connection that writes: checkpoints and maintenance.
struct LogWork {
    enum Outcome: Sendable {
        case checkpoint(CheckpointResult)
        case maintenance(Duration)
    }

    struct CheckpointResult: Sendable {
        let outcome: LogStateMachine.Outcome
        let pageSize: Int?
        /// nil outside WAL mode.
        let checkpoint: WALCheckpoint?
    }

    private let db: Database
    private let settings: Configuration.WriteAheadLog
    /// The group of the connection: work that isn't urgent ends when an access waits for it.
    private let group: ConnectionGroup

    /// - parameter db: the connection that writes.
    init(_ db: Database, _ settings: Configuration.WriteAheadLog, _ group: ConnectionGroup) {
        self.db = db
        self.settings = settings
        self.group = group
    }

    // MARK: - Checkpoints

    /// Copies the log into the database file. Empties it, if it is too large, and no reader uses it.
    ///
    /// ```sql
    /// PRAGMA main.journal_size_limit = 67108864 -- unless the program has set it
    /// ```
    func checkpoint(_ reason: WALCheckpoint.Reason) throws -> CheckpointResult {
        // The program has left a transaction open, or runs its own checkpoints.
        guard !db.isInsideTransaction else { return .init(outcome: .heldBack, pageSize: nil, checkpoint: nil) }
        if reason != .requested, db.hooks.automaticCheckpointPages == 0 {
            return .init(outcome: .complete(isEmptied: true), pageSize: nil, checkpoint: nil)
        }
        let start = db.clock.now
        db.refusesToWait = true
        defer { db.refusesToWait = false }
        guard var extent = try extent(of: .passive) else {
            return .init(outcome: .heldBack, pageSize: nil, checkpoint: nil)
        }
        guard extent.pages >= 0 else {
            return .init(outcome: .complete(isEmptied: true), pageSize: nil, checkpoint: nil)
        }
        let pageSize = try db.pageSize()
        try limitSize()
        var isEmptied = false
        let isUrgent = reason == .size || reason == .requested
        if isUrgent || extent.pages > db.hooks.automaticCheckpointPages {
            // The next commit overwrites the log, and cuts it to its limit, if one waits.
            let mode = reason == .size && group.waiterCount > 0 ? Database.CheckpointMode.restart : .truncate
            if let emptied = try empty(mode, start, wait: isUrgent ? settings.readerWait : 0) {
                isEmptied = true
                extent = emptied
                db.core?.log.logWasEmptied()
            }
        }
        let isComplete = isEmptied || extent.copied == extent.pages
        let now = db.clock.now
        return CheckpointResult(
            outcome: isComplete ? .complete(isEmptied: isEmptied) : .heldBack, pageSize: pageSize,
            checkpoint: WALCheckpoint(
                reason: reason, bytes: isEmptied ? 0 : extent.pages * pageSize,
                copiedBytes: isEmptied ? 0 : extent.copied * pageSize,
                duration: .nanoseconds(Int64(clamping: now - start)), isEmptied: isEmptied))
    }

    /// Runs a checkpoint.
    ///
    /// - returns: the pages of the log, and those that are in the database file; nil if others prevent it.
    private func extent(of mode: Database.CheckpointMode) throws -> (pages: Int, copied: Int)? {
        do {
            let (pages, copied) = try db.checkpoint(mode)
            return (pages, copied)
        } catch DatabaseError.SQLITE_BUSY, DatabaseError.SQLITE_LOCKED {
            return nil
        }
    }

    /// Empties the log. While it waits for readers, no write begins; reads that begin meanwhile don't use the log. The
    /// wait ends when the database is to be closed.
    ///
    /// - parameter wait: for how many seconds to wait for readers.
    /// - returns: nil if readers prevent it.
    private func empty(
        _ mode: Database.CheckpointMode, _ start: UInt64, wait: Double
    ) throws -> (pages: Int, copied: Int)? {
        let end = start + UInt64(min(wait, 1e9) * 1e9)
        // Set by the program, it replaces the handler that doesn't wait.
        let timeout = try Int.fetchOne(db, sql: "PRAGMA busy_timeout") ?? 0
        if timeout > 0 { try db.makeStatement(sql: "PRAGMA busy_timeout = 0").execute() }
        defer { if timeout > 0 { try? db.makeStatement(sql: "PRAGMA busy_timeout = \(timeout)").execute() } }
        while true {
            if let extent = try extent(of: mode) { return extent }
            guard db.clock.now < end, !group.isAwaitedByBarrier else { return nil }
            db.clock.sleep(nanoseconds: 500_000)
        }
    }

    /// Lets SQLite cut the file when the log begins anew:
    /// <https://www.sqlite.org/pragma.html#pragma_journal_size_limit>.
    private func limitSize() throws {
        guard try Int.fetchOne(db, sql: "PRAGMA main.journal_size_limit") == -1 else { return }
        try db.makeStatement(sql: "PRAGMA main.journal_size_limit = \(settings.sizeLimit)").execute()
    }

    // MARK: - Maintenance

    /// Does the work that keeps the file in order.
    ///
    /// ```sql
    /// PRAGMA "main".incremental_vacuum(100)
    /// PRAGMA analysis_limit = 400
    /// PRAGMA optimize
    /// ANALYZE
    /// ```
    ///
    /// - parameter budget: the seconds that it may take; nil for those of the settings.
    /// - returns: the time that it has taken.
    func maintain(_ maintenance: Configuration.Maintenance, budget: Double? = nil) throws -> Duration {
        let start = db.clock.now
        let end = start + UInt64(min(budget ?? maintenance.timeBudget, 1e9) * 1e9)
        if !db.isInsideTransaction {
            if maintenance.vacuumsIncrementally { try vacuum(until: end) }
            if maintenance.optimizes { try analyze("PRAGMA optimize", until: end) }
            if maintenance.analyzes { try analyze("ANALYZE", until: end) }
        }
        return .nanoseconds(Int64(clamping: db.clock.now - start))
    }

    private func vacuum(until end: UInt64) throws {
        guard try db.autoVacuumMode() == .incremental else { return }
        while db.clock.now < end, group.waiterCount == 0 {
            guard try db.incrementalVacuum(pageCount: 100) == 100 else { return }
        }
    }

    /// Runs a statement that updates the planner's statistics from some hundred entries of each index:
    /// <https://www.sqlite.org/lang_analyze.html#approx>.
    private func analyze(_ sql: String, until end: UInt64) throws {
        guard db.clock.now < end else { return }
        let limit = try Int.fetchOne(db, sql: "PRAGMA analysis_limit") ?? 0
        if limit == 0 { try db.execute(sql: "PRAGMA analysis_limit = 400") }
        defer { if limit == 0 { try? db.execute(sql: "PRAGMA analysis_limit = 0") } }
        try db.interrupting(at: end) { try db.execute(sql: sql) }
    }
}
