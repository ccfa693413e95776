import QuarryCore

// <https://www.sqlite.org/lang_select.html#the_order_by_clause>

extension QueryWriter {
    // MARK: - ORDER BY

    mutating func writeOrder(of query: SelectQuery) throws {
        var index = 0
        var isFirst = true
        try writeOrder(of: query, isReversed: false, &index, &isFirst)
        for table in tablesOfStableOrder(query) {
            for column in try columnsOfStableOrder(table) {
                write(isFirst ? " ORDER BY " : ", ")
                isFirst = false
                withCurrent(table) { $0.write(column: column) }
                if query.isReversed { write(" DESC") }
            }
        }
    }

    /// The tables whose keys end the order.
    private func tablesOfStableOrder(_ query: SelectQuery) -> [Int] {
        guard query.hasClauses, query.clauses.hasStableOrder else { return [] }
        let clauses = query.clauses
        // Groups, and rows of a compound, have no row of a joined table.
        let isJoined = clauses.grouping.isEmpty && !clauses.groupsByPrimaryKey && clauses.compounds.isEmpty
        return isJoined ? Array(scopes[scopes.count - 1].tables.indices) : [0]
    }

    /// The columns that tell rows of a table apart; for a joined query, those of its columns that are known.
    private func columnsOfStableOrder(_ index: Int) throws -> [String] {
        let query = scopes[scopes.count - 1].tables[index].query
        if index == 0 { return try columnsOfStableOrder(of: currentTable()) }
        switch query.source {
        case .table(let name, _): return try columnsOfStableOrder(of: name)
        case .named(_, let columns): return columns ?? []
        case .function(_, _, let columns): return columns
        case .query(let subquery):
            guard case .query(let inner) = subquery.content, let table = inner.tableName else { return [] }
            let columns = try schema.columnNames(of: table).filter { try selects($0, inner) }
            let key = try columnsOfStableOrder(of: table)
            return key.allSatisfy { name in columns.contains { $0.isSameName(as: name) } } ? key : columns
        }
    }

    /// The key, and the rowid if the key may be NULL; all columns of a view without a key.
    private func columnsOfStableOrder(of table: String) throws -> [String] {
        if try schema.isViewWithoutKey(table) { return try schema.columnNames(of: table) }
        let key = try schema.keyColumns(of: table)
        guard try schema.keyMayBeNull(of: table), let row = try schema.rowColumn(of: table) else { return key }
        return key + [row]
    }

    private mutating func writeOrder(
        of query: SelectQuery, isReversed: Bool, _ index: inout Int, _ isFirst: inout Bool
    ) throws {
        let table = index
        index += 1
        let isReversed = isReversed != query.isReversed
        if !query.ordering.isEmpty {
            let terms = isReversed ? try query.ordering.map { try $0.reversed() } : query.ordering
            write(isFirst ? " ORDER BY " : ", ")
            isFirst = false
            try withCurrent(table) { try $0.write(terms) }
        }
        guard query.hasClauses else { return }
        for join in query.clauses.joins { try writeOrder(of: join.query, isReversed: isReversed, &index, &isFirst) }
    }

    mutating func write(_ terms: [SQLOrdering]) throws {
        try write(list: terms) { writer, term in
            switch term.content {
            case .expression(let expression): try writer.write(term: expression)
            case .ascending(let expression):
                try writer.write(term: expression)
                writer.write(" ASC")
            case .descending(let expression):
                try writer.write(term: expression)
                writer.write(" DESC")
            case .ascendingNullsLast(let expression):
                try writer.write(term: expression)
                writer.write(" ASC NULLS LAST")
            case .descendingNullsFirst(let expression):
                try writer.write(term: expression)
                writer.write(" DESC NULLS FIRST")
            case .sql(let sql): try writer.write(literal: sql)
            case .primaryKey(let isReversed):
                let columns = try writer.schema.keyColumns(of: writer.currentTable())
                writer.write(list: columns) { writer, column in
                    writer.write(column: column)
                    if isReversed { writer.write(" DESC") }
                }
            case .deferred(let terms): try writer.write(terms(writer.schema))
            }
        }
    }

    /// Writes a term of ORDER BY or GROUP BY. SQLite would take a number for the index of a column.
    mutating func write(term expression: SQLExpression) throws {
        guard try expression.mayBeNumber(schema) else { return try write(expression) }
        write("0 + ")
        try write(operand: expression)
    }

    // MARK: - LIMIT

    mutating func writeLimit(of query: SelectQuery, singleRow: Bool) throws {
        if let limit = query.limit {
            write(" LIMIT ")
            write(sql: String(limit.count))
            if let offset = limit.offset {
                write(" OFFSET ")
                write(sql: String(offset))
            }
        } else if singleRow, try !hasOneRow(query) {
            write(" LIMIT 1")
        }
    }
}

extension SQLExpression {
    /// Whether the expression is a number once its values are literals, and SQLite has parsed it: it replaces
    /// `x AND 0` by 0.
    func mayBeNumber(_ schema: any QuerySchema) throws -> Bool {
        switch content {
        case .column: return false
        case .value(let value):
            if case .int64 = value.rawStorage { return true }
            return false
        case .node: if isTooDeep { return false }
        }
        switch kind {
        case .inList(_, let list, _): return list.isEmpty
        case .prefix(.minus, let x), .collated(let x, _), .of(_, let x): return try x.mayBeNumber(schema)
        case .association(_, .and): return try operands(of: .and).contains { try $0.mayBeNumber(schema) }
        case .deferred(let expression): return try expression(schema).mayBeNumber(schema)
        default: return false
        }
    }
}
