public import QuarryCore

extension Database {
    /// Runs `body` in a savepoint, and returns the changes of rows that it has made.
    ///
    /// ```swift
    /// let recorded = try dbQueue.write { db in
    ///     try db.recordChangeset(of: ["player"]) {
    ///         try db.execute(sql: "UPDATE player SET score = score + 1")
    ///     }
    /// }
    /// send(recorded.changeset.bytes)
    /// ```
    ///
    /// The changeset has the net change of each row. Changes that were rolled back aren't in it; neither are changes of
    /// the schema, nor rows whose primary key has a NULL. Recordings nest. An error of `body` rolls the savepoint back.
    ///
    /// SQLite has one preupdate hook for a recording and for transaction observers, so the connection can't have both.
    /// Observations go on: for a request of some rows, the changes during a recording count as changes of all rows of
    /// their tables. See <https://www.sqlite.org/sessionintro.html>.
    ///
    /// - parameter tables: the tables whose changes are recorded; nil for all tables with a primary key, but not the
    ///   ones in which virtual tables store their content, nor, with an older SQLite, those whose key has a column of
    ///   type REAL.
    /// - parameter schema: `main`, `temp`, or the name of an attached database.
    /// - returns: the result of `body`, the changes, and the changed tables that couldn't be recorded.
    /// - throws: `SQLITE_MISUSE` for a table that can't be recorded, such as one without a primary key, and while a
    ///   `TransactionObserver` observes this connection; `SQLITE_SCHEMA` if `body` has altered a table that it changes;
    ///   an error that says so if this build of SQLite has no session extension; the error of `body`; other
    ///   `DatabaseError`s.
    public func recordChangeset<T>(
        of tables: [String]? = nil, schema: String = "main", _ body: () throws -> T
    ) throws -> RecordedChangeset<T> {
        let (value, changeset, omittedTables) = try recordingChangeset(of: tables, schema: schema, body)
        return RecordedChangeset(value: value, changeset: changeset, unrecordedTables: omittedTables)
    }
}
