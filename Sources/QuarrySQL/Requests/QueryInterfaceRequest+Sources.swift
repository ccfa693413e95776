public import QuarryCore

extension QueryInterfaceRequest {
    /// A request for the rows of this one: `SELECT * FROM (SELECT …)`.
    ///
    /// ```swift
    /// // Of the ten best players, those of a team.
    /// Player.order(Column("score").desc).limit(10).asTable(named: "best").filter(Column("teamId") == 1)
    /// ```
    /// ```sql
    /// SELECT "best".* FROM (SELECT * FROM "player" ORDER BY "score" DESC LIMIT 10) "best" WHERE "best"."teamId" = 1
    /// ```
    ///
    /// See <https://www.sqlite.org/lang_select.html#the_from_clause>.
    ///
    /// - parameter name: the name of the table; nil for one that is free.
    public func asTable(named name: String? = nil) -> Self {
        var query = query.enclosed()
        if let name { query.identities = [TableIdentity(name: name)] }
        return QueryInterfaceRequest(query: query)
    }

    /// The request with a window that functions name: `WINDOW "w" AS (…)`.
    ///
    /// ```swift
    /// Player.all()
    ///     .annotated(with: rank().over("best").forKey("rank"), cumeDist().over("best").forKey("share"))
    ///     .window("best", SQLWindow(orderBy: [Column("score").desc]))
    /// ```
    /// ```sql
    /// SELECT *, RANK() OVER "best" AS "rank", CUME_DIST() OVER "best" AS "share" FROM "player"
    /// WINDOW "best" AS (ORDER BY "score" DESC)
    /// ```
    ///
    /// It replaces a window with the same name.
    /// See <https://www.sqlite.org/windowfunctions.html#window_chaining>.
    public func window(_ name: String, _ window: SQLWindow) -> Self {
        changing { query in
            query.clauses.windows.removeAll { $0.name.isSameName(as: name) }
            query.clauses.windows.append((name: name, definition: window.definition))
        }
    }
}

/// How the rows of two tables are put together: <https://www.sqlite.org/lang_select.html#the_from_clause>.
public enum JoinKind: Sendable {
    /// Pairs of rows for which the condition holds: `JOIN`
    case inner
    /// These, and rows of the first table that have no partner: `LEFT JOIN`
    case left
    /// These, and rows of the second table that have no partner: `RIGHT JOIN`
    case right
    /// These, and rows of both tables that have no partner: `FULL JOIN`
    case full
    /// All pairs; SQLite keeps the order of the tables: `CROSS JOIN`
    case cross

    fileprivate var kind: Join.Kind {
        switch self {
        case .inner: .inner
        case .left: .left
        case .right: .right
        case .full: .full
        case .cross: .cross
        }
    }
}

extension QueryInterfaceRequest {
    /// The request with another table, or the rows of another request, beside its own: `JOIN … ON …`.
    ///
    /// ```swift
    /// let (player, level) = (TableAlias<Player>(), TableAlias<Level>())
    /// Player.all().aliased(player)
    ///     .join(.left, Level.all().aliased(level),
    ///         on: player[Column("score")] >= level[Column("from")] && player[Column("score")] < level[Column("to")])
    ///     .select(Column("name"), level[Column("title")])
    /// ```
    /// ```sql
    /// SELECT "player"."name", "level"."title" FROM "player"
    /// LEFT JOIN "level" ON ("player"."score" >= "level"."from") AND ("player"."score" < "level"."to")
    /// ```
    ///
    /// The columns of the other one aren't selected: name them by its alias. Its filter belongs to the condition. An
    /// other one that is grouped, distinct, limited, or made of several stands in FROM as a subquery.
    ///
    /// - parameter kind: how the rows are put together.
    /// - parameter other: a table, table-valued function or subquery.
    /// - parameter condition: nil for all pairs of rows.
    public func join<T>(
        _ kind: JoinKind = .inner, _ other: QueryInterfaceRequest<T>, on condition: SQLExpression? = nil
    ) -> Self {
        let table = other.query.asJoinedTable()
        return changing { query in
            query.clauses.joins.append(
                Join(
                    key: table.sourceName, kind: kind.kind,
                    condition: condition.map { condition in .expression { _, _ in condition } } ?? .none, query: table,
                    isSelected: false))
        }
    }
}

extension SelectQuery {
    /// The query as a table of another one: itself if it has no more than a filter, or else a subquery.
    package func asJoinedTable() -> SelectQuery {
        let isPlain = !isDistinct && limit == nil && (!hasClauses || clauses.isPlain) && selection == nil
        var table = self
        if !isPlain {
            var inner = self
            inner.identities = []
            table = inner.enclosed()
            table.identities = identities
        }
        // The order of a table that is joined would be that of the whole.
        table.ordering = []
        return table
    }
}

extension SelectQuery.Clauses {
    /// Whether there is nothing that makes other rows of those of the table.
    fileprivate var isPlain: Bool {
        grouping.isEmpty && !groupsByPrimaryKey && having == nil && tables.isEmpty && compounds.isEmpty
    }
}
