import CSQLite
public import QuarryCore

/// SQL that is run past the library.
public enum RawSQL {
    /// Runs statements with `sqlite3_exec`.
    ///
    /// - returns: SQLite's code.
    @discardableResult
    public static func execute(_ sql: String, _ db: Database) -> CInt {
        sqlite3_exec(db.sqliteConnection, sql, nil, nil, nil)
    }
}
