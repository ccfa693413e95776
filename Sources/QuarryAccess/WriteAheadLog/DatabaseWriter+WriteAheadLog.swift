import QuarryCore

extension DatabaseReader {
    /// The state of the write-ahead log; nil for a database that isn't in WAL mode, or has had no commit, and if its
    /// log isn't managed.
    ///
    /// ```swift
    /// if let log = dbPool.walStatistics, log.bytes > 256 << 20 { print(log.oldestReader ?? "no reader of this pool") }
    /// ```
    ///
    /// Reading it waits for no access, and costs other accesses nothing.
    public var walStatistics: WALStatistics? {
        guard let core = groupReader?.core, let keeper = core.logKeeper else { return nil }
        return keeper.statistics(core)
    }
}

extension DatabaseWriter {
    /// Does the work of `Configuration.maintenance`, and then empties the write-ahead log, on this thread.
    ///
    /// ```swift
    /// try dbPool.maintain(for: .seconds(2))
    /// ```
    ///
    /// Call it when the database has little to do, and before a long-lived program ends. Other writes wait meanwhile.
    ///
    /// - parameter budget: the time that the work may take before the checkpoint. Statements that take longer are
    ///   interrupted.
    /// - returns: the checkpoint; nil for a database that isn't in WAL mode.
    /// - throws: `DatabaseError`, for example `SQLITE_FULL`; the errors of `writeWithoutTransaction`.
    @discardableResult
    public func maintain(for budget: Duration = .milliseconds(100)) throws -> WALCheckpoint? {
        let group = try groupWriter().writer.group
        return try writeWithoutTransaction { db in try db.maintain(for: budget, group) }
    }

    /// As the synchronous `maintain`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `maintain`; `CancellationError`.
    @discardableResult
    public func maintain(for budget: Duration = .milliseconds(100)) async throws -> WALCheckpoint? {
        let group = try groupWriter().writer.group
        return try await writeWithoutTransaction { db in try db.maintain(for: budget, group) }
    }
}

extension Database {
    fileprivate func maintain(for budget: Duration, _ group: ConnectionGroup) throws -> WALCheckpoint? {
        let configuration = configuration
        let work = LogWork(self, configuration.wal, group)
        let seconds = Double(budget.components.seconds) + Double(budget.components.attoseconds) * 1e-18
        _ = try work.maintain(configuration.maintenance, budget: seconds)
        // Afterwards, because maintenance writes.
        let checkpoint = try work.checkpoint(.requested).checkpoint
        core?.logKeeper?.didMaintain(checkpoint)
        return checkpoint
    }
}
