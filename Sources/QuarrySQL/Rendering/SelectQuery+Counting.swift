import QuarryCore

extension QueryWriter {
    /// Writes a query for the number of rows of another query.
    package mutating func write(countOf query: SelectQuery) throws {
        if isCountedDirectly(query) {
            var counting = query
            var call = FunctionCall("COUNT", [])
            call.isAggregate = true
            call.takesRow = true
            counting.selection = [SQLSelection(content: .expression(.node(.function(call))))]
            counting.ordering = []
            return try write(counting)
        }
        var counted = query
        // Without a limit, the order doesn't affect the number of rows.
        if query.limit == nil {
            counted.ordering = []
            if query.hasClauses { counted.clauses.hasStableOrder = false }
        }
        write("SELECT COUNT(*) FROM (")
        try write(counted)
        write(")")
    }

    private func isCountedDirectly(_ query: SelectQuery) -> Bool {
        guard !query.isDistinct, query.limit == nil else { return false }
        if query.hasClauses {
            let clauses = query.clauses
            guard
                clauses.grouping.isEmpty, !clauses.groupsByPrimaryKey, clauses.having == nil, clauses.joins.isEmpty,
                clauses.tables.isEmpty, clauses.compounds.isEmpty
            else { return false }
        }
        return !(query.selection ?? []).contains { selection in
            switch selection.content {
            // A condition may use the name.
            case .named where query.filter != nil: true
            // An aggregate makes one row of all rows; raw SQL may contain an aggregate.
            case .expression(let expression), .named(let expression, _): expression.isAggregate || expression.isSQL
            case .sql, .deferred: true
            case .allColumns, .allColumnsExcluding, .primaryKey, .of: false
            }
        }
    }

    /// `SELECT EXISTS (SELECT …)`
    package mutating func write(existenceOf query: SelectQuery) throws {
        write("SELECT EXISTS (")
        try write(query)
        write(")")
    }

    /// Whether a query can't have more than one row, because it selects only aggregates or is filtered by a unique key.
    func hasOneRow(_ query: SelectQuery) throws -> Bool {
        if query.hasClauses {
            let clauses = query.clauses
            guard clauses.grouping.isEmpty, !clauses.groupsByPrimaryKey, clauses.joins.isEmpty,
                clauses.compounds.isEmpty
            else { return false }
        }
        if let selection = query.selection, !selection.isEmpty,
            selection.allSatisfy({ selection in
                switch selection.content {
                case .expression(let expression), .named(let expression, _): expression.isAggregate
                default: false
                }
            })
        {
            return true
        }
        guard let filter = query.filter, let table = query.tableName else { return false }
        var columns: [String] = []
        if try filter.findsOneKey(&columns, schema) { return true }
        guard !columns.isEmpty else { return false }
        return try schema.uniqueKeys(of: table).contains { key in
            key.allSatisfy { column in columns.contains { $0.isSameName(as: column) } }
        }
    }
}

extension SQLExpression {
    fileprivate var isSQL: Bool {
        if case .sql = kind { true } else { false }
    }

    /// Whether the condition selects one row by its key; otherwise adds the columns that have the same value in all
    /// selected rows.
    fileprivate func findsOneKey(_ columns: inout [String], _ schema: any QuerySchema) throws -> Bool {
        switch kind {
        case .key(.values(let count, _)): return count <= 1
        case .key(.columns(let keys)): return keys.count <= 1
        case .equality(let lhs, .equal, let rhs):
            // NULL doesn't count: a unique column may have many NULLs.
            if case .column(let name) = lhs.content, case .value = rhs.content, !rhs.isNull { columns.append(name) }
            if case .column(let name) = rhs.content, case .value = lhs.content, !lhs.isNull { columns.append(name) }
            return false
        case .association(_, .and):
            for operand in operands(of: .and) where try operand.findsOneKey(&columns, schema) { return true }
            return false
        case .deferred(let expression): return try expression(schema).findsOneKey(&columns, schema)
        default: return false
        }
    }
}
