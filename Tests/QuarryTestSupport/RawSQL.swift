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

    /// Adds `run(sql)`, with which SQL runs statements past the library, and `fail()`.
    public static func addFunctions(_ db: Database) {
        // Called by statements of this connection alone, which keep it open.
        nonisolated(unsafe) let connection = db.sqliteConnection
        db.add(
            function: DatabaseFunction("run", argumentCount: 1) { values in
                sqlite3_exec(connection, String.fromDatabaseValue(values[0]), nil, nil, nil)
            })
        db.add(
            function: DatabaseFunction("fail", argumentCount: 0) { _ in
                throw DatabaseError(message: "fail")
            })
    }
}
