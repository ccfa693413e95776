public import QuarryCore
public import QuarrySQL

extension QueryInterfaceRequest: FetchRequest {
    /// The statement, with its arguments set: the cached statement of the last request with the same SQL, if any.
    ///
    /// - throws: `SQLITE_MISUSE` for a request that can't be written as SQL; `DatabaseError`.
    public func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool = false) throws
        -> PreparedRequest
    {
        let request =
            query.needsPlan
            ? try db.preparePlan(of: query, singleRow: singleResult)
            : try db.prepare { try $0.write(query, singleRow: singleResult) }
        db.noteRows(of: query, request)
        return request
    }

    /// The number of rows.
    ///
    /// ```swift
    /// let count = try Player.filter(Column("score") > 10).fetchCount(db)
    /// ```
    /// ```sql
    /// SELECT COUNT(*) FROM "player" WHERE "score" > 10
    /// ```
    ///
    /// This is the number of elements that `fetchAll` returns.
    ///
    /// - throws: `SQLITE_MISUSE` for a request that can't be written as SQL; `DatabaseError`.
    public func fetchCount(_ db: Database) throws -> Int {
        let request = try db.prepare { try $0.write(countOf: query) }
        db.noteRows(of: query, request)
        return try request.value(Int.self)
    }

    /// Whether the request has no rows.
    ///
    /// ```sql
    /// SELECT EXISTS (SELECT * FROM "player")
    /// ```
    ///
    /// - throws: `SQLITE_MISUSE` for a request that can't be written as SQL; `DatabaseError`.
    public func isEmpty(_ db: Database) throws -> Bool {
        let request = try db.prepare { try $0.write(existenceOf: query) }
        db.noteRows(of: query, request)
        return try request.value(Int.self) == 0
    }
}

extension PreparedRequest {
    /// The single value of a query that always returns one.
    fileprivate func value(_ type: Int.Type) throws -> Int { try Int.fetchOne(statement) ?? 0 }
}
