public import QuarryCore

/// The assignment of a value to a column, by an UPDATE or an upsert.
///
/// ```swift
/// try Player.updateAll(db, Column("score") += 10, Column("bonus").set(to: nil))
/// ```
/// ```sql
/// UPDATE "player" SET "score" = "score" + 10, "bonus" = NULL
/// ```
public struct ColumnAssignment: Sendable {
    package let column: String

    /// nil for a column that an upsert doesn't overwrite.
    package let value: SQLExpression?

    package init(column: String, value: SQLExpression?) {
        self.column = column
        self.value = value
    }
}

extension ColumnExpression {
    /// Sets the column to a value: `"name" = 'Arthur'`; nil is NULL.
    public func set(to value: (any SQLExpressible)?) -> ColumnAssignment {
        ColumnAssignment(column: name, value: value?.sqlExpression ?? .null)
    }

    /// Keeps the column's value if the upsert updates an existing row.
    public var noOverwrite: ColumnAssignment { ColumnAssignment(column: name, value: nil) }

    private func set(_ infix: ExpressionNode.InfixOperator, _ value: some SQLExpressible) -> ColumnAssignment {
        ColumnAssignment(column: name, value: .infix(sqlExpression, infix, value.sqlExpression))
    }

    /// `"score" = "score" + 1`
    public static func += (column: Self, value: some SQLExpressible) -> ColumnAssignment { column.set(.plus, value) }

    /// `"score" = "score" - 1`
    public static func -= (column: Self, value: some SQLExpressible) -> ColumnAssignment { column.set(.minus, value) }

    /// `"score" = "score" * 2`
    public static func *= (column: Self, value: some SQLExpressible) -> ColumnAssignment { column.set(.times, value) }

    /// `"score" = "score" / 2`
    public static func /= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(.divided, value)
    }

    /// `"bits" = "bits" << 1`
    public static func <<= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(.shiftLeft, value)
    }

    /// `"bits" = "bits" >> 1`
    public static func >>= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(.shiftRight, value)
    }

    /// `"bits" = "bits" & 1`
    public static func &= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        ColumnAssignment(column: column.name, value: column.sqlExpression & value)
    }

    /// `"bits" = "bits" | 1`
    public static func |= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        ColumnAssignment(column: column.name, value: column.sqlExpression | value)
    }
}
