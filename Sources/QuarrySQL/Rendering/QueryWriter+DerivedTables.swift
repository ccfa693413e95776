package import QuarryCore

// Joined tables with more clauses than conditions, and rows that are selected by their number.

extension QueryWriter {
    // MARK: - Joins

    /// The query with joins that can be written: a joined query with DISTINCT, GROUP BY or LIMIT becomes a subquery,
    /// and the tables of a joined query's WITH move to the outer query.
    package func derivingJoins(of query: SelectQuery) throws -> SelectQuery {
        guard query.hasClauses, !query.clauses.joins.isEmpty else { return query }
        var query = query
        var clauses = query.clauses
        for index in clauses.joins.indices {
            var join = clauses.joins[index]
            if join.query.needsSubquery { try derive(&join, joinedTo: query) }
            join.query = try derivingJoins(of: join.query)
            if join.query.hasClauses, !join.query.clauses.tables.isEmpty {
                for table in join.query.clauses.tables {
                    if let known = clauses.tables.first(where: { $0.name.isSameName(as: table.name) }) {
                        try check(table, isSameAs: known)
                    } else {
                        clauses.tables.append(table)
                    }
                }
                join.query.clauses.tables = []
            }
            clauses.joins[index] = join
        }
        query.clauses = clauses
        return query
    }

    /// Throws unless both define the same table, because a WITH can't define two tables of the same name.
    private func check(_ table: SelectQuery.NamedTable, isSameAs other: SelectQuery.NamedTable) throws {
        // The same table is used twice.
        if table.query.isSameObject(as: other.query) { return }
        var (writer, otherWriter) = (QueryWriter(schema: schema), QueryWriter(schema: schema))
        try writer.write(definition: table)
        try otherWriter.write(definition: other)
        guard writer.sql() == otherWriter.sql(), writer.statementArguments().values == otherWriter.arguments else {
            throw DatabaseError.misuse("a request defines two different tables in WITH with the name \(table.name)")
        }
    }

    /// `JOIN (SELECT DISTINCT … FROM "team") "team" ON …`
    private func derive(_ join: inout Join, joinedTo left: SelectQuery) throws {
        let name = join.query.sourceName
        var inner = join.query
        var outer = SelectQuery(.table(name))
        outer.identities = inner.identities
        var clauses = inner.clauses
        outer.clauses.joins = clauses.joins
        outer.clauses.prefetches = clauses.prefetches
        outer.clauses.tables = clauses.tables
        outer.clauses.derivedTable = name
        clauses.joins = []
        clauses.prefetches = []
        clauses.tables = []
        inner.clauses = clauses

        // The columns of the join's condition.
        var partition: [SQLExpression] = []
        func derived(_ condition: Join.Condition) throws -> Join.Condition {
            guard case .columns(let columns) = condition else { return condition }
            var pairs = try columns(left.originName, inner.originName, schema)
            for index in pairs.indices {
                let column = pairs[index].right
                if try !selects(column, inner) {
                    pairs[index].right = "grdb_" + column
                    inner.selection?.append(
                        SQLSelection(content: .named(SQLExpression(content: .column(column)), "grdb_" + column)))
                }
                // Distinct rows are numbered by columns of the result.
                let numbered = inner.isDistinct ? pairs[index].right : column
                if !partition.contains(where: { $0.isColumn(numbered) }) {
                    partition.append(SQLExpression(content: .column(numbered)))
                }
            }
            let found = pairs
            return .columns { _, _, _ in found }
        }
        join.condition = try derived(join.condition)
        let own = partition
        // Rows are grouped separately for each row that they are joined to.
        if !inner.isDistinct, inner.hasClauses, !inner.clauses.grouping.isEmpty {
            for column in own where !inner.clauses.grouping.contains(where: { $0.isSameColumn(as: column) }) {
                inner.clauses.grouping.append(column)
            }
        }
        for index in join.alternatives.indices {
            join.alternatives[index].condition = try derived(join.alternatives[index].condition)
        }
        if let limit = inner.limit, !own.isEmpty {
            inner.limit = nil
            inner.clauses.ranking = SelectQuery.Ranking(partition: own, limit: limit)
        } else if inner.limit == nil {
            outer.ordering = inner.selection == nil ? inner.ordering : []
            outer.isReversed = inner.isReversed
            inner.ordering = []
        }
        outer.source = .query(SQLSubquery(content: .query(inner)))
        join.query = outer
    }

    /// Whether the result of a query has a column of its table, under the column's own name.
    package func selects(_ column: String, _ query: SelectQuery) throws -> Bool {
        guard let selection = query.selection else { return true }
        for term in selection {
            switch term.content {
            case .allColumns: return true
            case .allColumnsExcluding(let names):
                if !names.contains(where: { $0.isSameName(as: column) }) { return true }
            case .expression(let expression): if expression.isColumn(column) { return true }
            // Another column has taken the name.
            case .named(_, let name): if name.isSameName(as: column) { return false }
            case .primaryKey:
                let key = try schema.keyColumns(of: query.sourceName)
                if key.contains(where: { $0.isSameName(as: column) }) { return true }
            // Unknown.
            case .sql, .deferred, .of: return false
            }
        }
        return false
    }

    // MARK: - Numbered rows

    /// `SELECT * FROM (SELECT …, ROW_NUMBER() OVER (…) AS "quarry_rank" FROM …) WHERE "quarry_rank" <= 3`
    mutating func write(
        _ query: SelectQuery, _ ranking: SelectQuery.Ranking, avoidingOuterNames avoidsOuterNames: Bool
    ) throws {
        if !query.clauses.compounds.isEmpty {
            throw DatabaseError.misuse(
                "rows of a compound request on \(query.sourceName) can't be limited for each parent")
        }
        write("SELECT * FROM (")
        if query.isDistinct {
            try write(numbered: query, ranking, avoidingOuterNames: avoidsOuterNames)
        } else {
            try withTables(of: query, avoidingOuterNames: avoidsOuterNames) { try $0.writeCore(query) }
        }
        write(") WHERE ")
        // A negative limit means no limit: https://www.sqlite.org/lang_select.html#limitoffset
        let offset = max(ranking.limit.offset ?? 0, 0)
        let count = ranking.limit.count < 0 ? Int.max : ranking.limit.count
        let (last, isBeyond) = offset.addingReportingOverflow(count)
        if offset > 0 {
            write("(")
            writeRank()
            write(" > ")
            write(sql: String(offset))
            write(") AND (")
            writeRank(atMost: isBeyond ? Int.max : last)
            write(")")
        } else {
            writeRank(atMost: last)
        }
        if !query.ordering.isEmpty || query.clauses.hasStableOrder {
            write(" ORDER BY ")
            writeRank()
        }
    }

    /// `SELECT *, ROW_NUMBER() OVER (…) AS "quarry_rank" FROM (SELECT DISTINCT …) "player"`
    ///
    /// Rows are numbered after duplicates are removed, so only columns of the result can order them.
    private mutating func write(
        numbered query: SelectQuery, _ ranking: SelectQuery.Ranking, avoidingOuterNames avoidsOuterNames: Bool
    ) throws {
        if query.ordersJoins {
            throw DatabaseError.misuse(
                "distinct rows of \(query.sourceName) that are ordered by joined tables can't be limited for each parent"
            )
        }
        var distinct = query
        distinct.clauses.ranking = nil
        let table = Scope.Table(query: query, identities: query.identities, name: query.sourceName)
        // With the table's name, so that a column that isn't in the result is an error rather than a text.
        scopes.append(Scope(tables: [table], isQualified: true))
        write("SELECT *")
        do {
            defer { scopes.removeLast() }
            try write(rowNumberIn: query, ranking)
        }
        write(" FROM (")
        try withTables(of: distinct, avoidingOuterNames: avoidsOuterNames) { try $0.writeCore(distinct) }
        write(") ")
        write(identifier: query.sourceName)
    }

    private mutating func writeRank() { write(identifier: SelectQuery.Ranking.column) }

    private mutating func writeRank(atMost count: Int) {
        writeRank()
        write(" <= ")
        write(sql: String(count))
    }

    /// `, ROW_NUMBER() OVER (PARTITION BY "teamId" ORDER BY "score") AS "quarry_rank"`
    mutating func write(rowNumberIn query: SelectQuery, _ ranking: SelectQuery.Ranking) throws {
        write(", ROW_NUMBER() OVER (PARTITION BY ")
        try write(list: ranking.partition) { try $0.write($1) }
        try writeOrder(of: query)
        write(") AS ")
        writeRank()
    }
}

extension SelectQuery {
    /// Whether joined tables have orders.
    fileprivate var ordersJoins: Bool {
        hasClauses && clauses.joins.contains { !$0.query.ordering.isEmpty || $0.query.ordersJoins }
    }

    /// Whether the query needs parentheses to be joined.
    var needsSubquery: Bool {
        if isDistinct || limit != nil { return true }
        guard hasClauses else { return false }
        let clauses = clauses
        return !clauses.grouping.isEmpty || clauses.groupsByPrimaryKey || clauses.having != nil
            || !clauses.compounds.isEmpty
    }
}

extension SQLExpression {
    /// Whether both are the same column.
    package func isSameColumn(as other: SQLExpression) -> Bool {
        if case .column(let name) = other.content { isColumn(name) } else { false }
    }

    fileprivate func isColumn(_ name: String) -> Bool {
        if case .column(let column) = content { column.isSameName(as: name) } else { false }
    }
}

// MARK: - The columns of a result

extension QueryWriter {
    /// The number of columns that each table of a query has in the result, in the order of the tables; nil if only
    /// SQLite knows.
    ///
    /// - parameter query: a query whose joins can be written.
    package mutating func columnCounts(of query: SelectQuery) throws -> [Int?] {
        try withTables(of: query, avoidingOuterNames: false) { writer in
            var counts: [Int?] = []
            try writer.addColumnCounts(of: query, isSelected: true, to: &counts)
            return counts
        }
    }

    private mutating func addColumnCounts(of query: SelectQuery, isSelected: Bool, to counts: inout [Int?]) throws {
        let table = counts.count
        counts.append(0)
        if isSelected {
            let selection = query.selection ?? [SQLSelection(content: .allColumns)]
            counts[table] = try withCurrent(table) { writer in
                try selection.reduce(0 as Int?) { sum, term in
                    guard let sum, let count = try writer.columnCount(of: term) else { return nil }
                    return sum + count
                }
            }
        }
        guard query.hasClauses else { return }
        for join in query.clauses.joins {
            try addColumnCounts(of: join.query, isSelected: join.isSelected, to: &counts)
        }
    }

    private mutating func columnCount(of selection: SQLSelection) throws -> Int? {
        let scope = scopes[scopes.count - 1]
        let query = scope.tables[scope.current].query
        switch selection.content {
        case .allColumns, .allColumnsExcluding:
            switch query.source {
            case .named(_, nil), .named(_, []), .query: return nil
            default: break
            }
            let columns = try columns(of: query)
            guard case .allColumnsExcluding(let excluded) = selection.content else { return columns.count }
            return columns.count { column in !excluded.contains { $0.isSameName(as: column) } }
        case .expression, .named: return 1
        case .primaryKey: return try schema.keyColumns(of: currentTable()).count
        case .sql: return nil
        case .deferred(let selections):
            return try selections(schema).reduce(0 as Int?) { sum, term in
                guard let sum, let count = try columnCount(of: term) else { return nil }
                return sum + count
            }
        case .of(let table, let selection):
            guard let index = scope.tables.firstIndex(where: { $0.identities.contains { $0 === table } }) else {
                return nil
            }
            return try withCurrent(index) { try $0.columnCount(of: selection) }
        }
    }
}
