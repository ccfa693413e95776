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
