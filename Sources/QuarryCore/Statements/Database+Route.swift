// The part of a connection that a `StatementRoute` uses.

extension Database {
    /// The limits of a call of the other end: the time at which the answer is no longer waited for, in nanoseconds of
    /// the monotonic clock, `UInt64.max` for never; and whether a transaction is open here.
    ///
    /// - parameter isOfStatement: whether the deadline of the statement that has begun applies.
    /// - throws: `SQLITE_INTERRUPT` if the access was cancelled or ended.
    package func limitsOfCall(
        isOfStatement: Bool
    ) throws(DatabaseError) -> (deadline: UInt64, isInsideTransaction: Bool) {
        if access.isCancelled || !access.ignoresCancellation && endError != nil {
            throw DatabaseError(resultCode: .SQLITE_INTERRUPT)
        }
        // A passed deadline would lose the other writes, too.
        let ignoresDeadlines = access.ignoresCancellation || openTransaction.state.isShared
        let deadline = isOfStatement ? clocks.deadlines.end : clocks.deadlines.access?.end ?? .max
        return (ignoresDeadlines ? .max : deadline, !ConnectionCalls.isAutocommit(pointer))
    }

    /// The statement is about to run at the other end: its deadline begins.
    ///
    /// - parameter defersForeignKeys: whether COMMIT may find a violation of any of the writes that share the
    ///   transaction.
    package func routeWillRun(_ statement: Statement, defersForeignKeys: Bool) throws {
        if clocks.deadlines.isSet { try deadlinesWillSee(statement) }
        if defersForeignKeys { openTransaction.parts.hasRunOther = true }
    }

    /// Whether releasing a savepoint commits the transaction.
    package func commits(byReleasing name: String) -> Bool { openTransaction.savepoints.releaseCommits(name) }

    /// After an error that no statement of SQLite's reports: tells of the end of the transaction, if it has ended.
    package func noteEndAtRoute() {
        if hasUntoldEnd { noteUntoldEnd() }
    }

    /// The error of a call, as the program sees it: the reason of an interruption, and of the end of a wait for a lock.
    package func errorOfRoute(_ error: DatabaseError, sql: String?) -> any Error {
        let isInterruption = error.resultCode == .SQLITE_INTERRUPT
        guard isInterruption || error.resultCode == .SQLITE_BUSY else { return traced(error.with(sql: sql)) }
        if isInterruption {
            if access.isCancelled { return CancellationError() }
            if let endError { return traced(endError.with(sql: sql)) }
        }
        noteDeadline()
        return traced((clocks.deadlines.takeError(isInterruption: isInterruption) ?? error).with(sql: sql))
    }

    /// Counts the changes of the schema by others.
    package var foreignSchemaChangeCount: Int { schemaMemory.foreignSchemaChangeCount }

    /// The other end has another schema: kept statements and facts are of the one before.
    package func noteForeignSchemaChange() {
        schemaMemory.foreignSchemaChangeCount &+= 1
        forgetKeptStatements()
    }

    /// Makes a statement of the program out of the one that was prepared for it.
    package func statement(
        _ handle: consuming StatementHandle, sql: Substring, isReadonly: Bool? = nil
    ) -> Statement {
        Statement(handle, sql: sql, lifetime: lifetime, schemaStamp: schemaStamp, isReadonly: isReadonly)
    }

    /// Makes a statement of the program that runs other SQL.
    ///
    /// - parameter carrier: the SQL that runs.
    package func statement(
        carriedBy carrier: String, sql: Substring, isReadonly: Bool, persistent: Bool
    ) throws -> Statement {
        try withSQL(carrier) { bytes in
            try unnoted {
                var start = 0
                switch StatementHandle.prepare(
                    pointer, sql: bytes, from: &start, persistent: persistent, finalizer: lifetime)
                {
                case .statement(let handle): return statement(handle, sql: sql, isReadonly: isReadonly)
                case .empty: throw DatabaseError(resultCode: .SQLITE_INTERNAL, sql: String(sql))
                case .failure(let code): throw error(code, sql: String(sql))
                }
            }
        }
    }

    /// Tells a tracer that shows arguments of a statement that is sent.
    package func traceSending(_ sql: String, _ arguments: [DatabaseValue]) {
        guard let tracer = watchers.tracer, tracer.showsArguments else { return }
        tracer.statementIsSent(arguments.isEmpty ? sql : expandedSQL(sql, arguments) ?? sql)
    }

    private func expandedSQL(_ sql: String, _ arguments: [DatabaseValue]) -> String? {
        withSQL(sql) { bytes in
            unnoted {
                var start = 0
                guard
                    case .statement(let statement) = StatementHandle.prepare(
                        pointer, sql: bytes, from: &start, persistent: false)
                else { return nil }
                for (index, value) in arguments.enumerated() {
                    _ = StatementBindings.bind(value, to: statement.pointer, at: CInt(index + 1))
                }
                return TracedStatementCalls.expandedSQL(statement.pointer)
            }
        }
    }
}
