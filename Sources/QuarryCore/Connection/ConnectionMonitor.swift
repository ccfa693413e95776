/// Watches the statements and transactions of a connection, on the thread that has it.
protocol ConnectionMonitor: AnyObject {
    /// A statement that may write is about to take its first step.
    func statementWillStart(_ statement: Statement, _ db: Database)

    /// A statement that may write has ended.
    ///
    /// - parameter hasStepped: false if its execution ended before its first step.
    func statementDidEnd(_ statement: Statement, succeeded: Bool, hasStepped: Bool, _ db: Database)

    /// An operation that isn't a statement is about to change rows.
    ///
    /// - parameter accesses: the changes that it may make.
    func operationWillStart(_ accesses: StatementAccesses, _ db: Database)

    /// The operation that began last has ended.
    ///
    /// - parameter succeeded: false if it has taken its changes back.
    func operationDidEnd(succeeded: Bool, _ db: Database)

    /// A transaction has begun in which the connection may write at once.
    func writeDidBegin(_ db: Database)

    /// A savepoint has begun, was released or was rolled back to.
    ///
    /// - parameter depth: the number of savepoints that are open now.
    func savepointsDidChange(_ kind: StatementKind, depth: Int, _ db: Database)

    /// A transaction was committed. If no client of the monitor needs its changes, they are forgotten: a short way
    /// round `transactionDidEnd`, which would take a fiftieth of a short write.
    ///
    /// - returns: whether they are forgotten.
    func forgetUnneededCommit(_ db: Database) -> Bool

    /// A transaction has ended, which may be that of a single statement.
    ///
    /// - parameter kind: the kind of the statement that ended it; nil for an operation that isn't a statement.
    /// - returns: whether the transaction counts as committed: an observer may refuse the commit of a transaction that
    ///   has written nothing, after SQLite has committed it.
    func transactionDidEnd(committed: Bool, _ kind: StatementKind?, _ db: Database) -> Bool

    /// Whether the rows that a statement deletes have to be told one by one.
    func asksForDeletions(_ accesses: StatementAccesses, _ db: Database) -> Bool

    /// Called when a statement or another operation has failed, or has ended, without having ended a transaction as far
    /// as is known.
    ///
    /// - returns: the end of its own transaction, if it has ended nevertheless.
    func takeUntoldEnd(_ db: Database) -> TransactionStateMachine.Event

    /// A row was changed through an open blob.
    func blobDidChange(_ table: TableName, column: String, rowID: Int64, _ db: Database)

    /// A database was attached or detached.
    func attachmentsDidChange(_ db: Database)

    /// The content of the database was replaced as a whole.
    func contentWasReplaced(_ db: Database)

    /// The error with which an observer has refused a commit, once.
    func takeRefusal() -> (any Error)?
}
