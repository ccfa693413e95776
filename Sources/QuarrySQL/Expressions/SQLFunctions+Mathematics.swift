public import QuarryCore

// <https://www.sqlite.org/lang_mathfunc.html>. If SQLite is built without these functions, a request that uses one
// throws.

extension SQLExpression {
    fileprivate static func mathematics(_ name: String, _ arguments: SQLExpression...) -> SQLExpression {
        .function(name, arguments, .mathFunctions)
    }
}

/// The number rounded to some decimal places, as a real: `ROUND(x, digits)`.
///
/// ```swift
/// Player.select(round(average(Column("score")), 1))
/// ```
/// ```sql
/// SELECT ROUND(AVG("score"), 1) FROM "player"
/// ```
///
/// See <https://www.sqlite.org/lang_corefunc.html#round>.
public func round(_ value: some SQLSpecificExpressible, _ digits: Int = 0) -> SQLExpression {
    .function("ROUND", [value.sqlExpression] + (digits == 0 ? [] : [digits.sqlExpression]))
}

/// The sign of the number, -1, 0 or 1: `SIGN(x)`. See <https://www.sqlite.org/lang_corefunc.html#sign>.
public func sign(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("SIGN", [value.sqlExpression]) }

/// The smallest integer that isn't less than the number: `CEIL(x)`.
public func ceil(_ value: some SQLSpecificExpressible) -> SQLExpression { .mathematics("CEIL", value.sqlExpression) }

/// The largest integer that isn't greater than the number: `FLOOR(x)`.
public func floor(_ value: some SQLSpecificExpressible) -> SQLExpression { .mathematics("FLOOR", value.sqlExpression) }

/// The integer part: `TRUNC(x)`.
public func trunc(_ value: some SQLSpecificExpressible) -> SQLExpression { .mathematics("TRUNC", value.sqlExpression) }

/// The remainder of a division, also for reals: `MOD(x, y)`.
///
/// ```swift
/// Player.select(mod(Column("score"), 2.5))
/// ```
/// ```sql
/// SELECT MOD("score", 2.5) FROM "player"
/// ```
public func mod(_ value: some SQLSpecificExpressible, _ divisor: some SQLExpressible) -> SQLExpression {
    .mathematics("MOD", value.sqlExpression, divisor.sqlExpression)
}

/// The square root: `SQRT(x)`; NULL for a negative number.
public func sqrt(_ value: some SQLSpecificExpressible) -> SQLExpression { .mathematics("SQRT", value.sqlExpression) }

/// A power: `POW(x, y)`.
public func pow(_ base: some SQLSpecificExpressible, _ exponent: some SQLExpressible) -> SQLExpression {
    .mathematics("POW", base.sqlExpression, exponent.sqlExpression)
}

/// A power of e: `EXP(x)`.
public func exp(_ value: some SQLSpecificExpressible) -> SQLExpression { .mathematics("EXP", value.sqlExpression) }

/// The natural logarithm: `LN(x)`.
///
/// SQLite's `LOG(x)` has base 10: ``log10(_:)``.
public func ln(_ value: some SQLSpecificExpressible) -> SQLExpression { .mathematics("LN", value.sqlExpression) }

/// The logarithm to base 2: `LOG2(x)`.
public func log2(_ value: some SQLSpecificExpressible) -> SQLExpression { .mathematics("LOG2", value.sqlExpression) }

/// The logarithm to base 10: `LOG10(x)`.
public func log10(_ value: some SQLSpecificExpressible) -> SQLExpression { .mathematics("LOG10", value.sqlExpression) }

/// The logarithm to a given base: `LOG(base, x)`.
public func log(_ value: some SQLSpecificExpressible, base: some SQLExpressible) -> SQLExpression {
    .mathematics("LOG", base.sqlExpression, value.sqlExpression)
}

/// The sine of an angle in radians: `SIN(x)`.
public func sin(_ angle: some SQLSpecificExpressible) -> SQLExpression { .mathematics("SIN", angle.sqlExpression) }

/// The cosine of an angle in radians: `COS(x)`.
///
/// ```swift
/// // Kilometres between places on a sphere of a radius of 6371 km.
/// let (phi, lambda) = (radians(Column("latitude")), radians(Column("longitude")))
/// Place.order(acos(sin(phi) * sin(phi0) + cos(phi) * cos(phi0) * cos(lambda - lambda0)) * 6371)
/// ```
public func cos(_ angle: some SQLSpecificExpressible) -> SQLExpression { .mathematics("COS", angle.sqlExpression) }

/// The tangent of an angle in radians: `TAN(x)`.
public func tan(_ angle: some SQLSpecificExpressible) -> SQLExpression { .mathematics("TAN", angle.sqlExpression) }

/// The arc sine, in radians: `ASIN(x)`.
public func asin(_ value: some SQLSpecificExpressible) -> SQLExpression { .mathematics("ASIN", value.sqlExpression) }

/// The arc cosine, in radians: `ACOS(x)`.
public func acos(_ value: some SQLSpecificExpressible) -> SQLExpression { .mathematics("ACOS", value.sqlExpression) }

/// The arc tangent, in radians: `ATAN(x)`.
public func atan(_ value: some SQLSpecificExpressible) -> SQLExpression { .mathematics("ATAN", value.sqlExpression) }

/// The angle of a point, in radians: `ATAN2(y, x)`.
public func atan2(_ y: some SQLSpecificExpressible, _ x: some SQLExpressible) -> SQLExpression {
    .mathematics("ATAN2", y.sqlExpression, x.sqlExpression)
}

/// The hyperbolic sine: `SINH(x)`.
public func sinh(_ value: some SQLSpecificExpressible) -> SQLExpression { .mathematics("SINH", value.sqlExpression) }

/// The hyperbolic cosine: `COSH(x)`.
public func cosh(_ value: some SQLSpecificExpressible) -> SQLExpression { .mathematics("COSH", value.sqlExpression) }

/// The hyperbolic tangent: `TANH(x)`.
public func tanh(_ value: some SQLSpecificExpressible) -> SQLExpression { .mathematics("TANH", value.sqlExpression) }

/// Degrees converted to radians: `RADIANS(x)`.
public func radians(_ degrees: some SQLSpecificExpressible) -> SQLExpression {
    .mathematics("RADIANS", degrees.sqlExpression)
}

/// Radians converted to degrees: `DEGREES(x)`.
public func degrees(_ radians: some SQLSpecificExpressible) -> SQLExpression {
    .mathematics("DEGREES", radians.sqlExpression)
}

extension SQLExpression {
    /// A random integer of 64 bits: `RANDOM()`. See <https://www.sqlite.org/lang_corefunc.html#random>.
    ///
    /// ```swift
    /// Player.order(SQLExpression.random).limit(3)
    /// ```
    /// ```sql
    /// SELECT * FROM "player" ORDER BY RANDOM() LIMIT 3
    /// ```
    public static var random: SQLExpression { .function("RANDOM", []) }

    /// Some random bytes: `RANDOMBLOB(count)`. See <https://www.sqlite.org/lang_corefunc.html#randomblob>.
    public static func randomBlob(_ count: Int) -> SQLExpression { .function("RANDOMBLOB", [count.sqlExpression]) }

    /// The number pi: `PI()`. See <https://www.sqlite.org/lang_mathfunc.html#pi>.
    public static var pi: SQLExpression { .function("PI", [], .mathFunctions) }
}
