public import QuarryCore
import QuarrySQL

extension FetchRequest {
    /// SQLite's plan for the request, which isn't run.
    ///
    /// ```swift
    /// print(try Player.filter { $0.name == "Arthur" }.explain(db))
    /// // QUERY PLAN
    /// // `--SEARCH player USING INDEX player_on_name (name=?)
    /// ```
    ///
    /// - throws: the error of preparing the request.
    public func explain(_ db: Database) throws -> QueryPlan {
        try QueryPlan(of: makePreparedRequest(db, forSingleResult: false).statement, db)
    }

    /// The request as SQL with its values in place, for logs and tests.
    ///
    /// ```swift
    /// try Player.filter { $0.name == "O'Brien" }.sql(db) // SELECT * FROM "player" WHERE "name" = 'O''Brien'
    /// ```
    ///
    /// - throws: the error of preparing the request.
    public func sql(_ db: Database) throws -> String {
        try db.literalSQL(of: makePreparedRequest(db, forSingleResult: false).statement)
    }
}
