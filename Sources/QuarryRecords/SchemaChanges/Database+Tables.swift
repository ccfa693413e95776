public import QuarryCore
public import QuarrySQL

extension Database {
    /// Creates a table, and the indexes that belong to it.
    ///
    /// ```swift
    /// try db.create(table: "player", options: .ifNotExists) { t in
    ///     t.autoIncrementedPrimaryKey("id")
    ///     t.column("name", .text).notNull()
    ///     t.belongsTo("team", onDelete: .cascade)
    /// }
    /// ```
    /// ```sql
    /// CREATE TABLE IF NOT EXISTS "player" (
    ///   "id" INTEGER PRIMARY KEY AUTOINCREMENT,
    ///   "name" TEXT NOT NULL,
    ///   "teamId" INTEGER REFERENCES "team"("id") ON DELETE CASCADE)
    /// CREATE INDEX IF NOT EXISTS "player_on_teamId" ON "player"("teamId")
    /// ```
    ///
    /// See <https://www.sqlite.org/lang_createtable.html>.
    ///
    /// - parameter name: the table's name.
    /// - parameter schemaName: the name of an attached database; nil for `main`, or for `temp` if the table is
    ///   temporary.
    /// - parameter options: the options of the statement, such as `.ifNotExists`.
    /// - parameter body: defines columns and constraints.
    /// - throws: the error of `body`; `DatabaseError`, for example if the table exists.
    public func create(
        table name: String, in schemaName: String? = nil, options: TableOptions = [],
        body: (TableDefinition) throws -> Void
    ) throws {
        try checkAccess()
        let definition = TableDefinition(name: name, schemaName: schemaName, options: options)
        try body(definition)
        let rendering = try definition.render(schemaResolver)
        try execute(sql: rendering.table)
        for index in rendering.indexes { try execute(sql: index.sql(schemaResolver)) }
    }

    /// Creates a table; the method with `options` is shorter.
    ///
    /// - throws: the error of `body`; `DatabaseError`, for example if the table exists.
    @_disfavoredOverload
    public func create(
        table name: String, temporary: Bool = false, ifNotExists: Bool = false, withoutRowID: Bool = false,
        body: (TableDefinition) throws -> Void
    ) throws {
        var options: TableOptions = []
        if temporary { options.insert(.temporary) }
        if ifNotExists { options.insert(.ifNotExists) }
        if withoutRowID { options.insert(.withoutRowID) }
        try create(table: name, options: options, body: body)
    }

    /// Changes a table.
    ///
    /// ```swift
    /// try db.alter(table: "player") { t in
    ///     t.add(column: "url", .text)
    ///     t.rename(column: "score", to: "points")
    /// }
    /// ```
    /// ```sql
    /// ALTER TABLE "player" ADD COLUMN "url" TEXT
    /// ALTER TABLE "player" RENAME COLUMN "score" TO "points"
    /// ```
    ///
    /// Each change is a separate statement: if one fails, earlier ones have been made, unless the transaction is rolled
    /// back. See <https://www.sqlite.org/lang_altertable.html>.
    ///
    /// - parameter name: the table's name.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for the first schema with the
    ///   table.
    /// - parameter body: defines the changes.
    /// - throws: the error of `body`; `DatabaseError`, for example for a duplicate or missing column.
    public func alter(
        table name: String, in schemaName: String? = nil, body: (TableAlteration) throws -> Void
    ) throws {
        try checkAccess()
        let alteration = TableAlteration(name: name, schemaName: schemaName)
        try body(alteration)
        try alteration.forEachStatement(schemaResolver) { sql in try execute(sql: sql) }
    }

    /// Renames a table, also in foreign keys, triggers and views.
    ///
    /// ```sql
    /// ALTER TABLE "player" RENAME TO "user"
    /// ```
    ///
    /// - parameter name: the table's name.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for the first schema with the
    ///   table.
    /// - parameter newName: the table's new name.
    /// - throws: `DatabaseError`, for example if the table doesn't exist, or another table has the new name.
    public func rename(table name: String, in schemaName: String? = nil, to newName: String) throws {
        try execute(sql: "ALTER TABLE \(qualified(name, schemaName)) RENAME TO \(newName.quotedDatabaseIdentifier)")
    }

    /// Drops a table, with its indexes and triggers.
    ///
    /// ```sql
    /// DROP TABLE "player"
    /// ```
    ///
    /// If foreign keys are enforced, the rows are deleted first, with the actions for rows that reference them:
    /// <https://www.sqlite.org/lang_droptable.html>.
    ///
    /// - parameter name: the table's name.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for the first schema with the
    ///   table.
    /// - throws: `DatabaseError`: "no such table: player"; `SQLITE_CONSTRAINT` for foreign keys that would be violated.
    public func drop(table name: String, in schemaName: String? = nil) throws {
        try execute(sql: "DROP TABLE \(qualified(name, schemaName))")
    }
}

// The names that `Database` gives to types of the query interface.

extension Database {
    /// The declared type of a column: `.text`.
    public typealias ColumnType = SQLColumnType

    /// The type that a value is cast to: `cast(Column("score"), as: .real)`.
    public typealias StorageClass = SQLColumnType

    /// The action when a change violates a constraint: `.ignore`.
    public typealias ConflictResolution = SQLConflictResolution

    /// The action on referencing rows when the referenced row is deleted or its key changes: `.cascade`.
    public typealias ForeignKeyAction = SQLForeignKeyAction
}

extension Database {
    package var schemaResolver: ConnectionSchemaResolver { ConnectionSchemaResolver(db: self) }
}
