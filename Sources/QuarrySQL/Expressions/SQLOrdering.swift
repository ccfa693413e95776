package import QuarryCore

/// A term that a query can be ordered by: a column or an expression, ascending or descending.
///
/// ```swift
/// Player.order(Column("score").desc, Column("name"))
/// ```
/// ```sql
/// SELECT * FROM "player" ORDER BY "score" DESC, "name"
/// ```
public protocol SQLOrderingTerm {
    /// The ordering.
    var sqlOrdering: SQLOrdering { get }
}

/// A term of an ORDER BY clause: <https://www.sqlite.org/syntax/ordering-term.html>.
public struct SQLOrdering: Sendable, SQLOrderingTerm {
    package enum Content: Sendable {
        /// `x`
        case expression(SQLExpression)
        /// `x ASC`
        case ascending(SQLExpression)
        /// `x DESC`
        case descending(SQLExpression)
        /// `x ASC NULLS LAST`
        case ascendingNullsLast(SQLExpression)
        /// `x DESC NULLS FIRST`
        case descendingNullsFirst(SQLExpression)
        /// Raw SQL, with any number of terms.
        case sql(SQL)
        /// The columns of the primary key.
        case primaryKey(isReversed: Bool)
        /// A function of the schema, for terms that are only known once a schema is available.
        case deferred(@Sendable (any QuerySchema) throws -> [SQLOrdering])
    }

    package let content: Content

    package init(content: Content) {
        self.content = content
    }

    /// The ordering itself.
    public var sqlOrdering: SQLOrdering { self }

    /// The same term in the opposite direction.
    ///
    /// - throws: `SQLITE_MISUSE` for raw SQL.
    func reversed() throws -> SQLOrdering {
        switch content {
        case .expression(let x), .ascending(let x): SQLOrdering(content: .descending(x))
        case .descending(let x): SQLOrdering(content: .ascending(x))
        case .ascendingNullsLast(let x): SQLOrdering(content: .descendingNullsFirst(x))
        case .descendingNullsFirst(let x): SQLOrdering(content: .ascendingNullsLast(x))
        case .primaryKey(let isReversed): SQLOrdering(content: .primaryKey(isReversed: !isReversed))
        case .deferred(let terms):
            SQLOrdering(content: .deferred { schema in try terms(schema).map { try $0.reversed() } })
        case .sql(let sql):
            throw DatabaseError.misuse(
                "an order written as SQL can't be reversed: order by SQL(…).sqlExpression, or by SQL "
                    + "that is the reverse", sql: sql.plainText)
        }
    }
}

extension SQLSpecificExpressible {
    /// From the smallest to the largest, NULL first: `x ASC`.
    public var asc: SQLOrdering { SQLOrdering(content: .ascending(sqlExpression)) }

    /// From the largest to the smallest, NULL last: `x DESC`.
    public var desc: SQLOrdering { SQLOrdering(content: .descending(sqlExpression)) }

    /// From the smallest to the largest, NULL last: `x ASC NULLS LAST`.
    public var ascNullsLast: SQLOrdering { SQLOrdering(content: .ascendingNullsLast(sqlExpression)) }

    /// From the largest to the smallest, NULL first: `x DESC NULLS FIRST`.
    public var descNullsFirst: SQLOrdering { SQLOrdering(content: .descendingNullsFirst(sqlExpression)) }
}

extension SQL {
    /// The text, with `?` and `…` in place of values and fragments.
    var plainText: String {
        elements.map { element in
            switch element {
            case .sql(let sql, _): sql
            case .value: "?"
            case .fragment: "…"
            case .request(let sql): sql.plainText
            }
        }.joined()
    }
}
