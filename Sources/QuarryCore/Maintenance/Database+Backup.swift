extension Database {
    /// Copies this database over another one, page by page.
    ///
    /// ```swift
    /// try source.read { sourceDb in
    ///     try destination.writeWithoutTransaction { destinationDb in
    ///         try sourceDb.backup(to: destinationDb, pagesPerStep: 1000) { progress in
    ///             print("\(progress.completedPageCount) of \(progress.totalPageCount) pages")
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// The destination's content is replaced when all pages are copied; until then an error leaves it unchanged. Inside
    /// a transaction, the copy has the state that the transaction sees; outside, it starts over whenever another
    /// connection writes to the source between steps.
    ///
    /// The backup waits for locks of other connections according to the busy mode of each connection. Cancelling the
    /// task ends the backup between steps. See <https://www.sqlite.org/backup.html>.
    ///
    /// - parameter destDb: the connection to the destination, also in an access, and outside a transaction.
    /// - parameter pagesPerStep: the number of pages copied between calls of `progress`; negative for all.
    /// - parameter progress: called after each step. An error ends the backup, unless it is complete. The closure can't
    ///   use the destination: <https://www.sqlite.org/c3ref/backup_finish.html#concurrent_usage_of_database_handles>.
    /// - throws: `DatabaseError`; the error of `progress`; `CancellationError` in a cancelled task.
    public func backup(
        to destDb: Database, pagesPerStep: CInt = -1, progress: ((DatabaseBackupProgress) throws -> Void)? = nil
    ) throws {
        guard destDb !== self else { throw DatabaseError.backupToItself() }
        guard pagesPerStep != 0 else { throw DatabaseError.misuse("pagesPerStep is 0: nothing would be copied") }
        let backup = try RunningBackup(from: self, to: destDb)
        // A single step of all pages can be neither cancelled nor ended. In a transaction nothing changes between
        // steps, so several steps do the same.
        let pages = pagesPerStep < 0 && isInsideTransaction ? 1024 : pagesPerStep
        while true {
            let state = try backup.step(pages)
            if state.isCompleted || pagesPerStep > 0, let progress {
                running.isTellingOfBackup = true
                defer { running.isTellingOfBackup = false }
                do {
                    try destDb.lifetime.lend(to: .backup) { try progress(state) }
                } catch {
                    if !state.isCompleted { throw error }
                }
            }
            if state.isCompleted { return }
        }
    }
}

extension Database {
    /// Reports the replacement of the whole content as a commit.
    func contentWasReplaced() {
        watchers.monitor?.contentWasReplaced(self)
        transactionDidEnd(committed: true)
    }
}
