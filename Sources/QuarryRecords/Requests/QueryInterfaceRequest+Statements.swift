public import QuarryCore
public import QuarrySQL

// Statements as values: made from requests and types, stored, and run later.

extension QueryInterfaceRequest {
    /// A statement that deletes the rows.
    ///
    /// ```swift
    /// let purge = Player.filter(Column("score") < 10).delete()
    /// try purge.execute(db)
    /// ```
    /// ```sql
    /// DELETE FROM "player" WHERE "score" < 10
    /// ```
    public func delete() -> DeleteStatement<RowDecoder> { DeleteStatement(query) }

    /// A statement that sets columns of the rows.
    ///
    /// ```swift
    /// let raise = Player.filter(Column("teamId") == 1).update([Column("score") += 10])
    /// try raise.execute(db)
    /// ```
    /// ```sql
    /// UPDATE "player" SET "score" = "score" + 10 WHERE "teamId" = 1
    /// ```
    ///
    /// - parameter conflictResolution: the conflict resolution; nil for the record type's policy.
    public func update(
        onConflict conflictResolution: Database.ConflictResolution? = nil, _ assignments: [ColumnAssignment]
    ) -> UpdateStatement<RowDecoder> {
        UpdateStatement(
            Update(
                query: query,
                conflictResolution: conflictResolution ?? policy(of: RowDecoder.self, \.conflictResolutionForUpdate),
                assignments: assignments))
    }

    /// A statement that sets columns of the rows.
    public func update(
        onConflict conflictResolution: Database.ConflictResolution? = nil, _ assignments: ColumnAssignment...
    ) -> UpdateStatement<RowDecoder> {
        update(onConflict: conflictResolution, assignments)
    }

    /// A statement that inserts the rows into a table: `INSERT INTO … SELECT …`.
    ///
    /// ```swift
    /// let copy = Player.filter(Column("score") < 10).select(Column("id"), Column("name"))
    ///     .insert(into: Table("archive"), columns: [Column("id"), Column("name")])
    /// try copy.execute(db)
    /// ```
    /// ```sql
    /// INSERT INTO "archive" ("id", "name") SELECT "id", "name" FROM "player" WHERE "score" < 10
    /// ```
    ///
    /// - parameter columns: the columns of the table, in the order of the request's columns; nil for all.
    /// - parameter conflictResolution: the conflict resolution; nil for SQLite's default.
    public func insert<T>(
        into table: Table<T>, columns: [any ColumnExpression]? = nil,
        onConflict conflictResolution: Database.ConflictResolution? = nil
    ) -> InsertStatement<T> {
        InsertStatement(
            Insertion(
                table: table.tableName, columns: columns?.map(\.name), rows: .query(sqlSubquery),
                conflictResolution: conflictResolution, selection: nil))
    }

    /// A statement that inserts the rows into the table of a record type: `INSERT INTO … SELECT …`.
    ///
    /// - parameter columns: the columns of the table, in the order of the request's columns; nil for all.
    /// - parameter conflictResolution: the conflict resolution; nil for the type's policy.
    public func insert<T: TableRecord>(
        into type: T.Type, columns: [any ColumnExpression]? = nil,
        onConflict conflictResolution: Database.ConflictResolution? = nil
    ) -> InsertStatement<T> {
        type.insertion(columns?.map(\.name), .query(sqlSubquery), conflictResolution)
    }
}

extension QueryInterfaceRequest where RowDecoder: TableRecord {
    /// A statement that sets columns of the rows.
    ///
    /// ```swift
    /// let raise = Player.filter { $0.teamId == 1 }.update { [$0.score += 10] }
    /// ```
    ///
    /// - throws: the error of `assignments`.
    public func update(
        onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (RowDecoder.DatabaseComponents) throws -> [ColumnAssignment]
    ) rethrows -> UpdateStatement<RowDecoder> {
        update(onConflict: conflictResolution, try assignments(RowDecoder.databaseComponents))
    }
}

extension TableRecord {
    /// A statement that inserts rows.
    ///
    /// ```swift
    /// let insert = Player.insert(columns: [Column("name"), Column("score")], values: [["Arthur", 10], ["Eve", nil]])
    /// try insert.execute(db) // 2
    /// ```
    /// ```sql
    /// INSERT INTO "player" ("name", "score") VALUES ('Arthur', 10), ('Eve', NULL)
    /// ```
    ///
    /// More values than fit into a statement (`Database.maximumStatementArgumentCount`) are inserted by several, all or
    /// none; values that are subqueries then see the rows inserted before. Unnamed columns get their default values.
    /// See <https://www.sqlite.org/lang_insert.html>.
    ///
    /// - parameter columns: the columns of the values; nil for all columns of the table.
    /// - parameter conflictResolution: the conflict resolution; nil for the type's policy.
    public static func insert(
        columns: [any ColumnExpression]? = nil, values: [[(any SQLExpressible)?]],
        onConflict conflictResolution: Database.ConflictResolution? = nil
    ) -> InsertStatement<Self> {
        insertion(columns?.map(\.name), .values(expressions(of: values)), conflictResolution)
    }

    /// A statement that inserts rows.
    ///
    /// ```swift
    /// Player.insert({ [$0.name, $0.score] }, values: [["Arthur", 10], ["Barbara", 20]])
    /// ```
    ///
    /// - throws: the error of `columns`.
    public static func insert(
        _ columns: (DatabaseComponents) throws -> [any ColumnExpression], values: [[(any SQLExpressible)?]],
        onConflict conflictResolution: Database.ConflictResolution? = nil
    ) rethrows -> InsertStatement<Self> {
        insert(columns: try columns(databaseComponents), values: values, onConflict: conflictResolution)
    }

    /// A statement that inserts a row of default values: `INSERT INTO "player" DEFAULT VALUES`.
    public static func insertDefaultValues(
        onConflict conflictResolution: Database.ConflictResolution? = nil
    ) -> InsertStatement<Self> {
        insertion(nil, .defaults, conflictResolution)
    }

    fileprivate static func insertion(
        _ columns: [String]?, _ rows: Insertion.Rows, _ conflictResolution: Database.ConflictResolution?
    ) -> InsertStatement<Self> {
        InsertStatement(
            Insertion(
                table: databaseTableName, columns: columns, rows: rows,
                conflictResolution: conflictResolution ?? policy(of: Self.self, \.conflictResolutionForInsert),
                selection: selection))
    }
}

extension Table {
    /// A statement that inserts rows.
    ///
    /// ```swift
    /// Table("player").insert(columns: [Column("name")], values: [["Arthur"], ["Barbara"]])
    /// ```
    /// ```sql
    /// INSERT INTO "player" ("name") VALUES ('Arthur'), ('Barbara')
    /// ```
    ///
    /// - parameter columns: the columns of the values; nil for all columns of the table.
    /// - parameter conflictResolution: the conflict resolution; nil for SQLite's default.
    public func insert(
        columns: [any ColumnExpression]? = nil, values: [[(any SQLExpressible)?]],
        onConflict conflictResolution: Database.ConflictResolution? = nil
    ) -> InsertStatement<RowDecoder> {
        InsertStatement(
            Insertion(
                table: tableName, columns: columns?.map(\.name), rows: .values(expressions(of: values)),
                conflictResolution: conflictResolution, selection: nil))
    }

    /// A statement that deletes all rows: `DELETE FROM "player"`.
    public func delete() -> DeleteStatement<RowDecoder> { all().delete() }

    /// A statement that sets columns of all rows: `UPDATE "player" SET …`.
    public func update(
        onConflict conflictResolution: Database.ConflictResolution? = nil, _ assignments: [ColumnAssignment]
    ) -> UpdateStatement<RowDecoder> {
        all().update(onConflict: conflictResolution, assignments)
    }
}

private func expressions(of values: [[(any SQLExpressible)?]]) -> [[SQLExpression]] {
    values.map { $0.map { $0?.sqlExpression ?? DatabaseValue.null.sqlExpression } }
}

/// The conflict resolution of a record type's policy; nil for SQLite's default.
private func policy<T>(
    of type: T.Type, _ resolution: (PersistenceConflictPolicy) -> Database.ConflictResolution
) -> Database.ConflictResolution? {
    guard let type = type as? any MutablePersistableRecord.Type else { return nil }
    let resolution = resolution(type.persistenceConflictPolicy)
    return resolution == .abort ? nil : resolution
}
