// The part of a connection that `QuarryChangesets` uses: SQLite's sessions note its changes, and changesets change its
// rows without a statement of the library.

extension Database {
    /// Throws while a transaction observer observes the connection.
    package func checkSessionsMayNoteChanges() throws(DatabaseError) {
        guard changeMonitor?.observers.hasObserver == true else { return }
        throw DatabaseError.misuse(
            """
            no changeset can be made while a transaction observer observes the connection: \
            SQLite has one preupdate hook for both
            """)
    }

    /// Runs `body`, which may create session objects, and deletes them before it returns. Calls nest.
    ///
    /// - parameter notingChanges: whether they note changes. Otherwise they compare tables.
    package func withSessions<T>(notingChanges: Bool, _ body: () throws -> T) rethrows -> T {
        if notingChanges { changeMonitor?.sessionsWillBegin() }
        return try hooks.withSessions {
            // A `DELETE` that was prepared before may delete all rows at once, and tell none.
            if notingChanges { hooks.expireStatementsUncounted() }
            return try body()
        }
    }

    /// Throws if SQLite has rolled back the transaction of the access.
    package func checkTransactionIsOpen() throws {
        if openTransaction.state.isAborted(isAutocommit: ConnectionCalls.isAutocommit(pointer)) {
            throw abortedTransactionError()
        }
    }

    /// Runs a function of SQLite's that changes rows as statements do, and tells observers of it.
    ///
    /// - parameter statements: SQL that changes the same tables.
    /// - parameter body: returns SQLite's code.
    /// - parameter failure: makes the error of a code.
    /// - returns: the error, for the caller to throw; whether SQLite has rolled the transaction back.
    package func changingRows(
        as statements: [String], _ body: () -> CInt, failure: (CInt) -> any Error
    ) throws -> (failure: (any Error)?, isAborted: Bool) {
        if let monitor = watchers.monitor {
            monitor.operationWillStart((try? accesses(ofStatements: statements)) ?? .unknown, self)
        }
        if clocks.deadlines.isSet { try deadlinesWillSee(isCommit: false, mayEndTransaction: false, sql: nil) }
        // SQLite goes on after a trigger that rolls the transaction back, and would commit what follows.
        let code = hooks.refusingCommits { withOwnStatements(body) }
        let isAborted = openTransaction.state.isAborted(isAutocommit: ConnectionCalls.isAutocommit(pointer))
        let succeeded = code == ResultCode.SQLITE_OK.rawValue && !isAborted
        let error = succeeded ? nil : failure(code)
        watchers.monitor?.operationDidEnd(succeeded: succeeded, self)
        if isAborted { noteOwnRollback() }
        return (error, isAborted)
    }

    /// SQLite has rolled back on its own, and no statement of the library has reported it.
    private func noteOwnRollback() {
        let event = openTransaction.state.statementDidEnd(
            .query, succeeded: false, isReadonly: false, isAutocommit: true, hasRolledBack: true)
        if event == .didRollback { transactionDidEnd(committed: false) }
    }

    /// Runs `body`, a closure of the program that can't use the connection.
    package func lendingToConflictResolution<T>(_ body: () throws -> T) rethrows -> T {
        try lifetime.lend(to: .conflictResolution, body)
    }
}
