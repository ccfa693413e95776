/// The parts of the open transaction, as far as writes may share it.
struct TransactionParts {
    /// The number of earlier parts whose changes are kept.
    var keptCount = 0

    /// `sqlite3_total_changes` at the beginning of the transaction.
    var totalChanges = 0

    /// Whether a statement has run that may have changed more than rows, such as a PRAGMA or an ATTACH: it concerns
    /// whoever has the connection next.
    var hasRunOther = false

    /// The error of the running part, one of whose changes has passed its time and was not interrupted, because SQLite
    /// would roll back all parts.
    var overrun: DatabaseError?

    /// The error that kept the savepoint of a part that had failed from being rolled back, so that all parts were.
    var undoError: (any Error)?
}
