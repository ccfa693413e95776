public import QuarryCore

/// A request or an association whose rows are decoded to a type.
public protocol TypedRequest<RowDecoder> {
    /// The type that a row is decoded to.
    associatedtype RowDecoder
}

/// The common protocol of requests and associations, whose columns, conditions and orders can be changed.
///
/// Extend it to name frequent modifications:
///
/// ```swift
/// extension DerivableRequest<Player> {
///     func winners() -> Self { filter(Column("score") > 1000) }
/// }
/// let names = try Player.all().winners().fetchAll(db)
/// let teams = try Team.including(all: Team.players.winners()).fetchAll(db)
/// ```
public protocol DerivableRequest<RowDecoder>: SelectionRequest, FilteredRequest, OrderedRequest, AggregatingRequest,
    TableRequest, JoinableRequest
{}

/// A request whose query can be changed.
public protocol QueryRequest<RowDecoder>: TypedRequest, Sendable {
    /// Called by the library's own methods.
    func _changed(_ change: (inout _SelectQuery) throws -> Void) rethrows -> Self
}

extension QueryRequest {
    /// The request with its query changed.
    package func changing(_ change: (inout SelectQuery) throws -> Void) rethrows -> Self {
        try _changed { try change(&$0.query) }
    }
}

// MARK: - Columns

/// A request whose columns can be chosen.
public protocol SelectionRequest<RowDecoder>: QueryRequest {}

extension SelectionRequest {
    /// The request with other columns.
    ///
    /// ```swift
    /// Player.select([Column("id"), Column("name")])
    /// ```
    /// ```sql
    /// SELECT "id", "name" FROM "player"
    /// ```
    public func select(_ selection: [any SQLSelectable]) -> Self {
        changing { $0.selection = selection.map(\.sqlSelection) }
    }

    /// The request with other columns.
    public func select(_ selection: any SQLSelectable...) -> Self { select(selection) }

    /// The request with columns written in SQL.
    public func select(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        select(literal: SQL(sql: sql, arguments: arguments))
    }

    /// The request with columns written in SQL.
    ///
    /// ```swift
    /// Player.select(literal: "name, score + \(bonus) AS total")
    /// ```
    public func select(literal sqlLiteral: SQL) -> Self { select([sqlLiteral]) }

    /// The request with additional columns.
    ///
    /// ```swift
    /// Player.annotated(with: [(Column("score") + Column("bonus")).forKey("total")])
    /// ```
    /// ```sql
    /// SELECT *, "score" + "bonus" AS "total" FROM "player"
    /// ```
    public func annotated(with selection: [any SQLSelectable]) -> Self {
        changing { $0.annotate(selection.map(\.sqlSelection)) }
    }

    /// The request with additional columns.
    public func annotated(with selection: any SQLSelectable...) -> Self { annotated(with: selection) }
}

// MARK: - Conditions

/// A request whose rows can be filtered.
public protocol FilteredRequest<RowDecoder>: QueryRequest {}

extension FilteredRequest {
    /// The rows that satisfy a condition, in addition to earlier conditions.
    ///
    /// ```swift
    /// Player.filter(Column("score") > 10).filter(Column("teamId") == 1)
    /// ```
    /// ```sql
    /// SELECT * FROM "player" WHERE ("score" > 10) AND ("teamId" = 1)
    /// ```
    public func filter(_ predicate: some SQLSpecificExpressible) -> Self {
        changing { $0.filter(predicate.sqlExpression) }
    }

    /// The rows that satisfy a condition written in SQL.
    public func filter(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        filter(literal: SQL(sql: sql, arguments: arguments))
    }

    /// The rows that satisfy a condition written in SQL.
    ///
    /// ```swift
    /// Player.filter(literal: "name = \(name)")
    /// ```
    public func filter(literal sqlLiteral: SQL) -> Self { filter(sqlLiteral.sqlExpression) }

    /// All rows of the request: the request itself.
    public func all() -> Self { self }

    /// No rows: `WHERE 0`.
    public func none() -> Self {
        changing { $0.filter = .node(.inList(.null, [], isNegated: false)) }
    }
}

// MARK: - Order

/// A request whose rows can be ordered.
public protocol OrderedRequest<RowDecoder>: QueryRequest {}

extension OrderedRequest {
    /// The rows in an order, which replaces an earlier order.
    ///
    /// ```swift
    /// Player.order([Column("score").desc, Column("name")])
    /// ```
    /// ```sql
    /// SELECT * FROM "player" ORDER BY "score" DESC, "name"
    /// ```
    public func order(_ orderings: [any SQLOrderingTerm]) -> Self {
        changing { $0.order(orderings.map(\.sqlOrdering)) }
    }

    /// The rows in an order, which replaces an earlier order.
    public func order(_ orderings: any SQLOrderingTerm...) -> Self { order(orderings) }

    /// The rows in an order written in SQL.
    public func order(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        order(literal: SQL(sql: sql, arguments: arguments))
    }

    /// The rows in an order written in SQL.
    public func order(literal sqlLiteral: SQL) -> Self { order([sqlLiteral]) }

    /// The rows in reverse order: `ASC` becomes `DESC`. Without an order, the request itself.
    public func reversed() -> Self { changing { $0.isReversed.toggle() } }

    /// The rows without an order, and without the orders of joined associations. Prefetched rows, and joined
    /// associations with a limit, keep theirs.
    public func unordered() -> Self {
        changing { query in
            query.order([])
            // With a limit, the order selects the rows.
            query = query.changingJoins { if $0.query.limit == nil { $0.query.order([]) } }
        }
    }

    /// The rows in their order; rows that are equal in it are ordered by their primary key, then by the primary keys of
    /// joined tables.
    ///
    /// ```swift
    /// Player.joining(required: Player.team).order(Column("score")).withStableOrder()
    /// ```
    /// ```sql
    /// SELECT "player".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamId"
    /// ORDER BY "player"."score", "player"."id", "team"."id"
    /// ```
    ///
    /// A view without a primary key is ordered by all its columns, a joined table of `WITH` by the columns that its
    /// definition names.
    public func withStableOrder() -> Self { changing { $0.clauses.hasStableOrder = true } }
}

// MARK: - Groups

/// A request whose rows can be grouped.
public protocol AggregatingRequest<RowDecoder>: QueryRequest {}

extension AggregatingRequest {
    /// One row for each group of rows with the same values.
    ///
    /// ```swift
    /// Player.select(Column("teamId"), max(Column("score"))).group(Column("teamId"))
    /// ```
    /// ```sql
    /// SELECT "teamId", MAX("score") FROM "player" GROUP BY "teamId"
    /// ```
    public func group(_ expressions: [any SQLExpressible]) -> Self {
        changing {
            $0.clauses.grouping = expressions.map(\.sqlExpression)
            $0.clauses.groupsByPrimaryKey = false
        }
    }

    /// One row for each group of rows with the same values.
    public func group(_ expressions: any SQLExpressible...) -> Self { group(expressions) }

    /// One row for each group of rows with the same values of expressions written in SQL.
    public func group(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        group(literal: SQL(sql: sql, arguments: arguments))
    }

    /// One row for each group of rows with the same values of expressions written in SQL.
    public func group(literal sqlLiteral: SQL) -> Self { group([sqlLiteral.sqlExpression]) }

    /// The groups that satisfy a condition, in addition to earlier conditions.
    ///
    /// ```swift
    /// Player.group(Column("teamId")).having(max(Column("score")) > 1000)
    /// ```
    /// ```sql
    /// SELECT * FROM "player" GROUP BY "teamId" HAVING MAX("score") > 1000
    /// ```
    public func having(_ predicate: some SQLExpressible) -> Self {
        changing { $0.having(predicate.sqlExpression) }
    }

    /// The groups that satisfy a condition written in SQL.
    public func having(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        having(literal: SQL(sql: sql, arguments: arguments))
    }

    /// The groups that satisfy a condition written in SQL.
    public func having(literal sqlLiteral: SQL) -> Self { having(sqlLiteral.sqlExpression) }
}

// MARK: - Derivable requests

extension DerivableRequest {
    /// The rows without duplicates: `SELECT DISTINCT`.
    public func distinct() -> Self { changing { $0.isDistinct = true } }

    /// The request with a table that exists only for it: `WITH "name" AS (SELECT …)`.
    public func with<T>(_ cte: CommonTableExpression<T>) -> Self { changing { $0.name(cte.table) } }
}

/// A request on a table.
public protocol TableRequest<RowDecoder>: QueryRequest {}

extension TableRequest {
    /// The name of the table, or of the source in place of a table.
    public var databaseTableName: String {
        var name = ""
        _ = changing { name = $0.sourceName }
        return name
    }

    /// The request with an alias for its table, by which other requests can name its columns.
    public func aliased(_ alias: TableAlias<RowDecoder>) -> Self {
        changing { $0.identities.append(alias.identity) }
    }

    /// The request with an alias for its table, by which other requests can name its columns.
    @_disfavoredOverload
    public func aliased(_ alias: TableAlias<Void>) -> Self {
        changing { $0.identities.append(alias.identity) }
    }

    /// The rows in the order of their primary key.
    public func orderByPrimaryKey() -> Self {
        changing { $0.order([SQLOrdering(content: .primaryKey(isReversed: false))]) }
    }

    /// One row for each primary key, to compute aggregates of joined rows.
    public func groupByPrimaryKey() -> Self {
        changing {
            $0.clauses.grouping = []
            $0.clauses.groupsByPrimaryKey = true
        }
    }

    /// The row with the given unique key; no row for nil.
    ///
    /// ```swift
    /// Citizenship.filter(key: ["citizenId": 1, "countryCode": "FR"])
    /// ```
    ///
    /// - parameter key: the columns of the primary key or of a unique index, with their values, and any other columns.
    ///   A request throws if the columns contain no unique key.
    public func filter(key: [String: (any DatabaseValueConvertible)?]?) -> Self {
        changing { query in
            let keys = key.map { [$0.mapValues { $0?.databaseValue ?? .null }] } ?? []
            query.filter(.node(.key(.columns(keys))))
        }
    }

    /// The rows with the given unique keys.
    public func filter(keys: [[String: (any DatabaseValueConvertible)?]]) -> Self {
        changing { query in
            query.filter(.node(.key(.columns(keys.map { $0.mapValues { $0?.databaseValue ?? .null } }))))
        }
    }
}
