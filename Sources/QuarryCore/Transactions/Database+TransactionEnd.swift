extension Database {
    /// The date of the current transaction, in seconds since 2001-01-01 00:00:00 UTC; of now outside a transaction.
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

    /// Runs a closure after the current transaction, or the next if none is open.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     db.afterNextTransaction { _ in print("it is on disk") }
    ///     try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
    /// }
    /// ```
    ///
    /// The closures run with the connection, which may be used. Where nothing can be written, they run after the
    /// transaction that is read in.
    ///
    /// - parameter onCommit: after a commit.
    /// - parameter onRollback: after a rollback.
    public func afterNextTransaction(
        onCommit: @escaping @Sendable (Database) -> Void,
        onRollback: @escaping @Sendable (Database) -> Void = { _ in }
    ) {
        failingAccess {
            try checkAccess()
            nextTransactionHandlers.append((onCommit, onRollback))
        }
    }

    /// Runs `body` while nobody else can write, in a transaction that writes nothing: for those who wait for the end of
    /// the next transaction, it is none.
    ///
    /// ```sql
    /// BEGIN IMMEDIATE TRANSACTION
    /// ROLLBACK TRANSACTION
    /// ```
    package func withWriteLock<T>(_ body: () throws -> T) throws -> T {
        let handlers = nextTransactionHandlers
        nextTransactionHandlers = []
        defer { nextTransactionHandlers = handlers }
        try beginTransaction(.immediate)
        defer { try? rollback() }
        return try body()
    }

    func transactionDidEnd(committed: Bool) {
        transactionSeconds = nil
        guard !nextTransactionHandlers.isEmpty else { return }
        let handlers = nextTransactionHandlers
        nextTransactionHandlers = []
        // After SQLite rolled back by itself, a wrapper still waits for its statement to throw: the handlers' may run.
        let wasWrapped = transaction.suspendWrapper()
        defer { transaction.restoreWrapper(wasWrapped) }
        withoutCancellation {
            for handler in handlers {
                if committed { handler.onCommit(self) } else { handler.onRollback(self) }
            }
        }
    }
}
