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
                    resultCode: .SQLITE_READONLY, message: "attempt to write a readonly database", sql: statement.sql),
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
        if isInterruption || primary == .SQLITE_BUSY,
            let error = clocks.deadlines.takeError(isInterruption: isInterruption)
        {
            (resultCode, message) = (error.extendedResultCode, error.message ?? message)
        } else if let tokenizerFailure {
            message = tokenizerFailure.message
        }
        let error = DatabaseError(
            resultCode: resultCode, message: message, sql: sql, arguments: arguments,
            publicStatementArguments: options.publicStatementArguments)
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
        return DatabaseError(
            resultCode: loss?.extendedResultCode ?? .SQLITE_ABORT,
            message: "Transaction was aborted" + (loss?.message.map { ": \($0)" } ?? ""), sql: sql)
    }
}
