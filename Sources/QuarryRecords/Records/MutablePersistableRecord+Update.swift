public import QuarryCore
public import QuarrySQL

extension MutablePersistableRecord {
    static func updateKind(
        _ conflictResolution: Database.ConflictResolution?, columns: [String]? = nil
    ) -> WriteKind {
        WriteKind(
            verb: .update,
            resolution: conflictResolution ?? persistenceConflictPolicy.conflictResolutionForUpdate,
            columns: columns)
    }

    /// Updates the row, and calls the callbacks.
    fileprivate func update(_ db: Database, _ kind: WriteKind, _ table: String?) throws {
        let plan = try RecordPlans.plan(type(of: self), table, db)
        let known = plan.callbacks.known
        guard known.isSuperset(of: .aroundUpdates) else {
            return try saving(db, plan.callbacks, columns: plan.writtenColumns(kind, db)) {
                guard try plan.write(self, kind, db) else { throw try plan.recordNotFound(self, db) }
            }
        }
        if !known.contains(.willSave) { try willSave(db) }
        if !known.contains(.willUpdate) { try willUpdate(db, columns: plan.writtenColumns(kind, db)) }
        guard try plan.write(self, kind, db) else { throw try plan.recordNotFound(self, db) }
        if known.isSuperset(of: [.didUpdate, .didSave]) { return }
        let updated = PersistenceSuccess(PersistedRecord(self, plan.callbacks))
        if !known.contains(.didUpdate) { didUpdate(updated) }
        if !known.contains(.didSave) { didSave(updated) }
    }

    /// Updates the row, calls the callbacks, and returns the row.
    fileprivate func updateAndFetch<T>(
        _ db: Database, _ kind: WriteKind, _ table: String?, _ fetching: Fetching<T>
    ) throws -> T {
        let plan = try RecordPlans.plan(type(of: self), table, db)
        let kind = try fetching.kind(kind, plan, db)
        var fetched: T?
        try saving(db, plan.callbacks, columns: plan.writtenColumns(kind, db)) {
            fetched = try plan.updateAndFetch(self, kind, db, fetching)
        }
        guard let fetched else { throw try plan.recordNotFound(self, db) }
        return fetched
    }

    // MARK: - Update

    /// Updates the row that has the record's primary key.
    ///
    /// ```swift
    /// player.score = 20
    /// try player.update(db)
    /// ```
    /// ```sql
    /// UPDATE "player" SET "name"='Arthur', "score"=20 WHERE "id"=1
    /// ```
    ///
    /// - parameter conflictResolution: the conflict resolution; nil for the type's policy.
    /// - parameter table: the table, if it isn't the type's own.
    /// - throws: `RecordError.recordNotFound` if there is no such row; `DatabaseError`; the error of a callback.
    public func update(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil
    ) throws {
        try update(db, type(of: self).updateKind(conflictResolution), table)
    }

    /// Updates some columns of the row that has the record's primary key.
    ///
    /// ```swift
    /// try player.update(db, columns: ["score"])
    /// ```
    /// ```sql
    /// UPDATE "player" SET "score"=20 WHERE "id"=1
    /// ```
    ///
    /// - throws: the errors of `update`, and a `DatabaseError` for a column that the record or the table doesn't have.
    public func update(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<String>, table: String? = nil
    ) throws {
        try update(db, type(of: self).updateKind(conflictResolution, columns: Array(columns)), table)
    }

    /// Updates some columns of the row that has the record's primary key.
    ///
    /// - throws: the errors of `update`, and a `DatabaseError` for a column that the record or the table doesn't have.
    public func update(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<any ColumnExpression>, table: String? = nil
    ) throws {
        try update(db, onConflict: conflictResolution, columns: columns.map(\.name), table: table)
    }

    // MARK: - Update changes

    /// Updates the columns whose values differ from another record's.
    ///
    /// ```swift
    /// try newPlayer.updateChanges(db, from: oldPlayer)
    /// ```
    ///
    /// - returns: whether any value differs; otherwise nothing runs.
    /// - throws: the errors of `update`.
    @discardableResult
    public func updateChanges(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        from record: some MutablePersistableRecord, table: String? = nil
    ) throws -> Bool {
        let old = try EncodingTarget(recording: record)
        let changes = try EncodingTarget(recording: self).changes(from: old).map(\.0)
        guard !changes.isEmpty else { return false }
        try update(db, type(of: self).updateKind(conflictResolution, columns: changes), table)
        return true
    }

    /// Changes the record, and updates the columns whose values have changed.
    ///
    /// ```swift
    /// try player.updateChanges(db) { $0.score = 20 } // UPDATE "player" SET "score"=20 WHERE "id"=1
    /// try player.updateChanges(db) { $0.score = 20 } // false: nothing runs
    /// ```
    ///
    /// - returns: whether any value has changed; otherwise nothing runs.
    /// - throws: the errors of `update`.
    @discardableResult
    public mutating func updateChanges(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil,
        modify: (inout Self) throws -> Void
    ) throws -> Bool {
        let changes = try changedColumns(modify)
        guard !changes.isEmpty else { return false }
        try update(db, type(of: self).updateKind(conflictResolution, columns: changes), table)
        return true
    }

    fileprivate mutating func changedColumns(_ modify: (inout Self) throws -> Void) throws -> [String] {
        let old = try EncodingTarget(recording: self)
        try modify(&self)
        return try EncodingTarget(recording: self).changes(from: old).map(\.0)
    }

    // MARK: - Update and fetch

    /// Updates the row that has the record's primary key, and returns the stored row.
    ///
    /// ```swift
    /// let player = try player.updateAndFetch(db) // with the values of triggers and generated columns
    /// ```
    /// ```sql
    /// UPDATE "player" SET "name"='Arthur', "score"=20 WHERE "id"=1 RETURNING *
    /// ```
    ///
    /// - throws: the errors of `update`.
    public func updateAndFetch(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil
    ) throws -> Self where Self: FetchableRecord {
        try updateAndFetch(db, onConflict: conflictResolution, as: type(of: self), table: table)
    }

    /// Updates the row that has the record's primary key, and returns the stored row as another type.
    ///
    /// - throws: the errors of `update`.
    public func updateAndFetch<T: FetchableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, as returnedType: T.Type,
        table: String? = nil
    ) throws -> T {
        try updateAndFetch(db, type(of: self).updateKind(conflictResolution), table, Fetching(returnedType))
    }

    /// Updates the row that has the record's primary key, and calls a closure with a statement that returns columns of
    /// the row.
    ///
    /// ```swift
    /// let score = try player.updateAndFetch(db, selection: [Column("score")]) { try Int.fetchOne($0) } // Int?
    /// ```
    /// ```sql
    /// UPDATE "player" SET "name"='Arthur' WHERE "id"=1 RETURNING "score"
    /// ```
    ///
    /// - parameter selection: the columns.
    /// - parameter fetch: takes the statement, and runs it.
    /// - throws: the errors of `update`; the error of `fetch`.
    public func updateAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil,
        selection: [any SQLSelectable], fetch: (Statement) throws -> T
    ) throws -> T {
        try withoutActuallyEscaping(fetch) { fetch in
            try updateAndFetch(db, type(of: self).updateKind(conflictResolution), table, Fetching(selection, fetch))
        }
    }

    /// Updates some columns of the row that has the record's primary key, and calls a closure with a statement that
    /// returns columns of the row.
    ///
    /// - throws: the errors of `update`, and a `DatabaseError` for a column that the record or the table doesn't have;
    ///   the error of `fetch`.
    public func updateAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<String>, table: String? = nil, selection: [any SQLSelectable],
        fetch: (Statement) throws -> T
    ) throws -> T {
        let kind = type(of: self).updateKind(conflictResolution, columns: Array(columns))
        return try withoutActuallyEscaping(fetch) { fetch in
            try updateAndFetch(db, kind, table, Fetching(selection, fetch))
        }
    }

    /// Updates some columns of the row that has the record's primary key, and calls a closure with a statement that
    /// returns columns of the row.
    ///
    /// - throws: the errors of `update`, and a `DatabaseError` for a column that the record or the table doesn't have;
    ///   the error of `fetch`.
    public func updateAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<any ColumnExpression>, table: String? = nil, selection: [any SQLSelectable],
        fetch: (Statement) throws -> T
    ) throws -> T {
        try updateAndFetch(
            db, onConflict: conflictResolution, columns: columns.map(\.name), table: table, selection: selection,
            fetch: fetch)
    }

    /// Changes the record, updates the columns whose values have changed, and returns the stored row.
    ///
    /// ```swift
    /// if let stored = try player.updateChangesAndFetch(db, modify: { $0.score = 20 }) { print(stored.score) }
    /// ```
    ///
    /// - returns: nil if nothing has changed; then nothing runs.
    /// - throws: the errors of `update`.
    public mutating func updateChangesAndFetch(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil,
        modify: (inout Self) throws -> Void
    ) throws -> Self? where Self: FetchableRecord {
        try updateChangesAndFetch(
            db, onConflict: conflictResolution, as: type(of: self), table: table, modify: modify)
    }

    /// Changes the record, updates the columns whose values have changed, and returns the stored row as another type.
    ///
    /// - returns: nil if nothing has changed; then nothing runs.
    /// - throws: the errors of `update`.
    public mutating func updateChangesAndFetch<T: FetchableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, as returnedType: T.Type,
        table: String? = nil, modify: (inout Self) throws -> Void
    ) throws -> T? {
        let changes = try changedColumns(modify)
        guard !changes.isEmpty else { return nil }
        return try updateAndFetch(
            db, type(of: self).updateKind(conflictResolution, columns: changes), table, Fetching(returnedType))
    }

    /// Changes the record, updates the columns whose values have changed, and calls a closure with a statement that
    /// returns columns of the row.
    ///
    /// - returns: nil if nothing has changed; then nothing runs.
    /// - throws: the errors of `update`; the error of `fetch`.
    public mutating func updateChangesAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil,
        selection: [any SQLSelectable], fetch: (Statement) throws -> T, modify: (inout Self) throws -> Void
    ) throws -> T? {
        let changes = try changedColumns(modify)
        guard !changes.isEmpty else { return nil }
        return try updateAndFetch(
            db, onConflict: conflictResolution, columns: changes, table: table, selection: selection, fetch: fetch)
    }
}

extension RecordPlan {
    /// The columns that an update writes.
    func writtenColumns(_ kind: WriteKind, _ db: Database) throws -> Set<String> {
        try kind.columns.map { Set($0) } ?? columns(db)
    }

    /// Updates a record's row, and returns the row.
    func updateAndFetch<T>(
        _ record: some EncodableRecord, _ kind: WriteKind, _ db: Database, _ fetching: Fetching<T>
    ) throws -> T {
        guard let fetched = try findAndUpdate(record, kind, db, fetching) else {
            throw try recordNotFound(record, db)
        }
        return fetched
    }

    /// Updates a record's row, and returns the row; nil if it doesn't exist.
    func findAndUpdate<T>(
        _ record: some EncodableRecord, _ kind: WriteKind, _ db: Database, _ fetching: Fetching<T>
    ) throws -> T? {
        // A closure may return a value even if the statement has returned no row.
        let found = try query(record, kind, db) { statement, arguments in
            let changes = db.totalChangesCount
            let value = try fetching(statement, arguments)
            return db.totalChangesCount == changes ? nil : value
        }
        return found ?? nil
    }
}
