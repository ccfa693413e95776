public import QuarryCore

// Comparisons: <https://www.sqlite.org/datatype3.html#comparison_expressions>. Each operator has two overloads: with an
// expression on the left, and on the right. The compiler tries the second only if the first doesn't fit. If both had
// the same priority, a condition of a dozen terms would take seconds to compile.

extension SQLSpecificExpressible {
    /// `lhs = rhs`; with nil, `lhs IS NULL`.
    public static func == (lhs: Self, rhs: (any SQLExpressible)?) -> SQLExpression {
        .equality(lhs.sqlExpression, .equal, rhs?.sqlExpression ?? .null)
    }

    /// `lhs = rhs`; with nil, `lhs IS NULL`.
    @_disfavoredOverload
    public static func == (lhs: (any SQLExpressible)?, rhs: Self) -> SQLExpression {
        .equality(lhs?.sqlExpression ?? .null, .equal, rhs.sqlExpression)
    }

    /// `lhs <> rhs`; with nil, `lhs IS NOT NULL`.
    public static func != (lhs: Self, rhs: (any SQLExpressible)?) -> SQLExpression {
        .equality(lhs.sqlExpression, .notEqual, rhs?.sqlExpression ?? .null)
    }

    /// `lhs <> rhs`; with nil, `lhs IS NOT NULL`.
    @_disfavoredOverload
    public static func != (lhs: (any SQLExpressible)?, rhs: Self) -> SQLExpression {
        .equality(lhs?.sqlExpression ?? .null, .notEqual, rhs.sqlExpression)
    }

    /// `lhs IS rhs`: NULL equals NULL.
    public static func === (lhs: Self, rhs: (any SQLExpressible)?) -> SQLExpression {
        .equality(lhs.sqlExpression, .is, rhs?.sqlExpression ?? .null)
    }

    /// `lhs IS rhs`: NULL equals NULL.
    @_disfavoredOverload
    public static func === (lhs: (any SQLExpressible)?, rhs: Self) -> SQLExpression {
        .equality(lhs?.sqlExpression ?? .null, .is, rhs.sqlExpression)
    }

    /// `lhs IS NOT rhs`: NULL equals NULL.
    public static func !== (lhs: Self, rhs: (any SQLExpressible)?) -> SQLExpression {
        .equality(lhs.sqlExpression, .isNot, rhs?.sqlExpression ?? .null)
    }

    /// `lhs IS NOT rhs`: NULL equals NULL.
    @_disfavoredOverload
    public static func !== (lhs: (any SQLExpressible)?, rhs: Self) -> SQLExpression {
        .equality(lhs?.sqlExpression ?? .null, .isNot, rhs.sqlExpression)
    }

    /// `lhs < rhs`
    public static func < (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .infix(lhs.sqlExpression, .less, rhs.sqlExpression)
    }

    /// `lhs < rhs`
    @_disfavoredOverload
    public static func < (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .infix(lhs.sqlExpression, .less, rhs.sqlExpression)
    }

    /// `lhs <= rhs`
    public static func <= (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .infix(lhs.sqlExpression, .lessOrEqual, rhs.sqlExpression)
    }

    /// `lhs <= rhs`
    @_disfavoredOverload
    public static func <= (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .infix(lhs.sqlExpression, .lessOrEqual, rhs.sqlExpression)
    }

    /// `lhs > rhs`
    public static func > (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .infix(lhs.sqlExpression, .greater, rhs.sqlExpression)
    }

    /// `lhs > rhs`
    @_disfavoredOverload
    public static func > (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .infix(lhs.sqlExpression, .greater, rhs.sqlExpression)
    }

    /// `lhs >= rhs`
    public static func >= (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .infix(lhs.sqlExpression, .greaterOrEqual, rhs.sqlExpression)
    }

    /// `lhs >= rhs`
    @_disfavoredOverload
    public static func >= (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .infix(lhs.sqlExpression, .greaterOrEqual, rhs.sqlExpression)
    }
}

extension SQLExpression {
    /// `NULL`
    static var null: SQLExpression { SQLExpression(content: .value(.null)) }
}
