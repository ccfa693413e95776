package import QuarryCore

extension SQLExpression {
    /// The expression with its columns taken from a table. Subqueries and raw SQL are unchanged.
    package func aliased(_ table: TableIdentity) -> SQLExpression {
        switch content {
        case .value: return self
        case .column(let name): return .node(.aliasedColumn(name, table))
        case .node: if isTooDeep { return self }
        }
        func aliased(_ expression: SQLExpression) -> SQLExpression { expression.aliased(table) }
        switch kind {
        case .equality(let lhs, let equality, let rhs): return .node(.equality(aliased(lhs), equality, aliased(rhs)))
        case .infix(let lhs, let infix, let rhs): return .node(.infix(aliased(lhs), infix, aliased(rhs)))
        case .association(_, let association):
            return .node(.association(operands(of: association).map(aliased), association))
        case .prefix(let prefix, let operand): return .node(.prefix(prefix, aliased(operand)))
        case .between(let value, let low, let high, let isNegated):
            return .node(.between(aliased(value), aliased(low), aliased(high), isNegated: isNegated))
        case .inList(let value, let list, let isNegated):
            return .node(.inList(aliased(value), list.map(aliased), isNegated: isNegated))
        case .inQuery(let value, let query, let isNegated):
            return .node(.inQuery(aliased(value), query, isNegated: isNegated))
        case .pattern(let value, let pattern, let text, let escape, let isNegated):
            return .node(
                .pattern(aliased(value), pattern, aliased(text), escape: escape.map(aliased), isNegated: isNegated))
        case .function(var call):
            call.arguments = call.arguments.map(aliased)
            call.filter = call.filter.map(aliased)
            call.ordering = call.ordering.map { $0.aliased(table) }
            if case .defined(var window) = call.window {
                window.partition = window.partition.map(aliased)
                window.ordering = window.ordering.map { $0.aliased(table) }
                call.window = .defined(window)
            }
            return .node(.function(call))
        case .cast(let expression, let type): return .node(.cast(aliased(expression), type))
        case .collated(let expression, let collation): return .node(.collated(aliased(expression), collation))
        case .choice(let choice):
            let branches = choice.branches.map { (aliased($0.condition), aliased($0.result)) }
            let base = choice.base.map(aliased)
            let otherwise = choice.otherwise.map(aliased)
            return .node(.choice(CaseExpression(base: base, branches: branches, otherwise: otherwise)))
        case .rowValue(let values): return .node(.rowValue(values.map(aliased)))
        case .deferred(let expression):
            return .node(.deferred { schema in try expression(schema).aliased(table) })
        case .key: return of(table)
        case .aliasedColumn, .detachedColumn, .sql, .subquery, .exists, .rowExists, .rowIdentity, .columnNumber, .of,
            nil:
            return self
        }
    }

    /// The expression, written as if its table were the only one of the query.
    package func of(_ table: TableIdentity) -> SQLExpression { .node(.of(table, self)) }
}

extension SQLOrdering {
    /// The ordering with its columns taken from a table.
    package func aliased(_ table: TableIdentity) -> SQLOrdering {
        switch content {
        case .expression(let x): SQLOrdering(content: .expression(x.aliased(table)))
        case .ascending(let x): SQLOrdering(content: .ascending(x.aliased(table)))
        case .descending(let x): SQLOrdering(content: .descending(x.aliased(table)))
        case .ascendingNullsLast(let x): SQLOrdering(content: .ascendingNullsLast(x.aliased(table)))
        case .descendingNullsFirst(let x): SQLOrdering(content: .descendingNullsFirst(x.aliased(table)))
        case .deferred(let terms):
            SQLOrdering(content: .deferred { schema in try terms(schema).map { $0.aliased(table) } })
        case .sql, .primaryKey: self
        }
    }
}

extension SQLSelection {
    /// The selection with its columns taken from a table.
    package func aliased(_ table: TableIdentity) -> SQLSelection {
        switch content {
        case .expression(let x): SQLSelection(content: .expression(x.aliased(table)))
        case .named(let x, let name): SQLSelection(content: .named(x.aliased(table), name))
        case .deferred(let selection):
            SQLSelection(content: .deferred { schema in try selection(schema).map { $0.aliased(table) } })
        case .allColumns, .allColumnsExcluding, .primaryKey: SQLSelection(content: .of(table, self))
        case .sql, .of: self
        }
    }
}
