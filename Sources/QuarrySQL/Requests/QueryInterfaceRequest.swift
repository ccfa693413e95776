public import QuarryCore

/// A request built from Swift values, which becomes SQL when it runs.
///
/// ```swift
/// let request = Player.filter(Column("score") > 1000).order(Column("name")).limit(10)
/// let players = try request.fetchAll(db) // [Player]
/// ```
/// ```sql
/// SELECT * FROM "player" WHERE "score" > 1000 ORDER BY "name" LIMIT 10
/// ```
///
/// Requests are values: each method returns a new request. A request that can't be written as SQL throws when it runs.
public struct QueryInterfaceRequest<RowDecoder>: Sendable {
    package var query: SelectQuery

    package init(query: SelectQuery) {
        self.query = query
    }
}

extension QueryInterfaceRequest: SQLSubqueryable {
    /// The request as a subquery.
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

    // MARK: - Other row types

    /// The same request, decoded to another type.
    ///
    /// ```swift
    /// let rows = try Player.all().asRequest(of: Row.self).fetchAll(db)
    /// ```
    public func asRequest<T>(of type: T.Type) -> QueryInterfaceRequest<T> { QueryInterfaceRequest<T>(query: query) }

    /// The request with other columns, decoded to another type.
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

    /// The request with other columns, decoded to another type.
    public func select<T>(_ selection: any SQLSelectable..., as type: T.Type = T.self) -> QueryInterfaceRequest<T> {
        select(selection).asRequest(of: type)
    }

    /// The request with columns written in SQL, decoded to another type.
    public func select<T>(
        sql: String, arguments: StatementArguments = StatementArguments(), as type: T.Type = T.self
    ) -> QueryInterfaceRequest<T> {
        select(sql: sql, arguments: arguments).asRequest(of: type)
    }

    /// The request with columns written in SQL, decoded to another type.
    public func select<T>(literal sqlLiteral: SQL, as type: T.Type = T.self) -> QueryInterfaceRequest<T> {
        select(literal: sqlLiteral).asRequest(of: type)
    }

    /// The request for the primary key.
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

    /// The first rows, or rows after an offset.
    ///
    /// ```swift
    /// Player.order(Column("score").desc).limit(10, offset: 20)
    /// ```
    /// ```sql
    /// SELECT * FROM "player" ORDER BY "score" DESC LIMIT 10 OFFSET 20
    /// ```
    ///
    /// This limit replaces an earlier one.
    public func limit(_ limit: Int, offset: Int? = nil) -> Self {
        var request = self
        request.query.limit = SelectQuery.Limit(count: limit, offset: offset)
        return request
    }
}

/// A query, as passed through the protocols of requests.
public struct _SelectQuery: Sendable {
    package var query: SelectQuery
}
