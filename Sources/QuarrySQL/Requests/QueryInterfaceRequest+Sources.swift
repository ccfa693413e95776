public import QuarryCore

extension QueryInterfaceRequest {
    /// A request for the rows of this request: `SELECT * FROM (SELECT …)`.
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
    /// - parameter name: the name of the table; nil for an unused name.
    public func asTable(named name: String? = nil) -> Self {
        var query = query.enclosed()
        if let name { query.identities = [TableIdentity(name: name)] }
        return QueryInterfaceRequest(query: query)
    }

    /// The request with a named window, to which functions refer: `WINDOW "w" AS (…)`.
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
    /// The window replaces an earlier one with the same name. See
    /// <https://www.sqlite.org/windowfunctions.html#window_chaining>.
    public func window(_ name: String, _ window: SQLWindow) -> Self {
        changing { query in
            query.clauses.windows.removeAll { $0.name.isSameName(as: name) }
            query.clauses.windows.append((name: name, definition: window.definition))
        }
    }
}

/// The kinds of joins: <https://www.sqlite.org/lang_select.html#the_from_clause>.
public enum JoinKind: Sendable {
    /// Pairs of rows that satisfy the condition: `JOIN`
    case inner
    /// The same, and rows of the first table without a partner: `LEFT JOIN`
    case left
    /// The same, and rows of the second table without a partner: `RIGHT JOIN`
    case right
    /// The same, and rows of both tables without a partner: `FULL JOIN`
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
    /// The request joined to another table, or to the rows of another request: `JOIN … ON …`.
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
    /// The columns of the other request aren't selected; refer to them by its alias. Its filter becomes part of the
    /// condition. If it is grouped, distinct, limited or compound, it becomes a subquery in FROM.
    ///
    /// - parameter kind: the kind of the join.
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
    /// The query as a table of another query: unchanged if it has only a filter, otherwise a subquery.
    package func asJoinedTable() -> SelectQuery {
        let isPlain = !isDistinct && limit == nil && (!hasClauses || clauses.isPlain) && selection == nil
        var table = self
        if !isPlain {
            var inner = self
            inner.identities = []
            table = inner.enclosed()
            table.identities = identities
        }
        // Otherwise the order of a joined table would become that of the whole query.
        table.ordering = []
        return table
    }
}

extension SelectQuery.Clauses {
    /// Whether no clause changes the set of the table's rows.
    fileprivate var isPlain: Bool {
        grouping.isEmpty && !groupsByPrimaryKey && having == nil && tables.isEmpty && compounds.isEmpty
    }
}
