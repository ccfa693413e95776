import QuarryCore

// Which rows of its table a query can read, if its conditions tell.

extension SelectQuery {
    /// The rowids to which the conditions limit the rows that the query reads; nil if they don't, or if the query may
    /// read the table elsewhere, too.
    ///
    /// - parameters:
    ///   - rowIDNames: the names of the rowid: https://www.sqlite.org/lang_createtable.html#rowid
    ///   - key: the name of the primary key; nil if it isn't the rowid, so that its values name no rows.
    ///   - isSeparate: whether reading a joined table of that name reads no row of the query's table.
    package func rowIDs(
        named rowIDNames: [String], key: String?, isSeparate: (String) -> Bool
    ) -> Set<Int64>? {
        guard tableName != nil, let filter, !readsOtherRows(isSeparate) else { return nil }
        let isJoined = hasClauses && !clauses.joins.isEmpty
        return filter.rowIDs(
            RowIDColumns(names: rowIDNames, key: key, identities: isJoined ? identities : nil))
    }

    /// Whether a part of the query may read other rows than those that its conditions select.
    fileprivate func readsOtherRows(_ isSeparate: (String) -> Bool) -> Bool {
        if let selection, selection.contains(where: \.mayReadTables) { return true }
        if ordering.contains(where: \.mayReadTables) || filter?.mayReadTables ?? false { return true }
        guard hasClauses else { return false }
        let clauses = clauses
        return !clauses.tables.isEmpty || !clauses.compounds.isEmpty
            || !clauses.windows.isEmpty || clauses.ranking != nil || clauses.having?.mayReadTables ?? false
            || clauses.grouping.contains(where: \.mayReadTables)
            || clauses.joins.contains { $0.mayReadRows(isSeparate) }
    }
}

extension Join {
    /// Whether the join may read rows of the query's table that its conditions don't select.
    fileprivate func mayReadRows(_ isSeparate: (String) -> Bool) -> Bool {
        switch kind {
        case .inner, .left, .cross: break
        // Rows of the right table are found because no row of the left one has been.
        case .right, .full: return true
        }
        if case .expression(let condition) = condition, condition(TableIdentity(), TableIdentity()).mayReadTables {
            return true
        }
        guard let table = query.tableName, query.schemaName == nil, isSeparate(table) else { return true }
        return query.readsOtherRows(isSeparate)
    }
}

/// The columns whose values name rows of a query's table.
private struct RowIDColumns {
    /// The names of the rowid.
    let names: [String]
    /// The name of the primary key, if it is the rowid.
    let key: String?
    /// The identities of the query's table; nil if the query has no other.
    let identities: [TableIdentity]?

    func has(_ table: TableIdentity) -> Bool { identities?.contains { $0 === table } ?? true }
}

extension SQLSelection {
    /// Whether the selection may contain a query: true for raw SQL.
    package var mayReadTables: Bool {
        switch content {
        case .allColumns, .allColumnsExcluding, .primaryKey: false
        case .expression(let x), .named(let x, _): x.mayReadTables
        case .of(_, let selection): selection.mayReadTables
        case .sql, .deferred: true
        }
    }
}

extension SQLOrdering {
    fileprivate var mayReadTables: Bool {
        switch content {
        case .expression(let x), .ascending(let x), .descending(let x), .ascendingNullsLast(let x),
            .descendingNullsFirst(let x):
            x.mayReadTables
        case .primaryKey: false
        case .sql, .deferred: true
        }
    }
}

extension SQLExpression {
    /// Whether the expression may contain a query: true for raw SQL.
    fileprivate var mayReadTables: Bool {
        guard let kind else { return false }
        switch kind {
        case .aliasedColumn, .detachedColumn, .rowExists, .rowIdentity, .columnNumber, .key: return false
        case .equality(let x, _, let y), .infix(let x, _, let y): return x.mayReadTables || y.mayReadTables
        case .association(let operands, _), .rowValue(let operands): return operands.contains(where: \.mayReadTables)
        case .prefix(_, let x), .cast(let x, _), .collated(let x, _), .of(_, let x): return x.mayReadTables
        case .between(let x, let low, let high, _): return [x, low, high].contains(where: \.mayReadTables)
        case .inList(let x, let list, _): return x.mayReadTables || list.contains(where: \.mayReadTables)
        case .pattern(let x, _, let pattern, let escape, _):
            return x.mayReadTables || pattern.mayReadTables || escape?.mayReadTables ?? false
        case .function(let call):
            return call.window != nil || call.arguments.contains(where: \.mayReadTables)
                || call.ordering.contains(where: \.mayReadTables) || call.filter?.mayReadTables ?? false
        case .choice, .sql, .inQuery, .subquery, .exists, .deferred: return true
        }
    }

    /// The rows that satisfy the condition; nil if it doesn't name them.
    fileprivate func rowIDs(_ columns: RowIDColumns) -> Set<Int64>? {
        guard let kind else { return nil }
        switch kind {
        case .association(let operands, .and):
            let sets = operands.compactMap { $0.rowIDs(columns) }
            return sets.dropFirst().reduce(sets.first) { $0?.intersection($1) }
        case .association(let operands, .or):
            return operands.reduce([]) { rows, operand in rows.flatMap { operand.rowIDs(columns)?.union($0) } }
        case .equality(let x, .equal, let y), .equality(let x, .is, let y):
            if x.isColumn(in: columns) { return y.rowIDValue }
            return y.isColumn(in: columns) ? x.rowIDValue : nil
        case .inList(let x, let list, isNegated: false):
            guard x.isColumn(in: columns) else { return nil }
            return list.reduce([]) { rows, value in rows.flatMap { value.rowIDValue?.union($0) } }
        case .key(.values(_, let values)):
            return columns.key.flatMap { name in
                values(name).reduce([]) { rows, value in rows.flatMap { value.rowIDValue?.union($0) } }
            }
        case .key(.columns(let keys)):
            return keys.reduce([]) { rows, key in
                let value = key.first { key in columns.names.contains { $0.isSameName(as: key.key) } }?.value
                return rows.flatMap { rows in value?.rowIDValue?.union(rows) }
            }
        case .of(let table, let x): return columns.has(table) ? x.rowIDs(columns) : nil
        default: return nil
        }
    }

    private func isColumn(in columns: RowIDColumns) -> Bool {
        func isNamed(_ name: String) -> Bool { columns.names.contains { $0.isSameName(as: name) } }
        return switch content {
        case .column(let name): isNamed(name)
        case .node:
            switch kind {
            case .aliasedColumn(let name, let table): columns.has(table) && isNamed(name)
            case .detachedColumn(let name): columns.identities == nil && isNamed(name)
            case .of(let table, let x): columns.has(table) && x.isColumn(in: columns)
            default: false
            }
        case .value: false
        }
    }

    private var rowIDValue: Set<Int64>? {
        if case .value(let value) = content { value.rowIDValue } else { nil }
    }
}

extension DatabaseValue {
    /// The rows whose rowid equals the value: none for NULL; nil if SQLite would convert the value.
    fileprivate var rowIDValue: Set<Int64>? {
        switch rawStorage {
        case .int64(let rowID): [rowID]
        case .null: []
        default: nil
        }
    }
}
