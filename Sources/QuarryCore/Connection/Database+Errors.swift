extension Database {
    /// The error of a failed step or preparation.
    ///
    /// - parameter statement: the statement that was stepped.
    @inline(never)
    func error(of statement: Statement, _ code: CInt) -> any Error {
        if options.readonly, statement.kind == .other, code & 0xFF == ResultCode.SQLITE_IOERR.rawValue,
            statement.sql.lowercased().contains("journal_mode")
        {
            // SQLite finds out late that it can't leave WAL mode. Nothing is wrong with the disk.
            return traced(
                DatabaseError(
                    resultCode: .SQLITE_READONLY, message: "attempt to write a readonly database", sql: statement.sql
                ).with(circumstances: hintOfReadOnly),
                statement)
        }
        return error(code, sql: statement.sql, arguments: statement.arguments, statement: statement)
    }

    @inline(never)
    package func error(
        _ code: CInt, sql: String?, arguments: StatementArguments? = nil, statement: Statement? = nil
    ) -> any Error {
        if code & 0xFF == ResultCode.SQLITE_CONSTRAINT.rawValue, let refusal = watchers.monitor?.takeRefusal() {
            return refusal
        }
        if let refusal = watchers.statementPolicy?.takeRefusal(ResultCode(rawValue: code)) {
            return refusal.with(sql: sql)
        }
        let tokenizerFailure = takeTokenizerFailure(code)
        let extendedCode = ConnectionCalls.errorCode(pointer)
        // The connection has a message for its last error, which may be another one: SQL that is too long never reaches
        // the connection.
        let isConnectionError = extendedCode.primaryResultCode.rawValue == code & 0xFF
        var resultCode = tokenizerFailure?.code ?? (isConnectionError ? extendedCode : ResultCode(rawValue: code))
        var message =
            isConnectionError ? ConnectionCalls.errorMessage(pointer) : SQLiteLibrary.errorString(code)
        if Self.isInterruptedAlteration(resultCode, message) { resultCode = .SQLITE_INTERRUPT }
        let primary = resultCode.primaryResultCode
        let isInterruption = primary == .SQLITE_INTERRUPT || primary == .SQLITE_ABORT
        if isInterruption || primary == .SQLITE_BUSY, access.isCancelled {
            return CancellationError()
        }
        if isInterruption || primary == .SQLITE_BUSY, let error = endError {
            return traced(error.with(sql: sql), statement)
        }
        // The other end has waited, without a look at the deadlines.
        if route != nil { noteDeadline() }
        var hint: String?
        if isInterruption || primary == .SQLITE_BUSY,
            let error = clocks.deadlines.takeError(isInterruption: isInterruption)
        {
            (resultCode, message) = (error.extendedResultCode, error.message ?? message)
        } else if let tokenizerFailure {
            message = tokenizerFailure.message
        } else {
            hint = self.hint(resultCode, message, sql: sql)
        }
        var error = DatabaseError(
            resultCode: resultCode, message: message, sql: sql, arguments: arguments,
            publicStatementArguments: options.publicStatementArguments)
        if let hint { error = error.with(circumstances: hint) }
        noteCorruption(error)
        return traced(error, statement)
    }

    /// Tells the tracer of an error, which the program may ignore.
    package func traced(_ error: DatabaseError, _ statement: Statement? = nil) -> DatabaseError {
        guard let tracer = watchers.tracer else { return error }
        tracer.errorWasMade(error, statement, self)
        return error.asTraced()
    }

    /// Whether an error is that of an `ALTER TABLE` that was interrupted while it read the schema: SQLite then reports
    /// `error in trigger player_ai: interrupted`, with the code `SQLITE_ERROR`.
    static func isInterruptedAlteration(_ code: ResultCode, _ message: String) -> Bool {
        code == .SQLITE_ERROR && message.hasPrefix("error in ") && message.hasSuffix(": interrupted")
    }

    package func abortedTransactionError(sql: String? = nil) -> DatabaseError {
        // A program that has caught the error of the loss is to learn that it may try again.
        let loss = route?.loss
        let error = DatabaseError(
            resultCode: loss?.extendedResultCode ?? .SQLITE_ABORT,
            message: "Transaction was aborted" + (loss?.message.map { ": \($0)" } ?? ""), sql: sql)
        guard loss == nil, let end = openTransaction.state.end else { return error }
        return error.with(circumstances: ": \(end)")
    }
}

extension Database {
    /// The end of the transaction of a statement that has failed, while only handlers wait for it.
    var endOfHandledTransaction: TransactionStateMachine.Event {
        openTransaction.handledRollback?.hasHappened ?? false && ConnectionCalls.isAutocommit(pointer)
            ? .didRollback : .none
    }
}

extension Database {
    /// A function that receives the messages of SQLite's error log.
    public typealias LogErrorFunction = @Sendable (ResultCode, String) -> Void

    /// Called with each message of SQLite's error log, on the thread that had the error; nil for no log.
    ///
    /// ```swift
    /// Database.logError = { code, message in logger.warning("SQLite: \(code) \(message)") }
    /// ```
    ///
    /// The log belongs to the process. It works unless another library has initialized SQLite before Quarry's first
    /// connection. The function must not use a database. See <https://www.sqlite.org/errlog.html>.
    public static var logError: LogErrorFunction? {
        get { ErrorLog.function.withLock { $0 } }
        set { ErrorLog.function.withLock { $0 = newValue } }
    }
}

extension Database {
    /// Tells of an error that may say that the file is damaged.
    @inline(never)
    func noteCorruption(_ error: DatabaseError) {
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: (context as? any CorruptionListener)?.connection(self, didFailWith: error)
        default: break
        }
    }

    /// Makes statements that may write throw an error from now on; nil lets them write again. Called inside an access.
    package func refuseWrites(with error: DatabaseError?) {
        if writeRefusal == nil, error != nil { access.beginReadOnly() }
        if writeRefusal != nil, error == nil { access.endReadOnly() }
        writeRefusal = error
    }
}
