import QuarryCore

extension QueryWriter {
    /// `DELETE FROM "player" WHERE …`
    package mutating func write(deletionOf query: SelectQuery, returning selection: [SQLSelection] = []) throws {
        try write(changeOf: query, returning: selection) { writer in
            writer.write("DELETE FROM ")
            try writer.writeChangedTable(query)
        }
    }

    /// `UPDATE "player" SET … WHERE …`
    ///
    /// - parameter assignments: at least one.
    package mutating func write(
        updateOf query: SelectQuery, _ conflictResolution: SQLConflictResolution?,
        _ assignments: [ColumnAssignment], returning selection: [SQLSelection] = []
    ) throws {
        try write(changeOf: query, returning: selection) { writer in
            writer.write("UPDATE ")
            if let conflictResolution { writer.write(sql: "OR \(conflictResolution.rawValue) ") }
            try writer.writeChangedTable(query)
            writer.write(" SET ")
            try writer.write(assignments)
        }
    }

    /// `"score" = "score" + 1, "name" = 'x'`
    package mutating func write(_ assignments: [ColumnAssignment]) throws {
        try write(list: assignments) { writer, assignment in
            guard let value = assignment.value else {
                throw DatabaseError.misuse(
                    "noOverwrite is for upserts: column \(assignment.column) keeps its value if it isn't assigned")
            }
            writer.write(identifier: assignment.column)
            writer.write(" = ")
            try writer.write(value)
        }
    }

    private mutating func writeChangedTable(_ query: SelectQuery) throws {
        guard let table = query.tableName else {
            throw DatabaseError.misuse("\(query.sourceName) isn't a table, and can't be changed")
        }
        write(table: table, in: query.schemaName)
        if let name = try query.givenName(), !name.isIdentical(to: table) {
            write(" AS ")
            write(identifier: name)
        }
    }

    private mutating func write(
        changeOf query: SelectQuery, returning selection: [SQLSelection],
        _ body: (inout QueryWriter) throws -> Void
    ) throws {
        let clauses = try changedClauses(of: query)
        try writeTables(clauses.tables)
        var changed = query
        changed.selection = selection
        guard clauses.joins.isEmpty, !clauses.groupsByPrimaryKey, query.limit == nil || abilities.limitsChanges else {
            return try write(changeByKeyOf: query, returning: selection, body)
        }
        try withTables(of: changed, avoidingOuterNames: false) { writer in
            try body(&writer)
            if let filter = query.filter {
                writer.write(" WHERE ")
                try writer.write(filter)
            }
            // https://www.sqlite.org/lang_delete.html#optional_limit_and_order_by_clauses: RETURNING comes before them.
            try writer.write(returning: selection, of: query)
            if query.limit != nil {
                try writer.writeOrder(of: query)
                try writer.writeLimit(of: query, singleRow: false)
            }
        }
    }

    /// The clauses of a query whose rows are to be changed.
    ///
    /// - throws: `SQLITE_MISUSE` if the query's rows aren't rows of a table.
    func changedClauses(of query: SelectQuery) throws -> SelectQuery.Clauses {
        var clauses = query.hasClauses ? query.clauses : SelectQuery.Clauses()
        if !clauses.grouping.isEmpty, try groupsByKey(query) {
            clauses.grouping = []
            clauses.groupsByPrimaryKey = true
        }
        if !clauses.grouping.isEmpty || clauses.having != nil && !clauses.groupsByPrimaryKey {
            throw DatabaseError.misuse(
                "grouped rows of table \(query.sourceName) can't be changed: each of them represents several rows")
        }
        if !clauses.compounds.isEmpty { throw DatabaseError.misuse("rows of a compound request can't be changed") }
        return clauses
    }

    /// Whether each group is one row, because the query groups by the primary key or the rowid.
    private func groupsByKey(_ query: SelectQuery) throws -> Bool {
        guard let table = query.tableName else { return false }
        let key = try schema.keyColumns(of: table)
        let rowColumn = try schema.rowColumn(of: table)
        func isGrouped(_ column: String) -> Bool {
            let column = SQLExpression(content: .column(column))
            return query.clauses.grouping.contains { $0.isSameColumn(as: column) }
        }
        if !key.isEmpty, key.allSatisfy(isGrouped) { return true }
        if let rowColumn, !key.contains(rowColumn), isGrouped(rowColumn) { return true }
        // `rowid` names the rowid of any table that has one, unless a column hides it.
        let names = try schema.columnNames(of: table)
        return try schema.uniqueKeys(of: table).contains(["rowid"]) && isGrouped("rowid")
            && !names.contains { $0.isSameName(as: "rowid") }
    }

    /// `WHERE "id" IN (SELECT "player"."id" FROM "player" JOIN …)`
    private mutating func write(
        changeByKeyOf query: SelectQuery, returning selection: [SQLSelection],
        _ body: (inout QueryWriter) throws -> Void
    ) throws {
        guard let table = query.tableName else {
            throw DatabaseError.misuse("\(query.sourceName) isn't a table, and can't be changed")
        }
        var changed = SelectQuery(query.source)
        changed.selection = selection
        try withTables(of: changed, avoidingOuterNames: false) { writer in
            try body(&writer)
            writer.write(" WHERE ")
            try writer.write(keyOf: table, in: query)
            try writer.write(returning: selection, of: query)
        }
    }

    /// `"id" IN (SELECT "player"."id" FROM "player" JOIN …)`
    mutating func write(keyOf table: String, in query: SelectQuery) throws {
        var key = try schema.keyColumns(of: table)
        // Keys aren't found by NULL, and one column is enough.
        let row = try schema.rowColumn(of: table)
        if let row, !key.contains(row) { key = [row] }
        if key.count > 1 { write("(") }
        write(list: key) { $0.write(column: $1) }
        if key.count > 1 { write(")") }
        write(" IN (")
        var found = query.changingJoins { $0.isSelected = false }
        found.selection = key.map { SQLSelection(content: .expression(SQLExpression(content: .column($0)))) }
        // The tables of WITH are visible in the whole statement.
        if found.hasClauses { found.clauses.tables = [] }
        if query.limit == nil { found.ordering = [] }
        // Rows with NULL in their key, which SQLite puts into one group, are groups of their own.
        if found.hasClauses, !found.clauses.grouping.isEmpty, try schema.keyMayBeNull(of: table) {
            found.clauses.grouping = []
            found.clauses.groupsByPrimaryKey = true
        }
        try write(found)
        write(")")
    }

    /// ` RETURNING "id", "name"`. The columns are written without their table, whatever its name in the statement,
    /// because SQLite doesn't accept `"p".*` in RETURNING.
    mutating func write(returning selection: [SQLSelection], of query: SelectQuery) throws {
        guard !selection.isEmpty else { return }
        let table = Scope.Table(query: query, identities: query.identities, name: query.sourceName)
        scopes.append(Scope(tables: [table], isQualified: false))
        defer { scopes.removeLast() }
        try writeReturning(selection)
    }

    /// ` RETURNING "id", "name"`
    mutating func writeReturning(_ selection: [SQLSelection]) throws {
        guard !selection.isEmpty else { return }
        write(" RETURNING ")
        try write(list: selection) { try $0.write($1) }
    }

    /// The assignments of an upsert to columns of a table.
    package mutating func write(assigned assignments: [ColumnAssignment], table: String) throws {
        try withTables(of: SelectQuery(table: table), avoidingOuterNames: false) { try $0.write(assignments) }
    }

    /// The selection of RETURNING: `"id", "name" AS "n"`.
    ///
    /// - parameter table: the changed table.
    package mutating func write(returned selection: [SQLSelection], table: String) throws {
        try withTables(of: SelectQuery(table: table), avoidingOuterNames: false) { writer in
            try writer.write(list: selection) { try $0.write($1) }
        }
    }
}
