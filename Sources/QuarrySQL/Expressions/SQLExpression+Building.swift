public import QuarryCore

extension SQLExpression {
    /// `lhs = rhs`; `IS` if one side is NULL, because nothing equals NULL.
    static func equality(_ lhs: SQLExpression, _ equality: ExpressionNode.Equality, _ rhs: SQLExpression)
        -> SQLExpression
    {
        if lhs.isNull, !rhs.isNull { return .equality(rhs, equality, lhs) }
        return collating(lhs, rhs) { lhs, rhs in
            guard rhs.isNull else { return .node(.equality(lhs, equality, rhs)) }
            return .node(.equality(lhs, equality == .equal || equality == .is ? .is : .isNot, rhs))
        }
    }

    /// `lhs < rhs`
    static func infix(_ lhs: SQLExpression, _ infix: ExpressionNode.InfixOperator, _ rhs: SQLExpression)
        -> SQLExpression
    {
        guard infix.isComparison else { return .node(.infix(lhs, infix, rhs)) }
        return collating(lhs, rhs) { .node(.infix($0, infix, $1)) }
    }

    /// A comparison takes over the collation of its operands: `"name" = 'arthur' COLLATE NOCASE`. It leaves an operand
    /// that is a comparison with its collation, `("name" = 'arthur' COLLATE NOCASE) = 1`.
    private static func collating(
        _ lhs: SQLExpression, _ rhs: SQLExpression, _ comparison: (SQLExpression, SQLExpression) -> SQLExpression
    ) -> SQLExpression {
        if case .collated(let lhs, let collation) = lhs.kind, !lhs.appliesCollation {
            return .node(.collated(comparison(lhs, rhs), collation))
        }
        if case .collated(let rhs, let collation) = rhs.kind, !rhs.appliesCollation {
            return .node(.collated(comparison(lhs, rhs), collation))
        }
        return comparison(lhs, rhs)
    }

    /// `lhs AND rhs`, without parentheses around operands that are themselves ANDs.
    static func association(
        _ lhs: SQLExpression, _ association: ExpressionNode.AssociativeOperator, _ rhs: SQLExpression
    ) -> SQLExpression {
        var operands: [SQLExpression] = []
        let isLong = lhs.add(to: &operands, of: association)
        let isLongToo = rhs.add(to: &operands, of: association)
        return SQLExpression(
            content: .node(ExpressionNode(.association(operands, association), isLong: isLong || isLongToo)))
    }

    /// Appends the expression; or its operands, if they are few, because a list that grows in a loop must not be copied
    /// each time.
    ///
    /// - returns: whether an appended expression has the same operator.
    private func add(to list: inout [SQLExpression], of association: ExpressionNode.AssociativeOperator) -> Bool {
        if association.isFlattened, let node, case .association(let operands, association) = node.kind {
            if operands.count < 32 {
                list += operands
                return node.isLong
            }
            list.append(self)
            return true
        }
        list.append(self)
        return false
    }

    /// The operands of an operator, to be written side by side.
    package func operands(of association: ExpressionNode.AssociativeOperator) -> [SQLExpression] {
        guard let node, case .association(let operands, association) = node.kind else { return [self] }
        guard node.isLong else { return operands }
        var list: [SQLExpression] = []
        var pending: [SQLExpression] = operands.reversed()
        while let operand = pending.popLast() {
            if let node = operand.node, case .association(let operands, association) = node.kind {
                pending += operands.reversed()
            } else {
                list.append(operand)
            }
        }
        return list
    }

    /// The opposite, by another operator if one exists.
    var negated: SQLExpression {
        switch kind {
        case .equality(let lhs, let equality, let rhs): .node(.equality(lhs, equality.negated, rhs))
        case .between(let value, let low, let high, let isNegated):
            .node(.between(value, low, high, isNegated: !isNegated))
        case .inList(let value, let list, let isNegated): .node(.inList(value, list, isNegated: !isNegated))
        case .inQuery(let value, let query, let isNegated): .node(.inQuery(value, query, isNegated: !isNegated))
        // Full-text search has no NOT MATCH.
        case .pattern(let value, let pattern, let text, let escape, let isNegated) where pattern != .match:
            .node(.pattern(value, pattern, text, escape: escape, isNegated: !isNegated))
        case .exists(let query, let isNegated): .node(.exists(query, isNegated: !isNegated))
        case .rowExists(let table, let isNegated): .node(.rowExists(table, isNegated: !isNegated))
        case .collated(let expression, let collation) where expression.isComparison:
            .node(.collated(expression.negated, collation))
        default: .node(.prefix(.not, self))
        }
    }

    /// Whether a collation of the expression applies to comparisons inside of it, rather than to its value.
    private var appliesCollation: Bool {
        switch kind {
        case .association(_, let association): association == .and || association == .or
        case .prefix(.not, _): true
        case .of(_, let expression): expression.appliesCollation
        // Only known once a schema is available.
        case .deferred: true
        default: isComparison
        }
    }

    private var isComparison: Bool {
        switch kind {
        case .equality, .between, .inList, .inQuery: true
        case .infix(_, let infix, _): infix.isComparison
        default: false
        }
    }

    /// `x IN (a, b)`; `x = a` for a single value.
    package static func membership(of value: SQLExpression, in list: [SQLExpression]) -> SQLExpression {
        if list.count == 1 { return .equality(value, .equal, list[0]) }
        // A list can't hold row values: https://www.sqlite.org/rowvalue.html#row_value_in_operators
        if case .rowValue = value.kind, !list.isEmpty { return ValueList(rowValues: list).contains(value) }
        return .node(.inList(value, list, isNegated: false))
    }

    /// `(x, y) IN "name"`: a table that WITH defines.
    package static func membership(of values: [SQLExpression], inTable name: String) -> SQLExpression {
        .node(.inQuery(.node(.rowValue(values)), SQLSubquery(content: .name(name)), isNegated: false))
    }

    /// The condition that columns are equal to values.
    package static func equalities(_ pairs: [(column: String, value: DatabaseValue)]) -> SQLExpression {
        joining(
            pairs.map { .equality(SQLExpression(content: .column($0.column)), .equal, $0.value.sqlExpression) }, .and)
    }

    /// A condition that no row satisfies: `0`.
    package static var nothing: SQLExpression { .node(.inList(.null, [], isNegated: false)) }

    /// An expression that is only known once a schema is available.
    package static func deferred(
        _ expression: @escaping @Sendable (any QuerySchema) throws -> SQLExpression
    ) -> SQLExpression {
        .node(.deferred(expression))
    }

    /// An expression of operands that is only known once a schema is available.
    package static func deferred(
        _ operands: [SQLExpression], _ expression: @escaping @Sendable (any QuerySchema) throws -> SQLExpression
    ) -> SQLExpression {
        SQLExpression(content: .node(ExpressionNode(.deferred(expression), of: operands)))
    }
}

extension SQLExpression {
    /// Operators whose result doesn't depend on the grouping of their operands.
    public struct AssociativeBinaryOperator: Hashable, Sendable {
        let kind: ExpressionNode.AssociativeOperator

        /// `AND`; true without operands.
        public static let and = AssociativeBinaryOperator(kind: .and)
        /// `OR`; false without operands.
        public static let or = AssociativeBinaryOperator(kind: .or)
        /// `+`; 0 without operands.
        public static let add = AssociativeBinaryOperator(kind: .add)
        /// `*`; 1 without operands.
        public static let multiply = AssociativeBinaryOperator(kind: .multiply)
        /// `||`; the empty text without operands.
        public static let concat = AssociativeBinaryOperator(kind: .concat)
        /// `&`; -1, all bits, without operands.
        public static let bitwiseAnd = AssociativeBinaryOperator(kind: .bitwiseAnd)
        /// `|`; 0 without operands.
        public static let bitwiseOr = AssociativeBinaryOperator(kind: .bitwiseOr)
    }
}

extension Sequence where Element: SQLSpecificExpressible {
    /// The elements, combined by an operator.
    ///
    /// ```swift
    /// [Column("score") > 10, Column("name") != nil].joined(operator: .and)
    /// ```
    /// ```sql
    /// ("score" > 10) AND ("name" IS NOT NULL)
    /// ```
    public func joined(operator: SQLExpression.AssociativeBinaryOperator) -> SQLExpression {
        joining(map(\.sqlExpression), `operator`.kind)
    }
}

extension Sequence where Element == any SQLExpressible {
    /// The elements, combined by an operator.
    public func joined(operator: SQLExpression.AssociativeBinaryOperator) -> SQLExpression {
        joining(map(\.sqlExpression), `operator`.kind)
    }
}

extension Sequence where Element == any SQLSpecificExpressible {
    /// The elements, combined by an operator.
    public func joined(operator: SQLExpression.AssociativeBinaryOperator) -> SQLExpression {
        joining(map(\.sqlExpression), `operator`.kind)
    }
}

private func joining(_ operands: [SQLExpression], _ association: ExpressionNode.AssociativeOperator) -> SQLExpression {
    switch operands.count {
    case 0: SQLExpression(content: .value(association.neutral))
    case 1: operands[0]
    default: .node(.association(operands, association))
    }
}

extension SQLExpression {
    /// The condition that selects rows by a primary key with one column.
    ///
    /// - parameter count: the number of keys.
    /// - parameter values: the values of the keys, for a column with that name.
    package init(keys count: Int, _ values: @escaping @Sendable (_ column: String) -> [DatabaseValue]) {
        self = .node(.key(.values(count: count, values)))
    }
}
