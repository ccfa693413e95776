public import QuarryCore

/// A request that is built of Swift values, and becomes SQL when it runs.
///
/// ```swift
/// let request = Player.filter(Column("score") > 1000).order(Column("name")).limit(10)
/// let players = try request.fetchAll(db) // [Player]
/// ```
/// ```sql
/// SELECT * FROM "player" WHERE "score" > 1000 ORDER BY "name" LIMIT 10
/// ```
///
/// Requests are values: each method gives another one. What can't be written as SQL throws when the request runs.
public struct QueryInterfaceRequest<RowDecoder>: Sendable {
    package var query: SelectQuery

    package init(query: SelectQuery) {
        self.query = query
    }
}

extension QueryInterfaceRequest: SQLSubqueryable {
    /// The request inside another one.
    public var sqlSubquery: SQLSubquery { SQLSubquery(content: .query(query)) }
}

extension QueryInterfaceRequest: DerivableRequest {
    /// Called by the library's own methods.
    public func _changed(_ change: (inout _SelectQuery) throws -> Void) rethrows -> Self {
        var copy = _SelectQuery(query: query)
        guard query.isCompound else {
            try change(&copy)
            return QueryInterfaceRequest(query: copy.query)
        }
        try copy.query.changeCompound { query in
            var whole = _SelectQuery(query: query)
            try change(&whole)
            query = whole.query
        }
        return QueryInterfaceRequest(query: copy.query)
    }

    // MARK: - Another type of rows

    /// The same request, whose rows become something else.
    ///
    /// ```swift
    /// let rows = try Player.all().asRequest(of: Row.self).fetchAll(db)
    /// ```
    public func asRequest<T>(of type: T.Type) -> QueryInterfaceRequest<T> { QueryInterfaceRequest<T>(query: query) }

    /// The request with other columns, whose rows become something else.
    ///
    /// ```swift
    /// let names = try Player.select(Column("name"), as: String.self).fetchAll(db) // [String]
    /// ```
    /// ```sql
    /// SELECT "name" FROM "player"
    /// ```
    public func select<T>(_ selection: [any SQLSelectable], as type: T.Type = T.self) -> QueryInterfaceRequest<T> {
        select(selection).asRequest(of: type)
    }

    /// The request with other columns, whose rows become something else.
    public func select<T>(_ selection: any SQLSelectable..., as type: T.Type = T.self) -> QueryInterfaceRequest<T> {
        select(selection).asRequest(of: type)
    }

    /// The request with columns that are written as SQL, whose rows become something else.
    public func select<T>(
        sql: String, arguments: StatementArguments = StatementArguments(), as type: T.Type = T.self
    ) -> QueryInterfaceRequest<T> {
        select(sql: sql, arguments: arguments).asRequest(of: type)
    }

    /// The request with columns that are written as SQL, whose rows become something else.
    public func select<T>(literal sqlLiteral: SQL, as type: T.Type = T.self) -> QueryInterfaceRequest<T> {
        select(literal: sqlLiteral).asRequest(of: type)
    }

    /// The request with the primary key for columns.
    ///
    /// ```swift
    /// let ids = try Player.filter(Column("score") > 10).selectPrimaryKey(as: Int64.self).fetchAll(db)
    /// ```
    /// ```sql
    /// SELECT "id" FROM "player" WHERE "score" > 10
    /// ```
    public func selectPrimaryKey<PrimaryKey>(
        as type: PrimaryKey.Type = PrimaryKey.self
    ) -> QueryInterfaceRequest<PrimaryKey> {
        select([SQLSelection(content: .primaryKey)]).asRequest(of: type)
    }

    // MARK: - Rows

    /// The first rows, or some after others.
    ///
    /// ```swift
    /// Player.order(Column("score").desc).limit(10, offset: 20)
    /// ```
    /// ```sql
    /// SELECT * FROM "player" ORDER BY "score" DESC LIMIT 10 OFFSET 20
    /// ```
    ///
    /// It replaces the limit that was set before.
    public func limit(_ limit: Int, offset: Int? = nil) -> Self {
        var request = self
        request.query.limit = SelectQuery.Limit(count: limit, offset: offset)
        return request
    }
}

/// A query, as the protocols of requests pass it on.
public struct _SelectQuery: Sendable {
    package var query: SelectQuery
}
