package import QuarryCore

/// `INSERT INTO "player" ("name", "score") VALUES …`
package struct Insertion: Sendable {
    package enum Rows: Sendable {
        /// `VALUES (1, 'Arthur'), (2, 'Barbara')`
        case values([[SQLExpression]])
        /// `SELECT …`
        case query(SQLSubquery)
        /// `DEFAULT VALUES`
        case defaults
    }

    /// `ON CONFLICT("name") WHERE … DO UPDATE SET … WHERE …`
    package struct Upsert: Sendable {
        var columns: [String]
        var indexCondition: SQLExpression?
        /// nil for `DO NOTHING`.
        var assignments: [ColumnAssignment]?
        var filter: SQLExpression?
    }

    package var table: String
    /// nil for all columns of the table.
    package var columns: [String]?
    package var rows: Rows
    package var conflictResolution: SQLConflictResolution?
    package var upserts: [Upsert] = []
    /// The selection of RETURNING; nil for all columns.
    package var selection: [SQLSelection]?

    package init(
        table: String, columns: [String]?, rows: Rows, conflictResolution: SQLConflictResolution?,
        selection: [SQLSelection]?
    ) {
        self.table = table
        self.columns = columns
        self.rows = rows
        self.conflictResolution = conflictResolution
        self.selection = selection
    }
}

/// A statement that inserts rows, as a value: <https://www.sqlite.org/lang_insert.html>.
///
/// ```swift
/// let insert = Player.insert(columns: [Column("name"), Column("score")], values: [["Arthur", 10], ["Barbara", 20]])
/// try insert.execute(db)
/// ```
/// ```sql
/// INSERT INTO "player" ("name", "score") VALUES ('Arthur', 10), ('Barbara', 20)
/// ```
public struct InsertStatement<RowDecoder>: ChangeStatement {
    package var insertion: Insertion

    package init(_ insertion: Insertion) { self.insertion = insertion }

    /// Called by the library's own methods.
    public var _change: _Change { _Change(change: .insertion(insertion)) }

    /// The statement that skips rows that violate a unique index: `ON CONFLICT DO NOTHING`.
    ///
    /// ```swift
    /// insert.onConflictDoNothing([Column("name")])
    /// ```
    /// ```sql
    /// INSERT INTO "player" ("name", "score") VALUES ('Arthur', 10) ON CONFLICT("name") DO NOTHING
    /// ```
    ///
    /// See <https://www.sqlite.org/lang_upsert.html>.
    ///
    /// - parameter columns: the columns of the unique index; none for all indexes.
    /// - parameter indexCondition: the condition of a partial index.
    public func onConflictDoNothing(
        _ columns: [any ColumnExpression] = [], where indexCondition: (any SQLSpecificExpressible)? = nil
    ) -> Self {
        upserting(columns, indexCondition, nil, nil)
    }

    /// The statement that updates conflicting rows: `ON CONFLICT DO UPDATE SET …`.
    ///
    /// ```swift
    /// insert.onConflict([Column("name")]) { excluded in [Column("score") += excluded["score"]] }
    /// ```
    /// ```sql
    /// INSERT INTO "player" ("name", "score") VALUES ('Arthur', 10)
    /// ON CONFLICT("name") DO UPDATE SET "score" = "score" + "excluded"."score"
    /// ```
    ///
    /// A statement may have several such clauses, each for another index; the first match is used. Columns with
    /// `noOverwrite` are unchanged. See <https://www.sqlite.org/lang_upsert.html>.
    ///
    /// - parameter columns: the columns of the unique index; none for all indexes.
    /// - parameter indexCondition: the condition of a partial index.
    /// - parameter filter: selects the rows to update; other rows are unchanged.
    /// - parameter assignments: receives an alias for the row that could not be inserted.
    /// - throws: the error of `assignments`.
    public func onConflict(
        _ columns: [any ColumnExpression] = [], where indexCondition: (any SQLSpecificExpressible)? = nil,
        updateWhere filter: ((_ excluded: TableAlias<RowDecoder>) -> any SQLSpecificExpressible)? = nil,
        doUpdate assignments: (_ excluded: TableAlias<RowDecoder>) throws -> [ColumnAssignment]
    ) rethrows -> Self {
        let excluded = TableAlias<RowDecoder>(identity: TableIdentity(name: "excluded"))
        let set = try assignments(excluded).filter { $0.value != nil }
        return upserting(columns, indexCondition, set.isEmpty ? nil : set, filter?(excluded))
    }

    private func upserting(
        _ columns: [any ColumnExpression], _ indexCondition: (any SQLSpecificExpressible)?,
        _ assignments: [ColumnAssignment]?, _ filter: (any SQLSpecificExpressible)?
    ) -> Self {
        var copy = self
        copy.insertion.upserts.append(
            Insertion.Upsert(
                columns: columns.map(\.name), indexCondition: indexCondition?.sqlExpression, assignments: assignments,
                filter: filter?.sqlExpression))
        return copy
    }
}
