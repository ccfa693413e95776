package import QuarryCore
package import QuarrySQL

extension Database {
    /// The statement of a query with joins or prefetches, the indexes of its columns, and its prefetches.
    ///
    /// - parameter hidden: the names of selected columns that rows don't have.
    package func preparePlan(
        of query: SelectQuery, hidden: Set<String> = [], singleRow: Bool
    ) throws -> PreparedRequest {
        let fetch = PrefetchingFetch(self)
        let plan = try RequestLayout(query, self, hidden: hidden, singleRow: singleRow, fetch: fetch)
        guard let prefetches = plan.prefetches else { return plan.rows }
        return PreparedRequest(
            statement: plan.statement, adapter: plan.adapter,
            supplement: RequestPrefetch(prefetches, fetch, singleRow: singleRow))
    }

    /// The statement that `write` writes, with its arguments set.
    func prepare(_ write: (inout QueryWriter) throws -> Void) throws -> PreparedRequest {
        var writer = QueryWriter(schema: self)
        try write(&writer)
        let statement = try reusableStatement(sql: writer.sql())
        try statement.setArguments(writer.statementArguments())
        return PreparedRequest(statement: statement)
    }
}

extension Database {
    /// Runs a change of a table or view, and counts the rows.
    ///
    /// SQLite doesn't count changes of a view: for a view, the changes of its INSTEAD OF triggers are counted. See
    /// <https://www.sqlite.org/c3ref/changes.html>.
    func countingChanges(of name: String, _ change: () throws -> Void) throws -> Int {
        let before = totalChangesCount
        try change()
        let total = totalChangesCount - before
        if total == 0 { return 0 }
        let count = changesCount
        if count > 0 { return count }
        // The triggers of a table may change rows, and prevent the change itself.
        return try schema.find(name, in: nil, self)?.kind == .view ? total : 0
    }
}

extension Database {
    /// The SQL of a statement, with its arguments in place of their parameters.
    func literalSQL(of statement: Statement) throws -> String {
        // Read before another statement is made: this one may be cached for the next request with the same SQL.
        let (sql, arguments) = (statement.sql, statement.arguments)
        return try literal(SQL(sql: sql, arguments: arguments))
    }

    /// SQL, with its arguments in place of their parameters.
    func literal(_ sql: SQL) throws -> String { try schemaResolver.text(of: sql) }
}
