extension Database {
    /// Called before a statement's first step: throws where it must not run.
    @inline(__always)
    func statementWillStart(_ statement: Statement) throws {
        if max(runDepth, activeStatements.count) >= Self.maximumNesting { try checkNesting(statement) }
        if readOnlyDepth > 0, !statement.isReadonly || sealDepth > 0 { try checkMayRunReadOnly(statement) }
        if isCancellable, isAccessCancelled, uncancellableDepth == 0, !mayEndTransaction(statement) {
            throw CancellationError()
        }
        if transaction.isWrapped,
            transaction.statementWillStart(statement.kind, isAutocommit: ConnectionCalls.isAutocommit(pointer))
                == .abort
        {
            throw abortedTransactionError(sql: statement.sql)
        }
        if deadline.limit != nil { deadline.start() }
    }

    /// How many statements may run inside each other. Each needs some thousand bytes of the stack.
    private static var maximumNesting: Int { 100 }

    /// Throws where statements nest too deep: a function, collation or trace that runs SQL may call itself without end.
    @inline(never)
    private func checkNesting(_ statement: Statement) throws(DatabaseError) {
        let depth = runDepth + activeStatements.newestFirst.count { $0.isStepping }
        guard depth >= Self.maximumNesting else { return }
        throw DatabaseError(
            message: "\(depth) statements run inside each other: does a function or collation call itself?",
            sql: statement.sql)
    }

    /// Throws for a statement that may write, where nothing can be written.
    @inline(never)
    private func checkMayRunReadOnly(_ statement: Statement) throws(DatabaseError) {
        // SQLite refuses what writes to a read-only connection, and lets it ask for its journal mode, which counts as
        // writing.
        if sealDepth > 0, statement.isReadonly {
            guard statement.kind.controlsTransactions else { return }
            throw DatabaseError.misuse("a collation or tokenizer can't begin or end a transaction", sql: statement.sql)
        }
        if options.readonly || asksForJournalMode(statement) { return }
        throw DatabaseError(
            resultCode: .SQLITE_READONLY, message: "attempt to write a readonly database", sql: statement.sql)
    }

    /// Whether a statement is `PRAGMA journal_mode`, which SQLite counts as one that writes, even where it only asks:
    /// <https://www.sqlite.org/c3ref/stmt_readonly.html>.
    private func asksForJournalMode(_ statement: Statement) -> Bool {
        let sql = statement.sql.lowercased()
        return sql.hasPrefix("pragma") && sql.hasSuffix("journal_mode") && !sql.contains("=") && !sql.contains("(")
    }

    /// A rollback ends a cancelled transaction, and so does a commit that has nothing to write.
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
        if succeeded, case .query = statement.kind, nextTransactionHandlers.isEmpty { return }
        stateMayHaveChanged(statement, succeeded: succeeded)
    }

    @inline(never)
    private func stateMayHaveChanged(_ statement: Statement, succeeded: Bool) {
        let changeCount = schemaClock.changeCount
        schemaClock.statementDidEnd(
            statement.kind, succeeded: succeeded, isReadonly: statement.isReadonly,
            isAutocommit: ConnectionCalls.isAutocommit(pointer))
        if case .attachment = statement.kind { hasAttached = true }
        if hasAttached, changeCount != schemaClock.changeCount { forgetKeptStatements() }
        // Other statements that succeed neither begin nor end a transaction.
        if succeeded, !statement.kind.controlsTransactions, nextTransactionHandlers.isEmpty { return }
        let event = transaction.statementDidEnd(
            statement.kind, succeeded: succeeded, isReadonly: statement.isReadonly,
            isAutocommit: ConnectionCalls.isAutocommit(pointer))
        // A cursor that has not taken a step must not begin without its transaction.
        if transaction.isWrapped, event != .didBegin, !transaction.isInside { stopUnsteppedStatements() }
        switch event {
        case .none: break
        // Where nothing is written, most transactions are never asked for their date.
        case .didBegin: transactionSeconds = isReadOnly ? nil : Result { try currentSeconds() }
        case .didCommit: transactionDidEnd(committed: true)
        case .didRollback: transactionDidEnd(committed: false)
        }
    }

    /// The error of a step or a preparation that failed.
    ///
    /// - parameter statement: the statement that was stepped.
    @inline(never)
    func error(of statement: Statement, _ code: CInt) -> any Error {
        if options.readonly, statement.kind == .other, code & 0xFF == ResultCode.SQLITE_IOERR.rawValue,
            statement.sql.lowercased().contains("journal_mode")
        {
            // SQLite finds out late that it can't leave WAL mode. There is nothing wrong with the disk.
            return DatabaseError(
                resultCode: .SQLITE_READONLY, message: "attempt to write a readonly database", sql: statement.sql)
        }
        return error(code, sql: statement.sql, arguments: statement.arguments)
    }

    @inline(never)
    func error(_ code: CInt, sql: String?, arguments: StatementArguments? = nil) -> any Error {
        let tokenizerFailure = takeTokenizerFailure(code)
        let extendedCode = ConnectionCalls.errorCode(pointer)
        // The connection has a message for its last error, which isn't always this one: SQL that is too long never
        // reaches it.
        let isConnectionError = extendedCode.primaryResultCode.rawValue == code & 0xFF
        var resultCode = tokenizerFailure?.code ?? (isConnectionError ? extendedCode : ResultCode(rawValue: code))
        let primary = resultCode.primaryResultCode
        let isInterruption = primary == .SQLITE_INTERRUPT || primary == .SQLITE_ABORT
        if uncancellableDepth == 0, isInterruption || primary == .SQLITE_BUSY, isAccessCancelled {
            return CancellationError()
        }
        var message =
            isConnectionError ? ConnectionCalls.errorMessage(pointer) : SQLiteLibrary.errorString(code)
        if isInterruption || primary == .SQLITE_BUSY, let limit = deadline.exceeded() {
            message =
                isInterruption
                ? "statement timeout: it ran longer than \(limit) seconds"
                : "statement timeout: it waited for a lock for longer than \(limit) seconds"
            if !isInterruption { resultCode = .SQLITE_INTERRUPT }
        } else if let tokenizerFailure {
            message = tokenizerFailure.message
        }
        return DatabaseError(
            resultCode: resultCode, message: message, sql: sql, arguments: arguments,
            publicStatementArguments: options.publicStatementArguments)
    }

    func abortedTransactionError(sql: String? = nil) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_ABORT, message: "Transaction was aborted", sql: sql)
    }
}
