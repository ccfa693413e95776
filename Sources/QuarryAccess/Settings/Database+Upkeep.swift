public import QuarryCore

extension Database {
    // MARK: - Checks

    /// The problems of the file; empty if the file is intact.
    ///
    /// ```swift
    /// for problem in try db.integrityCheck() { print(problem) }
    /// ```
    /// ```sql
    /// PRAGMA integrity_check(100)
    /// ```
    ///
    /// The check reads the whole file, which takes long for a large file. Foreign keys have a separate check:
    /// `checkForeignKeys()`. See <https://www.sqlite.org/pragma.html#pragma_integrity_check>.
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for all.
    /// - parameter maximumCount: the maximum number of problems to return.
    /// - throws: `SQLITE_CORRUPT`, `SQLITE_NOTADB` if the file can't be read at all.
    public func integrityCheck(of schemaName: String? = nil, maximumCount: Int = 100) throws -> [String] {
        try check("integrity_check", schemaName, maximumCount)
    }

    /// The problems of the file, except indexes that don't match their tables. Faster than `integrityCheck`.
    ///
    /// ```sql
    /// PRAGMA quick_check(100)
    /// ```
    ///
    /// See <https://www.sqlite.org/pragma.html#pragma_quick_check>.
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for all.
    /// - parameter maximumCount: the maximum number of problems to return.
    /// - throws: `SQLITE_CORRUPT`, `SQLITE_NOTADB` if the file can't be read at all.
    public func quickCheck(of schemaName: String? = nil, maximumCount: Int = 100) throws -> [String] {
        try check("quick_check", schemaName, maximumCount)
    }

    private func check(_ name: String, _ schemaName: String?, _ maximumCount: Int) throws -> [String] {
        guard 1...Int(Int32.max) ~= maximumCount else {
            throw DatabaseError.misuse("\(name) returns at least 1 problem, not \(maximumCount)")
        }
        let schema = schemaName.map { "\($0.quotedDatabaseIdentifier)." } ?? ""
        let sql = "PRAGMA \(schema)\(name)(\(maximumCount))"
        let problems = try String.fetchAll(makeStatement(sql: sql))
        if problems == ["ok"] { return [] }
        let signs = problems.flatMap(IntegrityMessage.lines).filter { !IntegrityMessage($0).isOfConstraint }
        if schemaName == nil || schemaName?.lowercased() == "main", let sign = signs.first {
            // A sign, which is checked as errors are: another database of the connection may have the problem.
            core?.connection(
                self, didFailAsDamaged: DatabaseError(resultCode: .SQLITE_CORRUPT, message: sign, sql: sql))
        }
        return problems
    }

    // MARK: - Statistics and indexes

    /// Updates the query planner's statistics, for all tables that need it:
    /// <https://www.sqlite.org/pragma.html#pragma_optimize>.
    ///
    /// ```sql
    /// PRAGMA optimize
    /// ```
    ///
    /// The update is fast. Long-lived connections should run it from time to time, others before they close.
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for all.
    /// - throws: `DatabaseError`, for example `SQLITE_BUSY` if another connection has the lock.
    public func optimize(_ schemaName: String? = nil) throws {
        try execute(sql: "PRAGMA \(schemaName.map { "\($0.quotedDatabaseIdentifier)." } ?? "")optimize")
    }

    /// Updates the query planner's statistics: <https://www.sqlite.org/lang_analyze.html>.
    ///
    /// ```swift
    /// try db.analyze()          // ANALYZE
    /// try db.analyze("archive") // ANALYZE "archive"
    /// ```
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for all.
    /// - throws: `DatabaseError`: "no such table: archive", also if the database doesn't exist.
    public func analyze(_ schemaName: String? = nil) throws {
        try execute(sql: "ANALYZE\(schemaName.map { " \($0.quotedDatabaseIdentifier)" } ?? "")")
    }

    /// Updates the query planner's statistics for a table.
    ///
    /// ```sql
    /// ANALYZE "main"."player"
    /// ```
    ///
    /// - parameter name: the table, or one of its indexes.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `DatabaseError`: "no such table: main.player".
    public func analyze(table name: String, in schemaName: String = "main") throws {
        try execute(sql: "ANALYZE \(qualified(name, schemaName))")
    }

    /// Rebuilds all indexes: <https://www.sqlite.org/lang_reindex.html>.
    ///
    /// ```sql
    /// REINDEX
    /// ```
    ///
    /// - throws: `DatabaseError`, for example `SQLITE_CONSTRAINT` if rows have equal values in a unique index.
    public func reindex() throws { try execute(sql: "REINDEX") }

    /// Rebuilds the indexes of a table.
    ///
    /// ```sql
    /// REINDEX "main"."player"
    /// ```
    ///
    /// - parameter name: the table, or one of its indexes.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `DatabaseError`: "unable to identify the object to be reindexed".
    public func reindex(table name: String, in schemaName: String = "main") throws {
        try execute(sql: "REINDEX \(qualified(name, schemaName))")
    }

    // MARK: - Space

    /// Removes unused pages from the file, if the auto-vacuum mode is incremental.
    ///
    /// ```swift
    /// while try db.incrementalVacuum(pageCount: 100) == 100 {}
    /// ```
    /// ```sql
    /// PRAGMA "main".incremental_vacuum(100)
    /// ```
    ///
    /// See <https://www.sqlite.org/pragma.html#pragma_incremental_vacuum>.
    ///
    /// - parameter pageCount: the maximum number of pages; nil for all.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - returns: the number of removed pages; 0 in other auto-vacuum modes.
    /// - throws: `SQLITE_MISUSE` for a number below one; `SQLITE_READONLY`.
    @discardableResult
    public func incrementalVacuum(pageCount: Int? = nil, of schemaName: String = "main") throws -> Int {
        if let pageCount, !(1...Int(Int32.max) ~= pageCount) {
            throw DatabaseError.misuse("an incremental vacuum can't remove \(pageCount) pages")
        }
        let before = try freePageCount(of: schemaName)
        let argument = pageCount.map { "(\($0))" } ?? ""
        try execute(sql: "PRAGMA \(schemaName.quotedDatabaseIdentifier).incremental_vacuum\(argument)")
        return try before - freePageCount(of: schemaName)
    }
}
