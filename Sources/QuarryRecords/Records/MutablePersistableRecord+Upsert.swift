public import QuarryCore
public import QuarrySQL

extension MutablePersistableRecord {
    fileprivate mutating func upsert(_ db: Database, _ kind: WriteKind, _ table: String?) throws {
        let plan = try RecordPlans.plan(type(of: self), table, db)
        try upsert(db, kind, plan)
    }

    mutating func upsert(_ db: Database, _ kind: WriteKind, _ plan: RecordPlan) throws {
        _ = try saving(db) { record in
            let shape = try plan.shape(db, sure: true)
            // The rowid of an updated row isn't the last inserted rowid.
            let row = try plan.query(record, kind, db) { try DatabaseValue.fetchOne($0, arguments: $1) }
            return Self.success(record, plan, shape, rowID: row ?? nil, isWritten: row.map { $0 != nil } ?? false, db)
        }
    }

    fileprivate mutating func upsertAndFetch<T: FetchableRecord>(
        _ db: Database, _ kind: WriteKind, _ table: String?, as fetchedType: T.Type
    ) throws -> T {
        let plan = try RecordPlans.plan(type(of: self), table, db)
        let kind = try Fetching(fetchedType).kind(kind, returning: .rowAndRowID, plan, db)
        var fetched: T?
        _ = try saving(db) { record in
            let shape = try plan.shape(db, sure: true)
            // The rowid comes last, and isn't one of the record's columns.
            let adapter = shape.rowIDName == nil ? nil : AllButLastAdapter()
            let row = try plan.query(record, kind, db) { try Row.fetchOne($0, arguments: $1, adapter: adapter) }
            guard let row = row ?? nil else { throw try plan.recordNotFound(record, db) }
            fetched = try fetchedType.record(of: row)
            let rowID = shape.rowIDName == nil ? .null : row.unadapted[row.count] as DatabaseValue
            return Self.success(record, plan, shape, rowID: rowID, isWritten: true, db)
        }
        guard let fetched else { throw try plan.recordNotFound(self, db) }
        return fetched
    }

    private static func success(
        _ record: Self, _ plan: RecordPlan, _ shape: TableShape, rowID: DatabaseValue?, isWritten: Bool, _ db: Database
    ) -> InsertionSuccess {
        // The last inserted rowid may belong to another row: this row may have been updated.
        let known = shape.rowIDName == nil ? nil : rowID.flatMap { Int64.fromDatabaseValue($0) }
        return InsertionSuccess(
            rowID: known ?? 0, rowIDColumn: shape.rowIDColumn, isInserted: isWritten,
            record: PersistedRecord(record, plan.callbacks))
    }

    static var upsertKind: WriteKind { WriteKind(verb: .upsert, returning: .rowID) }

    fileprivate static func upsertKind(
        _ db: Database, _ table: String?, _ conflictTarget: [String], _ strategy: UpsertUpdateStrategy,
        _ assignments: ((TableAlias<Self>) -> [ColumnAssignment])?
    ) throws -> WriteKind {
        var kind = WriteKind(verb: .upsert, conflictTarget: conflictTarget, strategy: strategy)
        guard let assignments = assignments?(TableAlias(name: "excluded")) else { return kind }
        let written = assignments.filter { $0.value != nil }
        let sql = try WrittenSQL(db) { try $0.write(assigned: written, table: table ?? databaseTableName) }
        kind.assignments = UpsertAssignments(sql: sql, columns: assignments.map(\.column))
        return kind
    }

    // MARK: - Upsert

    /// Inserts the record, or overwrites the existing row that conflicts with it.
    ///
    /// ```swift
    /// var player = Player(id: 1, name: "Arthur", score: 20)
    /// try player.upsert(db)
    /// ```
    /// ```sql
    /// INSERT INTO "player" ("id", "name", "score") VALUES (1,'Arthur',20)
    /// ON CONFLICT DO UPDATE SET "name" = "excluded"."name", "score" = "excluded"."score"
    /// RETURNING "rowid"
    /// ```
    ///
    /// A row conflicts if it has the record's value in the primary key or a unique index. The columns of the primary
    /// key aren't overwritten. The callbacks are the same as for an insert. See
    /// <https://www.sqlite.org/lang_upsert.html>.
    ///
    /// - parameter table: the table, if it isn't the type's own.
    /// - throws: `DatabaseError`; the error of a callback.
    public mutating func upsert(_ db: Database, table: String? = nil) throws {
        try upsert(db, Self.upsertKind, table)
    }

    /// Upserts the record, and returns the stored row.
    ///
    /// ```swift
    /// let player = try player.upsertAndFetch(db, onConflict: ["name"])
    /// ```
    /// ```sql
    /// INSERT INTO "player" ("id", "name", "score") VALUES (1,'Arthur',20)
    /// ON CONFLICT("name") DO UPDATE SET "score" = "excluded"."score"
    /// RETURNING *, "rowid"
    /// ```
    ///
    /// `doUpdate` assigns columns of an existing row one by one. The alias represents the row that could not be
    /// inserted:
    ///
    /// ```swift
    /// let player = try player.upsertAndFetch(db, onConflict: ["name"], doUpdate: { excluded in
    ///     [Column("score") += excluded["score"], Column("createdAt").noOverwrite]
    /// })
    /// ```
    /// ```sql
    /// … ON CONFLICT("name") DO UPDATE SET "score" = "score" + "excluded"."score" RETURNING *, "rowid"
    /// ```
    ///
    /// - parameter conflictTarget: the columns of the unique index whose conflicts are resolved; empty for any index.
    /// - parameter strategy: the columns to overwrite, among those that aren't assigned.
    /// - parameter table: the table, if it isn't the type's own.
    /// - parameter assignments: the assignments to columns of an existing row.
    /// - throws: the errors of `upsert`; `RecordError.recordNotFound` if nothing is written, as by a trigger that
    ///   ignores the row.
    public mutating func upsertAndFetch(
        _ db: Database, onConflict conflictTarget: [String] = [], updating strategy: UpsertUpdateStrategy = .allColumns,
        table: String? = nil, doUpdate assignments: ((TableAlias<Self>) -> [ColumnAssignment])? = nil
    ) throws -> Self where Self: FetchableRecord {
        try upsertAndFetch(
            db, type(of: self).upsertKind(db, table, conflictTarget, strategy, assignments), table, as: type(of: self))
    }

    /// Upserts the record, and returns the stored row as another type.
    ///
    /// - throws: the errors of `upsert`; `RecordError.recordNotFound` if nothing is written; the error of decoding the
    ///   row.
    public mutating func upsertAndFetch<T: FetchableRecord>(
        _ db: Database, as returnedType: T.Type, onConflict conflictTarget: [String] = [],
        updating strategy: UpsertUpdateStrategy = .allColumns, table: String? = nil,
        doUpdate assignments: ((TableAlias<Self>) -> [ColumnAssignment])? = nil
    ) throws -> T {
        try upsertAndFetch(
            db, type(of: self).upsertKind(db, table, conflictTarget, strategy, assignments), table, as: returnedType)
    }
}

extension FetchableRecord {
    /// Makes a record of this type, which may be a subclass.
    fileprivate static func record(of row: Row) throws -> Self {
        func subclassRecord<Record: FetchableRecord>(_ type: Record.Type) throws -> Self? {
            try Record(row: row) as? Self
        }
        if self == Self.self { return try Self(row: row) }
        let subclass: any FetchableRecord.Type = self
        return try subclassRecord(subclass) ?? Self(row: row)
    }
}

/// An adapter that shows all columns but the last.
private struct AllButLastAdapter: RowAdapter {
    func projection(of columnNames: [String]) throws -> RowProjection {
        RowProjection(
            columns: columnNames.dropLast().enumerated().map { RowProjection.Column(index: $0, name: $1) })
    }
}

extension PersistableRecord {
    /// Inserts the record, or overwrites the existing row that conflicts with it.
    ///
    /// - throws: `DatabaseError`; the error of a callback.
    public func upsert(_ db: Database) throws {
        try upsert(db, table: nil)
    }

    /// Inserts the record into a table other than the type's own, or overwrites the existing row that conflicts with
    /// it.
    ///
    /// ```swift
    /// try player.upsert(db, table: "formerPlayer")
    /// ```
    /// ```sql
    /// INSERT INTO "formerPlayer" ("id", "name") VALUES (1,'Arthur')
    /// ON CONFLICT DO UPDATE SET "name" = "excluded"."name" RETURNING "rowid"
    /// ```
    ///
    /// See <https://www.sqlite.org/lang_upsert.html>.
    ///
    /// - parameter table: the table; nil for the type's own.
    /// - throws: `DatabaseError`; the error of a callback.
    public func upsert(_ db: Database, table: String?) throws {
        var record = self
        try record.upsert(db, Self.upsertKind, table)
    }

    /// Upserts the record, and returns the stored row.
    ///
    /// - parameter conflictTarget: the columns of the unique index whose conflicts are resolved; empty for any index.
    /// - parameter strategy: the columns to overwrite, among those that aren't assigned.
    /// - parameter table: the table, if it isn't the type's own.
    /// - parameter assignments: the assignments to columns of an existing row.
    /// - throws: the errors of `upsert`; `RecordError.recordNotFound` if nothing is written, as by a trigger that
    ///   ignores the row.
    public func upsertAndFetch(
        _ db: Database, onConflict conflictTarget: [String] = [], updating strategy: UpsertUpdateStrategy = .allColumns,
        table: String? = nil, doUpdate assignments: ((TableAlias<Self>) -> [ColumnAssignment])? = nil
    ) throws -> Self where Self: FetchableRecord {
        var record = self
        return try record.upsertAndFetch(
            db, type(of: self).upsertKind(db, table, conflictTarget, strategy, assignments), table, as: type(of: self))
    }

    /// Upserts the record, and returns the stored row as another type.
    ///
    /// - throws: the errors of `upsert`; `RecordError.recordNotFound` if nothing is written; the error of decoding the
    ///   row.
    public func upsertAndFetch<T: FetchableRecord>(
        _ db: Database, as returnedType: T.Type, onConflict conflictTarget: [String] = [],
        updating strategy: UpsertUpdateStrategy = .allColumns, table: String? = nil,
        doUpdate assignments: ((TableAlias<Self>) -> [ColumnAssignment])? = nil
    ) throws -> T {
        var record = self
        return try record.upsertAndFetch(
            db, type(of: self).upsertKind(db, table, conflictTarget, strategy, assignments), table, as: returnedType)
    }
}
