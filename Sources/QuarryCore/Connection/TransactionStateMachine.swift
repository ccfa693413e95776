/// The state of a connection's transactions, and the consequences of each statement.
///
/// SQLite itself says whether a transaction is open (`sqlite3_get_autocommit`): it may roll back on its own, after an
/// interruption, a full disk, or `ON CONFLICT ROLLBACK`.
struct TransactionStateMachine: Equatable {
    /// Whether a transaction was open after the last statement that could change it.
    private(set) var isInside = false

    /// Whether a method such as `inTransaction` depends on the transaction: its statements must not run in autocommit
    /// mode.
    private(set) var isWrapped = false

    /// Whether the transaction has changes of other writes, which the running one must not commit or roll back. The
    /// running one has a savepoint, the oldest.
    var isShared = false

    /// Whether only the wrapper may commit, because it counts what it commits.
    var refusesCommits = false

    /// Whether the wrapper's transaction was ended by a statement that ran inside it: `COMMIT`, `ROLLBACK`.
    private(set) var wasLeft = false

    /// Whether that statement has committed it.
    private(set) var wasCommitted = false

    enum Admission: Equatable {
        case run
        /// The statement's transaction has ended: SQLite has rolled it back, or SQL has ended it.
        case abort
        /// The statement would end a transaction that other writes share, or commit one whose commits are counted.
        case refuse
        /// The statement is refused if it ends the oldest savepoint, or rolls back to it.
        case runInSavepoint
    }

    enum Event: Equatable {
        case none
        case didBegin
        case didCommit
        case didRollback
    }

    /// A wrapper has begun its transaction.
    mutating func wrapperDidBegin() {
        isWrapped = true
        (wasLeft, wasCommitted) = (false, false)
    }

    /// A wrapper ends its transaction, or has found it ended.
    mutating func wrapperWillEnd() { isWrapped = false }

    /// The way in which the wrapper's transaction has ended inside it, for messages; nil if no statement has told.
    var end: String? {
        if isInside || !isWrapped { return nil }
        if wasCommitted { return "its closure has committed it. Remove the COMMIT: the end of the closure commits" }
        if wasLeft { return "its closure has rolled it back. Throw an error, or use a savepoint, instead of ROLLBACK" }
        return "SQLite has rolled it back, after an error, or by ROLLBACK of a conflict clause or a trigger"
    }

    /// Allows statements to run for a while, even if a wrapper depends on a transaction that has ended.
    ///
    /// - returns: the argument for `restoreWrapper`.
    mutating func suspendWrapper() -> Bool {
        defer { isWrapped = false }
        return isWrapped
    }

    /// Ends the suspension.
    mutating func restoreWrapper(_ wasWrapped: Bool) { isWrapped = wasWrapped }

    /// The transaction has ended without a statement of the library: the next statement isn't its end.
    mutating func endWasNotTold(isCommitted: Bool) {
        isInside = false
        if isWrapped { (wasLeft, wasCommitted) = (true, isCommitted) }
    }

    /// Whether the transaction that a wrapper depends on has ended.
    func isAborted(isAutocommit: Bool) -> Bool { isWrapped && isAutocommit }

    func statementWillStart(_ kind: StatementKind, isAutocommit: Bool) -> Admission {
        // A rollback has nothing to do then, and reports so itself.
        if isAborted(isAutocommit: isAutocommit) { return kind == .rollback ? .run : .abort }
        if refusesCommits, kind == .commit { return .refuse }
        guard isShared else { return .run }
        return switch kind {
        case .commit, .rollback: .refuse
        case .release, .rollbackToSavepoint: .runInSavepoint
        default: .run
        }
    }

    /// - parameter hasRolledBack: whether the transaction was rolled back, if the statement has ended it.
    mutating func statementDidEnd(
        _ kind: StatementKind, succeeded: Bool, isReadonly: Bool, isAutocommit: Bool, hasRolledBack: Bool
    ) -> Event {
        let wasInside = isInside
        isInside = !isAutocommit
        switch (wasInside, isInside) {
        case (false, true):
            return .didBegin
        case (true, true):
            return .none
        case (true, false):
            // Any statement may have committed: a function of the program's may call SQLite's C functions.
            if succeeded || !hasRolledBack { wasLeft = isWrapped }
            if !hasRolledBack { wasCommitted = isWrapped }
            return hasRolledBack ? .didRollback : .didCommit
        case (false, false):
            // A statement that changes the database is its own transaction.
            return succeeded && !isReadonly && !kind.controlsTransactions ? .didCommit : .none
        }
    }
}
