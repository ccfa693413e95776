public import QuarryCore
public import QuarrySQL

extension ChangeStatement {
    /// Runs the statement.
    ///
    /// ```swift
    /// let raise = Player.filter { $0.teamId == 1 }.update { [$0.score += 10] }
    /// let count = try raise.execute(db)
    /// ```
    ///
    /// - returns: how many rows it has changed; those that an upsert leaves alone aren't counted.
    /// - throws: `SQLITE_MISUSE` for what can't be written as SQL; `DatabaseError`.
    @discardableResult
    public func execute(_ db: Database) throws -> Int {
        let statement = try prepare(db)
        // A statement that finds no row leaves the count of the one before.
        let count = db.totalChangesCount
        try statement.execute()
        return db.totalChangesCount == count ? 0 : db.changesCount
    }

    /// The statement with its values, as one could type it: for logs, and for tests.
    ///
    /// ```swift
    /// try Player.filter { $0.name == "O'Brien" }.delete().sql(db) // DELETE FROM "player" WHERE "name" = 'O''Brien'
    /// ```
    public func sql(_ db: Database) throws -> String { try db.literalSQL(of: prepare(db)) }

    /// How SQLite would run the statement. It doesn't run.
    ///
    /// ```swift
    /// print(try Player.filter { $0.score < 10 }.delete().explain(db))
    /// // QUERY PLAN
    /// // `--SCAN player
    /// ```
    public func explain(_ db: Database) throws -> QueryPlan { try QueryPlan(of: prepare(db), db) }

    private func prepare(_ db: Database) throws -> Statement {
        try db.prepare { try $0.write(_change.change) }.statement
    }
}

extension ReturningStatement: FetchRequest {
    /// The statement, with its arguments set.
    public func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool = false) throws
        -> PreparedRequest
    {
        guard !selection.isEmpty else {
            throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "a request selects nothing")
        }
        return try db.prepare { try $0.write(change, returning: selection) }
    }

    /// It throws: the rows that a change returns are known once it has run.
    public func fetchCount(_ db: Database) throws -> Int {
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: "a change returns rows as it runs: fetch them, or execute it, and count what is returned")
    }
}
