/// The action when a change violates a constraint: <https://www.sqlite.org/lang_conflict.html>.
///
/// ```swift
/// try db.create(table: "player") { t in t.column("email", .text).unique(onConflict: .replace) }
/// ```
/// ```sql
/// CREATE TABLE "player" ("email" TEXT UNIQUE ON CONFLICT REPLACE)
/// ```
public enum SQLConflictResolution: String, Sendable {
    /// Rolls back the transaction.
    case rollback = "ROLLBACK"
    /// Undoes the statement's changes: SQLite's default.
    case abort = "ABORT"
    /// Ends the statement, and keeps the changes it has made.
    case fail = "FAIL"
    /// Skips the row.
    case ignore = "IGNORE"
    /// Deletes the conflicting rows.
    case replace = "REPLACE"
}

extension SQLConflictResolution? {
    /// ` ON CONFLICT …`; empty for nil.
    package var clause: String { map { " ON CONFLICT \($0.rawValue)" } ?? "" }
}
