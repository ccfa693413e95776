public import Quarry
public import QuarryCore
public import QuarrySQL

extension TableWriter {
    /// Writes the whole database in a transaction: in that of the access that this thread has, or else in its own.
    ///
    /// ```swift
    /// try players.write { db in
    ///     try players.deleteAll()
    ///     try Team.deleteAll(db)
    /// }
    /// ```
    ///
    /// Inside another write it is a savepoint: if the closure throws, its own changes are rolled back, and the other
    /// write may go on. Each method that writes does the same.
    ///
    /// - throws: the errors of `DatabaseWriter.write`; `SQLITE_READONLY` inside a read of the database; `SQLITE_MISUSE`
    ///   where both a read and a write of a pool are open.
    public func write<T>(_ updates: (Database) throws -> T) throws -> T {
        try database.joinedWrite(tableName, updates)
    }

    /// As the synchronous `write`, in a transaction of its own; waiting suspends the task.
    ///
    /// - throws: the errors of `DatabaseWriter.write`; `CancellationError`.
    public func write<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        try await database.write(updates)
    }

    /// As the asynchronous `write` that returns other values; returns rows.
    ///
    /// ```swift
    /// let rows = try await players.write { db in try Row.fetchAll(db, sql: "DELETE FROM player RETURNING *") }
    /// ```
    ///
    /// - throws: the errors of `DatabaseWriter.write` for rows; `CancellationError`.
    public func write<Rows: RowContainer>(_ updates: @Sendable (Database) throws -> Rows) async throws -> sending Rows {
        try await database.write(updates)
    }

    // MARK: - Deleting

    /// Deletes all rows, or those of a part.
    ///
    /// ```swift
    /// try players.deleteAll()
    /// try players.deleteAll { $0.filter(Column("score") < 10).order(Column("id")).limit(2, offset: 3) }
    /// ```
    ///
    /// - returns: the number of deleted rows.
    /// - throws: the errors of `write`; the closure's error.
    @discardableResult
    public func deleteAll(_ part: Part<RowDecoder> = { $0 }) throws -> Int {
        let request = try part(table.all())
        return try write { db in try request.deleteAll(db) }
    }

    /// As the synchronous `deleteAll`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `deleteAll`; `CancellationError`.
    @discardableResult
    public func deleteAll(_ part: Part<RowDecoder> = { $0 }) async throws -> Int {
        let request = try part(table.all())
        return try await write { db in try request.deleteAll(db) }
    }

    /// Deletes the row with the given primary key.
    ///
    /// - returns: whether the row existed.
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; the errors of `write`.
    @discardableResult
    public func deleteOne(key: some DatabaseValueConvertible & Sendable) throws -> Bool {
        try write { db in try table.deleteOne(db, key: key) }
    }

    /// As the synchronous `deleteOne(key:)`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `deleteOne(key:)`; `CancellationError`.
    @discardableResult
    public func deleteOne(key: some DatabaseValueConvertible & Sendable) async throws -> Bool {
        try await write { [table] db in try table.deleteOne(db, key: key) }
    }

    // MARK: - Updating all rows of a part

    /// Sets columns of all rows, or of those of a part.
    ///
    /// ```swift
    /// try players.updateAll([Column("score") += 10]) { $0.filter(Column("teamId") == 1) }
    /// ```
    ///
    /// - returns: the number of updated rows.
    /// - throws: the errors of `write`; the closure's error.
    @discardableResult
    public func updateAll(_ assignments: [ColumnAssignment], _ part: Part<RowDecoder> = { $0 }) throws -> Int {
        let request = try part(table.all())
        return try write { db in try request.updateAll(db, assignments) }
    }

    /// As the synchronous `updateAll`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `updateAll`; `CancellationError`.
    @discardableResult
    public func updateAll(
        _ assignments: [ColumnAssignment], _ part: Part<RowDecoder> = { $0 }
    ) async throws -> Int {
        let request = try part(table.all())
        return try await write { db in try request.updateAll(db, assignments) }
    }

    /// Sets some columns of all rows, or of those of a part, to the values that a record has for them.
    ///
    /// ```swift
    /// try players.updateAll(set: ["score"], from: model) { $0.filter(Column("teamId") == 1) }
    /// ```
    ///
    /// See `QueryInterfaceRequest.updateAll(_:onConflict:set:from:)`.
    ///
    /// - returns: the number of updated rows.
    /// - throws: the errors of `QueryInterfaceRequest.updateAll(_:onConflict:set:from:)` and of `write`; the closure's
    ///   error.
    @discardableResult
    public func updateAll(
        set columns: some Collection<String>, from record: some EncodableRecord, _ part: Part<RowDecoder> = { $0 }
    ) throws -> Int {
        let request = try part(table.all())
        return try write { db in try request.updateAll(db, set: columns, from: record) }
    }

    /// As the synchronous `updateAll(set:from:)`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `updateAll(set:from:)`; `CancellationError`.
    @discardableResult
    public func updateAll(
        set columns: [String], from record: some EncodableRecord & Sendable, _ part: Part<RowDecoder> = { $0 }
    ) async throws -> Int {
        let request = try part(table.all())
        return try await write { db in try request.updateAll(db, set: columns, from: record) }
    }
}
