import Quarry
public import QuarryCore
import QuarrySQL

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
    /// All statements run in one savepoint.
    ///
    /// - parameter type: the record.
    /// - parameter name: the table's name; nil for `databaseTableName`.
    /// - parameter schemaName: the name of an attached database; nil for `main`.
    /// - throws: `DatabaseError`: `SQLITE_MISUSE` for a declaration that contradicts itself, or a column whose type
    ///   can't be inferred; `SQLITE_ERROR` if the table exists.
    public func create(
        tableFor type: any TableSchemaProviding.Type, named name: String? = nil, in schemaName: String? = nil
    ) throws {
        try checkAccess()
        try inSavepoint {
            try DeclaredTable(type, named: name, in: schemaName, self).create(self)
            return .commit
        }
    }

    /// Synchronizes the table of a record with its declaration, without loss: creates the table, or adds the missing
    /// columns and indexes.
    ///
    /// ```swift
    /// let report = try dbQueue.write { db in try db.synchronizeSchema(of: Player.self) }
    /// print(report.addedColumns, report.createdIndexes, report.ignoredColumns)
    /// ```
    /// ```sql
    /// ALTER TABLE "player" ADD COLUMN "score" INTEGER NOT NULL DEFAULT 0
    /// ```
    ///
    /// All statements run in one savepoint: if something can't be added, nothing changes. Columns and indexes that the
    /// record doesn't declare stay. Existing columns and constraints stay unchanged; differences are reported as
    /// `mismatches`.
    ///
    /// With `rebuildIfNeeded`, `rebuild(table:)` gives the declared definition to a table that has mismatches, or
    /// columns that can't be added. The table keeps its rows. Its undeclared columns keep their definitions; its
    /// undeclared constraints are dropped.
    ///
    /// - parameter type: the record.
    /// - parameter name: the table's name; nil for `databaseTableName`.
    /// - parameter schemaName: the name of an attached database; nil for `main`.
    /// - parameter dryRun: whether all changes are rolled back; the report then contains the changes that would be
    ///   made, and the impossible ones.
    /// - parameter rebuildIfNeeded: whether the table may be rebuilt.
    /// - returns: a report of the changes.
    /// - throws: `SchemaSyncError` if a column or an index can't be added; the errors of `create(tableFor:)`;
    ///   `DatabaseError` for rows that violate the definition of a rebuilt table.
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

    /// The differences between a table and its record's declaration. Nothing is changed.
    ///
    /// ```swift
    /// for mismatch in try dbQueue.read({ db in try db.schemaMismatches(for: Player.self) }) {
    ///     print(mismatch) // type of score: declared INTEGER, is TEXT
    /// }
    /// ```
    ///
    /// CHECK constraints, collations, conflict policies and the expressions of generated columns aren't compared,
    /// because SQLite doesn't report them.
    ///
    /// - parameter type: the record.
    /// - parameter name: the table's name; nil for `databaseTableName`.
    /// - parameter schemaName: the name of an attached database; nil for `main`.
    /// - throws: `DatabaseError`: `SQLITE_MISUSE` for a declaration that contradicts itself, or a column whose type
    ///   can't be inferred.
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
