public import QuarryCore
public import QuarrySQL

extension Database {
    /// Replaces the definition of a table, and keeps its rows: for changes that `alter(table:)` can't make.
    ///
    /// ```swift
    /// try db.rebuild(table: "player", filling: ["fullName": "name", "score": "coalesce(score, 0)"]) { t in
    ///     t.primaryKey("id", .integer)
    ///     t.column("fullName", .text).notNull()
    ///     t.column("score", .integer).notNull().check(sql: "score >= 0")
    /// }
    /// ```
    ///
    /// Each column receives the values of the old column with its name; columns in `filling` receive the values of an
    /// expression of the old columns; other columns get their defaults. Old columns that the definition doesn't name
    /// are dropped.
    ///
    /// Indexes, triggers, rowids and the sequence of AUTOINCREMENT are kept, and so are the views, triggers and foreign
    /// keys of other tables that name the table. If an index, a trigger or a view needs a column that is dropped, the
    /// call throws: drop it first, and create it again afterwards.
    ///
    /// The rebuild is one savepoint: if any step fails, nothing changes. Foreign key enforcement is suspended during
    /// the rebuild, even in a transaction. If it is enabled, the keys of the table, and the keys that reference it, are
    /// checked at the end.
    ///
    /// The steps are those of <https://www.sqlite.org/lang_altertable.html#otheralter>.
    ///
    /// - parameter name: the name of a table that is neither virtual nor SQLite's own.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for the first schema with the
    ///   table.
    /// - parameter options: `.strict` and `.withoutRowID`, for the new definition.
    /// - parameter expressions: expressions of the old columns, by the columns that they fill.
    /// - parameter body: defines all columns and constraints.
    /// - throws: the error of `body`; `DatabaseError`: `SQLITE_CONSTRAINT` for rows that violate the definition,
    ///   `SQLITE_MISUSE` while deferred foreign keys are violated.
    public func rebuild(
        table name: String, in schemaName: String? = nil, options: TableOptions = [],
        filling expressions: [String: SQL] = [:], body: (TableDefinition) throws -> Void
    ) throws {
        try checkAccess()
        guard options.isDisjoint(with: [.ifNotExists, .temporary]) else {
            throw DatabaseError.misuse("a rebuilt table can't have the options ifNotExists and temporary")
        }
        try inSavepoint {
            let rebuild = try TableRebuild(self, table: name, in: schemaName, options: options, filling: expressions)
            try body(rebuild.definition)
            try rebuild.run()
            return .commit
        }
    }
}
