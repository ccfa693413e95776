public import QuarryCore

// Comparisons of aggregates, and computations with them: each result is an aggregate without a name.

extension AssociationAggregate {
    fileprivate func map(
        key: String? = nil, _ change: @escaping @Sendable (SQLExpression) -> SQLExpression
    ) -> AssociationAggregate {
        AssociationAggregate(key: key, computedAt: depth) { query in
            .init(expression: change(prepare(&query).expression))
        }
    }

    private static func combine(
        _ lhs: AssociationAggregate, _ rhs: AssociationAggregate,
        _ change: @escaping @Sendable (SQLExpression, SQLExpression) -> SQLExpression
    ) -> AssociationAggregate {
        AssociationAggregate(computedAt: Swift.max(lhs.depth, rhs.depth)) { query in
            let lhs = lhs.prepare(&query).expression
            return .init(expression: change(lhs, rhs.prepare(&query).expression))
        }
    }

    // MARK: - Logic

    /// The opposite: `COUNT(…) > 0` of `isEmpty`.
    public static prefix func ! (aggregate: AssociationAggregate) -> AssociationAggregate {
        AssociationAggregate(computedAt: aggregate.depth) { query in
            let prepared = aggregate.prepare(&query)
            let expression = prepared.expression
            return .init(expression: prepared.negation ?? expression.negated, negation: expression)
        }
    }

    /// The aggregate, or its opposite: `isEmpty == false`.
    @_disfavoredOverload
    public static func == (lhs: AssociationAggregate, rhs: Bool) -> AssociationAggregate { rhs ? lhs : !lhs }

    /// The aggregate, or its opposite.
    @_disfavoredOverload
    public static func == (lhs: Bool, rhs: AssociationAggregate) -> AssociationAggregate { rhs == lhs }

    /// The opposite of the aggregate, or the aggregate.
    @_disfavoredOverload
    public static func != (lhs: AssociationAggregate, rhs: Bool) -> AssociationAggregate { rhs ? !lhs : lhs }

    /// The opposite of the aggregate, or the aggregate.
    @_disfavoredOverload
    public static func != (lhs: Bool, rhs: AssociationAggregate) -> AssociationAggregate { rhs != lhs }

    /// `lhs = rhs`
    @_disfavoredOverload
    public static func == (lhs: AssociationAggregate, rhs: (any SQLExpressible)?) -> AssociationAggregate {
        let rhs = rhs?.sqlExpression ?? .null
        return lhs.map { .equality($0, .equal, rhs) }
    }

    /// `lhs = rhs`
    @_disfavoredOverload
    public static func == (lhs: (any SQLExpressible)?, rhs: AssociationAggregate) -> AssociationAggregate {
        let lhs = lhs?.sqlExpression ?? .null
        return rhs.map { .equality(lhs, .equal, $0) }
    }

    /// `lhs = rhs`
    @_disfavoredOverload
    public static func == (lhs: AssociationAggregate, rhs: AssociationAggregate) -> AssociationAggregate {
        combine(lhs, rhs) { .equality($0, .equal, $1) }
    }

    /// `lhs <> rhs`
    @_disfavoredOverload
    public static func != (lhs: AssociationAggregate, rhs: (any SQLExpressible)?) -> AssociationAggregate {
        let rhs = rhs?.sqlExpression ?? .null
        return lhs.map { .equality($0, .notEqual, rhs) }
    }

    /// `lhs <> rhs`
    @_disfavoredOverload
    public static func != (lhs: (any SQLExpressible)?, rhs: AssociationAggregate) -> AssociationAggregate {
        let lhs = lhs?.sqlExpression ?? .null
        return rhs.map { .equality(lhs, .notEqual, $0) }
    }

    /// `lhs <> rhs`
    @_disfavoredOverload
    public static func != (lhs: AssociationAggregate, rhs: AssociationAggregate) -> AssociationAggregate {
        combine(lhs, rhs) { .equality($0, .notEqual, $1) }
    }

    /// `lhs IS rhs`
    @_disfavoredOverload
    public static func === (lhs: AssociationAggregate, rhs: (any SQLExpressible)?) -> AssociationAggregate {
        let rhs = rhs?.sqlExpression ?? .null
        return lhs.map { .equality($0, .is, rhs) }
    }

    /// `lhs IS rhs`
    @_disfavoredOverload
    public static func === (lhs: (any SQLExpressible)?, rhs: AssociationAggregate) -> AssociationAggregate {
        let lhs = lhs?.sqlExpression ?? .null
        return rhs.map { .equality(lhs, .is, $0) }
    }

    /// `lhs IS rhs`
    @_disfavoredOverload
    public static func === (lhs: AssociationAggregate, rhs: AssociationAggregate) -> AssociationAggregate {
        combine(lhs, rhs) { .equality($0, .is, $1) }
    }

    /// `lhs IS NOT rhs`
    @_disfavoredOverload
    public static func !== (lhs: AssociationAggregate, rhs: (any SQLExpressible)?) -> AssociationAggregate {
        let rhs = rhs?.sqlExpression ?? .null
        return lhs.map { .equality($0, .isNot, rhs) }
    }

    /// `lhs IS NOT rhs`
    @_disfavoredOverload
    public static func !== (lhs: (any SQLExpressible)?, rhs: AssociationAggregate) -> AssociationAggregate {
        let lhs = lhs?.sqlExpression ?? .null
        return rhs.map { .equality(lhs, .isNot, $0) }
    }

    /// `lhs IS NOT rhs`
    @_disfavoredOverload
    public static func !== (lhs: AssociationAggregate, rhs: AssociationAggregate) -> AssociationAggregate {
        combine(lhs, rhs) { .equality($0, .isNot, $1) }
    }

    // MARK: - Arithmetic and order

    /// `lhs < rhs`
    @_disfavoredOverload
    public static func < (lhs: AssociationAggregate, rhs: some SQLExpressible) -> AssociationAggregate {
        let rhs = rhs.sqlExpression
        return lhs.map { .infix($0, .less, rhs) }
    }

    /// `lhs < rhs`
    @_disfavoredOverload
    public static func < (lhs: some SQLExpressible, rhs: AssociationAggregate) -> AssociationAggregate {
        let lhs = lhs.sqlExpression
        return rhs.map { .infix(lhs, .less, $0) }
    }

    /// `lhs < rhs`
    @_disfavoredOverload
    public static func < (lhs: AssociationAggregate, rhs: AssociationAggregate) -> AssociationAggregate {
        combine(lhs, rhs) { .infix($0, .less, $1) }
    }

    /// `lhs <= rhs`
    @_disfavoredOverload
    public static func <= (lhs: AssociationAggregate, rhs: some SQLExpressible) -> AssociationAggregate {
        let rhs = rhs.sqlExpression
        return lhs.map { .infix($0, .lessOrEqual, rhs) }
    }

    /// `lhs <= rhs`
    @_disfavoredOverload
    public static func <= (lhs: some SQLExpressible, rhs: AssociationAggregate) -> AssociationAggregate {
        let lhs = lhs.sqlExpression
        return rhs.map { .infix(lhs, .lessOrEqual, $0) }
    }

    /// `lhs <= rhs`
    @_disfavoredOverload
    public static func <= (lhs: AssociationAggregate, rhs: AssociationAggregate) -> AssociationAggregate {
        combine(lhs, rhs) { .infix($0, .lessOrEqual, $1) }
    }

    /// `lhs > rhs`
    @_disfavoredOverload
    public static func > (lhs: AssociationAggregate, rhs: some SQLExpressible) -> AssociationAggregate {
        let rhs = rhs.sqlExpression
        return lhs.map { .infix($0, .greater, rhs) }
    }

    /// `lhs > rhs`
    @_disfavoredOverload
    public static func > (lhs: some SQLExpressible, rhs: AssociationAggregate) -> AssociationAggregate {
        let lhs = lhs.sqlExpression
        return rhs.map { .infix(lhs, .greater, $0) }
    }

    /// `lhs > rhs`
    @_disfavoredOverload
    public static func > (lhs: AssociationAggregate, rhs: AssociationAggregate) -> AssociationAggregate {
        combine(lhs, rhs) { .infix($0, .greater, $1) }
    }

    /// `lhs >= rhs`
    @_disfavoredOverload
    public static func >= (lhs: AssociationAggregate, rhs: some SQLExpressible) -> AssociationAggregate {
        let rhs = rhs.sqlExpression
        return lhs.map { .infix($0, .greaterOrEqual, rhs) }
    }

    /// `lhs >= rhs`
    @_disfavoredOverload
    public static func >= (lhs: some SQLExpressible, rhs: AssociationAggregate) -> AssociationAggregate {
        let lhs = lhs.sqlExpression
        return rhs.map { .infix(lhs, .greaterOrEqual, $0) }
    }

    /// `lhs >= rhs`
    @_disfavoredOverload
    public static func >= (lhs: AssociationAggregate, rhs: AssociationAggregate) -> AssociationAggregate {
        combine(lhs, rhs) { .infix($0, .greaterOrEqual, $1) }
    }

    /// `lhs - rhs`
    @_disfavoredOverload
    public static func - (lhs: AssociationAggregate, rhs: some SQLExpressible) -> AssociationAggregate {
        let rhs = rhs.sqlExpression
        return lhs.map { .infix($0, .minus, rhs) }
    }

    /// `lhs - rhs`
    @_disfavoredOverload
    public static func - (lhs: some SQLExpressible, rhs: AssociationAggregate) -> AssociationAggregate {
        let lhs = lhs.sqlExpression
        return rhs.map { .infix(lhs, .minus, $0) }
    }

    /// `lhs - rhs`
    @_disfavoredOverload
    public static func - (lhs: AssociationAggregate, rhs: AssociationAggregate) -> AssociationAggregate {
        combine(lhs, rhs) { .infix($0, .minus, $1) }
    }

    /// `lhs / rhs`
    @_disfavoredOverload
    public static func / (lhs: AssociationAggregate, rhs: some SQLExpressible) -> AssociationAggregate {
        let rhs = rhs.sqlExpression
        return lhs.map { .infix($0, .divided, rhs) }
    }

    /// `lhs / rhs`
    @_disfavoredOverload
    public static func / (lhs: some SQLExpressible, rhs: AssociationAggregate) -> AssociationAggregate {
        let lhs = lhs.sqlExpression
        return rhs.map { .infix(lhs, .divided, $0) }
    }

    /// `lhs / rhs`
    @_disfavoredOverload
    public static func / (lhs: AssociationAggregate, rhs: AssociationAggregate) -> AssociationAggregate {
        combine(lhs, rhs) { .infix($0, .divided, $1) }
    }

    /// `lhs + rhs`
    @_disfavoredOverload
    public static func + (lhs: AssociationAggregate, rhs: some SQLExpressible) -> AssociationAggregate {
        let rhs = rhs.sqlExpression
        return lhs.map { .association($0, .add, rhs) }
    }

    /// `lhs + rhs`
    @_disfavoredOverload
    public static func + (lhs: some SQLExpressible, rhs: AssociationAggregate) -> AssociationAggregate {
        let lhs = lhs.sqlExpression
        return rhs.map { .association(lhs, .add, $0) }
    }

    /// `lhs + rhs`
    @_disfavoredOverload
    public static func + (lhs: AssociationAggregate, rhs: AssociationAggregate) -> AssociationAggregate {
        combine(lhs, rhs) { .association($0, .add, $1) }
    }

    /// `lhs * rhs`
    @_disfavoredOverload
    public static func * (lhs: AssociationAggregate, rhs: some SQLExpressible) -> AssociationAggregate {
        let rhs = rhs.sqlExpression
        return lhs.map { .association($0, .multiply, rhs) }
    }

    /// `lhs * rhs`
    @_disfavoredOverload
    public static func * (lhs: some SQLExpressible, rhs: AssociationAggregate) -> AssociationAggregate {
        let lhs = lhs.sqlExpression
        return rhs.map { .association(lhs, .multiply, $0) }
    }

    /// `lhs * rhs`
    @_disfavoredOverload
    public static func * (lhs: AssociationAggregate, rhs: AssociationAggregate) -> AssociationAggregate {
        combine(lhs, rhs) { .association($0, .multiply, $1) }
    }

    /// `lhs AND rhs`
    @_disfavoredOverload
    public static func && (lhs: AssociationAggregate, rhs: some SQLExpressible) -> AssociationAggregate {
        let rhs = rhs.sqlExpression
        return lhs.map { .association($0, .and, rhs) }
    }

    /// `lhs AND rhs`
    @_disfavoredOverload
    public static func && (lhs: some SQLExpressible, rhs: AssociationAggregate) -> AssociationAggregate {
        let lhs = lhs.sqlExpression
        return rhs.map { .association(lhs, .and, $0) }
    }

    /// `lhs AND rhs`
    @_disfavoredOverload
    public static func && (lhs: AssociationAggregate, rhs: AssociationAggregate) -> AssociationAggregate {
        combine(lhs, rhs) { .association($0, .and, $1) }
    }

    /// `lhs OR rhs`
    @_disfavoredOverload
    public static func || (lhs: AssociationAggregate, rhs: some SQLExpressible) -> AssociationAggregate {
        let rhs = rhs.sqlExpression
        return lhs.map { .association($0, .or, rhs) }
    }

    /// `lhs OR rhs`
    @_disfavoredOverload
    public static func || (lhs: some SQLExpressible, rhs: AssociationAggregate) -> AssociationAggregate {
        let lhs = lhs.sqlExpression
        return rhs.map { .association(lhs, .or, $0) }
    }

    /// `lhs OR rhs`
    @_disfavoredOverload
    public static func || (lhs: AssociationAggregate, rhs: AssociationAggregate) -> AssociationAggregate {
        combine(lhs, rhs) { .association($0, .or, $1) }
    }

    /// `-x`
    public static prefix func - (aggregate: AssociationAggregate) -> AssociationAggregate {
        aggregate.map { -$0 }
    }

    /// The aggregate, or another value if it is NULL: `IFNULL(MAX("player"."score"), 0)`. The column keeps its name.
    @_disfavoredOverload
    public static func ?? (lhs: AssociationAggregate, rhs: some SQLExpressible) -> AssociationAggregate {
        let rhs = rhs.sqlExpression
        return lhs.map(key: lhs.key) { $0 ?? rhs }
    }
}

// MARK: - Functions

/// The absolute value of an aggregate: `ABS(SUM("player"."score"))`.
///
/// ```swift
/// let teams = try Team.having(abs(Team.players.sum(Column("score"))) > 100).fetchAll(db)
/// ```
///
/// See <https://www.sqlite.org/lang_corefunc.html#abs>.
public func abs<RowDecoder>(_ aggregate: AssociationAggregate<RowDecoder>) -> AssociationAggregate<RowDecoder> {
    aggregate.map { abs($0) }
}

/// The length of an aggregate: `LENGTH(MAX("player"."name"))`.
///
/// ```swift
/// let teams = try Team.having(length(Team.players.max(Column("name"))) > 10).fetchAll(db)
/// ```
///
/// See <https://www.sqlite.org/lang_corefunc.html#length>.
public func length<RowDecoder>(_ aggregate: AssociationAggregate<RowDecoder>) -> AssociationAggregate<RowDecoder> {
    aggregate.map { length($0) }
}

/// An aggregate as a value of another type: `CAST(MAX("player"."score") AS TEXT)`. The column keeps its name.
///
/// ```swift
/// let request = Team.annotated(with: cast(Team.players.max(Column("score")), as: .text)) // maxPlayerScore
/// ```
///
/// See <https://www.sqlite.org/lang_expr.html#castexpr>.
public func cast<RowDecoder>(
    _ aggregate: AssociationAggregate<RowDecoder>, as type: SQLColumnType
) -> AssociationAggregate<RowDecoder> {
    aggregate.map(key: aggregate.key) { cast($0, as: type) }
}
