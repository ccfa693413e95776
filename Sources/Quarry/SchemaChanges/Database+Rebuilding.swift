public import QuarryCore
public import QuarrySQL

extension Database {
    /// Gives a table another definition, and keeps its rows: for all that `alter(table:)` can't do.
    ///
    /// ```swift
    /// try db.rebuild(table: "player", filling: ["fullName": "name", "score": "coalesce(score, 0)"]) { t in
    ///     t.primaryKey("id", .integer)
    ///     t.column("fullName", .text).notNull()
    ///     t.column("score", .integer).notNull().check(sql: "score >= 0")
    /// }
    /// ```
    ///
    /// Each column gets the values of the old column of its name; those that `filling` names get the values of an
    /// expression of the old columns; others get their default. Old columns that the definition doesn't name go.
    ///
    /// Indexes, triggers, rowids and the sequence of AUTOINCREMENT are kept, and so are the views, triggers and foreign
    /// keys of other tables that name the table. An index, a trigger or a view that can't go on without a column makes
    /// the call throw: drop it before, and create it again after.
    ///
    /// All of it is one savepoint: where anything fails, nothing has changed. Foreign keys are neither checked nor
    /// acted upon meanwhile, in a transaction too; if they are checked otherwise, the keys of the table, and those that
    /// refer to it, are checked at the end.
    ///
    /// It takes the steps of <https://www.sqlite.org/lang_altertable.html#otheralter>.
    ///
    /// - parameter name: the name of a table that is neither virtual nor SQLite's own.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for the first that has it.
    /// - parameter options: `.strict` and `.withoutRowID`, as the table is to be.
    /// - parameter expressions: expressions of the old columns, by the columns that they fill.
    /// - parameter body: defines columns and constraints, all of them.
    /// - throws: what `body` throws; `DatabaseError`: `SQLITE_CONSTRAINT` for rows that don't fit the definition,
    ///   `SQLITE_MISUSE` while deferred foreign keys are violated.
    public func rebuild(
        table name: String, in schemaName: String? = nil, options: TableOptions = [],
        filling expressions: [String: SQL] = [:], body: (TableDefinition) throws -> Void
    ) throws {
        try checkAccess()
        guard options.isDisjoint(with: [.ifNotExists, .temporary]) else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "a table is rebuilt where it is: neither ifNotExists nor temporary"
            )
        }
        try inSavepoint {
            let rebuild = try TableRebuild(self, table: name, in: schemaName, options: options, filling: expressions)
            try body(rebuild.definition)
            try rebuild.run()
            return .commit
        }
    }
}
