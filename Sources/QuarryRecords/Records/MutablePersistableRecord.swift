public import QuarryCore

/// A record type whose values can be inserted, updated and deleted, and that receives values from an insert, such as
/// its id.
///
/// ```swift
/// struct Player: Codable, MutablePersistableRecord {
///     var id: Int64?
///     var name: String
///     mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
/// }
/// var player = Player(id: nil, name: "Arthur")
/// try player.insert(db) // INSERT INTO "player" ("id", "name") VALUES (NULL, 'Arthur')
/// player.id // 1
/// ```
///
/// Each method takes a `table`, for types that serve several tables.
///
/// ## Callbacks
///
/// A save of any kind (`insert`, `update`, `save`, `upsert`) calls `willSave`, `aroundSave`, `didSave`; within
/// `aroundSave`, the callbacks of the insert or the update: `willInsert`, `aroundInsert`, `didInsert`. An `around…`
/// callback must call its action, and rethrow the action's error; otherwise the method throws `SQLITE_MISUSE`. Methods
/// without a record, such as `deleteAll`, call no callback.
public protocol MutablePersistableRecord: EncodableRecord, TableRecord {
    /// The conflict resolution of inserts and updates.
    static var persistenceConflictPolicy: PersistenceConflictPolicy { get }

    /// Called before an insert.
    ///
    /// - throws: any error: it prevents the insert, which throws it.
    mutating func willInsert(_ db: Database) throws

    /// Called around an insert. It must call `insert`, once, and rethrow its error.
    ///
    /// - throws: the error of `insert`; any other error: the insert throws it.
    func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws

    /// Called after an insert that has inserted a row.
    mutating func didInsert(_ inserted: InsertionSuccess)

    /// Called before an update of the given columns.
    ///
    /// - throws: any error: it prevents the update, which throws it.
    func willUpdate(_ db: Database, columns: Set<String>) throws

    /// Called around an update. It must call `update`, once, and rethrow its error.
    ///
    /// - throws: the error of `update`; any other error: the update throws it.
    func aroundUpdate(_ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess) throws

    /// Called after an update.
    func didUpdate(_ updated: PersistenceSuccess)

    /// Called before an insert or update.
    ///
    /// - throws: any error: it prevents the insert or update, which throws it.
    func willSave(_ db: Database) throws

    /// Called around an insert or update. It must call `save`, once, and rethrow its error.
    ///
    /// - throws: the error of `save`; any other error: the insert or update throws it.
    func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws

    /// Called after an insert or update.
    func didSave(_ saved: PersistenceSuccess)

    /// Called before a row is deleted.
    ///
    /// - throws: any error: it prevents the deletion, which throws it.
    func willDelete(_ db: Database) throws

    /// Called around the deletion of a row. It must call `delete`, once, and rethrow its error.
    ///
    /// - throws: the error of `delete`; any other error: the deletion throws it.
    func aroundDelete(_ db: Database, delete: () throws -> Bool) throws

    /// Called after the deletion, whether the row existed or not.
    func didDelete(deleted: Bool)
}

extension MutablePersistableRecord {
    /// Abort: the statement's changes are rolled back.
    public static var persistenceConflictPolicy: PersistenceConflictPolicy { PersistenceConflictPolicy() }

    /// Has no effect. Quarry notes that the type has no such callback, and skips later calls.
    ///
    /// - throws: nothing.
    public mutating func willInsert(_ db: Database) throws { RecordPlans.note(.willInsert, type(of: self), db) }

    /// Inserts.
    ///
    /// - throws: the error of `insert`.
    public func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        RecordPlans.note(.aroundInsert, type(of: self), db)
        _ = try insert()
    }

    /// Has no effect. Quarry notes that the type has no such callback, and skips later calls.
    public mutating func didInsert(_ inserted: InsertionSuccess) {
        inserted.record.callbacks.note(.didInsert, type(of: self))
    }

    /// Has no effect. Quarry notes that the type has no such callback, and skips later calls.
    ///
    /// - throws: nothing.
    public func willUpdate(_ db: Database, columns: Set<String>) throws {
        RecordPlans.note(.willUpdate, type(of: self), db)
    }

    /// Updates.
    ///
    /// - throws: the error of `update`.
    public func aroundUpdate(
        _ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess
    ) throws {
        RecordPlans.note(.aroundUpdate, type(of: self), db)
        _ = try update()
    }

    /// Has no effect. Quarry notes that the type has no such callback, and skips later calls.
    public func didUpdate(_ updated: PersistenceSuccess) { updated.callbacks.note(.didUpdate, type(of: self)) }

    /// Has no effect. Quarry notes that the type has no such callback, and skips later calls.
    ///
    /// - throws: nothing.
    public func willSave(_ db: Database) throws { RecordPlans.note(.willSave, type(of: self), db) }

    /// Saves.
    ///
    /// - throws: the error of `save`.
    public func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
        RecordPlans.note(.aroundSave, type(of: self), db)
        _ = try save()
    }

    /// Has no effect. Quarry notes that the type has no such callback, and skips later calls.
    public func didSave(_ saved: PersistenceSuccess) { saved.callbacks.note(.didSave, type(of: self)) }

    /// Has no effect.
    ///
    /// - throws: nothing.
    public func willDelete(_ db: Database) throws {}

    /// Deletes.
    ///
    /// - throws: the error of `delete`.
    public func aroundDelete(_ db: Database, delete: () throws -> Bool) throws { _ = try delete() }

    /// Has no effect.
    public func didDelete(deleted: Bool) {}
}

/// A record type whose values can be inserted, updated and deleted, and that isn't changed by an insert.
///
/// ```swift
/// struct Country: Codable, PersistableRecord {
///     var code: String
///     var name: String
/// }
/// try Country(code: "FR", name: "France").insert(db)
/// ```
public protocol PersistableRecord: MutablePersistableRecord {
    /// Called before an insert.
    ///
    /// - throws: any error: it prevents the insert, which throws it.
    func willInsert(_ db: Database) throws

    /// Called after an insert that has inserted a row.
    func didInsert(_ inserted: InsertionSuccess)
}

extension PersistableRecord {
    /// Has no effect. Quarry notes that the type has no such callback, and skips later calls.
    ///
    /// - throws: nothing.
    public func willInsert(_ db: Database) throws { RecordPlans.note(.willInsert, type(of: self), db) }

    /// Has no effect. Quarry notes that the type has no such callback, and skips later calls.
    public func didInsert(_ inserted: InsertionSuccess) { inserted.record.callbacks.note(.didInsert, type(of: self)) }
}
