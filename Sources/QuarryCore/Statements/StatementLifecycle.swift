// The beginning and the end of a statement's execution: first the statement's part, then the connection's.

extension Statement {
    /// Begins an execution that a cursor steps.
    ///
    /// - returns: the execution's number.
    @usableFromInline
    func beginExecution() throws -> Int {
        try lifetime.withAccessedDatabase { database in
            try startExecution(in: database, .cursor)
            guard !bound.isBound else { return }
            do {
                try bindCopies()
            } catch {
                stopExecution(database)
                throw error
            }
        }
        return activity.executionID
    }

    /// Begins an execution, and ends the current one.
    @inline(__always)
    func startExecution(_ extent: StatementActivity.Extent) throws -> Database {
        let database = try lifetime.accessedDatabase()
        try startExecution(in: database, extent)
        return database
    }

    @inline(__always)
    func startExecution(in database: Database, _ extent: StatementActivity.Extent) throws {
        switch activity.phase {
        case .idle: break
        case .running: stopExecution(database)
        case .stepping: throw DatabaseError.misuse("A statement can't be run inside itself.", sql: sql)
        case .retired:
            throw DatabaseError.misuse(
                "A statement of untrusted SQL can't be run outside of withUntrustedSQL.", sql: sql)
        }
        try database.statementWillStart(self)
        activity.begin(extent)
        if extent == .cursor { database.running.statements.append(self) }
    }

    /// Steps an execution that has begun, until it ends.
    @inline(__always)
    func run(_ database: Database) throws {
        var code: CInt
        activity.willStep(.call)
        database.running.depth += 1
        repeat { code = handle.step() } while code == StatementHandle.row
        database.running.depth -= 1
        activity.didStep(.call)
        try endExecution(code, database)
    }

    /// Ends an execution before its last row.
    ///
    /// SQLite commits or refuses the changes of a statement with RETURNING when the statement ends. If SQLite refuses
    /// them, the end of the access throws the error, since the cursor no longer exists.
    func stopExecution(_ database: Database) {
        guard case .running = activity.phase else { return }
        if isReadonly {
            leaveExecution(database)
            let code = handle.reset()
            if code != 0 { readDidFail(code, database) }
        } else {
            stopChange(database)
        }
    }

    @inline(never)
    private func stopChange(_ database: Database) {
        let hasStepped = handle.isBusy
        leaveExecution(database)
        let code = handle.reset()
        guard hasStepped else {
            if mayChange {
                database.watchers.monitor?.statementDidEnd(self, succeeded: false, hasStepped: false, database)
                database.failingAccess { try database.endOwnTransaction(of: self) }
            }
            return
        }
        let succeeded = code == ResultCode.SQLITE_OK.rawValue
        if !succeeded, database.access.error == nil { database.access.note(database.error(of: self, code)) }
        database.statementDidEnd(self, succeeded: succeeded)
        database.failingAccess { try database.endOwnTransaction(of: self) }
    }

    /// Ends the execution of a released cursor, unless another execution has begun or the access has ended.
    @usableFromInline
    func abandonExecution(_ id: Int) {
        guard activity.isExecuting(id), lifetime.isOwned else { return }
        try? lifetime.withAccessedDatabase { database in stopExecution(database) }
    }

    /// Ends an execution after a step that returned no row.
    ///
    /// - throws: the error of that step.
    func endExecution(_ code: CInt) throws {
        try lifetime.withAccessedDatabase { database in try endExecution(code, database) }
    }

    func endExecution(_ code: CInt, _ database: Database) throws {
        if code == StatementHandle.done {
            leaveExecution(database)
            handle.reset()
            database.statementDidEnd(self, succeeded: true)
            if database.watches.transactions { try database.watchersHaveSeen(self) }
        } else {
            let error = database.error(of: self, code)
            leaveExecution(database)
            handle.reset()
            database.statementCache.remove(self)
            database.route?.statementDidFail(error, database)
            database.statementDidEnd(self, succeeded: false)
            // A commit keeps what the statement keeps. The first error counts.
            if database.watches.transactions { try? database.endOwnTransaction(of: self) }
            throw error
        }
    }

    /// Whether running it may change tables. SQLite counts `BEGIN IMMEDIATE` as writing, too.
    package var mayChange: Bool { !isReadonly && !kind.controlsTransactions }

    private func leaveExecution(_ database: Database) {
        let wasOfCursor = activity.end()
        detachRow()
        if wasOfCursor { database.running.statements.remove(self) }
    }
}

extension Database {
    /// Called before a statement's first step. Throws if the statement must not run.
    @inline(__always)
    func statementWillStart(_ statement: Statement) throws {
        if max(running.depth, running.statements.count) >= Self.maximumNesting { try checkNesting(statement) }
        if access.isReadOnly, !statement.isReadonly || access.isSealed { try checkMayRunReadOnly(statement) }
        if access.isCancelled, !mayEndTransaction(statement) { throw CancellationError() }
        if lifetime.hasEndedAccess { try checkHasNotEnded(statement) }
        if openTransaction.state.isWrapped {
            let isAutocommit = ConnectionCalls.isAutocommit(pointer)
            let admission = openTransaction.state.statementWillStart(statement.kind, isAutocommit: isAutocommit)
            if admission != .run, let refusal = refusal(of: statement, admission) { throw refusal }
        }
        if watches.statements { try watchersWillSee(statement) }
        lifetime.counters.runStatements.increment()
        if clocks.deadlines.isSet { try deadlinesWillSee(statement) }
    }

    @inline(never)
    private func refusal(of statement: Statement, _ admission: TransactionStateMachine.Admission) -> DatabaseError? {
        switch admission {
        case .run: return nil
        case .abort: return abortedTransactionError(sql: statement.sql)
        case .refuse:
            let message =
                openTransaction.state.isShared
                ? "a write can't end a transaction that other writes share"
                : "a step of an incremental write can't commit its transaction, which may have other steps"
            return DatabaseError.misuse(message, sql: statement.sql)
        case .runInSavepoint:
            // The program doesn't know of that savepoint.
            let name = statement.savepointName
            guard openTransaction.savepoints.isOldest(name) else { return nil }
            return DatabaseError(message: "no such savepoint: \(name)", sql: statement.sql)
        }
    }

    @inline(never)
    private func watchersWillSee(_ statement: Statement) throws {
        if watchers.storedCommitNumber != nil { try commitNumberWillSee(statement) }
        if watchers.readRegion != nil, !statement.kind.controlsTransactions { noteRead(of: statement) }
        if let monitor = watchers.monitor, statement.mayChange { monitor.statementWillStart(statement, self) }
        if let tracer = watchers.tracer, !tracer.followedEvents.isEmpty { tracer.statementWillStart(statement, self) }
        try route?.statementWillRun(statement, self)
    }

    /// Throws the error with which an observer has refused the statement's commit, or that of a change that has passed
    /// its time.
    @inline(never)
    fileprivate func watchersHaveSeen(_ statement: Statement) throws {
        if watchers.storedCommitNumber != nil { try endOwnTransaction(of: statement) }
        if let refusal = watchers.monitor?.takeRefusal() { throw refusal }
        if let overrun = openTransaction.parts.overrun, statement.mayChange { throw overrun.with(sql: statement.sql) }
    }

    /// Throws if another thread has ended the access.
    @inline(never)
    private func checkHasNotEnded(_ statement: Statement) throws {
        guard let error = endError, !access.isRestoring, !mayEndTransaction(statement) else { return }
        throw error.with(sql: statement.sql)
    }

    /// The limit of statements that run inside each other. Each needs some thousand bytes of the stack.
    private static var maximumNesting: Int { 100 }

    /// Throws if statements nest too deep: a function, collation or trace that runs SQL may call itself without end.
    @inline(never)
    private func checkNesting(_ statement: Statement) throws(DatabaseError) {
        let depth = running.depth + running.statements.newestFirst.count { $0.activity.isStepping }
        guard depth >= Self.maximumNesting else { return }
        throw DatabaseError(
            message: "\(depth) statements run inside each other: does a function or collation call itself?",
            sql: statement.sql)
    }

    /// Throws for a statement that may write, while nothing may be written.
    @inline(never)
    private func checkMayRunReadOnly(_ statement: Statement) throws(DatabaseError) {
        // SQLite itself refuses to write to a read-only connection. It lets the connection query its journal mode,
        // which counts as writing.
        if access.isSealed, statement.isReadonly {
            guard statement.kind.controlsTransactions else { return }
            throw DatabaseError.misuse("a collation or tokenizer can't begin or end a transaction", sql: statement.sql)
        }
        if options.readonly || asksForJournalMode(statement) { return }
        if let writeRefusal { throw writeRefusal.with(sql: statement.sql) }
        throw DatabaseError(
            resultCode: .SQLITE_READONLY, message: "attempt to write a readonly database", sql: statement.sql
        ).with(circumstances: hintOfReadOnly)
    }

    @inline(never)
    func deadlinesWillSee(_ statement: Statement) throws {
        var isCommit = false
        if case .commit = statement.kind { isCommit = true }
        try deadlinesWillSee(
            isCommit: isCommit, mayEndTransaction: mayEndTransaction(statement), sql: statement.sql)
    }

    /// Whether a statement is `PRAGMA journal_mode`. SQLite counts this statement as writing, even if it only queries
    /// the mode: <https://www.sqlite.org/c3ref/stmt_readonly.html>.
    private func asksForJournalMode(_ statement: Statement) -> Bool {
        let sql = statement.sql.lowercased()
        return sql.hasPrefix("pragma") && sql.hasSuffix("journal_mode") && !sql.contains("=") && !sql.contains("(")
    }

    /// A cancelled transaction may be rolled back. It may also be committed, if it has nothing to write.
    private func mayEndTransaction(_ statement: Statement) -> Bool {
        switch statement.kind {
        case .rollback, .rollbackToSavepoint: true
        case .commit: isReadOnly
        default: false
        }
    }

    /// Called after a statement's last step.
    @inline(__always)
    func statementDidEnd(_ statement: Statement, succeeded: Bool) {
        // A query that succeeds neither begins nor ends a transaction, nor changes the schema.
        if succeeded, case .query = statement.kind, !watches.transactions { return }
        stateMayHaveChanged(statement, succeeded: succeeded)
    }

    @inline(never)
    private func stateMayHaveChanged(_ statement: Statement, succeeded: Bool) {
        if let monitor = watchers.monitor, statement.mayChange {
            monitor.statementDidEnd(statement, succeeded: succeeded, hasStepped: true, self)
        }
        switch statement.kind {
        case .other, .attachment: openTransaction.parts.hasRunOther = true
        default: break
        }
        let changeCount = schemaMemory.clock.changeCount
        let isAutocommit = ConnectionCalls.isAutocommit(pointer)
        schemaMemory.clock.statementDidEnd(
            statement.kind, succeeded: succeeded, isReadonly: statement.isReadonly, isAutocommit: isAutocommit)
        if case .attachment = statement.kind {
            schemaMemory.hasAttached = true
            if succeeded { watchers.monitor?.attachmentsDidChange(self) }
        }
        if schemaMemory.hasAttached, changeCount != schemaMemory.clock.changeCount { forgetKeptStatements() }
        // Any other successful statement neither begins nor ends a transaction, unless it is one.
        if succeeded, !statement.kind.controlsTransactions,
            !watches.transactions || openTransaction.state.isInside && !isAutocommit
        {
            return
        }
        let wasInside = openTransaction.state.isInside
        let event = openTransaction.state.statementDidEnd(
            statement.kind, succeeded: succeeded, isReadonly: statement.isReadonly || hasUnendedChange(statement),
            isAutocommit: isAutocommit, hasRolledBack: hasRolledBack(statement.kind, succeeded: succeeded))
        // A cursor that hasn't taken a step must not begin without its transaction.
        if openTransaction.state.isWrapped, event != .didBegin, !openTransaction.state.isInside {
            stopUnsteppedStatements()
        }
        if succeeded, event != .didCommit { noteSavepoint(statement, beginsTransaction: event == .didBegin) }
        if !succeeded, case .commit = statement.kind, !isReadOnly { lifetime.counters.failedCommits.increment() }
        switch event {
        case .none:
            guard !succeeded else { break }
            let end = watchers.monitor?.takeUntoldEnd(self) ?? endOfHandledTransaction
            if end != .none { transactionDidEnd(committed: end == .didCommit, statement.kind) }
        // Transactions that can't write are rarely asked for their date.
        case .didBegin:
            openTransaction.seconds = isReadOnly ? nil : Result { try currentSeconds() }
            openTransaction.rollbackCountAtBegin = hooks.rollbackCount
            // BEGIN IMMEDIATE counts as writing.
            if let monitor = watchers.monitor, !statement.isReadonly { monitor.writeDidBegin(self) }
        case .didCommit:
            // A statement outside a transaction is no transaction of the program's.
            if !isReadOnly, wasInside { lifetime.counters.commits.increment() }
            transactionDidEnd(committed: true, wasInside ? .commit : statement.kind)
        case .didRollback:
            if !isReadOnly { lifetime.counters.rollbacks.increment() }
            transactionDidEnd(committed: false, statement.kind)
        }
    }

    /// Whether a statement that has ended the open transaction has rolled it back.
    private func hasRolledBack(_ kind: StatementKind, succeeded: Bool) -> Bool {
        switch kind {
        case .commit, .release: !succeeded
        case .rollback: true
        // SQLite rolls back after some errors. A function of the program's may have committed through SQLite's C
        // functions.
        default: hooks.countsRollbacks ? hooks.rollbackCount != openTransaction.rollbackCountAtBegin : !succeeded
        }
    }

    /// Whether, outside a transaction, another statement or an open blob is writing: SQLite commits when the last of
    /// them ends.
    private func hasUnendedChange(_ statement: Statement) -> Bool {
        statement.mayChange && !openTransaction.state.isInside && ConnectionCalls.isAutocommit(pointer)
            && ConnectionCalls.hasOpenWrite(pointer)
    }

    /// Keeps the open savepoints up to date.
    private func noteSavepoint(_ statement: Statement, beginsTransaction: Bool) {
        switch statement.kind {
        case .savepoint: openTransaction.savepoints.begin(statement.savepointName, beginsTransaction: beginsTransaction)
        case .release: openTransaction.savepoints.release(statement.savepointName)
        case .rollbackToSavepoint: openTransaction.savepoints.rollBack(to: statement.savepointName)
        default: return
        }
        watchers.monitor?.savepointsDidChange(statement.kind, depth: openTransaction.savepoints.depth, self)
    }
}
