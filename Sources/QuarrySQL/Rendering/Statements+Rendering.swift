import QuarryCore

extension QueryWriter {
    /// A statement that changes a table.
    package mutating func write(_ change: Change, returning selection: [SQLSelection] = []) throws {
        switch change {
        case .insertion(let insertion): try write(insertion, returning: selection)
        case .deletion(let query): try write(deletionOf: query, returning: selection)
        case .update(let update):
            guard !update.assignments.isEmpty else {
                throw DatabaseError.misuse("an update of \(update.query.sourceName) has no assignments")
            }
            guard let source = update.source else {
                return try write(
                    updateOf: update.query, update.conflictResolution, update.assignments, returning: selection)
            }
            try write(update, from: source, returning: selection)
        }
    }

    // MARK: - INSERT

    private mutating func write(_ insertion: Insertion, returning selection: [SQLSelection]) throws {
        write("INSERT ")
        if let resolution = insertion.conflictResolution { write(sql: "OR \(resolution.rawValue) ") }
        write("INTO ")
        write(identifier: insertion.table)
        if let columns = insertion.columns, !columns.isEmpty {
            write(" (")
            write(list: columns) { $0.write(identifier: $1) }
            write(")")
        }
        write(" ")
        switch insertion.rows {
        case .defaults: write("DEFAULT VALUES")
        case .query(let query): try write(insertion.upserts.isEmpty ? query : query.endingInCondition())
        case .values(let rows):
            if let columns = insertion.columns, let row = rows.first, columns.count != row.count {
                throw DatabaseError.misuse(
                    "an insert into \(insertion.table) has \(columns.count) columns and \(row.count) values a row")
            }
            try write(rows: rows)
        }
        guard !insertion.upserts.isEmpty || !selection.isEmpty else { return }
        try withTables(of: SelectQuery(table: insertion.table), avoidingOuterNames: false) { writer in
            for upsert in insertion.upserts { try writer.write(upsert) }
            try writer.writeReturning(selection)
        }
    }

    /// ` ON CONFLICT("name") DO UPDATE SET …`
    private mutating func write(_ upsert: Insertion.Upsert) throws {
        write(" ON CONFLICT")
        if !upsert.columns.isEmpty {
            write("(")
            write(list: upsert.columns) { $0.write(identifier: $1) }
            write(")")
            if let condition = upsert.indexCondition {
                write(" WHERE ")
                // https://www.sqlite.org/lang_upsert.html: SQLite finds the partial index by its condition, which can't
                // have parameters.
                let mark = mark
                try write(condition)
                try inlineArguments(since: mark)
            }
        } else if upsert.indexCondition != nil {
            throw DatabaseError.misuse("the condition of a partial index needs the columns of the index")
        }
        guard let assignments = upsert.assignments else { return write(" DO NOTHING") }
        write(" DO UPDATE SET ")
        try write(assignments)
        if let filter = upsert.filter {
            write(" WHERE ")
            try write(filter)
        }
    }

    // MARK: - UPDATE FROM

    private mutating func write(_ update: Update, from source: SelectQuery, returning selection: [SQLSelection]) throws
    {
        let query = update.query
        guard let table = query.tableName else {
            throw DatabaseError.misuse("\(query.sourceName) isn't a table, and can't be changed")
        }
        let clauses = try changedClauses(of: query)
        let source = try derivingJoins(of: source)
        try writeTables(clauses.tables + (source.hasClauses ? source.clauses.tables : []))
        var changed = SelectQuery(table: table)
        changed.identities = query.identities
        changed.clauses.joins = [
            Join(key: source.sourceName, kind: .cross, condition: .none, query: source, isSelected: false)
        ]
        try withTables(of: changed, avoidingOuterNames: false) { writer in
            writer.write("UPDATE ")
            if let resolution = update.conflictResolution { writer.write(sql: "OR \(resolution.rawValue) ") }
            var index = 0
            try writer.writeSource(of: changed, &index, alias: " AS ")
            writer.write(" SET ")
            try writer.write(update.assignments)
            writer.write(" FROM ")
            try writer.writeSource(of: source, &index)
            try writer.writeJoins(of: source, left: 1, &index)
            if !clauses.joins.isEmpty || clauses.groupsByPrimaryKey || query.limit != nil {
                writer.write(" WHERE ")
                if source.filter != nil { writer.write("(") }
                try writer.write(keyOf: table, in: query)
                guard let filter = source.filter else { return }
                writer.write(") AND ")
                try writer.withCurrent(1) { try $0.write(operand: filter) }
            } else {
                try writer.write(conditions: query.filter, source.filter)
            }
        }
        try write(returning: selection, of: query)
    }

    /// ` WHERE x AND y`. The columns of `y` are those of the second table.
    private mutating func write(conditions first: SQLExpression?, _ second: SQLExpression?) throws {
        guard first != nil || second != nil else { return }
        write(" WHERE ")
        if let first {
            if second == nil { return try write(first) }
            try write(operand: first)
            write(" AND ")
        }
        guard let second else { return }
        try withCurrent(1) { writer in
            if first == nil { return try writer.write(second) }
            try writer.write(operand: second)
        }
    }
}

extension SQLSubquery {
    /// The query with a condition after FROM: otherwise SQLite would take ON CONFLICT for the condition of a join.
    /// <https://www.sqlite.org/lang_upsert.html#parsing_ambiguity>
    fileprivate func endingInCondition() -> SQLSubquery {
        var query: SelectQuery
        if case .query(let inner) = content, !inner.isCompound {
            query = inner
        } else {
            query = SelectQuery(.query(self))
        }
        if query.filter == nil { query.filter = .node(.inList(.null, [], isNegated: true)) }
        return SQLSubquery(content: .query(query))
    }
}
