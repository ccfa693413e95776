/// Follows the statements and errors of one access, on the thread that has the connection.
package protocol AccessTracer: AnyObject {
    /// The events of statements for which the methods are called; empty to follow none.
    var followedEvents: HookSlots.TraceEvents { get }

    /// A statement is about to take its first step. It may have run before without an end: then that execution has
    /// ended.
    func statementWillStart(_ statement: Statement, _ db: Database)

    /// Whether events have the arguments of statements.
    var showsArguments: Bool { get }

    /// The statement that began last runs elsewhere: its SQL with the arguments. Called while it runs.
    func statementIsSent(_ expandedSQL: String)

    /// A statement has returned a row. Called by a hook: the connection must not be used.
    func statementDidReturnRow(_ statement: SQLiteStatement)

    /// A statement has ended, or SQLite's own statement for a virtual table. Called by a hook: the connection must not
    /// be used.
    func statementDidEnd(_ statement: SQLiteStatement)

    /// An error of SQLite's was made.
    ///
    /// - parameter statement: the statement that has failed, if one was running.
    func errorWasMade(_ error: DatabaseError, _ statement: Statement?, _ db: Database)
}

extension Database {
    /// Lets a tracer follow the access that is running, until `endTracing`.
    ///
    /// - returns: the tracer's client of the trace slot, if it follows statements.
    package func beginTracing(_ tracer: any AccessTracer) -> HookSlots.Client? {
        watchers.tracer = tracer
        guard !tracer.followedEvents.isEmpty else { return nil }
        return hooks.onTrace(tracer.followedEvents) { [unowned tracer] event in
            switch event {
            case .row(let statement): tracer.statementDidReturnRow(statement)
            case .profile(let statement, _): tracer.statementDidEnd(statement)
            case .statement: break
            }
        }
    }

    /// Ends the tracing of an access. The caller has the connection's lease; the access itself may have ended.
    package func endTracing(_ client: HookSlots.Client?) {
        watchers.tracer = nil
        if let client { hooks.remove(client) }
    }

    /// Runs `body` without telling the tracer of its statements and errors.
    package func withoutTracing<T>(_ body: () throws -> T) rethrows -> T {
        let tracer = watchers.tracer
        watchers.tracer = nil
        defer { watchers.tracer = tracer }
        return try body()
    }

    /// SQLite's counters of a statement that the current thread runs.
    package static func counters(of statement: SQLiteStatement) -> StatementCounters {
        TracedStatementCalls.counters(statement)
    }

    /// The SQL of a statement that the current thread runs, with its arguments.
    package static func expandedSQL(of statement: SQLiteStatement) -> String? {
        TracedStatementCalls.expandedSQL(statement)
    }
}
