/// Counts the changes that this connection may have made to its schema.
///
/// SQLite numbers the states of a schema (`PRAGMA schema_version`), but a number can recur: after a rollback the next
/// change gets the number of the change that was rolled back, and another database attached under the same name may
/// have any number. So the number tells of other connections' changes, and this count of the connection's own.
struct SchemaClock: Equatable {
    /// Facts read under another count have to be read again.
    private(set) var changeCount = 0

    /// Whether the open transaction has changed the schema: a rollback changes it once more.
    private var hasOpenChange = false

    mutating func statementDidEnd(_ kind: StatementKind, succeeded: Bool, isReadonly: Bool, isAutocommit: Bool) {
        switch kind {
        case .other where isReadonly:
            // A PRAGMA that reads.
            if isAutocommit { transactionDidEnd(committed: false) }
        case .other, .attachment:
            changeCount &+= 1
            hasOpenChange = !isAutocommit
        case .rollbackToSavepoint:
            if hasOpenChange { changeCount &+= 1 }
        case .commit, .release:
            if isAutocommit { transactionDidEnd(committed: succeeded) }
        default:
            // A rollback, or a statement that failed and took the transaction with it.
            if isAutocommit { transactionDidEnd(committed: false) }
        }
    }

    private mutating func transactionDidEnd(committed: Bool) {
        if hasOpenChange, !committed { changeCount &+= 1 }
        hasOpenChange = false
    }

    /// The whole database has been replaced.
    mutating func schemaWasReplaced() { changeCount &+= 1 }
}
