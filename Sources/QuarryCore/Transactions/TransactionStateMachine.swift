/// What is known of the transactions of a connection, and what follows from each statement.
///
/// SQLite itself says whether a transaction is open (`sqlite3_get_autocommit`): it may roll one back on its own, after
/// an interruption, a full disk, or `ON CONFLICT ROLLBACK`.
struct TransactionStateMachine: Equatable {
    /// Whether a transaction was open after the last statement that could change it.
    private(set) var isInside = false

    /// Whether a method such as `inTransaction` counts on the transaction: its statements must not run in autocommit
    /// mode.
    private(set) var isWrapped = false

    /// Whether the wrapper's transaction was ended by a statement that ran inside it: `COMMIT`, `ROLLBACK`.
    private(set) var wasLeft = false

    enum Admission: Equatable {
        case run
        /// The transaction that the statement was meant for is gone: SQLite has rolled it back, or SQL has ended it.
        case abort
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
        wasLeft = false
    }

    /// A wrapper ends its transaction, or has found it ended.
    mutating func wrapperWillEnd() { isWrapped = false }

    /// Lets statements run for a while, whatever a wrapper counts on.
    ///
    /// - returns: what `restoreWrapper` takes.
    mutating func suspendWrapper() -> Bool {
        defer { isWrapped = false }
        return isWrapped
    }

    /// Ends what `suspendWrapper` began.
    mutating func restoreWrapper(_ wasWrapped: Bool) { isWrapped = wasWrapped }

    /// Whether the transaction that a wrapper counts on is gone.
    func isAborted(isAutocommit: Bool) -> Bool { isWrapped && isAutocommit }

    func statementWillStart(_ kind: StatementKind, isAutocommit: Bool) -> Admission {
        // A rollback has nothing to do then, and says so itself.
        isAborted(isAutocommit: isAutocommit) && kind != .rollback ? .abort : .run
    }

    mutating func statementDidEnd(
        _ kind: StatementKind, succeeded: Bool, isReadonly: Bool, isAutocommit: Bool
    ) -> Event {
        let wasInside = isInside
        isInside = !isAutocommit
        switch (wasInside, isInside) {
        case (false, true):
            return .didBegin
        case (true, true):
            return .none
        case (true, false):
            switch kind {
            case .commit, .release:
                if succeeded {
                    wasLeft = isWrapped
                    return .didCommit
                }
            case .rollback:
                if succeeded { wasLeft = isWrapped }
            default:
                break
            }
            return .didRollback
        case (false, false):
            // A statement that changes something is a transaction of its own.
            return succeeded && !isReadonly && !kind.controlsTransactions ? .didCommit : .none
        }
    }
}
