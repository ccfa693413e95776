public import Quarry
public import QuarryCore
public import QuarrySQL

// The records of a bound table. A record is written into this table, whatever the table of its type is.

extension TableWriter where RowDecoder: MutablePersistableRecord {
    /// Inserts a record, which takes its id.
    ///
    /// ```swift
    /// var player = Player(id: nil, name: "Arthur")
    /// try players.insert(&player)
    /// player.id // 1
    /// ```
    ///
    /// If the write fails, the record is unchanged.
    ///
    /// - parameter conflictResolution: `.replace` or `.ignore`, for example; nil for the type's policy.
    /// - parameter columns: the names of the columns to insert: the others get their default values. nil for all.
    /// - throws: the errors of `write` and of `MutablePersistableRecord.insert`.
    public func insert(
        _ record: inout RowDecoder, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: [String]? = nil
    ) throws {
        let original = record
        record = try write { db in
            var record = original
            try record.insert(db, conflictResolution, columns, tableName)
            return record
        }
    }

    /// As the synchronous `insert`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `insert`; `CancellationError`.
    public func insert(
        _ record: inout RowDecoder, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: [String]? = nil
    ) async throws where RowDecoder: Sendable {
        let original = record
        record = try await write { [tableName] db in
            var record = original
            try record.insert(db, conflictResolution, columns, tableName)
            return record
        }
    }

    /// Inserts records, all or none. The given records don't change.
    ///
    /// ```swift
    /// try players.insertAll([Player(id: nil, name: "Arthur"), Player(id: nil, name: "Barbara")])
    /// ```
    ///
    /// - parameter columns: the names of the columns to insert: the others get their default values. nil for all.
    /// - returns: the number of inserted rows: fewer than there are records if conflicts are ignored.
    /// - throws: the errors of `write` and of `MutablePersistableRecord.insertAll`; then nothing is inserted.
    @discardableResult
    public func insertAll(
        _ records: some Sequence<RowDecoder>, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: [String]? = nil
    ) throws -> Int {
        try write { db in
            try RowDecoder.insertAll(
                db, records, onConflict: conflictResolution, columns: columns, table: tableName)
        }
    }

    /// As the synchronous `insertAll`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `insertAll`; `CancellationError`.
    @discardableResult
    public func insertAll(
        _ records: [RowDecoder], onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: [String]? = nil
    ) async throws -> Int where RowDecoder: Sendable {
        try await write { [tableName] db in
            try RowDecoder.insertAll(
                db, records, onConflict: conflictResolution, columns: columns, table: tableName)
        }
    }

    /// Updates the row that has the record's primary key, or some columns of it.
    ///
    /// ```swift
    /// try players.update(player, columns: ["score"])
    /// ```
    ///
    /// - parameter columns: the names of the columns; nil for all.
    /// - throws: the errors of `write` and of `MutablePersistableRecord.update`.
    public func update(_ record: RowDecoder, columns: [String]? = nil) throws {
        try write { db in try record.update(db, columns, tableName) }
    }

    /// As the synchronous `update`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `update`; `CancellationError`.
    public func update(_ record: RowDecoder, columns: [String]? = nil) async throws where RowDecoder: Sendable {
        try await write { [tableName] db in try record.update(db, columns, tableName) }
    }

    /// Inserts the record, or updates the row that it conflicts with.
    ///
    /// - throws: the errors of `write` and of `MutablePersistableRecord.upsert`.
    public func upsert(_ record: RowDecoder) throws {
        try write { db in
            var record = record
            try record.upsert(db, table: tableName)
        }
    }

    /// As the synchronous `upsert`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `upsert`; `CancellationError`.
    public func upsert(_ record: RowDecoder) async throws where RowDecoder: Sendable {
        try await write { [tableName] db in
            var record = record
            try record.upsert(db, table: tableName)
        }
    }

    /// Deletes the row that has the record's primary key.
    ///
    /// - returns: whether the row existed.
    /// - throws: the errors of `write` and of `MutablePersistableRecord.delete`.
    @discardableResult
    public func delete(_ record: RowDecoder) throws -> Bool {
        try write { db in try record.delete(db, table: tableName) }
    }

    /// As the synchronous `delete`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `delete`; `CancellationError`.
    @discardableResult
    public func delete(_ record: RowDecoder) async throws -> Bool where RowDecoder: Sendable {
        try await write { [tableName] db in try record.delete(db, table: tableName) }
    }
}

extension TableWriter where RowDecoder: PersistableRecord {
    /// Inserts a record.
    ///
    /// ```swift
    /// try players.insert(Player(id: 1, name: "Arthur"))
    /// ```
    ///
    /// - parameter conflictResolution: `.replace` or `.ignore`, for example; nil for the type's policy.
    /// - parameter columns: the names of the columns to insert: the others get their default values. nil for all.
    /// - throws: the errors of `write` and of `PersistableRecord.insert`.
    public func insert(
        _ record: RowDecoder, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: [String]? = nil
    ) throws {
        try write { db in try record.insert(db, conflictResolution, columns, tableName) }
    }

    /// As the synchronous `insert`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `insert`; `CancellationError`.
    public func insert(
        _ record: RowDecoder, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: [String]? = nil
    ) async throws where RowDecoder: Sendable {
        try await write { [tableName] db in
            try record.insert(db, conflictResolution, columns, tableName)
        }
    }
}

extension MutablePersistableRecord {
    fileprivate mutating func insert(
        _ db: Database, _ conflictResolution: Database.ConflictResolution?, _ columns: [String]?, _ table: String
    ) throws {
        if let columns {
            try insert(db, onConflict: conflictResolution, columns: columns, table: table)
        } else {
            try insert(db, onConflict: conflictResolution, table: table)
        }
    }

    fileprivate func update(_ db: Database, _ columns: [String]?, _ table: String) throws {
        if let columns { try update(db, columns: columns, table: table) } else { try update(db, table: table) }
    }
}

extension PersistableRecord {
    fileprivate func insert(
        _ db: Database, _ conflictResolution: Database.ConflictResolution?, _ columns: [String]?, _ table: String
    ) throws {
        if let columns {
            try insert(db, onConflict: conflictResolution, columns: columns, table: table)
        } else {
            try insert(db, onConflict: conflictResolution, table: table)
        }
    }
}
