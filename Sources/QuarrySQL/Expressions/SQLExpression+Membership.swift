public import QuarryCore

// `IN` and `BETWEEN`: <https://www.sqlite.org/lang_expr.html#the_in_and_not_in_operators>.

extension Sequence where Element: SQLExpressible {
    /// `x IN (1, 2)`; `x = 1` for a single value; false for none.
    ///
    /// ```swift
    /// Player.filter([1, 2, 3].contains(Column("id")))
    /// ```
    /// ```sql
    /// SELECT * FROM "player" WHERE "id" IN (1, 2, 3)
    /// ```
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        .membership(of: element.sqlExpression, in: map(\.sqlExpression))
    }
}

extension Sequence where Element == any SQLExpressible {
    /// `x IN (1, "column")`; `x = 1` for a single value; false for none.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        .membership(of: element.sqlExpression, in: map(\.sqlExpression))
    }
}

extension ClosedRange where Bound: SQLExpressible {
    /// `x BETWEEN 1 AND 10`
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        .node(
            .between(
                element.sqlExpression, lowerBound.sqlExpression, upperBound.sqlExpression, isNegated: false))
    }
}

extension Range where Bound: SQLExpressible {
    /// `(x >= 1) AND (x < 10)`
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        element >= lowerBound && element < upperBound
    }
}

extension PartialRangeFrom where Bound: SQLExpressible {
    /// `x >= 1`
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression { element >= lowerBound }
}

extension PartialRangeThrough where Bound: SQLExpressible {
    /// `x <= 1`
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression { element <= upperBound }
}

extension PartialRangeUpTo where Bound: SQLExpressible {
    /// `x < 1`
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression { element < upperBound }
}
