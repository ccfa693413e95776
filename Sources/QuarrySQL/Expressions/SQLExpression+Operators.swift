public import QuarryCore

// Arithmetic, bits and logic: <https://www.sqlite.org/lang_expr.html#operators_and_parse_affecting_attributes>.

extension SQLSpecificExpressible {
    /// `lhs + rhs`
    public static func + (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .infix(lhs.sqlExpression, .plus, rhs.sqlExpression)
    }

    /// `lhs + rhs`
    @_disfavoredOverload
    public static func + (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .infix(lhs.sqlExpression, .plus, rhs.sqlExpression)
    }

    /// `lhs - rhs`
    public static func - (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .infix(lhs.sqlExpression, .minus, rhs.sqlExpression)
    }

    /// `lhs - rhs`
    @_disfavoredOverload
    public static func - (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .infix(lhs.sqlExpression, .minus, rhs.sqlExpression)
    }

    /// `lhs * rhs`
    public static func * (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .infix(lhs.sqlExpression, .times, rhs.sqlExpression)
    }

    /// `lhs * rhs`
    @_disfavoredOverload
    public static func * (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .infix(lhs.sqlExpression, .times, rhs.sqlExpression)
    }

    /// `lhs / rhs`
    public static func / (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .infix(lhs.sqlExpression, .divided, rhs.sqlExpression)
    }

    /// `lhs / rhs`
    @_disfavoredOverload
    public static func / (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .infix(lhs.sqlExpression, .divided, rhs.sqlExpression)
    }

    /// `lhs % rhs`
    public static func % (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .infix(lhs.sqlExpression, .modulo, rhs.sqlExpression)
    }

    /// `lhs % rhs`
    @_disfavoredOverload
    public static func % (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .infix(lhs.sqlExpression, .modulo, rhs.sqlExpression)
    }

    /// `lhs << rhs`
    public static func << (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .infix(lhs.sqlExpression, .shiftLeft, rhs.sqlExpression)
    }

    /// `lhs << rhs`
    @_disfavoredOverload
    public static func << (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .infix(lhs.sqlExpression, .shiftLeft, rhs.sqlExpression)
    }

    /// `lhs >> rhs`
    public static func >> (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .infix(lhs.sqlExpression, .shiftRight, rhs.sqlExpression)
    }

    /// `lhs >> rhs`
    @_disfavoredOverload
    public static func >> (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .infix(lhs.sqlExpression, .shiftRight, rhs.sqlExpression)
    }

    /// `lhs & rhs`
    public static func & (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .association(lhs.sqlExpression, .bitwiseAnd, rhs.sqlExpression)
    }

    /// `lhs & rhs`
    @_disfavoredOverload
    public static func & (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .association(lhs.sqlExpression, .bitwiseAnd, rhs.sqlExpression)
    }

    /// `lhs | rhs`
    public static func | (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .association(lhs.sqlExpression, .bitwiseOr, rhs.sqlExpression)
    }

    /// `lhs | rhs`
    @_disfavoredOverload
    public static func | (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .association(lhs.sqlExpression, .bitwiseOr, rhs.sqlExpression)
    }

    /// `-x`
    public static prefix func - (value: Self) -> SQLExpression { .node(.prefix(.minus, value.sqlExpression)) }

    /// `~x`: all bits inverted.
    public static prefix func ~ (value: Self) -> SQLExpression { .node(.prefix(.complement, value.sqlExpression)) }

    // MARK: - Logic

    // Swift values are disfavored. Otherwise, when two columns are compared in a larger condition, the compiler would
    // compare them in Swift, and the result would be a constant.

    /// `lhs AND rhs`
    public static func && (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .association(lhs.sqlExpression, .and, rhs.sqlExpression)
    }

    /// `lhs AND rhs`
    @_disfavoredOverload
    public static func && (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .association(lhs.sqlExpression, .and, rhs.sqlExpression)
    }

    /// `lhs AND rhs`
    @_disfavoredOverload
    public static func && (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .association(lhs.sqlExpression, .and, rhs.sqlExpression)
    }

    /// `lhs OR rhs`
    public static func || (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .association(lhs.sqlExpression, .or, rhs.sqlExpression)
    }

    /// `lhs OR rhs`
    @_disfavoredOverload
    public static func || (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .association(lhs.sqlExpression, .or, rhs.sqlExpression)
    }

    /// `lhs OR rhs`
    @_disfavoredOverload
    public static func || (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .association(lhs.sqlExpression, .or, rhs.sqlExpression)
    }

    /// The negation: `x <> y` for `x = y`, `NOT IN` for `IN`, otherwise `NOT x`.
    public static prefix func ! (value: Self) -> SQLExpression { value.sqlExpression.negated }

    /// The first value that isn't NULL: `IFNULL(lhs, rhs)`.
    public static func ?? (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .function("IFNULL", [lhs.sqlExpression, rhs.sqlExpression])
    }
}

extension SQLExpression {
    // A non-generic overload ends the compiler's search: the longest filter of Tests/TypeChecking takes 0.09 s with it,
    // and 4.5 s without it.

    /// The negation: `x <> y` for `x = y`, `NOT IN` for `IN`, otherwise `NOT x`.
    public static prefix func ! (value: SQLExpression) -> SQLExpression { value.negated }
}
