/// A type whose values can be used as SQL expressions: a value, a column, a comparison, a subquery.
///
/// ```swift
/// func isBetter(than score: some SQLExpressible) -> SQLExpression { Column("score") > score }
/// isBetter(than: 10)                // "score" > 10
/// isBetter(than: Column("minimum")) // "score" > "minimum"
/// ```
///
/// Values conform through `DatabaseValueConvertible`. See <https://www.sqlite.org/lang_expr.html>.
public protocol SQLExpressible {
    /// The expression.
    var sqlExpression: SQLExpression { get }
}

/// An SQL expression.
///
/// ```swift
/// let isWinner: SQLExpression = Column("score") > 1000
/// let winners = try Player.filter(isWinner).fetchAll(db)
/// ```
/// ```sql
/// SELECT * FROM "player" WHERE "score" > 1000
/// ```
///
/// See <https://www.sqlite.org/lang_expr.html>.
public struct SQLExpression: Sendable {
    package enum Content: Sendable {
        /// `?`
        case value(DatabaseValue)
        /// `"name"`, or `"table"."name"` if the query has several tables.
        case column(String)
        /// An expression composed of other expressions.
        case node(any SQLExpressionNode)
    }

    package let content: Content

    package init(content: Content) {
        self.content = content
    }
}

extension SQLExpression: SQLExpressible {
    /// The expression itself.
    public var sqlExpression: SQLExpression { self }
}

/// An expression composed of others. The query interface defines the kinds; this layer only passes them on.
package protocol SQLExpressionNode: AnyObject, Sendable {}

/// The context in which SQL is rendered: a connection, or a schema alone. The layer that defines a fragment knows the
/// context's type.
package protocol SQLContext: AnyObject {}

/// SQL whose text depends on the rendering context.
package protocol SQLFragment: Sendable {
    /// The text, and the arguments of its parameters.
    func build(in context: any SQLContext) throws -> (sql: String, arguments: StatementArguments)

    /// The depth of nested expressions.
    var nestingDepth: Int { get }

    /// Whether the fragment defines a table of WITH: `"name" AS (SELECT …)`.
    var definesTable: Bool { get }
}

extension SQLFragment {
    package var nestingDepth: Int { 0 }
    package var definesTable: Bool { false }
}
