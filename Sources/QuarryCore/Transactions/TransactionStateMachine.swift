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

    enum Admission: Equatable {
        case run
        /// SQLite has rolled back the transaction that the statement was meant for.
        case abort
    }

    enum Event: Equatable {
        case none
        case didBegin
        case didCommit
        case didRollback
    }

    /// A wrapper has begun its transaction.
    mutating func wrapperDidBegin() { isWrapped = true }

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
                // The statement asked for it: nothing was lost.
                if succeeded {
                    isWrapped = false
                    return .didCommit
                }
            case .rollback:
                if succeeded { isWrapped = false }
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
