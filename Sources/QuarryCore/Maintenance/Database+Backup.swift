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
        try operationWillStart(writes: false)
        try destDb.operationWillStart(writes: true, "backup of \(description) to \(destDb.description)")
        guard !isBackedUp else { throw DatabaseError.misuse("a backup of \(description) is under way") }
        isBackedUp = true
        defer { isBackedUp = false }
        guard let handle = BackupHandle(from: pointer, to: destDb.pointer) else {
            throw destDb.error(
                destDb.lastErrorCode.rawValue, operation: "backup of \(description) to \(destDb.description)")
        }
        // A single step of all pages can't be cancelled. In a transaction nothing changes between steps, so several
        // steps do the same.
        let isDivisible = isInsideTransaction && (access.canBeCancelled || destDb.access.canBeCancelled)
        let pages = pagesPerStep < 0 && isDivisible ? 1024 : pagesPerStep
        var tries = 0
        while true {
            let code = ResultCode(rawValue: handle.step(pages))
            switch code.primaryResultCode {
            case .SQLITE_OK, .SQLITE_DONE:
                tries = 0
                let isCompleted = code == .SQLITE_DONE
                if isCompleted || pagesPerStep > 0, let progress {
                    let state = DatabaseBackupProgress(
                        remainingPageCount: handle.remainingPageCount, totalPageCount: handle.totalPageCount,
                        isCompleted: isCompleted)
                    do {
                        try destDb.lifetime.lend(to: .backup) { try progress(state) }
                    } catch {
                        if !isCompleted { throw error }
                    }
                }
                if isCompleted { return try finish(handle, code, destDb) }
                try checkCancellation()
                try destDb.checkCancellation()
            case .SQLITE_LOCKED where destDb.hooks.mayTryAgain(tries):
                // SQLite calls the busy handler for files, but not for a shared cache.
                tries += 1
            default:
                return try finish(handle, code, destDb)
            }
        }
    }

    private func finish(_ handle: consuming BackupHandle, _ code: ResultCode, _ destDb: Database) throws {
        let finishCode = handle.finish()
        // The pages under the destination's statements have been replaced.
        destDb.forgetStatements()
        destDb.schemaClock.schemaWasReplaced()
        // The code of finishing doesn't report a lock, because the backup could continue after it: the step's code
        // does.
        let failure = code == .SQLITE_DONE ? finishCode : code.rawValue
        guard failure != ResultCode.SQLITE_OK.rawValue else { return destDb.contentWasReplaced() }
        let error = destDb.error(failure, operation: "backup of \(description) to \(destDb.description)")
        throw finishCode == failure || !(error is DatabaseError)
            ? error
            : DatabaseError(
                resultCode: code,
                message: "backup of \(description) to \(destDb.description): \(SQLiteLibrary.errorString(failure))")
    }
}

extension Database {
    /// Reports the replacement of the whole content as a commit.
    func contentWasReplaced() {
        monitor?.contentWasReplaced(self)
        transactionDidEnd(committed: true)
    }
}
