import QuarryCore

extension QueryWriter {
    // MARK: - Columns

    /// `"name"`, or `"table"."name"` if the query has several tables.
    mutating func write(column name: String) {
        if let scope = scopes.last, scope.isQualified {
            write(identifier: scope.tables[scope.current].name)
            write(".")
        }
        write(identifier: name)
    }

    /// Writes a column of a table of this query, or of an enclosing query.
    mutating func write(column name: String, of identity: TableIdentity) throws {
        for depth in scopes.indices.reversed() {
            guard let table = scopes[depth].tables.first(where: { $0.identities.contains { $0 === identity } }) else {
                continue
            }
            let isInner = depth == scopes.count - 1
            if !isInner || scopes[depth].isQualified {
                if !isInner { noteHiding(of: table.name, at: depth) }
                write(identifier: table.name)
                write(".")
            }
            return write(identifier: name)
        }
        if let given = identity.name {
            // "excluded", and tables that the surrounding SQL names.
            write(identifier: given)
            write(".")
            return write(identifier: name)
        }
        throw DatabaseError.misuse(
            "column \(name) belongs to an alias that the request doesn't use: call aliased(_:) with it")
    }

    /// Notes that a table of an inner query hides a table of this name in an enclosing query.
    private mutating func noteHiding(of name: String, at depth: Int) {
        for scope in scopes.indices where scope > depth {
            if scopes[scope].tables.contains(where: { $0.name.isSameName(as: name) }) {
                hidingScopes.insert(scope)
            }
        }
    }

    /// The table whose columns need no qualification.
    func currentTable() throws -> String {
        guard let query = scopes.last?.currentTable?.query else {
            throw DatabaseError.misuse("a primary key is used outside a request")
        }
        guard let table = query.tableName else {
            throw DatabaseError.misuse("\(query.sourceName) isn't a table, and has no primary key")
        }
        return table
    }

    /// `"player"`, `"main"."player"`
    mutating func write(table name: String, in schema: String?) {
        if let schema {
            write(identifier: schema)
            write(".")
        }
        write(identifier: name)
    }

    // MARK: - Scopes

    /// Calls a function while the tables of a query are in scope.
    ///
    /// - parameter avoidsOuterNames: whether the tables need other names than those of enclosing queries.
    mutating func withTables<T>(
        of query: SelectQuery, avoidingOuterNames avoidsOuterNames: Bool, _ body: (inout QueryWriter) throws -> T
    ) throws -> T {
        var tables: [Scope.Table] = []
        collect(query, into: &tables)
        var reserved: [String] = []
        if avoidsOuterNames { reserved = scopes.flatMap { $0.tables.map(\.name) } }
        for index in tables.indices {
            guard let name = try tables[index].query.givenName() else { continue }
            tables[index].name = name
            tables[index].isNamed = true
            reserved.append(name)
        }
        nameTables(&tables, reserved)
        let isQualified =
            tables.count > 1
            || tables.contains { $0.query.identities.contains { $0.name != nil } }
            || (avoidsOuterNames && tables.contains { !$0.name.isSameName(as: $0.query.sourceName) })
        scopes.append(Scope(tables: tables, isQualified: isQualified))
        defer { scopes.removeLast() }
        return try body(&self)
    }

    /// The tables of a query, in the order of the FROM clause.
    private func collect(_ query: SelectQuery, into tables: inout [Scope.Table]) {
        tables.append(Scope.Table(query: query, identities: query.identities, name: ""))
        guard query.hasClauses else { return }
        for join in query.clauses.joins { collect(join.query, into: &tables) }
    }

    /// Gives tables their own names, with a number if several have the same name.
    private func nameTables(_ tables: inout [Scope.Table], _ reserved: [String]) {
        // Most queries have one table.
        if tables.count == 1, reserved.isEmpty {
            tables[0].name = tables[0].query.sourceName
            return
        }
        var taken = reserved
        func isTaken(_ name: String) -> Bool { taken.contains { $0.isSameName(as: name) } }
        let unnamed = tables.indices.filter { !tables[$0].isNamed }
        for index in unnamed {
            let name = tables[index].query.sourceName
            let isUnique =
                unnamed.count { tables[$0].query.sourceName.isSameName(as: name) } == 1 && !isTaken(name)
            if isUnique {
                tables[index].name = name
                tables[index].isNamed = true
                taken.append(name)
            }
        }
        for index in unnamed where !tables[index].isNamed {
            let base = tables[index].query.sourceName
            var number = 1
            while isTaken("\(base)\(number)") { number += 1 }
            tables[index].name = "\(base)\(number)"
            taken.append(tables[index].name)
        }
    }
}
