public import QuarryCore
public import QuarrySQL

extension MutablePersistableRecord {
    /// Updates or inserts the record, and calls the callbacks.
    fileprivate mutating func save(
        _ db: Database, _ plan: RecordPlan, update: (Self) throws -> Bool, insert: (Self) throws -> Bool
    ) throws {
        let insertion = { (record: Self) throws in
            try plan.insertion(record, isInserted: insert(record), db)
        }
        if try plan.hasKey(self, db) {
            try saving(
                db, plan.callbacks, columns: plan.columns(db), update: update, insert: insertion,
                notFound: { try plan.recordNotFound($0, db) })
        } else {
            _ = try saving(db, insert: insertion)
        }
    }

    fileprivate mutating func save(
        _ db: Database, _ conflictResolution: Database.ConflictResolution?, _ table: String?
    ) throws {
        let plan = try RecordPlans.plan(type(of: self), table, db)
        try save(
            db, plan, update: { try plan.write($0, type(of: $0).updateKind(conflictResolution), db) },
            insert: { try plan.insert($0, type(of: $0).insertKind(conflictResolution), db) })
    }

    fileprivate mutating func saveAndFetch<T>(
        _ db: Database, _ conflictResolution: Database.ConflictResolution?, _ table: String?,
        _ fetching: Fetching<T>
    ) throws -> T {
        let plan = try RecordPlans.plan(type(of: self), table, db)
        let updating = try fetching.kind(type(of: self).updateKind(conflictResolution), plan, db)
        let inserting = try fetching.kind(type(of: self).insertKind(conflictResolution), plan, db)
        var fetched: T?
        try save(
            db, plan,
            update: { record in
                fetched = try plan.findAndUpdate(record, updating, db, fetching)
                return fetched != nil
            },
            insert: { record in
                fetched = try plan.insertAndFetch(record, inserting, db, fetching)
                return true
            })
        guard let fetched else { throw try plan.recordNotFound(self, db) }
        return fetched
    }

    // MARK: - Save

    /// Updates the row that has the record's primary key, or inserts the record if there is no such row.
    ///
    /// ```swift
    /// var player = Player(id: 1, name: "Arthur", score: 20)
    /// try player.save(db)
    /// ```
    /// ```sql
    /// UPDATE "player" SET "name"='Arthur', "score"=20 WHERE "id"=1
    /// INSERT INTO "player" ("id", "name", "score") VALUES (1,'Arthur',20)  -- if no row was updated
    /// ```
    ///
    /// A record without a primary key is inserted.
    ///
    /// - parameter conflictResolution: the conflict resolution; nil for the type's policy.
    /// - parameter table: the table, if it isn't the type's own.
    /// - throws: `DatabaseError`; the error of a callback.
    public mutating func save(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil
    ) throws {
        try save(db, conflictResolution, table)
    }

    /// Saves a copy of the record, and returns it, with its id.
    ///
    /// ```swift
    /// let player = try Player(id: nil, name: "Arthur").saved(db)
    /// player.id // 1
    /// ```
    ///
    /// - throws: the errors of `save`.
    public func saved(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil
    ) throws -> Self {
        var record = self
        try record.save(db, conflictResolution, table)
        return record
    }

    /// Saves the record, and returns the stored row.
    ///
    /// ```swift
    /// let player = try player.saveAndFetch(db) // as it is stored now
    /// ```
    ///
    /// - throws: the errors of `save`; `RecordError.recordNotFound` if a conflict was ignored, and nothing saved.
    public func saveAndFetch(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil
    ) throws -> Self where Self: FetchableRecord {
        var record = self
        return try record.saveAndFetch(db, conflictResolution, table, Fetching(type(of: self)))
    }

    /// Saves the record, and returns the stored row as another type.
    ///
    /// - throws: the errors of `save`; `RecordError.recordNotFound` if a conflict was ignored, and nothing saved.
    public mutating func saveAndFetch<T: FetchableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, as returnedType: T.Type,
        table: String? = nil
    ) throws -> T {
        try saveAndFetch(db, conflictResolution, table, Fetching(returnedType))
    }

    /// Saves the record, and calls a closure with a statement that returns columns of the row.
    ///
    /// - parameter selection: the columns.
    /// - parameter fetch: takes the statement, and runs it.
    /// - throws: the errors of `save`; the error of `fetch`.
    public mutating func saveAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil,
        selection: [any SQLSelectable], fetch: (Statement) throws -> T
    ) throws -> T {
        try withoutActuallyEscaping(fetch) { fetch in
            try saveAndFetch(db, conflictResolution, table, Fetching(selection, fetch))
        }
    }
}

extension PersistableRecord {
    /// Updates the row that has the record's primary key, or inserts the record if there is no such row.
    ///
    /// - parameter conflictResolution: the conflict resolution; nil for the type's policy.
    /// - parameter table: the table, if it isn't the type's own.
    /// - throws: `DatabaseError`; the error of a callback.
    public func save(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil
    ) throws {
        var record = self
        try record.save(db, conflictResolution, table)
    }

    /// Saves the record, and returns the stored row as another type.
    ///
    /// - throws: the errors of `save`; `RecordError.recordNotFound` if a conflict was ignored, and nothing saved.
    public func saveAndFetch<T: FetchableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, as returnedType: T.Type,
        table: String? = nil
    ) throws -> T {
        var record = self
        return try record.saveAndFetch(db, conflictResolution, table, Fetching(returnedType))
    }

    /// Saves the record, and calls a closure with a statement that returns columns of the row.
    ///
    /// ```swift
    /// let score = try player.saveAndFetch(db, selection: [Column("score")]) { try Int.fetchOne($0) } // Int?
    /// ```
    /// ```sql
    /// UPDATE "player" SET "name"='Arthur' WHERE "id"=1 RETURNING "score"
    /// ```
    ///
    /// See <https://www.sqlite.org/lang_returning.html>.
    ///
    /// - parameter selection: the columns.
    /// - parameter fetch: takes the statement, and runs it.
    /// - throws: the errors of `save`; the errors of `fetch`.
    public func saveAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil,
        selection: [any SQLSelectable], fetch: (Statement) throws -> T
    ) throws -> T {
        var record = self
        return try withoutActuallyEscaping(fetch) { fetch in
            try record.saveAndFetch(db, conflictResolution, table, Fetching(selection, fetch))
        }
    }
}
