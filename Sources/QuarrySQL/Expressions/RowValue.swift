public import QuarryCore

/// Several values that are compared as one value: `(x, y)`.
///
/// ```swift
/// // The rows after the last one of a page.
/// Player.filter(rowValue(Column("score"), Column("id")) > rowValue(lastScore, lastID))
/// Citizenship.filter([rowValue(1, "FR"), rowValue(2, "US")].contains(rowValue(Column("citizenId"), Column("code"))))
/// ```
/// ```sql
/// SELECT * FROM "player" WHERE ("score", "id") > (100, 7)
/// SELECT * FROM "citizenship" WHERE ("citizenId", "code") IN (VALUES (1, 'FR'), (2, 'US'))
/// ```
///
/// Row values are compared from left to right: <https://www.sqlite.org/rowvalue.html>.
public func rowValue(_ first: any SQLExpressible, _ others: any SQLExpressible...) -> SQLExpression {
    .node(.rowValue([first.sqlExpression] + others.map(\.sqlExpression)))
}
