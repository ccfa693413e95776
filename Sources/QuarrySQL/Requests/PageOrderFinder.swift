import QuarryCore

/// Finds the terms of a request's order, and ends them with the key of the rows.
struct PageOrderFinder {
    /// The request, which loses its order and gets the columns that the terms need.
    private(set) var query: SelectQuery

    private let schema: any QuerySchema
    private var terms: [PageOrder.Term] = []

    init(_ query: SelectQuery, _ schema: any QuerySchema) {
        self.query = query
        self.schema = schema
    }

    /// - throws: `SQLITE_MISUSE` for a request that can't have pages.
    mutating func find() throws -> [PageOrder.Term] {
        if query.limit != nil { throw misuse("a request with a limit has no pages: leave out limit(_:)") }
        if query.isCompound { throw misuse("the rows of a compound request have no key: fetch pages of a view") }
        qualifyColumns()
        var query = query
        let isOptional = query.joinsRightTable
        try takeOrder(of: &query, isJoined: false, isReversed: false, isOptional: isOptional)
        if query.hasClauses { query.clauses.hasStableOrder = false }
        let isDescending = terms.last?.isDescending ?? false
        try addKey(of: query, isDescending, isOptional: isOptional)
        if !query.isGrouped { try addKeysOfJoins(in: &query, isDescending, isOptional: isOptional) }
        try select(in: &query)
        self.query = query
        return terms
    }

    private func misuse(_ message: String, sql: String? = nil) -> DatabaseError {
        DatabaseError.misuse("pages of \(query.sourceName): \(message)", sql: sql)
    }

    // MARK: - The order of the request

    /// In ORDER BY, `"score"` is the column of the result with this name, and in WHERE that of the table. If the
    /// request names columns of its result, columns of the table are written with the table's name.
    private mutating func qualifyColumns() {
        guard let selection = query.selection, selection.contains(where: \.mayNameColumns),
            !query.identities.contains(where: { $0.name != nil })
        else { return }
        query.identities.append(TableIdentity(name: query.sourceName))
    }

    /// Moves the order of a query, and of those joined to it, to the terms.
    private mutating func takeOrder(
        of query: inout SelectQuery, isJoined: Bool, isReversed: Bool, isOptional: Bool
    ) throws {
        let isReversed = isReversed != query.isReversed
        // The order of a joined subquery decides which of its rows a limit keeps.
        if !isJoined || !query.needsSubquery || query.limit == nil && query.selection == nil {
            let orderings = isReversed ? try query.ordering.map { try $0.reversed() } : query.ordering
            let identity = isJoined && !orderings.isEmpty ? query.identity() : nil
            try add(orderings, of: query, identity, isOptional: isOptional)
            query.ordering = []
            query.isReversed = false
        }
        guard query.hasClauses, !query.clauses.joins.isEmpty else { return }
        var joins = query.clauses.joins
        for index in joins.indices {
            try takeOrder(
                of: &joins[index].query, isJoined: true, isReversed: isReversed,
                isOptional: isOptional || joins[index].kind.isOptional)
        }
        query.clauses.joins = joins
    }

    private mutating func add(
        _ orderings: [SQLOrdering], of query: SelectQuery, _ identity: TableIdentity?, isOptional: Bool
    ) throws {
        for ordering in orderings {
            switch ordering.content {
            case .expression(let x), .ascending(let x):
                try add(x, of: query, identity, isDescending: false, isNullFirst: true, isOptional: isOptional)
            case .descending(let x):
                try add(x, of: query, identity, isDescending: true, isNullFirst: false, isOptional: isOptional)
            case .ascendingNullsLast(let x):
                try add(x, of: query, identity, isDescending: false, isNullFirst: false, isOptional: isOptional)
            case .descendingNullsFirst(let x):
                try add(x, of: query, identity, isDescending: true, isNullFirst: true, isOptional: isOptional)
            case .primaryKey(let isReversed):
                for column in try schema.keyColumns(of: query.originName) {
                    try add(
                        SQLExpression(content: .column(column)), of: query, identity, isDescending: isReversed,
                        isNullFirst: !isReversed, isOptional: isOptional)
                }
            case .deferred(let terms):
                try add(terms(schema), of: query, identity, isOptional: isOptional)
            case .sql(let sql):
                throw misuse(
                    "an order written as SQL isn't known: order by columns, or by SQL(…).sqlExpression",
                    sql: sql.plainText)
            }
        }
    }

    private mutating func add(
        _ expression: SQLExpression, of query: SelectQuery, _ identity: TableIdentity?, isDescending: Bool,
        isNullFirst: Bool, isOptional: Bool
    ) throws {
        var ordered = expression
        var (mayBeNull, isHidden) = (true, false)
        if case .detachedColumn(let name) = expression.kind {
            ordered = query.selection?.expression(named: name) ?? expression
        } else if case .column(let name) = expression.content {
            if let named = query.selection?.expression(named: name) {
                ordered = named
            } else if let table = query.tableName {
                mayBeNull = try isOptional || schema.columnMayBeNull(name, of: table)
                let columns = try schema.columnNames(of: table) + RowID.names
                isHidden = !columns.contains { $0.isSameName(as: name) }
            }
        }
        terms.append(
            PageOrder.Term(
                expression: identity.map { ordered.aliased($0) } ?? ordered, isDescending: isDescending,
                isNullFirst: isNullFirst, mayBeNull: mayBeNull, isHidden: isHidden))
    }

    // MARK: - Keys

    private mutating func addKey(of query: SelectQuery, _ isDescending: Bool, isOptional: Bool) throws {
        if query.hasClauses, !query.clauses.groupsByPrimaryKey, !query.clauses.grouping.isEmpty {
            for expression in query.clauses.grouping where !terms.contains(where: { $0.isColumn(expression) }) {
                terms.append(.ofKey(expression, isDescending, mayBeNull: true))
            }
            return
        }
        guard let table = query.tableName, try !schema.isViewWithoutKey(table) else {
            throw misuse("its rows have no key; for a view, define it with databaseSchemaSource (columnsForPrimaryKey)")
        }
        for column in try keyColumns(of: table) {
            let expression = SQLExpression(content: .column(column.name))
            if terms.contains(where: { $0.isColumn(expression) }) { continue }
            terms.append(.ofKey(expression, isDescending, mayBeNull: isOptional || column.mayBeNull))
        }
    }

    /// The primary key, and the rowid if the key may be NULL.
    private func keyColumns(of table: String) throws -> [(name: String, mayBeNull: Bool)] {
        let mayBeNull = try schema.keyMayBeNull(of: table)
        let key = try schema.keyColumns(of: table).map { (name: $0, mayBeNull: mayBeNull) }
        guard mayBeNull, let row = try schema.rowColumn(of: table) else { return key }
        return key + [(name: row, mayBeNull: false)]
    }

    /// Adds the keys of joined tables that have several rows for one row of the request.
    private mutating func addKeysOfJoins(
        in query: inout SelectQuery, _ isDescending: Bool, isOptional: Bool
    ) throws {
        guard query.hasClauses, !query.clauses.joins.isEmpty else { return }
        var joins = query.clauses.joins
        for index in joins.indices {
            var join = joins[index]
            let isOptional = isOptional || join.kind.isOptional
            // Distinct rows are those of the tables that are selected.
            let isCounted = !self.query.isDistinct || join.isSelected
            if isCounted, try !findsOneRow(join, from: query) {
                let columns = try keyColumns(of: join)
                let identity = join.query.identity()
                for column in columns {
                    let expression = SQLExpression(content: .column(column.name)).aliased(identity)
                    terms.append(.ofKey(expression, isDescending, mayBeNull: isOptional || column.mayBeNull))
                }
            }
            try addKeysOfJoins(in: &join.query, isDescending, isOptional: isOptional)
            joins[index] = join
        }
        query.clauses.joins = joins
    }

    private func keyColumns(of join: Join) throws -> [(name: String, mayBeNull: Bool)] {
        let unknown = misuse("the rows of \(join.query.sourceName), which are joined, have no key that is known")
        guard let table = join.query.tableName, try !schema.isViewWithoutKey(table) else { throw unknown }
        let columns = try keyColumns(of: table)
        guard join.query.needsSubquery else { return columns }
        let writer = QueryWriter(schema: schema)
        guard !join.query.isGrouped, !join.query.isCompound,
            try columns.allSatisfy({ try writer.selects($0.name, join.query) })
        else { throw unknown }
        return columns
    }

    /// Whether a row is joined to one row at most, because the joined columns have a unique key.
    private func findsOneRow(_ join: Join, from left: SelectQuery) throws -> Bool {
        guard case .columns(let columns) = join.condition, let table = join.query.keyedTable,
            join.kind == .inner || join.kind == .left
        else { return false }
        let pairs = try columns(left.originName, join.query.originName, schema)
        return try schema.uniqueKeys(of: table).contains { key in
            !key.isEmpty && key.allSatisfy { column in pairs.contains { $0.right.isSameName(as: column) } }
        }
    }

    // MARK: - Values

    /// Selects the terms that aren't among the columns of the request.
    private mutating func select(in query: inout SelectQuery) throws {
        let all = try query.tableName.map { try schema.columnNames(of: $0) } ?? []
        let columns = query.selection == nil ? all : []
        let taken = Set((all + (query.selection ?? []).compactMap(\.givenName)).map { $0.lowercased() })
        var hidden: [SQLSelection] = []
        for index in terms.indices {
            if case .column(let name) = terms[index].expression.content,
                let column = columns.first(where: { $0.isSameName(as: name) })
            {
                terms[index].place = .column(column)
            } else {
                var name = "quarry_page_\(index)"
                while taken.contains(name) { name += "_" }
                terms[index].place = .hidden(name)
                hidden.append(SQLSelection(content: .named(terms[index].expression, name)))
            }
        }
        if hidden.isEmpty { return }
        if query.isDistinct {
            throw misuse(
                "distinct rows need the columns of their order and of their key: leave out select(_:) or distinct()")
        }
        query.annotate(hidden)
    }
}

extension PageOrder.Term {
    fileprivate static func ofKey(_ expression: SQLExpression, _ isDescending: Bool, mayBeNull: Bool) -> Self {
        Self(
            expression: expression, isDescending: isDescending, isNullFirst: !isDescending, mayBeNull: mayBeNull)
    }

    /// Whether the term is a column of the request's table.
    fileprivate func isColumn(_ column: SQLExpression) -> Bool { expression.isSameColumn(as: column) }
}

extension SelectQuery {
    /// The table whose keys are unique in the rows: that of the query, or of the subquery that it reads.
    fileprivate var keyedTable: String? {
        guard case .query(let subquery) = source, case .query(let inner) = subquery.content else { return tableName }
        let isJoined = inner.hasClauses && (!inner.clauses.joins.isEmpty || inner.isCompound)
        return isJoined ? nil : inner.tableName
    }

    /// Whether rows may have no row of the query's table: RIGHT JOIN, FULL JOIN.
    fileprivate var joinsRightTable: Bool {
        hasClauses
            && clauses.joins.contains { $0.kind == .right || $0.kind == .full || $0.query.joinsRightTable }
    }

    /// An identity of the query's table.
    fileprivate mutating func identity() -> TableIdentity {
        if let identity = identities.first { return identity }
        let identity = TableIdentity()
        identities.append(identity)
        return identity
    }
}

extension Join.Kind {
    /// Whether a row may have no row of the joined table.
    fileprivate var isOptional: Bool {
        switch self {
        case .inner, .cross, .right: false
        case .left, .full: true
        }
    }
}

extension SQLSelection {
    /// Whether a column of the result may have a name that isn't that of its column in the table.
    fileprivate var mayNameColumns: Bool {
        switch content {
        case .named, .sql, .deferred: true
        case .allColumns, .allColumnsExcluding, .expression, .primaryKey: false
        case .of(_, let selection): selection.mayNameColumns
        }
    }
}

extension SQLSelection {
    /// The name that the request gives to the column.
    fileprivate var givenName: String? {
        if case .named(_, let name) = content { name } else { nil }
    }
}

extension [SQLSelection] {
    /// The expression of the result's column with a name.
    fileprivate func expression(named name: String) -> SQLExpression? {
        for selection in self {
            if case .named(let expression, let other) = selection.content, other.isSameName(as: name) {
                return expression
            }
        }
        return nil
    }
}
