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
