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

extension Database {
    /// The number of pages between two looks at the cancellation of a restoration.
    private static var restoredPagesPerStep: CInt { 1024 }

    /// Replaces the content by that of another database, in one transaction.
    ///
    /// Unlike `backup(to:)`, this replaces a file whose header is damaged
    /// (<https://www.sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfigresetdatabase>), and readers that learn
    /// the number of the state that they see don't take the new state for the old one.
    ///
    /// - parameter source: a connection in a transaction that reads.
    /// - parameter commitNumber: the number of the commit in the source, if this file keeps numbers.
    /// - parameter isCurrent: called when the write lock is held: whether the source was made for this state of the
    ///   file. If not, nothing is replaced.
    /// - returns: whether the content was replaced.
    /// - throws: `DatabaseError`; `CancellationError`. The content is as it was.
    package func replaceContent(
        with source: Database, commitNumber: Int? = nil, isCurrent: () -> Bool = { true }
    ) throws -> Bool {
        var backup = try RunningBackup(from: source, to: self, commitNumber: commitNumber)
        var state: DatabaseBackupProgress
        do {
            state = try backup.step(0)
        } catch DatabaseError.SQLITE_NOTADB, DatabaseError.SQLITE_CORRUPT {
            ConnectionCalls.turn(pointer, .resetDatabase, on: true)
            backup = try RunningBackup(from: source, to: self, commitNumber: commitNumber)
            state = try backup.step(0)
        }
        defer { ConnectionCalls.turn(pointer, .resetDatabase, on: false) }
        guard isCurrent() else {
            backup.abandon()
            return false
        }
        while !state.isCompleted {
            let isLast = state.totalPageCount > 0 && state.remainingPageCount <= Self.restoredPagesPerStep
            state = try isLast ? committing { try backup.step(-1) } : backup.step(Self.restoredPagesPerStep)
        }
        return true
    }

    /// Runs the step that commits: until it has ended, readers may see the state before or after it.
    private func committing(_ body: () throws -> DatabaseBackupProgress) throws -> DatabaseBackupProgress {
        guard let listener = commitListener, listener.needsWillCommit else { return try body() }
        listener.databaseWillCommit()
        do {
            return try body()
        } catch {
            listener.databaseDidNotCommit()
            throw error
        }
    }
}
