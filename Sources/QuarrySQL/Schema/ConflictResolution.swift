/// What happens when a change violates a constraint: <https://www.sqlite.org/lang_conflict.html>.
///
/// ```swift
/// try db.create(table: "player") { t in t.column("email", .text).unique(onConflict: .replace) }
/// ```
/// ```sql
/// CREATE TABLE "player" ("email" TEXT UNIQUE ON CONFLICT REPLACE)
/// ```
public enum SQLConflictResolution: String, Sendable {
    /// The transaction is rolled back.
    case rollback = "ROLLBACK"
    /// The statement's changes are taken back: what SQLite does where nothing is said.
    case abort = "ABORT"
    /// The statement ends, and keeps the changes it has made.
    case fail = "FAIL"
    /// The row is left out.
    case ignore = "IGNORE"
    /// Rows in the way are deleted.
    case replace = "REPLACE"
}

extension SQLConflictResolution? {
    /// ` ON CONFLICT …`, or nothing.
    var clause: String { map { " ON CONFLICT \($0.rawValue)" } ?? "" }
}
