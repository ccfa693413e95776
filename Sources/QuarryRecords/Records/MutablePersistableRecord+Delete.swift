public import QuarryCore

extension MutablePersistableRecord {
    /// Deletes the row that has the record's primary key.
    ///
    /// ```swift
    /// let wasThere = try player.delete(db)
    /// ```
    /// ```sql
    /// DELETE FROM "player" WHERE "id"=1
    /// ```
    ///
    /// - returns: whether the row existed.
    /// - throws: `DatabaseError`; the error of a callback.
    @discardableResult
    public func delete(_ db: Database) throws -> Bool {
        try delete(db, table: nil)
    }

    /// Deletes the row that has the record's primary key, from a table other than the type's own.
    ///
    /// ```swift
    /// try player.delete(db, table: "formerPlayer") // true
    /// ```
    /// ```sql
    /// DELETE FROM "formerPlayer" WHERE "id"=1
    /// ```
    ///
    /// - parameter table: the table; nil for the type's own.
    /// - returns: whether the row existed.
    /// - throws: `DatabaseError`; the error of a callback.
    @discardableResult
    public func delete(_ db: Database, table: String?) throws -> Bool {
        let plan = try RecordPlans.plan(type(of: self), table, db)
        return try deleting(db) { try plan.write(self, WriteKind(verb: .delete), db) }
    }

    /// Whether a row has the record's primary key.
    ///
    /// ```swift
    /// if try !player.exists(db) { print("somebody has deleted the player") }
    /// ```
    /// ```sql
    /// SELECT EXISTS (SELECT 1 FROM "player" WHERE "id"=1)
    /// ```
    ///
    /// - throws: `DatabaseError`, for example for a view without a primary key.
    public func exists(_ db: Database) throws -> Bool {
        try exists(db, table: nil)
    }

    /// Whether a row of a table other than the type's own has the record's primary key.
    ///
    /// ```swift
    /// try player.exists(db, table: "formerPlayer") // true
    /// ```
    /// ```sql
    /// SELECT EXISTS (SELECT 1 FROM "formerPlayer" WHERE "id"=1)
    /// ```
    ///
    /// - parameter table: the table; nil for the type's own.
    /// - throws: `DatabaseError`.
    public func exists(_ db: Database, table: String?) throws -> Bool {
        let plan = try RecordPlans.plan(type(of: self), table, db)
        let exists = try plan.query(self, WriteKind(verb: .exists), db) { try Bool.fetchOne($0, arguments: $1) }
        return (exists ?? nil) ?? false
    }
}
