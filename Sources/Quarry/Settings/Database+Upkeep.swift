public import QuarryCore

extension Database {
    // MARK: - Checks

    /// What is wrong with the file; nothing if all is well.
    ///
    /// ```swift
    /// for problem in try db.integrityCheck() { print(problem) }
    /// ```
    /// ```sql
    /// PRAGMA integrity_check(100)
    /// ```
    ///
    /// It reads all of the file, and takes long for a large one. Foreign keys have a check of their own:
    /// `checkForeignKeys()`. See <https://www.sqlite.org/pragma.html#pragma_integrity_check>.
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for all.
    /// - parameter maximumCount: how many problems are told.
    /// - throws: `SQLITE_CORRUPT`, `SQLITE_NOTADB` if the file can't be read at all.
    public func integrityCheck(of schemaName: String? = nil, maximumCount: Int = 100) throws -> [String] {
        try check("integrity_check", schemaName, maximumCount)
    }

    /// What is wrong with the file, except for indexes that don't fit their tables: faster than `integrityCheck`.
    ///
    /// ```sql
    /// PRAGMA quick_check(100)
    /// ```
    ///
    /// See <https://www.sqlite.org/pragma.html#pragma_quick_check>.
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for all.
    /// - parameter maximumCount: how many problems are told.
    /// - throws: `SQLITE_CORRUPT`, `SQLITE_NOTADB` if the file can't be read at all.
    public func quickCheck(of schemaName: String? = nil, maximumCount: Int = 100) throws -> [String] {
        try check("quick_check", schemaName, maximumCount)
    }

    private func check(_ name: String, _ schemaName: String?, _ maximumCount: Int) throws -> [String] {
        guard 1...Int(Int32.max) ~= maximumCount else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "\(name) tells at least 1 problem, not \(maximumCount)")
        }
        let schema = schemaName.map { "\($0.quotedDatabaseIdentifier)." } ?? ""
        let problems = try String.fetchAll(makeStatement(sql: "PRAGMA \(schema)\(name)(\(maximumCount))"))
        return problems == ["ok"] ? [] : problems
    }

    // MARK: - Statistics and indexes

    /// Counts what queries are planned by, for all tables that need it:
    /// <https://www.sqlite.org/pragma.html#pragma_optimize>.
    ///
    /// ```sql
    /// PRAGMA optimize
    /// ```
    ///
    /// It is fast; long-lived connections run it from time to time, others before they close.
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for all.
    public func optimize(_ schemaName: String? = nil) throws {
        try execute(sql: "PRAGMA \(schemaName.map { "\($0.quotedDatabaseIdentifier)." } ?? "")optimize")
    }

    /// Counts what queries are planned by: <https://www.sqlite.org/lang_analyze.html>.
    ///
    /// ```swift
    /// try db.analyze()          // ANALYZE
    /// try db.analyze("archive") // ANALYZE "archive"
    /// ```
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for all.
    /// - throws: `DatabaseError`: "no such table: archive", also where there is no such database.
    public func analyze(_ schemaName: String? = nil) throws {
        try execute(sql: "ANALYZE\(schemaName.map { " \($0.quotedDatabaseIdentifier)" } ?? "")")
    }

    /// Counts what queries of a table are planned by.
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

    /// Builds all indexes again: <https://www.sqlite.org/lang_reindex.html>.
    ///
    /// ```sql
    /// REINDEX
    /// ```
    public func reindex() throws { try execute(sql: "REINDEX") }

    /// Builds the indexes of a table again.
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

    /// Gives back pages that aren't used, where the auto-vacuum mode is incremental.
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
    /// - parameter pageCount: how many; nil for all.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - returns: how many were given back; 0 in other auto-vacuum modes.
    /// - throws: `SQLITE_MISUSE` for a number below one; `SQLITE_READONLY`.
    @discardableResult
    public func incrementalVacuum(pageCount: Int? = nil, of schemaName: String = "main") throws -> Int {
        if let pageCount, !(1...Int(Int32.max) ~= pageCount) {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "an incremental vacuum of \(pageCount) pages")
        }
        let before = try freePageCount(of: schemaName)
        let argument = pageCount.map { "(\($0))" } ?? ""
        try execute(sql: "PRAGMA \(schemaName.quotedDatabaseIdentifier).incremental_vacuum\(argument)")
        return try before - freePageCount(of: schemaName)
    }
}
