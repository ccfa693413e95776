public import QuarryCore

/// A value that depends on conditions: `CASE WHEN … THEN … ELSE … END`.
///
/// ```swift
/// let rank = caseWhen(Column("score") > 1000, then: "gold")
///     .when(Column("score") > 100, then: "silver")
///     .otherwise("bronze")
/// Player.select(Column("name"), rank.forKey("rank"))
/// ```
/// ```sql
/// SELECT "name", CASE WHEN "score" > 1000 THEN 'gold' WHEN "score" > 100 THEN 'silver' ELSE 'bronze' END AS "rank"
/// FROM "player"
/// ```
///
/// The value is that of the first condition that holds. If none holds, it is the value of `otherwise`, or NULL without
/// `otherwise`. See <https://www.sqlite.org/lang_expr.html#the_case_expression>.
public struct SQLCase: SQLSpecificExpressible, Sendable {
    private var choice: CaseExpression

    fileprivate init(base: SQLExpression?, _ condition: SQLExpression, _ result: (any SQLExpressible)?) {
        choice = CaseExpression(
            base: base, branches: [(condition, result?.sqlExpression ?? .null)], otherwise: nil)
    }

    /// The expression; NULL if no condition holds.
    public var sqlExpression: SQLExpression { .node(.choice(choice)) }

    /// Adds a condition and its value; after ``caseOf(_:when:then:)``, a value to compare with.
    public func when(_ condition: some SQLExpressible, then result: (any SQLExpressible)?) -> SQLCase {
        var copy = self
        copy.choice.branches.append((condition.sqlExpression, result?.sqlExpression ?? .null))
        return copy
    }

    /// The expression, with a value for when no condition holds.
    public func otherwise(_ result: (any SQLExpressible)?) -> SQLExpression {
        var choice = choice
        choice.otherwise = result?.sqlExpression ?? .null
        return .node(.choice(choice))
    }
}

/// A value if a condition holds: `CASE WHEN x THEN y END`.
///
/// ```swift
/// caseWhen(Column("score") > 1000, then: "gold").when(Column("score") > 100, then: "silver").otherwise("bronze")
/// ```
/// ```sql
/// CASE WHEN "score" > 1000 THEN 'gold' WHEN "score" > 100 THEN 'silver' ELSE 'bronze' END
/// ```
///
/// See <https://www.sqlite.org/lang_expr.html#the_case_expression>.
public func caseWhen(_ condition: some SQLSpecificExpressible, then result: (any SQLExpressible)?) -> SQLCase {
    SQLCase(base: nil, condition.sqlExpression, result)
}

/// A value if an expression equals another one: `CASE x WHEN y THEN z END`.
///
/// ```swift
/// caseOf(Column("teamId"), when: 1, then: "red").when(2, then: "blue").otherwise(nil)
/// ```
/// ```sql
/// CASE "teamId" WHEN 1 THEN 'red' WHEN 2 THEN 'blue' ELSE NULL END
/// ```
///
/// NULL equals nothing: use ``caseWhen(_:then:)`` with `== nil`.
/// See <https://www.sqlite.org/lang_expr.html#the_case_expression>.
public func caseOf(
    _ base: some SQLSpecificExpressible, when value: some SQLExpressible, then result: (any SQLExpressible)?
) -> SQLCase {
    SQLCase(base: base.sqlExpression, value.sqlExpression, result)
}
