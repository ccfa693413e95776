extension Database {
    /// The date of the current transaction, in seconds since 2001-01-01 00:00:00 UTC; the current date outside a
    /// transaction.
    package var secondsOfTransaction: Double {
        get throws {
            guard isInsideTransaction else { return try currentSeconds() }
            let seconds = transactionSeconds ?? Result { try currentSeconds() }
            transactionSeconds = seconds
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
            nextTransactionHandlers.append((onCommit, onRollback))
            guard handledRollback == nil else { return }
            let rollback = HandledRollback()
            rollback.client = hooks.onRollback { rollback.hasHappened = true }
            handledRollback = rollback
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
        let (handlers, monitor) = (nextTransactionHandlers, monitor)
        nextTransactionHandlers = []
        self.monitor = nil
        defer {
            nextTransactionHandlers = handlers
            handledRollback?.hasHappened = false
            self.monitor = monitor
        }
        try beginTransaction(.immediate)
        defer { try? rollback() }
        return try body()
    }

    /// - parameter kind: the kind of the statement that ended the transaction; nil for an operation that isn't a
    ///   statement.
    func transactionDidEnd(committed: Bool, _ kind: StatementKind? = nil) {
        transactionSeconds = nil
        savepoints.removeAll()
        guard watchesTransactions else { return }
        if committed, nextTransactionHandlers.isEmpty, let monitor, monitor.forgetUnneededCommit(self) { return }
        let handlers = nextTransactionHandlers.isEmpty ? nil : takeTransactionHandlers()
        // After SQLite's own rollback, a wrapper still waits for its statement to throw; the statements of callbacks
        // may run.
        let wasWrapped = transaction.suspendWrapper()
        defer { transaction.restoreWrapper(wasWrapped) }
        withoutCancellation {
            let committed = monitor?.transactionDidEnd(committed: committed, kind, self) ?? committed
            for handler in handlers ?? [] {
                if committed { handler.onCommit(self) } else { handler.onRollback(self) }
            }
        }
    }

    private func takeTransactionHandlers() -> [(onCommit: (Database) -> Void, onRollback: (Database) -> Void)] {
        defer {
            nextTransactionHandlers = []
            if let client = handledRollback.take()?.client { hooks.remove(client) }
        }
        return nextTransactionHandlers
    }
}
