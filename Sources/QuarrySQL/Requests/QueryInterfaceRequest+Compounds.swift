import QuarryCore

// <https://www.sqlite.org/lang_select.html#compound_select_statements>

extension QueryInterfaceRequest {
    /// The rows of this request and another one, without duplicates: `UNION`.
    ///
    /// ```swift
    /// let names = Player.select(Column("name")).union(Team.select(Column("name"))).order(Column("name"))
    /// ```
    /// ```sql
    /// SELECT "name" FROM "player" UNION SELECT "name" FROM "team" ORDER BY "name"
    /// ```
    ///
    /// Later modifications apply to all rows: an order or limit is written at the end, and a filter or another
    /// selection around the whole. Both requests must have the same number of columns. The names are those of the first
    /// request.
    public func union(_ other: some SQLSubqueryable) -> Self { combined(.union, other) }

    /// The rows of this request, followed by those of another one: `UNION ALL`.
    ///
    /// ```swift
    /// Player.all().unionAll(Table<Player>("archive").all()).filter(Column("score") > 10)
    /// ```
    /// ```sql
    /// SELECT * FROM (SELECT * FROM "player" UNION ALL SELECT * FROM "archive") "subquery" WHERE "score" > 10
    /// ```
    public func unionAll(_ other: some SQLSubqueryable) -> Self { combined(.unionAll, other) }

    /// The rows that both this request and another one have, without duplicates: `INTERSECT`.
    ///
    /// ```swift
    /// Player.select(Column("name")).intersect(Team.select(Column("name")))
    /// ```
    /// ```sql
    /// SELECT "name" FROM "player" INTERSECT SELECT "name" FROM "team"
    /// ```
    public func intersect(_ other: some SQLSubqueryable) -> Self { combined(.intersect, other) }

    /// The rows of this request that another one doesn't have, without duplicates: `EXCEPT`.
    ///
    /// ```swift
    /// Player.select(Column("name")).except(Team.select(Column("name")))
    /// ```
    /// ```sql
    /// SELECT "name" FROM "player" EXCEPT SELECT "name" FROM "team"
    /// ```
    public func except(_ other: some SQLSubqueryable) -> Self { combined(.except, other) }

    private func combined(_ combination: SelectQuery.Compound.Operator, _ other: some SQLSubqueryable) -> Self {
        var query = query
        // A part of a compound can have neither order nor limit.
        if !query.ordering.isEmpty || query.limit != nil || query.hasClauses && query.clauses.hasStableOrder {
            query = query.enclosed()
        }
        query.clauses.compounds.append(SelectQuery.Compound(combination: combination, query: other.sqlSubquery))
        return QueryInterfaceRequest(query: query)
    }
}

extension SelectQuery {
    /// A query for all rows of this one: `SELECT * FROM (SELECT …)`. The tables of WITH move to the outer query.
    package func enclosed() -> SelectQuery {
        var inner = self
        var tables: [NamedTable] = []
        if hasClauses {
            tables = clauses.tables
            inner.clauses.tables = []
        }
        var query = SelectQuery(.query(SQLSubquery(content: .query(inner))))
        if !tables.isEmpty { query.clauses.tables = tables }
        if hasClauses { query.carryPrefetches(of: self, &inner) }
        return query
    }

    /// Prefetched rows belong to the rows of the outer query.
    private mutating func carryPrefetches(of query: SelectQuery, _ inner: inout SelectQuery) {
        guard !query.clauses.prefetches.isEmpty else { return }
        inner.clauses.prefetches = []
        source = .query(SQLSubquery(content: .query(inner)))
        clauses.prefetches = query.clauses.prefetches
    }

    /// Whether the query is combined with other queries, as by UNION.
    package var isCompound: Bool { hasClauses && !clauses.compounds.isEmpty }

    /// Changes a compound. Its order is written after it, and all other clauses around it.
    mutating func changeCompound(_ change: (inout SelectQuery) throws -> Void) rethrows {
        var outer = enclosed()
        outer.ordering = ordering
        outer.isReversed = isReversed
        let hadStableOrder = clauses.hasStableOrder
        outer.clauses.hasStableOrder = hadStableOrder
        try change(&outer)
        guard outer.changesOrderAlone else {
            // If the compound is limited, its order stays with the limit.
            if limit != nil {
                outer.source = enclosed().source
            } else {
                var inner = self
                inner.ordering = []
                inner.isReversed = false
                inner.clauses.hasStableOrder = false
                outer.source = inner.enclosed().source
            }
            self = outer
            return
        }
        ordering = outer.ordering
        isReversed = outer.isReversed
        clauses.hasStableOrder = outer.clauses.hasStableOrder
        clauses.tables = outer.clauses.tables
        clauses.prefetches = outer.clauses.prefetches
    }

    /// Whether the query around a compound has no clause but an order by columns of the compound.
    private var changesOrderAlone: Bool {
        guard identities.isEmpty, selection == nil, filter == nil, !isDistinct else { return false }
        let clauses = clauses
        return clauses.grouping.isEmpty && !clauses.groupsByPrimaryKey && clauses.having == nil && clauses.joins.isEmpty
            && clauses.windows.isEmpty && ordering.allSatisfy(\.isOfColumn)
    }
}

extension SQLOrdering {
    /// Whether a compound can be ordered by the term: by a column, the primary key, or raw SQL.
    fileprivate var isOfColumn: Bool {
        switch content {
        case .expression(let x), .ascending(let x), .descending(let x), .ascendingNullsLast(let x),
            .descendingNullsFirst(let x):
            x.isColumn
        case .sql, .primaryKey: true
        case .deferred: false
        }
    }
}

extension SQLExpression {
    fileprivate var isColumn: Bool {
        switch content {
        case .column: true
        case .value: false
        case .node:
            switch kind {
            case .detachedColumn, .sql: true
            case .collated(let expression, _): expression.isColumn
            default: false
            }
        }
    }
}
