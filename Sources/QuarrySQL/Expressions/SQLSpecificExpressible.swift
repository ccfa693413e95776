public import QuarryCore

/// An SQL expression that isn't a Swift value: a column, an expression, a subquery.
///
/// Operators and properties that build SQL exist only for these types: Swift compares two strings, SQLite compares a
/// column and a string.
///
/// ```swift
/// Column("score") > 10                          // "score" > 10
/// Column("name") == nil                         // "name" IS NULL
/// [1, 2].contains(Column("id"))                 // "id" IN (1, 2)
/// Column("name").like("A%") && !Column("isOld") // ("name" LIKE 'A%') AND (NOT "isOld")
/// ```
public protocol SQLSpecificExpressible: SQLExpressible, SQLSelectable, SQLOrderingTerm {}

extension SQLSpecificExpressible {
    /// The expression as a selected column: `SELECT "score" + 1`.
    public var sqlSelection: SQLSelection { SQLSelection(content: .expression(sqlExpression)) }

    /// The expression as a term of an order: `ORDER BY "score" + 1`.
    public var sqlOrdering: SQLOrdering { SQLOrdering(content: .expression(sqlExpression)) }
}

extension SQLExpression: SQLSpecificExpressible {}

extension DatabaseValue: SQLSpecificExpressible {}

extension SQL: SQLSpecificExpressible {
    /// The SQL, in parentheses inside other expressions.
    ///
    /// ```swift
    /// let isBest = SQL("score = (SELECT MAX(score) FROM player)").sqlExpression
    /// Player.filter(isBest && Column("teamId") == 1)
    /// ```
    public var sqlExpression: SQLExpression { .node(.sql(self)) }

    /// The SQL as one or more selected columns.
    public var sqlSelection: SQLSelection { SQLSelection(content: .sql(self)) }

    /// The SQL as one or more terms of an order.
    public var sqlOrdering: SQLOrdering { SQLOrdering(content: .sql(self)) }
}

/// A request that can be a subquery of another request.
///
/// ```swift
/// let best = Player.select(max(Column("score")))
/// let winners = try Player.filter(Column("score") == best).fetchAll(db)
/// ```
/// ```sql
/// SELECT * FROM "player" WHERE "score" = (SELECT MAX("score") FROM "player")
/// ```
///
/// Columns in a subquery belong to its own tables; those of a ``TableAlias`` belong to the alias's table, which may be
/// a table of an enclosing request.
public protocol SQLSubqueryable: SQLSpecificExpressible {
    /// The subquery.
    var sqlSubquery: SQLSubquery { get }
}

extension SQLSubqueryable {
    /// The first value of the subquery's first row, or NULL: `(SELECT …)`.
    public var sqlExpression: SQLExpression { .node(.subquery(sqlSubquery)) }

    /// Whether the subquery contains a value: `1 IN (SELECT …)`.
    ///
    /// ```swift
    /// let redIds = Team.select(Column("id")).filter(Column("color") == "red")
    /// Player.filter(redIds.contains(Column("teamId")))
    /// ```
    /// ```sql
    /// SELECT * FROM "player" WHERE "teamId" IN (SELECT "id" FROM "team" WHERE "color" = 'red')
    /// ```
    public func contains(_ element: some SQLExpressible) -> SQLExpression {
        .node(.inQuery(element.sqlExpression, sqlSubquery, isNegated: false))
    }

    /// Whether the subquery has rows: `EXISTS (SELECT …)`.
    public func exists() -> SQLExpression { .node(.exists(sqlSubquery, isNegated: false)) }
}

/// A query inside another query.
public struct SQLSubquery: Sendable {
    package enum Content: Sendable {
        /// `(SELECT …)`
        case query(SelectQuery)
        /// `(SELECT …)`, written as SQL. Its tables aren't known, and hide those of the enclosing query.
        case sql(SQL)
        /// `(VALUES …)`, whose columns are those of the enclosing query.
        case values(ValueList)
        /// `"name"`: a table defined in WITH.
        case name(String)
    }

    private final class Storage: Sendable {
        // `@exclusivity(unchecked)`, `nonisolated(unsafe)`: it changes only when the storage is destroyed, when no
        // other reference exists.
        @exclusivity(unchecked) private(set) nonisolated(unsafe) var content: Content
        let depth: Int32

        init(_ content: Content) {
            self.content = content
            let inside =
                switch content {
                case .query(let query): query.depth
                case .sql(let sql): sql.depth
                case .values(let list): list.depth
                case .name: 0
                }
            depth = Int32(clamping: inside + NestingDepth.ofQuery)
        }

        deinit {
            if depth > NestingDepth.ofFlatDestruction, FlatDestruction.add(taken()) { FlatDestruction.finish() }
        }

        private func taken() -> FlatDestruction.Part {
            defer { content = .name("") }
            return .subquery(content)
        }
    }

    private let storage: Storage

    package var content: Content { storage.content }

    /// Whether both are the same object.
    func isSameObject(as other: SQLSubquery) -> Bool { storage === other.storage }

    /// The depth of nested subqueries, including itself.
    var depth: Int { Int(storage.depth) }

    package init(content: Content) { storage = Storage(content) }
}

extension SQLSubquery: SQLSubqueryable {
    /// The subquery itself.
    public var sqlSubquery: SQLSubquery { self }
}

extension SQLRequest: SQLSpecificExpressible, SQLSubqueryable {
    /// The request as a subquery.
    public var sqlSubquery: SQLSubquery { SQLSubquery(content: .sql(literal)) }
}
