/// Counts what this connection may have done to its schema.
///
/// SQLite numbers the states of a schema (`PRAGMA schema_version`), but a number comes again: after a rollback the next
/// change gets that of the one that was taken back, and another database that is attached under the same name may have
/// any. So the number tells of other connections' changes, and this count of one's own.
struct SchemaClock: Equatable {
    /// What was known under another count has to be read again.
    private(set) var changeCount = 0

    /// Whether the transaction that is open has changed the schema: a rollback changes it once more.
    private var hasOpenChange = false

    mutating func statementDidEnd(_ kind: StatementKind, succeeded: Bool, isReadonly: Bool, isAutocommit: Bool) {
        switch kind {
        case .other where isReadonly:
            // A PRAGMA that reads.
            return
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
