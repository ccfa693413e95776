public import QuarryCore
public import QuarrySQL

extension Database {
    // MARK: - Tables of records

    /// Creates the table that a record declares, and its indexes.
    ///
    /// ```swift
    /// try db.create(tableFor: Player.self)
    /// ```
    /// ```sql
    /// CREATE TABLE "player" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "name" TEXT NOT NULL)
    /// ```
    ///
    /// All of it is one savepoint.
    ///
    /// - parameter type: the record.
    /// - parameter name: the table's name; nil for `databaseTableName`.
    /// - parameter schemaName: the name of an attached database; nil for `main`.
    /// - throws: `DatabaseError`: `SQLITE_MISUSE` for a declaration that contradicts itself, or a column whose type
    ///   can't be found out; `SQLITE_ERROR` if there is a table of that name.
    public func create(
        tableFor type: any TableSchemaProviding.Type, named name: String? = nil, in schemaName: String? = nil
    ) throws {
        try checkAccess()
        try inSavepoint {
            try DeclaredTable(type, named: name, in: schemaName, self).create(self)
            return .commit
        }
    }

    /// Makes the table of a record what the record declares, where that takes nothing away: creates it, or adds the
    /// columns and indexes that it lacks.
    ///
    /// ```swift
    /// let report = try dbQueue.write { db in try db.synchronizeSchema(of: Player.self) }
    /// print(report.addedColumns, report.createdIndexes, report.ignoredColumns)
    /// ```
    /// ```sql
    /// ALTER TABLE "player" ADD COLUMN "score" INTEGER NOT NULL DEFAULT 0
    /// ```
    ///
    /// All of it is one savepoint: where something can't be added, nothing has changed. Columns and indexes that the
    /// record doesn't declare stay. Columns and constraints that are there stay as they are, and those that differ are
    /// told as `mismatches`.
    ///
    /// With `rebuildIfNeeded` a table that has mismatches, or columns that can't be added, gets the declared definition
    /// by `rebuild(table:)`, and keeps its rows. Its columns that aren't declared keep their definitions; constraints
    /// of the table that aren't declared go.
    ///
    /// - parameter type: the record.
    /// - parameter name: the table's name; nil for `databaseTableName`.
    /// - parameter schemaName: the name of an attached database; nil for `main`.
    /// - parameter dryRun: whether all is taken back, and the report tells what would be done, and what is impossible.
    /// - parameter rebuildIfNeeded: whether the table may be rebuilt.
    /// - returns: what was done.
    /// - throws: `SchemaSyncError` if something can't be added; `DatabaseError` as `create(tableFor:)`, and for rows
    ///   that don't fit a table that is rebuilt.
    public func synchronizeSchema(
        of type: any TableSchemaProviding.Type, named name: String? = nil, in schemaName: String? = nil,
        dryRun: Bool = false, rebuildIfNeeded: Bool = false
    ) throws -> SchemaSyncReport {
        try checkAccess()
        var report: SchemaSyncReport?
        try inSavepoint {
            let table = try DeclaredTable(type, named: name, in: schemaName, self)
            let synchronization = SchemaSynchronization(db: self, table: table, mayRebuild: rebuildIfNeeded)
            let result = try synchronization.run()
            report = result
            if dryRun { return .rollback }
            guard result.impossible.isEmpty else { throw SchemaSyncError(report: result) }
            return .commit
        }
        guard let report else { throw DatabaseError.outsideAccess() }
        return report
    }

    /// What of a table differs from what its record declares. Nothing is changed.
    ///
    /// ```swift
    /// for mismatch in try dbQueue.read({ db in try db.schemaMismatches(for: Player.self) }) {
    ///     print(mismatch) // type of score: declared INTEGER, is TEXT
    /// }
    /// ```
    ///
    /// CHECK constraints, collations, conflict policies and the expressions of generated columns aren't compared:
    /// SQLite doesn't tell them.
    ///
    /// - parameter type: the record.
    /// - parameter name: the table's name; nil for `databaseTableName`.
    /// - parameter schemaName: the name of an attached database; nil for `main`.
    public func schemaMismatches(
        for type: any TableSchemaProviding.Type, named name: String? = nil, in schemaName: String? = nil
    ) throws -> [SchemaMismatch] {
        try checkAccess()
        let table = try DeclaredTable(type, named: name, in: schemaName, self)
        guard let found = try schema.find(table.name, in: schemaName ?? "main", self), found.kind == .table else {
            return [SchemaMismatch(kind: .missingTable, name: table.name, declared: table.name, actual: nil)]
        }
        return try table.comparison(with: found, self).mismatches
    }
}
