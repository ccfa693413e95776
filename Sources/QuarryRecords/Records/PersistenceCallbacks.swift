import QuarryCore

// The callbacks of each verb, in their order, around its statement.

extension MutablePersistableRecord {
    /// Runs an insert with the callbacks of a save.
    mutating func saving(
        _ db: Database, insert: (Self) throws -> InsertionSuccess
    ) throws -> InsertionSuccess {
        try willSave(db)
        // The closure changes the record while its `aroundSave` runs.
        var record = self
        var inserted: InsertionSuccess?
        var calls = 0
        try aroundSave(db) {
            try Self.count(&calls, "aroundSave")
            let success = try record.inserting(db, insert)
            inserted = success
            return PersistenceSuccess(success)
        }
        guard let inserted else { throw type(of: self).misuse("aroundSave") }
        self = record
        didSave(PersistenceSuccess(inserted))
        return inserted
    }

    /// Runs an insert with the callbacks of an insert.
    private mutating func inserting(
        _ db: Database, _ insert: (Self) throws -> InsertionSuccess
    ) throws -> InsertionSuccess {
        try willInsert(db)
        var inserted: InsertionSuccess?
        var calls = 0
        try aroundInsert(db) {
            try Self.count(&calls, "aroundInsert")
            let success = try insert(self)
            inserted = success
            return success
        }
        guard let inserted else { throw type(of: self).misuse("aroundInsert") }
        if inserted.isInserted { didInsert(inserted) }
        return inserted
    }

    /// Runs an update with the callbacks of a save.
    func saving(
        _ db: Database, _ callbacks: DefaultCallbacks, columns: Set<String>, update: () throws -> Void
    ) throws {
        try willSave(db)
        var updated: PersistenceSuccess?
        var calls = 0
        try aroundSave(db) {
            try Self.count(&calls, "aroundSave")
            let success = try updating(db, callbacks, columns, update)
            updated = success
            return success
        }
        guard let updated else { throw type(of: self).misuse("aroundSave") }
        didSave(updated)
    }

    /// Runs an update with the callbacks of an update.
    private func updating(
        _ db: Database, _ callbacks: DefaultCallbacks, _ columns: Set<String>, _ update: () throws -> Void
    ) throws -> PersistenceSuccess {
        try willUpdate(db, columns: columns)
        var updated: PersistenceSuccess?
        var calls = 0
        try aroundUpdate(db, columns: columns) {
            try Self.count(&calls, "aroundUpdate")
            try update()
            let success = PersistenceSuccess(PersistedRecord(self, callbacks))
            updated = success
            return success
        }
        guard let updated else { throw type(of: self).misuse("aroundUpdate") }
        didUpdate(updated)
        return updated
    }

    /// Runs an update, and an insert if the row doesn't exist, with the callbacks of a save.
    ///
    /// - parameter update: returns whether the row exists.
    mutating func saving(
        _ db: Database, _ callbacks: DefaultCallbacks, columns: Set<String>, update: (Self) throws -> Bool,
        insert: (Self) throws -> InsertionSuccess, notFound: (Self) throws -> RecordError
    ) throws {
        try willSave(db)
        var record = self
        var saved: PersistenceSuccess?
        var calls = 0
        try aroundSave(db) {
            try Self.count(&calls, "aroundSave")
            var isMissing = false
            let success: PersistenceSuccess
            do {
                success = try record.updating(db, callbacks, columns) {
                    guard try update(record) else {
                        isMissing = true
                        throw try notFound(record)
                    }
                }
            } catch is RecordError where isMissing {
                success = PersistenceSuccess(try record.inserting(db, insert))
            }
            saved = success
            return success
        }
        guard let saved else { throw type(of: self).misuse("aroundSave") }
        self = record
        didSave(saved)
    }

    /// Runs a deletion with its callbacks.
    func deleting(_ db: Database, _ delete: () throws -> Bool) throws -> Bool {
        try willDelete(db)
        var deleted: Bool?
        var calls = 0
        try aroundDelete(db) {
            try Self.count(&calls, "aroundDelete")
            let isDeleted = try delete()
            deleted = isDeleted
            return isDeleted
        }
        guard let deleted else { throw type(of: self).misuse("aroundDelete") }
        didDelete(deleted: deleted)
        return deleted
    }

    @inline(__always)
    private static func count(_ calls: inout Int, _ callback: String) throws {
        calls += 1
        if calls > 1 { throw misuse(callback) }
    }

    @inline(never)
    private static func misuse(_ callback: String) -> DatabaseError {
        DatabaseError.misuse("`\(self).\(callback)` must call its action, once, and let its error through")
    }
}
