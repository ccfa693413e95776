extension Database {
    /// The date of the current transaction, in seconds since 2001-01-01 00:00:00 UTC; the current date outside a
    /// transaction.
    package var secondsOfTransaction: Double {
        get throws {
            guard isInsideTransaction else { return try currentSeconds() }
            let seconds = openTransaction.seconds ?? Result { try currentSeconds() }
            openTransaction.seconds = seconds
            return try seconds.get()
        }
    }

    func currentSeconds() throws -> Double {
        guard let clock = options.transactionClock else { return SystemClock.secondsSinceReferenceDate() }
        return try clock(self)
    }

    /// Runs a closure after the current transaction, or after the next one if none is open.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     db.afterNextTransaction { _ in print("it is on disk") }
    ///     try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
    /// }
    /// ```
    ///
    /// A statement outside a transaction is a transaction of its own, which is rolled back if the statement fails.
    ///
    /// The closures run with the connection, and may use it. On a connection that can't write, they run after the
    /// current read transaction.
    ///
    /// - parameter onCommit: called after a commit.
    /// - parameter onRollback: called after a rollback.
    public func afterNextTransaction(
        onCommit: @escaping @Sendable (Database) -> Void,
        onRollback: @escaping @Sendable (Database) -> Void = { _ in }
    ) {
        failingAccess {
            try checkAccess()
            hooks.countRollbacks()
            openTransaction.nextHandlers.append((onCommit, onRollback))
            watchersDidChange()
            guard openTransaction.handledRollback == nil else { return }
            let rollback = HandledRollback()
            rollback.client = hooks.onRollback { rollback.hasHappened = true }
            openTransaction.handledRollback = rollback
        }
    }

    /// Runs `body` while no other connection can write, in a transaction that writes nothing: the handlers for the end
    /// of the next transaction aren't called.
    ///
    /// ```sql
    /// BEGIN IMMEDIATE TRANSACTION
    /// ROLLBACK TRANSACTION
    /// ```
    package func withWriteLock<T>(_ body: () throws -> T) throws -> T {
        let (handlers, monitor) = (openTransaction.nextHandlers, watchers.monitor)
        openTransaction.nextHandlers = []
        watchers.monitor = nil
        defer {
            openTransaction.nextHandlers = handlers
            openTransaction.handledRollback?.hasHappened = false
            watchers.monitor = monitor
        }
        try beginTransaction(.immediate)
        defer { try? rollback() }
        return try body()
    }

    /// - parameter kind: the kind of the statement that ended the transaction; nil for an operation that isn't a
    ///   statement.
    func transactionDidEnd(committed: Bool, _ kind: StatementKind? = nil) {
        openTransaction.seconds = nil
        openTransaction.savepoints.removeAll()
        guard watches.transactions else { return }
        if committed, openTransaction.nextHandlers.isEmpty, let monitor = watchers.monitor,
            monitor.forgetUnneededCommit(self)
        {
            return
        }
        let handlers = openTransaction.nextHandlers.isEmpty ? nil : takeTransactionHandlers()
        // After SQLite's own rollback, a wrapper still waits for its statement to throw; the statements of callbacks
        // may run.
        let wasWrapped = openTransaction.state.suspendWrapper()
        defer { openTransaction.state.restoreWrapper(wasWrapped) }
        withoutCancellation {
            let committed = watchers.monitor?.transactionDidEnd(committed: committed, kind, self) ?? committed
            for handler in handlers ?? [] {
                if committed { handler.onCommit(self) } else { handler.onRollback(self) }
            }
        }
    }

    private func takeTransactionHandlers() -> [(onCommit: (Database) -> Void, onRollback: (Database) -> Void)] {
        defer {
            openTransaction.nextHandlers = []
            watchersDidChange()
            if let client = openTransaction.handledRollback.take()?.client { hooks.remove(client) }
        }
        return openTransaction.nextHandlers
    }
}
