public import QuarryCore

// Functions that need a window: <https://www.sqlite.org/windowfunctions.html#built_in_window_functions>. Aggregates can
// have a window too.

/// The number of the row in its partition, counted from 1: `ROW_NUMBER()`.
///
/// ```swift
/// Player.annotated(with: rowNumber().over(orderBy: Column("score").desc).forKey("place"))
/// ```
/// ```sql
/// SELECT *, ROW_NUMBER() OVER (ORDER BY "score" DESC) AS "place" FROM "player"
/// ```
public func rowNumber() -> SQLExpression { .function("ROW_NUMBER", []) }

/// The row's rank, `RANK()`. Rows that are equal in the order have the number of the first of them.
///
/// ```swift
/// Player.annotated(with: rank().over(orderBy: Column("score").desc).forKey("rank"))
/// ```
/// ```sql
/// SELECT *, RANK() OVER (ORDER BY "score" DESC) AS "rank" FROM "player"
/// ```
public func rank() -> SQLExpression { .function("RANK", []) }

/// The row's rank without gaps, `DENSE_RANK()`: the number of the group of rows that are equal in the order.
public func denseRank() -> SQLExpression { .function("DENSE_RANK", []) }

/// The row's rank from 0.0 to 1.0: `PERCENT_RANK()`.
public func percentRank() -> SQLExpression { .function("PERCENT_RANK", []) }

/// The fraction of rows up to this row and the rows equal to it in the order: `CUME_DIST()`.
public func cumeDist() -> SQLExpression { .function("CUME_DIST", []) }

/// The number of the row's part, if the partition is divided into parts as equal as possible: `NTILE(4)`.
///
/// ```swift
/// Player.annotated(with: ntile(4).over(orderBy: Column("score")).forKey("quartile"))
/// ```
/// ```sql
/// SELECT *, NTILE(4) OVER (ORDER BY "score") AS "quartile" FROM "player"
/// ```
public func ntile(_ count: some SQLExpressible) -> SQLExpression { .function("NTILE", [count.sqlExpression]) }

/// A value of a preceding row: `LAG(x, offset, default)`.
///
/// ```swift
/// Day.annotated(with: (Column("sales") - lag(Column("sales")).over(orderBy: Column("date"))).forKey("growth"))
/// ```
/// ```sql
/// SELECT *, "sales" - (LAG("sales") OVER (ORDER BY "date")) AS "growth" FROM "day"
/// ```
///
/// - parameter offset: the number of rows before.
/// - parameter fallback: the value if there is no such row; nil for NULL.
public func lag(
    _ value: some SQLSpecificExpressible, _ offset: Int = 1, default fallback: (any SQLExpressible)? = nil
) -> SQLExpression {
    .function("LAG", neighbour(value.sqlExpression, offset, fallback))
}

/// A value of a following row: `LEAD(x, offset, default)`.
///
/// - parameter offset: the number of rows after.
/// - parameter fallback: the value if there is no such row; nil for NULL.
public func lead(
    _ value: some SQLSpecificExpressible, _ offset: Int = 1, default fallback: (any SQLExpressible)? = nil
) -> SQLExpression {
    .function("LEAD", neighbour(value.sqlExpression, offset, fallback))
}

private func neighbour(_ value: SQLExpression, _ offset: Int, _ fallback: (any SQLExpressible)?) -> [SQLExpression] {
    if let fallback { return [value, offset.sqlExpression, fallback.sqlExpression] }
    return offset == 1 ? [value] : [value, offset.sqlExpression]
}

/// A value of the frame's first row: `FIRST_VALUE(x)`.
public func firstValue(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("FIRST_VALUE", [value.sqlExpression])
}

/// A value of the frame's last row: `LAST_VALUE(x)`.
///
/// ```swift
/// lastValue(Column("name")).over(
///     orderBy: Column("score"), frame: .rows(from: .unboundedPreceding, to: .unboundedFollowing))
/// ```
/// ```sql
/// LAST_VALUE("name") OVER (ORDER BY "score" ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
/// ```
///
/// Without an explicit frame, the last row is the last one that is equal to the current row in the order.
public func lastValue(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("LAST_VALUE", [value.sqlExpression])
}

/// The value of the frame's row with a number, counted from 1; NULL if there is no such row: `NTH_VALUE(x, n)`.
public func nthValue(_ value: some SQLSpecificExpressible, _ number: some SQLExpressible) -> SQLExpression {
    .function("NTH_VALUE", [value.sqlExpression, number.sqlExpression])
}
