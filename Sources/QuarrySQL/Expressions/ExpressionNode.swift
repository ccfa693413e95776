package import QuarryCore

/// An expression composed of other expressions.
package final class ExpressionNode: SQLExpressionNode {
    // Unchecked: `kind` changes only when the node is destroyed, when no other reference is left.
    @exclusivity(unchecked) package private(set) nonisolated(unsafe) var kind: Kind

    /// The depth of nested expressions, including this one.
    let depth: Int32

    /// Whether the node is a list to which operands were added one by one. Operands with the same operator are then
    /// written as operands of this node.
    let isLong: Bool

    init(_ kind: Kind, isLong: Bool = false) {
        self.kind = kind
        depth = Int32(clamping: kind.innerDepth + 1)
        self.isLong = isLong
    }

    /// - parameter operands: the operands, if `kind` is only known once a schema is available.
    init(_ kind: Kind, of operands: [SQLExpression]) {
        self.kind = kind
        depth = Int32(clamping: operands.reduce(0) { max($0, $1.depth) } + 1)
        isLong = false
    }

    deinit {
        if depth > NestingDepth.ofFlatDestruction || isLong { destroyFlatly() }
    }

    @inline(never)
    private func destroyFlatly() { if FlatDestruction.add(taken()) { FlatDestruction.finish() } }

    private func taken() -> FlatDestruction.Part {
        defer { kind = .rowValue([]) }
        return .expression(kind)
    }

    /// Whether the node is a list of an operator's operands, to which more can be added.
    func isOfLong(_ association: AssociativeOperator) -> Bool {
        if association.isFlattened, case .association(_, association) = kind { true } else { false }
    }

    package enum Kind: Sendable {
        /// `"alias"."name"`
        case aliasedColumn(String, TableIdentity)
        /// `"name"`, whatever tables the query has.
        case detachedColumn(String)
        /// Raw SQL.
        case sql(SQL)
        /// `lhs = rhs`, `lhs IS NULL`
        case equality(SQLExpression, Equality, SQLExpression)
        /// `lhs < rhs`, `lhs - rhs`
        case infix(SQLExpression, InfixOperator, SQLExpression)
        /// `a AND b AND c`
        case association([SQLExpression], AssociativeOperator)
        /// `-x`
        case prefix(PrefixOperator, SQLExpression)
        /// `x BETWEEN low AND high`
        case between(SQLExpression, SQLExpression, SQLExpression, isNegated: Bool)
        /// `x IN (a, b)`
        case inList(SQLExpression, [SQLExpression], isNegated: Bool)
        /// `x IN (SELECT …)`
        case inQuery(SQLExpression, SQLSubquery, isNegated: Bool)
        /// `x LIKE pattern ESCAPE character`
        case pattern(SQLExpression, PatternOperator, SQLExpression, escape: SQLExpression?, isNegated: Bool)
        /// `(SELECT …)`
        case subquery(SQLSubquery)
        /// `EXISTS (SELECT …)`
        case exists(SQLSubquery, isNegated: Bool)
        /// `NAME(x, y)`
        case function(FunctionCall)
        /// `CAST(x AS TEXT)`
        case cast(SQLExpression, String)
        /// `x COLLATE NOCASE`
        case collated(SQLExpression, SQLCollationName)
        /// `"alias"."id" IS NOT NULL`: whether an optional join has found a row.
        case rowExists(TableIdentity, isNegated: Bool)
        /// `"alias"."id"`: a value that identifies a row of a table. NULL if an optional join has found no row.
        case rowIdentity(TableIdentity)
        /// `0`: the index of a column among the columns of its table.
        case columnNumber(String, table: String)
        /// `"id" = 1`: rows by their primary key, or by the columns of a unique key.
        case key(KeyCondition)
        /// `CASE WHEN x THEN y ELSE z END`
        case choice(CaseExpression)
        /// `(x, y)`
        case rowValue([SQLExpression])
        /// An expression whose columns belong to a table.
        case of(TableIdentity, SQLExpression)
        /// A function of the schema, for an expression that is only known once a schema is available.
        case deferred(@Sendable (any QuerySchema) throws -> SQLExpression)
    }
}

extension SQLExpression {
    package static func node(_ kind: ExpressionNode.Kind) -> SQLExpression {
        SQLExpression(content: .node(ExpressionNode(kind)))
    }

    /// The node; nil for a value or a column.
    var node: ExpressionNode? {
        guard case .node(let node) = content else { return nil }
        // No other type conforms.
        return unsafeDowncast(node, to: ExpressionNode.self)
    }

    /// The kind of the node; nil for a value or a column.
    package var kind: ExpressionNode.Kind? { node?.kind }

    /// Whether the expression is the value NULL.
    var isNull: Bool {
        if case .value(let value) = content { value.isNull } else { false }
    }
}

extension ExpressionNode {
    package enum Equality: Sendable {
        case equal, notEqual, `is`, isNot

        var negated: Equality {
            switch self {
            case .equal: .notEqual
            case .notEqual: .equal
            case .is: .isNot
            case .isNot: .is
            }
        }
    }

    package enum InfixOperator: String, Sendable {
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case plus = "+"
        case minus = "-"
        case times = "*"
        case divided = "/"
        case modulo = "%"
        case shiftLeft = "<<"
        case shiftRight = ">>"
        case jsonExtract = "->"
        case jsonExtractSQL = "->>"

        /// Whether the operator is a comparison, to which the collation of one side applies.
        var isComparison: Bool {
            switch self {
            case .less, .lessOrEqual, .greater, .greaterOrEqual: true
            default: false
            }
        }
    }

    package enum AssociativeOperator: String, Sendable {
        case and = "AND"
        case or = "OR"
        case add = "+"
        case multiply = "*"
        case concat = "||"
        case bitwiseAnd = "&"
        case bitwiseOr = "|"

        /// The result without operands.
        var neutral: DatabaseValue {
            switch self {
            case .and, .multiply: 1.databaseValue
            case .or, .add, .bitwiseOr: 0.databaseValue
            case .bitwiseAnd: (-1).databaseValue
            case .concat: "".databaseValue
            }
        }

        /// Whether nested operands of the same operator need no parentheses.
        var isFlattened: Bool {
            switch self {
            // Sums and products of reals depend on the order of evaluation.
            case .add, .multiply: false
            default: true
            }
        }
    }

    package enum PrefixOperator: String, Sendable {
        case minus = "-"
        case complement = "~"
        case not = "NOT "
    }

    package enum PatternOperator: String, Sendable {
        case like = "LIKE"
        case glob = "GLOB"
        case regexp = "REGEXP"
        case match = "MATCH"
    }

    /// A condition that selects rows by keys.
    package enum KeyCondition: Sendable {
        /// Values of a primary key with one column, converted once the column is known.
        case values(count: Int, @Sendable (_ column: String) -> [DatabaseValue])
        /// Values of columns.
        case columns([[String: DatabaseValue]])
    }
}

/// `NAME(DISTINCT x, y ORDER BY z) FILTER (WHERE c) OVER (…)`
package struct FunctionCall: Sendable {
    package var name: String
    package var arguments: [SQLExpression]
    /// `COUNT(*)`
    package var takesRow = false
    package var isDistinct = false
    package var ordering: [SQLOrdering] = []
    package var filter: SQLExpression?
    package var window: WindowReference?
    package var isAggregate = false
    /// Whether the result is JSON, which remains JSON inside other JSON.
    package var isJSON = false
    package var requirement: SQLiteRequirement?

    package init(_ name: String, _ arguments: [SQLExpression]) {
        self.name = name
        self.arguments = arguments
    }
}

/// `OVER name` or `OVER (…)`: <https://www.sqlite.org/windowfunctions.html>.
package enum WindowReference: Sendable {
    case named(String)
    case defined(WindowDefinition)
}

/// `(base PARTITION BY x ORDER BY y ROWS …)`
package struct WindowDefinition: Sendable {
    package var base: String?
    package var partition: [SQLExpression] = []
    package var ordering: [SQLOrdering] = []
    /// `ROWS BETWEEN 1 PRECEDING AND CURRENT ROW`
    package var frame: String?

    package init() {}
}

/// `CASE base WHEN x THEN y ELSE z END`
package struct CaseExpression: Sendable {
    package var base: SQLExpression?
    package var branches: [(condition: SQLExpression, result: SQLExpression)]
    /// nil for NULL.
    package var otherwise: SQLExpression?

    package init(
        base: SQLExpression? = nil, branches: [(condition: SQLExpression, result: SQLExpression)],
        otherwise: SQLExpression?
    ) {
        self.base = base
        self.branches = branches
        self.otherwise = otherwise
    }
}
