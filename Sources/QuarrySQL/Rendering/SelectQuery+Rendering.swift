import QuarryCore

extension QueryWriter {
    /// A SELECT statement.
    ///
    /// - parameter singleRow: whether only the first row will be read, which adds `LIMIT 1`.
    package mutating func write(_ query: SelectQuery, singleRow: Bool = false) throws {
        try checkDepth(of: query)
        self.depth += NestingDepth.ofQuery
        defer { self.depth -= NestingDepth.ofQuery }
        let query = try derivingJoins(of: query)
        let mark = mark
        let depth = scopes.count
        try writeTables(query.hasClauses ? query.clauses.tables : [])
        try write(query, singleRow: singleRow, avoidingOuterNames: false)
        guard hidingScopes.contains(depth) else { return }
        goBack(to: mark)
        hidingScopes = hidingScopes.filter { $0 < depth }
        try writeTables(query.hasClauses ? query.clauses.tables : [])
        try write(query, singleRow: singleRow, avoidingOuterNames: true)
        if hidingScopes.contains(depth) {
            throw DatabaseError.misuse("a request and its subquery use two tables with the same name")
        }
    }

    /// - throws: `SQLITE_ERROR` if the clauses are nested too deeply for SQLite.
    package func checkDepth(of query: SelectQuery) throws {
        guard depth + query.clauseDepth <= NestingDepth.maximum else { throw NestingDepth.error }
    }

    private mutating func write(
        _ query: SelectQuery, singleRow: Bool, avoidingOuterNames avoidsOuterNames: Bool
    ) throws {
        if query.hasClauses, let ranking = query.clauses.ranking {
            return try write(query, ranking, avoidingOuterNames: avoidsOuterNames)
        }
        guard query.isCompound else {
            return try withTables(of: query, avoidingOuterNames: avoidsOuterNames) { writer in
                try writer.writeCore(query)
                try writer.writeOrder(of: query)
                try writer.writeLimit(of: query, singleRow: singleRow)
            }
        }
        try withTables(of: query, avoidingOuterNames: avoidsOuterNames) { try $0.writeCore(query) }
        // The parts don't see each other's tables, so their tables are named independently.
        let isHiding = hidingScopes.remove(scopes.count)
        for compound in query.clauses.compounds {
            write(" ")
            write(sql: compound.combination.rawValue)
            write(" ")
            try write(compoundPart: compound.query)
        }
        if let isHiding { hidingScopes.insert(isHiding) }
        try withTables(of: query, avoidingOuterNames: avoidsOuterNames) { writer in
            try writer.writeOrder(of: query)
            try writer.writeLimit(of: query, singleRow: singleRow)
        }
    }

    /// Part of a compound can have neither order nor limit: <https://www.sqlite.org/lang_select.html#compound>.
    private mutating func write(compoundPart query: SQLSubquery) throws {
        if case .query(let query) = query.content, query.ordering.isEmpty, query.limit == nil {
            let query = try derivingJoins(of: query)
            if !query.hasClauses || query.clauses.compounds.isEmpty && query.clauses.tables.isEmpty {
                return try write(query.changingJoins { $0.query.ordering = [] })
            }
        }
        write("SELECT * FROM ")
        try write(inParentheses: query)
    }

    /// Writes the clauses from SELECT to HAVING.
    mutating func writeCore(_ query: SelectQuery) throws {
        write(query.isDistinct ? "SELECT DISTINCT " : "SELECT ")
        try writeSelections()
        if query.hasClauses, let ranking = query.clauses.ranking { try write(rowNumberIn: query, ranking) }
        write(" FROM ")
        try writeSources()
        if let filter = query.filter {
            write(" WHERE ")
            try write(filter)
        }
        guard query.hasClauses else { return }
        let clauses = query.clauses
        if clauses.groupsByPrimaryKey {
            write(" GROUP BY ")
            try writeGroupingByPrimaryKey()
            for expression in clauses.grouping {
                write(", ")
                try write(term: expression)
            }
        } else if !clauses.grouping.isEmpty {
            write(" GROUP BY ")
            try write(list: clauses.grouping) { try $0.write(term: $1) }
        }
        if let having = clauses.having {
            write(" HAVING ")
            try write(having)
        }
        if !clauses.windows.isEmpty {
            write(" WINDOW ")
            try write(list: clauses.windows) { writer, window in
                writer.write(identifier: window.name)
                writer.write(" AS ")
                try writer.write(window.definition)
            }
        }
    }

    /// One column that identifies rows is enough: the rowid, if the key has several columns or may be NULL.
    private mutating func writeGroupingByPrimaryKey() throws {
        let table = try currentTable()
        let key = try schema.keyColumns(of: table)
        if let column = try schema.rowColumn(of: table), !key.contains(column) { return write(column: column) }
        write(list: key) { $0.write(column: $1) }
    }

    // MARK: - WITH

    /// `WITH "name" AS (SELECT …) `
    mutating func writeTables(_ tables: [SelectQuery.NamedTable]) throws {
        guard !tables.isEmpty else { return }
        write("WITH ")
        if tables.contains(where: \.isRecursive) { write("RECURSIVE ") }
        try write(list: tables) { try $0.write(definition: $1) }
        write(" ")
    }

    /// `"name" AS (SELECT …)`
    mutating func write(definition table: SelectQuery.NamedTable) throws {
        write(identifier: table.name)
        if let columns = table.columns, !columns.isEmpty {
            write("(")
            write(list: columns) { $0.write(identifier: $1) }
            write(")")
        }
        write(" AS ")
        if let hint = table.hint {
            write(sql: hint)
            write(" ")
        }
        try write(inParentheses: table.query)
    }

    // MARK: - Selections

    /// Writes the selections of all tables, in the order of the tables.
    mutating func writeSelections() throws {
        var isFirst = true
        var index = 0
        try writeSelection(of: scopes[scopes.count - 1].tables[0].query, isSelected: true, &index, &isFirst)
        if isFirst { throw DatabaseError.misuse("a request selects nothing") }
    }

    private mutating func writeSelection(
        of query: SelectQuery, isSelected: Bool, _ index: inout Int, _ isFirst: inout Bool
    ) throws {
        let table = index
        index += 1
        if isSelected {
            try withCurrent(table) { writer in
                guard let selection = query.selection else {
                    if !isFirst { writer.write(", ") }
                    isFirst = false
                    return writer.writeAllColumns()
                }
                for selection in selection {
                    if !isFirst { writer.write(", ") }
                    isFirst = false
                    try writer.write(selection)
                }
            }
        }
        guard query.hasClauses else { return }
        for join in query.clauses.joins {
            try writeSelection(of: join.query, isSelected: join.isSelected, &index, &isFirst)
        }
    }

    private mutating func writeAllColumns() {
        if let scope = scopes.last, scope.isQualified {
            write(identifier: scope.tables[scope.current].name)
            write(".")
        }
        write("*")
    }

    mutating func write(_ selection: SQLSelection) throws {
        switch selection.content {
        case .allColumns: writeAllColumns()
        case .allColumnsExcluding(let excluded):
            guard let table = scopes.last?.currentTable else {
                throw DatabaseError.misuse("columns can only be excluded in a request")
            }
            let all = try columns(of: table.query)
            let columns = all.filter { column in !excluded.contains { $0.isSameName(as: column) } }
            if columns.count == all.count { return writeAllColumns() }
            if columns.isEmpty { throw DatabaseError.misuse("a request selects nothing") }
            write(list: columns) { $0.write(column: $1) }
        case .expression(let expression): try write(expression)
        case .named(let expression, let name):
            try write(expression)
            write(" AS ")
            write(identifier: name)
        case .sql(let sql): try write(literal: sql)
        case .primaryKey:
            let columns = try schema.keyColumns(of: currentTable())
            write(list: columns) { $0.write(column: $1) }
        case .of(let table, let selection):
            let index = scopes.last?.tables.firstIndex { $0.identities.contains { $0 === table } }
            guard let index else {
                throw DatabaseError.misuse("columns are selected from a table that the request doesn't join")
            }
            try withCurrent(index) { try $0.write(selection) }
        case .deferred(let selection):
            let selections = try selection(schema)
            if selections.isEmpty { throw DatabaseError.misuse("a request selects nothing") }
            try write(list: selections) { try $0.write($1) }
        }
    }

    /// The columns that `*` selects.
    func columns(of query: SelectQuery) throws -> [String] {
        switch query.source {
        case .table(let name, _): return try schema.columnNames(of: name)
        case .named(_, let columns?) where !columns.isEmpty: return columns
        case .function(_, _, let columns): return columns
        case .named, .query:
            throw DatabaseError.misuse("the columns of \(query.sourceName) aren't known: name the columns to select")
        }
    }

    mutating func withCurrent<T>(_ table: Int, _ body: (inout QueryWriter) throws -> T) rethrows -> T {
        let scope = scopes.count - 1
        let current = scopes[scope].current
        scopes[scope].current = table
        defer { scopes[scope].current = current }
        return try body(&self)
    }

    // MARK: - FROM

    private mutating func writeSources() throws {
        var index = 0
        try writeSource(of: scopes[scopes.count - 1].tables[0].query, &index)
        try writeJoins(of: scopes[scopes.count - 1].tables[0].query, left: 0, &index)
    }

    /// `"player"`, `"player" "p"`, `(SELECT …) "p"`
    mutating func writeSource(of query: SelectQuery, _ index: inout Int, alias: StaticString = " ") throws {
        let name = scopes[scopes.count - 1].tables[index].name
        index += 1
        switch query.source {
        case .table(let table, let schema):
            write(table: table, in: schema)
            if name.isIdentical(to: table) { return }
        case .named(let table, _):
            write(identifier: table)
            if name.isIdentical(to: table) { return }
        case .query(let subquery): try write(inParentheses: subquery)
        case .function(let function, let arguments, _):
            write(sql: function)
            write("(")
            try write(list: arguments) { try $0.write($1) }
            write(")")
            if name.isIdentical(to: function) { return }
        }
        write(alias)
        write(identifier: name)
    }

    mutating func writeJoins(of query: SelectQuery, left: Int, _ index: inout Int) throws {
        guard query.hasClauses else { return }
        for join in query.clauses.joins {
            write(" ")
            write(sql: join.kind.rawValue)
            write(" ")
            let right = index
            let isGrouped = join.isGrouped
            if isGrouped { write("(") }
            try writeSource(of: join.query, &index)
            if isGrouped {
                try writeJoins(of: join.query, left: right, &index)
                write(")")
            }
            try writeCondition(of: join, left: left, right: right)
            if !isGrouped { try writeJoins(of: join.query, left: right, &index) }
        }
    }

    /// `ON "team"."id" = "player"."teamId"`
    private mutating func writeCondition(of join: Join, left: Int, right: Int) throws {
        let conditions = try conditions(join.condition, left: left, right: right)
        for alternative in join.alternatives { try check(alternative, of: join, conditions, left: left, right: right) }
        let filter = join.query.filter
        guard !conditions.isEmpty || filter != nil else { return }
        write(" ON ")
        try withCurrent(right) { writer in
            let all = conditions.reduce(nil as SQLExpression?) { all, condition in
                all.map { .association($0, .and, condition) } ?? condition
            }
            guard let filter else { return try writer.write(all ?? .null) }
            try writer.write(all.map { .association($0, .and, filter) } ?? filter)
        }
    }

    private mutating func conditions(_ condition: Join.Condition, left: Int, right: Int) throws -> [SQLExpression] {
        switch condition {
        case .none: return []
        case .expression(let condition): return [condition(identity(left), identity(right))]
        case .columns(let columns):
            let tables = scopes[scopes.count - 1].tables
            let (from, to) = (tables[left].query, tables[right].query)
            let pairs = try columns(from.originName, to.originName, schema)
            let (origin, destination) = (identity(left), identity(right))
            return pairs.map { pair in
                .equality(
                    .node(.aliasedColumn(pair.right, destination)), .equal, .node(.aliasedColumn(pair.left, origin)))
            }
        }
    }

    /// Merged joins with the same key must find the same rows.
    private mutating func check(
        _ alternative: Join.Alternative, of join: Join, _ conditions: [SQLExpression], left: Int, right: Int
    ) throws {
        func conflict() -> DatabaseError {
            DatabaseError.misuse(
                "two associations of a request have the key \(join.key), but find different rows: "
                    + "give one of them another key with forKey(_:)")
        }
        let table = scopes[scopes.count - 1].tables[right].query.sourceName
        guard table.isSameName(as: alternative.table) else { throw conflict() }
        let start = mark
        try write(list: conditions, separator: " AND ") { try $0.write(operand: $1) }
        let end = mark
        let others = try self.conditions(alternative.condition, left: left, right: right)
        try write(list: others, separator: " AND ") { try $0.write(operand: $1) }
        let isSame = isSame(from: start, to: end)
        goBack(to: start)
        guard isSame else { throw conflict() }
    }

    /// The identity of a table of the current query.
    private mutating func identity(_ table: Int) -> TableIdentity {
        let scope = scopes.count - 1
        if let identity = scopes[scope].tables[table].identities.first { return identity }
        let identity = TableIdentity()
        scopes[scope].tables[table].identities.append(identity)
        return identity
    }

    // MARK: - Subqueries

    /// `(SELECT …)`
    ///
    /// - parameter selectsName: whether to select from a table of WITH rather than to write only its name.
    mutating func write(inParentheses query: SQLSubquery, selectsName: Bool = false) throws {
        if case .name(let name) = query.content, !selectsName { return write(identifier: name) }
        write("(")
        try write(query)
        write(")")
    }

    /// `SELECT …`
    mutating func write(_ query: SQLSubquery) throws {
        switch query.content {
        case .query(let query): try write(query)
        case .sql(let sql): try inOwnTables { try $0.write(literal: sql) }
        case .values(let list): try write(rows: list.rows)
        case .name(let name):
            write("SELECT * FROM ")
            write(identifier: name)
        }
    }
}

extension SelectQuery {
    /// The query with each join changed, including the joins of joined queries.
    func changingJoins(_ change: (inout Join) -> Void) -> SelectQuery {
        guard hasClauses, !clauses.joins.isEmpty else { return self }
        var query = self
        query.clauses.joins = clauses.joins.map { join in
            var join = join
            join.query = join.query.changingJoins(change)
            change(&join)
            return join
        }
        return query
    }
}
