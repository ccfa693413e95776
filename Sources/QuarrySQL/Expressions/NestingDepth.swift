package import QuarryCore

// Expressions and queries are trees, which loops can build to any depth. A function that walks a tree calls itself for
// each level, and the stack overflows after some thousand levels. So each node records its depth when it is made, and
// those functions stop at a limit.

/// The limits of nesting in expressions and queries.
enum NestingDepth {
    /// The depth that SQLite accepts, unless built otherwise: <https://www.sqlite.org/limits.html#max_expr_depth>.
    static let maximum = 1000

    /// The number of levels that a nested query counts as: SQLite accepts some dozens of them, and each needs more
    /// stack than an expression.
    static let ofQuery = 4

    /// The number of levels that a joined table adds to its own: SQLite joins up to 64 tables.
    static let ofJoin = 10

    /// From this depth on, parts are destroyed one after another.
    static let ofFlatDestruction = 64

    static var error: DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_ERROR,
            message: "a request is nested too deeply: SQLite accepts expressions of up to \(maximum) levels")
    }
}

extension SQLExpression {
    /// The depth of nested expressions.
    package var depth: Int { node.map { Int($0.depth) } ?? 0 }

    /// Whether the expression is nested too deeply for SQLite. Such an expression is neither written nor changed.
    package var isTooDeep: Bool { depth > NestingDepth.maximum }
}

extension ExpressionNode.Kind {
    /// The depth of the deepest expression inside.
    var innerDepth: Int {
        switch self {
        case .aliasedColumn, .detachedColumn, .rowExists, .rowIdentity, .columnNumber, .key, .deferred: 0
        case .sql(let sql): sql.depth
        case .equality(let lhs, _, let rhs), .infix(let lhs, _, let rhs): max(lhs.depth, rhs.depth)
        case .association(let operands, let association):
            operands.reduce(0) { max($0, $1.depth(besideOperandsOf: association)) }
        case .prefix(_, let x), .cast(let x, _), .collated(let x, _), .of(_, let x): x.depth
        case .between(let x, let low, let high, _): max(x.depth, low.depth, high.depth)
        case .inList(let x, let list, _): max(x.depth, list.depth)
        case .inQuery(let x, let query, _): max(x.depth, query.depth)
        case .pattern(let x, _, let pattern, let escape, _): max(x.depth, pattern.depth, escape?.depth ?? 0)
        case .subquery(let query), .exists(let query, _): query.depth
        case .function(let call): call.depth
        case .choice(let choice):
            choice.branches.reduce(max(choice.base?.depth ?? 0, choice.otherwise?.depth ?? 0)) {
                max($0, $1.condition.depth, $1.result.depth)
            }
        case .rowValue(let values): values.depth
        }
    }
}

extension SQLExpression {
    /// The depth, if operands of the same operator are written side by side.
    fileprivate func depth(besideOperandsOf association: ExpressionNode.AssociativeOperator) -> Int {
        guard let node else { return 0 }
        return node.isOfLong(association) ? Int(node.depth) - 1 : Int(node.depth)
    }
}

extension [SQLExpression] {
    fileprivate var depth: Int { reduce(0) { Swift.max($0, $1.depth) } }
}

extension FunctionCall {
    fileprivate var depth: Int {
        var depth = max(arguments.depth, filter?.depth ?? 0)
        if !ordering.isEmpty { depth = max(depth, ordering.depth) }
        if case .defined(let window) = self.window { depth = max(depth, window.depth) }
        return depth
    }
}

extension WindowDefinition {
    fileprivate var depth: Int { max(partition.depth, ordering.depth) }
}

extension SQLOrdering {
    var depth: Int {
        switch content {
        case .expression(let x), .ascending(let x), .descending(let x), .ascendingNullsLast(let x),
            .descendingNullsFirst(let x):
            x.depth
        case .sql(let sql): sql.depth
        case .primaryKey, .deferred: 0
        }
    }
}

extension [SQLOrdering] {
    fileprivate var depth: Int { reduce(0) { Swift.max($0, $1.depth) } }
}

extension SQLSelection {
    var depth: Int {
        switch content {
        case .expression(let x), .named(let x, _): x.depth
        case .sql(let sql): sql.depth
        case .of(_, let selection): selection.depth
        case .allColumns, .allColumnsExcluding, .primaryKey, .deferred: 0
        }
    }
}

extension SQL {
    /// The depth of the deepest expression inside.
    var depth: Int {
        elements.reduce(0) { depth, element in
            switch element {
            case .fragment(let fragment): max(depth, fragment.nestingDepth)
            case .request(let sql): max(depth, sql.depth)
            case .sql, .value: depth
            }
        }
    }
}

extension SelectQuery {
    /// The depth of the deepest expression inside.
    var depth: Int {
        var depth = max(filter?.depth ?? 0, clauseDepth, ordering.depth)
        if let selection { depth = selection.reduce(depth) { max($0, $1.depth) } }
        switch source {
        case .query(let query): return max(depth, query.depth)
        case .function(_, let arguments, _): return max(depth, arguments.depth)
        case .table, .named: return depth
        }
    }
}

extension SelectQuery.Clauses {
    /// The depth of the deepest expression or table inside.
    var depth: Int {
        var depth = max(grouping.depth, having?.depth ?? 0)
        for join in joins { depth = max(depth, join.query.depth + NestingDepth.ofJoin) }
        for table in tables { depth = max(depth, table.query.depth) }
        for window in windows { depth = max(depth, window.definition.depth) }
        for compound in compounds { depth = max(depth, compound.query.depth) }
        for prefetch in prefetches {
            depth = prefetch.path.pivots.reduce(max(depth, prefetch.path.last.query.depth + 1)) {
                max($0, $1.query.depth + 1)
            }
        }
        if let ranking { depth = max(depth, ranking.partition.depth) }
        return depth
    }
}

/// Destroys the parts of deep trees one after another, rather than recursively.
enum FlatDestruction {
    /// The part of a destroyed object that holds the next level.
    enum Part: Sendable {
        case expression(ExpressionNode.Kind)
        case clauses(SelectQuery.Clauses)
        case subquery(SQLSubquery.Content)
    }

    private struct Pending: Sendable {
        var parts: [Part] = []
        /// Whether a thread is destroying parts.
        var isDestroying = false
    }

    private static let pending = Lock(Pending())

    /// Adds a part that its owner has given up.
    ///
    /// - returns: whether the caller must call `finish`, because no other thread is destroying parts.
    @inline(never)
    static func add(_ part: Part) -> Bool {
        pending.withLock { pending in
            pending.parts.append(part)
            defer { pending.isDestroying = true }
            return !pending.isDestroying
        }
    }

    /// Destroys the pending parts, including parts added meanwhile.
    @inline(never)
    static func finish() {
        while let part = next() { withExtendedLifetime(part) {} }
    }

    private static func next() -> Part? {
        pending.withLock { pending in
            if let part = pending.parts.popLast() { return part }
            pending = Pending()
            return nil
        }
    }
}
