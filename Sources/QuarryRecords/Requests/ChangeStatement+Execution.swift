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
    /// Rows with more values than a statement can take are inserted by several statements, in a savepoint: all or none,
    /// as by a single statement.
    ///
    /// - returns: the number of changed rows; rows that an upsert doesn't change aren't counted.
    /// - throws: `SQLITE_MISUSE` for a change that can't be written as SQL; `DatabaseError`.
    @discardableResult
    public func execute(_ db: Database) throws -> Int {
        let change = _change.change
        let parts = try change.parts(db)
        if parts.count == 1 { return try parts[0].execute(db) }
        var count = 0
        var failure: (any Error)?
        try db.inSavepoint {
            do {
                for part in parts { count += try part.execute(db) }
            } catch  where change.keepsRowsOfFailure && db.isInsideTransaction {
                failure = error
            }
            return .commit
        }
        if let failure { throw failure }
        return count
    }

    /// The statement as SQL with its values in place, for logs and tests.
    ///
    /// ```swift
    /// try Player.filter { $0.name == "O'Brien" }.delete().sql(db) // DELETE FROM "player" WHERE "name" = 'O''Brien'
    /// ```
    ///
    /// The result is a single statement, even if the change runs as several.
    ///
    /// - throws: `SQLITE_MISUSE` for a change that can't be written as SQL; `DatabaseError`.
    public func sql(_ db: Database) throws -> String {
        let change = _change.change
        guard try change.parts(db).count > 1 else { return try db.literalSQL(of: change.prepare(db)) }
        var writer = QueryWriter(schema: db)
        try writer.write(change)
        return try db.literal(SQL(sql: writer.sql(), arguments: writer.statementArguments()))
    }

    /// SQLite's plan for the statement, which isn't run.
    ///
    /// ```swift
    /// print(try Player.filter { $0.score < 10 }.delete().explain(db))
    /// // QUERY PLAN
    /// // `--SCAN player
    /// ```
    ///
    /// - throws: `SQLITE_MISUSE` for a change that can't be written as SQL; `DatabaseError`.
    public func explain(_ db: Database) throws -> QueryPlan {
        try QueryPlan(of: _change.change.parts(db)[0].prepare(db), db)
    }
}

extension Change {
    private var table: String {
        switch self {
        case .insertion(let insertion): insertion.table
        case .update(let update): update.query.sourceName
        case .deletion(let query): query.sourceName
        }
    }

    fileprivate func prepare(_ db: Database) throws -> Statement {
        try db.prepare { try $0.write(self) }.statement
    }

    fileprivate func execute(_ db: Database) throws -> Int {
        let statement = try prepare(db)
        return try db.countingChanges(of: table) { try statement.execute() }
    }

    /// The rows to insert, if they may have more values than a statement can have arguments.
    private func manyRows(_ db: Database) -> (Insertion, [[SQLExpression]])? {
        guard case .insertion(let insertion) = self, case .values(let rows) = insertion.rows, rows.count > 1,
            // A row may have more values than columns, and the statement may have other values.
            2 * (rows.count * rows[0].count + 100) > db.maximumStatementArgumentCount
        else { return nil }
        return (insertion, rows)
    }

    /// The parts of the change, each of which fits into a statement.
    fileprivate func parts(_ db: Database) throws -> [Change] {
        guard let (insertion, rows) = manyRows(db) else { return [self] }
        let limit = db.maximumStatementArgumentCount
        var writer = QueryWriter(schema: db)
        try writer.write(self)
        let count = writer.statementArguments().values.count
        if count <= limit { return [self] }
        // Rows may have different numbers of values: parts that are too large are divided again.
        let size = max(1, min(rows.count / 2, rows.count * limit / count))
        return try stride(from: 0, to: rows.count, by: size).flatMap { start in
            var part = insertion
            part.rows = .values(Array(rows[start..<min(start + size, rows.count)]))
            return try Change.insertion(part).parts(db)
        }
    }

    /// Whether the rows before a row that fails are kept: `INSERT OR FAIL`.
    fileprivate var keepsRowsOfFailure: Bool {
        if case .insertion(let insertion) = self { insertion.conflictResolution == .fail } else { false }
    }

    /// - throws: `SQLITE_MISUSE` if a statement can't take all rows to insert.
    fileprivate func checkIsOneStatement(_ db: Database) throws {
        guard let (insertion, rows) = manyRows(db), try parts(db).count > 1 else { return }
        throw DatabaseError.misuse(
            "\(rows.count) rows are too many for an insert into \(insertion.table) that returns rows: "
                + "a statement takes \(db.maximumStatementArgumentCount) values")
    }
}

extension ReturningStatement: FetchRequest {
    /// The statement, with its arguments set.
    ///
    /// - throws: `SQLITE_MISUSE` for a change that can't be written as SQL, or doesn't fit into one statement;
    ///   `DatabaseError`.
    public func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool = false) throws
        -> PreparedRequest
    {
        guard !selection.isEmpty else {
            throw DatabaseError.misuse("a request selects nothing")
        }
        try change.checkIsOneStatement(db)
        return try db.prepare { try $0.write(change, returning: selection) }
    }

    /// Not available: the number of rows that a change returns is known only after it has run.
    ///
    /// - throws: `SQLITE_MISUSE`.
    public func fetchCount(_ db: Database) throws -> Int {
        throw DatabaseError.misuse(
            "the rows of a change are only known after it has run: fetch or execute it, and count the rows")
    }
}
