public import QuarryCore

// Functions that choose between values, or describe them: <https://www.sqlite.org/lang_corefunc.html>.

/// NULL if both values are equal, the first value otherwise: `NULLIF(x, y)`.
///
/// ```swift
/// Player.select(nullIf(Column("nickname"), ""))
/// ```
/// ```sql
/// SELECT NULLIF("nickname", '') FROM "player"
/// ```
///
/// See <https://www.sqlite.org/lang_corefunc.html#nullif>.
public func nullIf(_ value: some SQLSpecificExpressible, _ other: some SQLExpressible) -> SQLExpression {
    .function("NULLIF", [value.sqlExpression, other.sqlExpression])
}

/// One value if a condition holds, another value otherwise: `IIF(x, y, z)`.
///
/// ```swift
/// Player.select(iif(Column("score") > 1000, "winner", "player"))
/// ```
/// ```sql
/// SELECT IIF("score" > 1000, 'winner', 'player') FROM "player"
/// ```
///
/// See <https://www.sqlite.org/lang_corefunc.html#iif>, and ``caseWhen(_:then:)`` for several conditions.
public func iif(
    _ condition: some SQLSpecificExpressible, _ value: (any SQLExpressible)?, _ otherwise: (any SQLExpressible)?
) -> SQLExpression {
    .function(
        "IIF", [condition.sqlExpression, value?.sqlExpression ?? .null, otherwise?.sqlExpression ?? .null])
}

/// The storage class of a value, as text: `TYPEOF(x)` is `'null'`, `'integer'`, `'real'`, `'text'` or `'blob'`.
///
/// ```swift
/// Player.filter(typeOf(Column("score")) != "integer")
/// ```
/// ```sql
/// SELECT * FROM "player" WHERE TYPEOF("score") <> 'integer'
/// ```
///
/// See <https://www.sqlite.org/lang_corefunc.html#typeof>.
public func typeOf(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("TYPEOF", [value.sqlExpression])
}

/// A condition with a hint for the query planner: the probability that the condition holds.
///
/// ```swift
/// Player.filter(likelihood(Column("isCaptain") == true, 0.05))
/// ```
/// ```sql
/// SELECT * FROM "player" WHERE LIKELIHOOD("isCaptain" = 1, 0.05)
/// ```
///
/// See <https://www.sqlite.org/lang_corefunc.html#likelihood>.
///
/// - parameter probability: from 0.0 to 1.0; a request with another number throws.
public func likelihood(_ condition: some SQLSpecificExpressible, _ probability: Double) -> SQLExpression {
    guard 0...1 ~= probability else {
        return .failing("the probability of likelihood is \(probability), and must be from 0.0 to 1.0")
    }
    // SQLite requires a literal here, not a parameter.
    return .function("LIKELIHOOD", [condition.sqlExpression, .node(.sql(SQL(sql: "\(probability)")))])
}

/// A condition that is usually true: a hint for the query planner, `LIKELY(x)`.
///
/// See <https://www.sqlite.org/lang_corefunc.html#likely>.
public func likely(_ condition: some SQLSpecificExpressible) -> SQLExpression {
    .function("LIKELY", [condition.sqlExpression])
}

/// A condition that is usually false: a hint for the query planner, `UNLIKELY(x)`.
///
/// See <https://www.sqlite.org/lang_corefunc.html#unlikely>.
public func unlikely(_ condition: some SQLSpecificExpressible) -> SQLExpression {
    .function("UNLIKELY", [condition.sqlExpression])
}

/// The smallest of several values; NULL if any value is NULL: `MIN(x, y)`.
///
/// ```swift
/// Player.select(min(Column("score"), Column("bonus"), 100))
/// ```
/// ```sql
/// SELECT MIN("score", "bonus", 100) FROM "player"
/// ```
///
/// See <https://www.sqlite.org/lang_corefunc.html#min_scalar>.
public func min(
    _ first: some SQLSpecificExpressible, _ second: some SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression {
    .function("MIN", [first.sqlExpression, second.sqlExpression] + others.map(\.sqlExpression))
}

/// The largest of several values; NULL if any value is NULL: `MAX(x, y)`.
///
/// ```swift
/// Player.select(max(Column("score"), 0))
/// ```
/// ```sql
/// SELECT MAX("score", 0) FROM "player"
/// ```
///
/// See <https://www.sqlite.org/lang_corefunc.html#max_scalar>.
public func max(
    _ first: some SQLSpecificExpressible, _ second: some SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression {
    .function("MAX", [first.sqlExpression, second.sqlExpression] + others.map(\.sqlExpression))
}

extension SQLExpression {
    /// An expression that can't be written: the request throws when it runs.
    package static func failing(_ message: String) -> SQLExpression {
        .node(.deferred { _ in throw DatabaseError.misuse(message) })
    }

    /// `NAME(x, y)`, for a function that some versions or builds of SQLite don't have.
    package static func function(_ name: String, _ arguments: [SQLExpression], _ requirement: SQLiteRequirement?)
        -> SQLExpression
    {
        var call = FunctionCall(name, arguments)
        call.requirement = requirement
        return .node(.function(call))
    }
}
