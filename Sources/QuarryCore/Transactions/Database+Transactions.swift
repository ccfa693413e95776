extension Database {
    /// The time when a transaction takes its locks:
    /// <https://www.sqlite.org/lang_transaction.html#deferred_immediate_and_exclusive_transactions>.
    ///
    /// ```swift
    /// try db.inTransaction(.exclusive) {
    ///     try db.execute(sql: "DELETE FROM player")
    ///     return .commit
    /// }
    /// ```
    public enum TransactionKind: String, Sendable {
        /// At its first statement.
        case deferred = "DEFERRED"
        /// At once, for writing.
        case immediate = "IMMEDIATE"
        /// At once; outside WAL mode other connections can't read either.
        case exclusive = "EXCLUSIVE"
    }

    /// The end of a transaction.
    public enum TransactionCompletion: Sendable {
        /// Keeps the changes.
        case commit
        /// Discards the changes.
        case rollback
    }

    /// Whether a transaction is open; false outside an access.
    ///
    /// ```swift
    /// try dbQueue.writeWithoutTransaction { db in
    ///     print(db.isInsideTransaction) // false
    ///     try db.inTransaction {
    ///         print(db.isInsideTransaction) // true
    ///         return .commit
    ///     }
    /// }
    /// ```
    public var isInsideTransaction: Bool { lifetime.isOwned && !ConnectionCalls.isAutocommit(pointer) }

    /// Runs `operations` in a transaction.
    ///
    /// ```swift
    /// try db.inTransaction {
    ///     try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
    ///     return .commit
    /// }
    /// ```
    /// ```sql
    /// BEGIN IMMEDIATE TRANSACTION
    /// INSERT INTO player (name) VALUES ('Arthur')
    /// COMMIT TRANSACTION
    /// ```
    ///
    /// An error rolls the transaction back and is rethrown; the first error counts. A transaction may end early: SQLite
    /// rolls back on its own (interruption, `ON CONFLICT ROLLBACK`), or SQL runs `COMMIT` or `ROLLBACK`. Then further
    /// statements and this method throw `SQLITE_ABORT`, and so does another `BEGIN`.
    ///
    /// - parameter kind: nil for DEFERRED on a connection that can't write, IMMEDIATE otherwise.
    /// - throws: the error of `operations`; `DatabaseError`, for example if a transaction is already open.
    public func inTransaction(
        _ kind: TransactionKind? = nil, _ operations: () throws -> TransactionCompletion
    ) throws {
        try withTransaction(kind) { (try operations(), ()) }
    }

    /// Runs `body` in a transaction, and returns its result.
    package func withTransaction<T>(
        _ kind: TransactionKind? = nil, _ body: () throws -> (TransactionCompletion, T)
    ) throws -> T {
        try beginTransaction(kind)
        openTransaction.state.wrapperDidBegin()
        let completion: TransactionCompletion
        let result: T
        do {
            (completion, result) = try body()
            if completion == .commit {
                if openTransaction.state.isAborted(isAutocommit: ConnectionCalls.isAutocommit(pointer)) {
                    throw abortedTransactionError()
                }
                openTransaction.state.wrapperWillEnd()
                try commit()
            }
        } catch {
            // The first error counts.
            openTransaction.state.wrapperWillEnd()
            try? rollback()
            throw error
        }
        openTransaction.state.wrapperWillEnd()
        if completion == .rollback { try rollback() }
        return result
    }

    /// Runs `body` in the open transaction, which it can't commit: the caller counts what it commits.
    package func refusingCommits<T>(_ body: () throws -> T) rethrows -> T {
        openTransaction.state.refusesCommits = true
        defer { openTransaction.state.refusesCommits = false }
        // SQLite's C functions can't commit, either.
        return try hooks.refusingCommits(body)
    }

    /// Runs `operations` in a savepoint: its own transaction, or a part of the open transaction.
    ///
    /// ```swift
    /// try db.inSavepoint {
    ///     try db.execute(sql: "DELETE FROM player")
    ///     return .rollback // takes back this savepoint's changes only
    /// }
    /// ```
    /// ```sql
    /// SAVEPOINT quarry
    /// DELETE FROM player
    /// ROLLBACK TRANSACTION TO SAVEPOINT quarry
    /// RELEASE SAVEPOINT quarry
    /// ```
    ///
    /// See <https://www.sqlite.org/lang_savepoint.html>.
    ///
    /// If SQL inside has released the savepoint (`RELEASE` of an outer one), its changes can't be rolled back alone:
    /// then the whole transaction is rolled back.
    ///
    /// - throws: the error of `operations`, after the savepoint is rolled back; `DatabaseError`; `SQLITE_ABORT` if the
    ///   transaction has ended inside.
    public func inSavepoint(_ operations: () throws -> TransactionCompletion) throws {
        try withSavepoint { (try operations(), ()) }
    }

    /// Runs `body` in a savepoint, and returns its result.
    package func withSavepoint<T>(_ body: () throws -> (TransactionCompletion, T)) throws -> T {
        try checkAccess()
        guard isInsideTransaction else { return try withTransaction(nil, body) }
        let depth = openTransaction.savepoints.depth
        try run(.savepoint)
        // The savepoint depends on the transaction, even on one that was begun manually.
        let wasWrapped = openTransaction.state.isWrapped
        openTransaction.state.wrapperDidBegin()
        defer { openTransaction.state.restoreWrapper(wasWrapped) }
        do {
            let (completion, result) = try body()
            switch completion {
            case .commit: try endSavepoints(above: depth) { try run(.releaseSavepoint) }
            case .rollback: try endSavepoints(above: depth) { try rollbackToSavepoint() }
            }
            return result
        } catch {
            // After the whole transaction has ended, nothing remains to be rolled back.
            if isInsideTransaction {
                do { try endSavepoints(above: depth) { try rollbackToSavepoint() } } catch { try? rollback() }
            }
            throw error
        }
    }

    /// Ends the library's savepoint. SQL may have opened others of its name inside, which end first.
    ///
    /// - parameter depth: the number of savepoints before it.
    /// - parameter endNewest: ends the newest savepoint of the library's name.
    func endSavepoints(above depth: Int, _ endNewest: () throws -> Void) throws {
        repeat { try endNewest() } while openTransaction.savepoints.depth > depth
    }

    func rollbackToSavepoint() throws {
        try withoutCancellation {
            try runDespiteInterruption(.rollbackToSavepoint)
            try runDespiteInterruption(.releaseSavepoint)
        }
    }

    /// Runs a statement that takes changes back.
    ///
    /// A statement that was interrupted and not reset keeps the interruption alive, as does the blob that FTS5 holds
    /// open between two statements. They are ended then. A cursor that didn't know would begin again.
    private func runDespiteInterruption(_ statement: ControlStatement) throws {
        do {
            try run(statement)
        } catch let error as DatabaseError where error.isInterruptionError && isInsideTransaction {
            stopAllStatements()
            if !running.blobs.isEmpty { closeBlobs() }
            ConnectionCalls.resetAllStatements(pointer)
            try run(statement)
        }
    }

    /// Begins a transaction, which `commit()` or `rollback()` ends. `inTransaction` is safer.
    ///
    /// ```swift
    /// try db.beginTransaction()
    /// do {
    ///     try db.execute(sql: "DELETE FROM player")
    ///     try db.commit()
    /// } catch {
    ///     try db.rollback()
    ///     throw error
    /// }
    /// ```
    /// ```sql
    /// BEGIN IMMEDIATE TRANSACTION
    /// ```
    ///
    /// - parameter kind: nil for DEFERRED on a connection that can't write, IMMEDIATE otherwise.
    /// - throws: `DatabaseError`: `SQLITE_BUSY` if another connection has the lock; `SQLITE_ERROR` if a transaction is
    ///   already open.
    public func beginTransaction(_ kind: TransactionKind? = nil) throws {
        try prepareRollback()
        switch kind ?? (isReadOnly ? .deferred : .immediate) {
        case .deferred: return try run(.beginDeferred)
        case .immediate: try run(.beginImmediate)
        case .exclusive: try run(.beginExclusive)
        }
        if schemaMemory.hasAttached { try noteForeignSchemaChangesOrRollBack() }
    }

    @inline(never)
    private func noteForeignSchemaChangesOrRollBack() throws {
        do {
            try noteForeignSchemaChanges()
        } catch {
            try? rollback()
            throw error
        }
    }

    /// Commits the open transaction.
    ///
    /// ```sql
    /// COMMIT TRANSACTION
    /// ```
    ///
    /// - throws: `DatabaseError`: after `SQLITE_BUSY` the transaction is still open, and can be committed later.
    public func commit() throws {
        try run(.commit)
    }

    /// Rolls back the open transaction; has no effect if SQLite has already rolled it back.
    ///
    /// ```sql
    /// ROLLBACK TRANSACTION
    /// ```
    ///
    /// - throws: `DatabaseError`.
    public func rollback() throws {
        try checkAccess()
        guard isInsideTransaction else { return }
        try withoutCancellation {
            do {
                try runDespiteInterruption(.rollback)
            } catch let error as DatabaseError where error.isInterruptionError && !isInsideTransaction {}
        }
    }

    // MARK: - Read transactions

    /// Begins a read transaction, in which nothing can be written.
    ///
    /// ```sql
    /// BEGIN DEFERRED TRANSACTION
    /// PRAGMA schema_version
    /// ```
    ///
    /// - parameter pinned: whether it sees the current state: a bare BEGIN DEFERRED sees the state at its first
    ///   statement.
    package func beginRead(pinned: Bool) throws {
        access.beginReadOnly()
        do {
            try prepareRollback()
            try run(.beginDeferred)
            if pinned { try run(.schemaVersion) }
            if schemaMemory.hasAttached { try noteForeignSchemaChanges() }
        } catch {
            try? rollback()
            access.endReadOnly()
            throw error
        }
        openTransaction.state.wrapperDidBegin()
    }

    /// Runs `body` in the read transaction that has begun, and ends it.
    package func finishRead<T>(_ body: () throws -> T) throws -> T {
        defer { access.endReadOnly() }
        let result: T
        do {
            result = try body()
            // A read that has ended its own transaction has lost nothing: a later statement would have been refused.
            if openTransaction.state.isAborted(isAutocommit: ConnectionCalls.isAutocommit(pointer)),
                !openTransaction.state.wasLeft
            {
                throw abortedTransactionError()
            }
        } catch {
            // The first error counts.
            try? endRead()
            throw error
        }
        try endRead()
        return result
    }

    /// Ends a read transaction, in whatever state it is.
    private func endRead() throws {
        openTransaction.state.wrapperWillEnd()
        guard isInsideTransaction else { return }
        // An interruption here loses nothing, so no shield is used, which costs two locks.
        try withoutCancellation(isShielded: false) {
            do { try commit() } catch { try rollback() }
        }
    }
}
