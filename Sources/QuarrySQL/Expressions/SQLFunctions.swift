public import QuarryCore

// Functions of SQLite: <https://www.sqlite.org/lang_corefunc.html>, <https://www.sqlite.org/lang_aggfunc.html>.

extension SQLExpression {
    /// `NAME(x, y)`
    package static func function(_ name: String, _ arguments: [SQLExpression]) -> SQLExpression {
        .node(.function(FunctionCall(name, arguments)))
    }

    /// `NAME(DISTINCT x) FILTER (WHERE c)`
    static func aggregate(
        _ name: String, _ arguments: [SQLExpression], isDistinct: Bool = false,
        filter: (any SQLSpecificExpressible)? = nil, ordering: (any SQLOrderingTerm)? = nil
    ) -> SQLExpression {
        var call = FunctionCall(name, arguments)
        call.isAggregate = true
        call.isDistinct = isDistinct
        call.filter = filter?.sqlExpression
        call.ordering = ordering.map { [$0.sqlOrdering] } ?? []
        return .node(.function(call))
    }
}

/// `ABS(x)`
public func abs(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("ABS", [value.sqlExpression]) }

/// `LENGTH(x)`: the number of characters of a text up to a NUL, or of bytes of a blob.
public func length(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("LENGTH", [value.sqlExpression])
}

/// `CAST(x AS TEXT)`: <https://www.sqlite.org/lang_expr.html#castexpr>.
public func cast(_ expression: some SQLSpecificExpressible, as type: SQLColumnType) -> SQLExpression {
    .node(.cast(expression.sqlExpression, type.rawValue))
}

/// The first value that isn't NULL: `COALESCE(x, y, z)`. A single value is returned unchanged; without values, NULL.
///
/// ```swift
/// Player.select(coalesce([Column("nickname"), Column("name"), "nobody"]))
/// ```
/// ```sql
/// SELECT COALESCE("nickname", "name", 'nobody') FROM "player"
/// ```
public func coalesce(_ values: some Collection<any SQLExpressible>) -> SQLExpression {
    coalescing(values.map(\.sqlExpression))
}

/// The first value that isn't NULL: `COALESCE(x, y, z)`. A single value is returned unchanged; without values, NULL.
public func coalesce(_ values: some Collection<any SQLSpecificExpressible>) -> SQLExpression {
    coalescing(values.map(\.sqlExpression))
}

private func coalescing(_ values: [SQLExpression]) -> SQLExpression {
    switch values.count {
    case 0: .null
    case 1: values[0]
    default: .function("COALESCE", values)
    }
}

// MARK: - Aggregates

/// The number of rows: `COUNT(*)`.
///
/// - parameter filter: the rows to count: `COUNT(*) FILTER (WHERE "score" > 0)`.
public func count(_ columns: AllColumns, filter: (any SQLSpecificExpressible)? = nil) -> SQLExpression {
    var call = FunctionCall("COUNT", [])
    call.isAggregate = true
    call.takesRow = true
    call.filter = filter?.sqlExpression
    return .node(.function(call))
}

/// The number of values that aren't NULL: `COUNT(x)`.
///
/// - parameter filter: the rows to count: `COUNT(x) FILTER (WHERE "score" > 0)`.
public func count(
    _ counted: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression {
    .aggregate("COUNT", [counted.sqlExpression], filter: filter)
}

/// The number of distinct values that aren't NULL: `COUNT(DISTINCT x)`.
///
/// - parameter filter: the rows to count: `COUNT(DISTINCT x) FILTER (WHERE "score" > 0)`.
public func count(
    distinct value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression {
    .aggregate("COUNT", [value.sqlExpression], isDistinct: true, filter: filter)
}

/// The mean of the values that aren't NULL, as a real: `AVG(x)`; NULL if there are none.
///
/// - parameter filter: the rows to include: `AVG(x) FILTER (WHERE "score" > 0)`.
public func average(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression {
    .aggregate("AVG", [value.sqlExpression], filter: filter)
}

/// The largest of the values that aren't NULL: `MAX(x)`; NULL if there are none.
///
/// - parameter filter: the rows to include: `MAX(x) FILTER (WHERE "score" > 0)`.
public func max(_ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil) -> SQLExpression {
    .aggregate("MAX", [value.sqlExpression], filter: filter)
}

/// The smallest of the values that aren't NULL: `MIN(x)`; NULL if there are none.
///
/// - parameter filter: the rows to include: `MIN(x) FILTER (WHERE "score" > 0)`.
public func min(_ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil) -> SQLExpression {
    .aggregate("MIN", [value.sqlExpression], filter: filter)
}

/// The sum of the values that aren't NULL: `SUM(x)`; NULL if there are none. SQLite reports an error if a sum of
/// integers overflows.
///
/// - parameter ordering: the order in which reals are added: `SUM(x ORDER BY y)`, which requires SQLite 3.44.
/// - parameter filter: the rows to include: `SUM(x) FILTER (WHERE "score" > 0)`.
public func sum(
    _ value: some SQLSpecificExpressible, orderBy ordering: (any SQLOrderingTerm)? = nil,
    filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression {
    .aggregate("SUM", [value.sqlExpression], filter: filter, ordering: ordering)
}

/// The sum of the values that aren't NULL, as a real: `TOTAL(x)`; 0.0 if there are none.
///
/// - parameter ordering: the order in which reals are added: `TOTAL(x ORDER BY y)`, which requires SQLite 3.44.
/// - parameter filter: the rows to include: `TOTAL(x) FILTER (WHERE "score" > 0)`.
public func total(
    _ value: some SQLSpecificExpressible, orderBy ordering: (any SQLOrderingTerm)? = nil,
    filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression {
    .aggregate("TOTAL", [value.sqlExpression], filter: filter, ordering: ordering)
}

extension DatabaseFunction {
    /// A call of the function.
    ///
    /// ```swift
    /// Player.select(reversed(Column("name")))
    /// ```
    /// ```sql
    /// SELECT reversed("name") FROM "player"
    /// ```
    public func callAsFunction(_ arguments: any SQLExpressible...) -> SQLExpression {
        var call = FunctionCall(name, arguments.map(\.sqlExpression))
        call.isAggregate = isAggregate
        return .node(.function(call))
    }
}
