public import QuarryCore

/// A type whose values can be inserted, updated and deleted, and that learns from an insert: its id, mostly.
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
/// `aroundSave` come those of the insert or the update: `willInsert`, `aroundInsert`, `didInsert`. An `around…`
/// callback calls its action, and lets its error through; one that doesn't makes the method throw `SQLITE_MISUSE`.
/// Methods that know no record, such as `deleteAll`, call no callback.
public protocol MutablePersistableRecord: EncodableRecord, TableRecord {
    /// What inserts and updates do on a conflict.
    static var persistenceConflictPolicy: PersistenceConflictPolicy { get }

    /// Called before an insert.
    mutating func willInsert(_ db: Database) throws

    /// Called around an insert. It must call `insert`, once, and let its error through.
    func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws

    /// Called after an insert that has made a row.
    mutating func didInsert(_ inserted: InsertionSuccess)

    /// Called before an update of these columns.
    func willUpdate(_ db: Database, columns: Set<String>) throws

    /// Called around an update. It must call `update`, once, and let its error through.
    func aroundUpdate(_ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess) throws

    /// Called after an update.
    func didUpdate(_ updated: PersistenceSuccess)

    /// Called before an insert or update.
    func willSave(_ db: Database) throws

    /// Called around an insert or update. It must call `save`, once, and let its error through.
    func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws

    /// Called after an insert or update.
    func didSave(_ saved: PersistenceSuccess)

    /// Called before a row is deleted.
    func willDelete(_ db: Database) throws

    /// Called around the deletion of a row. It must call `delete`, once, and let its error through.
    func aroundDelete(_ db: Database, delete: () throws -> Bool) throws

    /// Called after the deletion, whether there was a row or not.
    func didDelete(deleted: Bool)
}

extension MutablePersistableRecord {
    /// Abort: the statement's changes are taken back.
    public static var persistenceConflictPolicy: PersistenceConflictPolicy { PersistenceConflictPolicy() }

    /// Does nothing.
    public mutating func willInsert(_ db: Database) throws { RecordPlans.note(.willInsert, type(of: self), db) }

    /// Inserts.
    public func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        RecordPlans.note(.aroundInsert, type(of: self), db)
        _ = try insert()
    }

    /// Does nothing.
    public mutating func didInsert(_ inserted: InsertionSuccess) {
        inserted.record.callbacks.note(.didInsert, type(of: self))
    }

    /// Does nothing.
    public func willUpdate(_ db: Database, columns: Set<String>) throws {
        RecordPlans.note(.willUpdate, type(of: self), db)
    }

    /// Updates.
    public func aroundUpdate(
        _ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess
    ) throws {
        RecordPlans.note(.aroundUpdate, type(of: self), db)
        _ = try update()
    }

    /// Does nothing.
    public func didUpdate(_ updated: PersistenceSuccess) { updated.callbacks.note(.didUpdate, type(of: self)) }

    /// Does nothing.
    public func willSave(_ db: Database) throws { RecordPlans.note(.willSave, type(of: self), db) }

    /// Saves.
    public func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
        RecordPlans.note(.aroundSave, type(of: self), db)
        _ = try save()
    }

    /// Does nothing.
    public func didSave(_ saved: PersistenceSuccess) { saved.callbacks.note(.didSave, type(of: self)) }

    /// Does nothing.
    public func willDelete(_ db: Database) throws {}

    /// Deletes.
    public func aroundDelete(_ db: Database, delete: () throws -> Bool) throws { _ = try delete() }

    /// Does nothing.
    public func didDelete(deleted: Bool) {}
}

/// A type whose values can be inserted, updated and deleted, and that learns nothing from it.
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
    func willInsert(_ db: Database) throws

    /// Called after an insert that has made a row.
    func didInsert(_ inserted: InsertionSuccess)
}

extension PersistableRecord {
    /// Does nothing.
    public func willInsert(_ db: Database) throws { RecordPlans.note(.willInsert, type(of: self), db) }

    /// Does nothing.
    public func didInsert(_ inserted: InsertionSuccess) { inserted.record.callbacks.note(.didInsert, type(of: self)) }
}
