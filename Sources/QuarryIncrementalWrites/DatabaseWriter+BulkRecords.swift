public import Quarry
public import QuarryCore
public import QuarrySQL

// Bulk loading: sequences of records.

extension DatabaseWriter {
    /// Inserts records in order, and lets others write in between.
    ///
    /// ```swift
    /// try dbPool.insertIncrementally(players) { progress in print(progress.rowCount) }
    /// ```
    /// ```sql
    /// BEGIN IMMEDIATE TRANSACTION
    /// INSERT INTO "player" ("id", "name") VALUES (1,'Arthur'), (2,'Barbara') …
    /// COMMIT TRANSACTION       -- another access waits, or `IncrementalWritePace.maximumHold` has passed
    /// BEGIN IMMEDIATE TRANSACTION
    /// ```
    ///
    /// Use `Record.insertAll` in a `write` if all records are to be inserted or none. Here an error rolls back the
    /// records since the last commit, and earlier ones stay: always the first ones of the sequence.
    ///
    /// Records of a type without callbacks are inserted by statements of several rows. The given records don't change.
    ///
    /// - parameter records: read once, as they are needed, while the connection is held.
    /// - parameter conflictResolution: the conflict resolution; nil for the type's policy.
    /// - parameter columns: the names of the columns to insert: the others get their default values, and the records
    ///   are inserted one by one. nil for all.
    /// - parameter table: the table, if it isn't the type's own.
    /// - parameter pace: how long the connection is kept.
    /// - parameter progress: called after each commit, without the connection. An error ends the write.
    /// - returns: the numbers of records, of rows and of transactions.
    /// - throws: `BulkWriteError`, with the error of `insert` or of `write`.
    @discardableResult
    public func insertIncrementally<Record: MutablePersistableRecord>(
        _ records: some Sequence<Record>, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: [String]? = nil, table: String? = nil, pace: IncrementalWritePace = IncrementalWritePace(),
        progress: ((BulkWriteProgress) throws -> Void)? = nil
    ) throws -> BulkWriteProgress {
        try writeInBulk(records, stepSize: Record.recordsPerStep, pace, progress) { db, records, index in
            try Record.insertStep(
                db, records, onConflict: conflictResolution, columns: columns, table: table, &index)
        }
    }

    /// Inserts records as the synchronous `insertIncrementally`; waiting suspends the task.
    ///
    /// ```swift
    /// try await dbPool.insertIncrementally(players) { progress in print(progress.rowCount) }
    /// ```
    ///
    /// - parameter isolation: the actor on which `progress` is called; the caller's.
    /// - throws: the errors of the synchronous `insertIncrementally`; `CancellationError`.
    @discardableResult
    public func insertIncrementally<Record: MutablePersistableRecord & SendableMetatype>(
        _ records: some Sequence<Record> & Sendable,
        onConflict conflictResolution: Database.ConflictResolution? = nil, columns: [String]? = nil,
        table: String? = nil, pace: IncrementalWritePace = IncrementalWritePace(),
        isolation: isolated (any Actor)? = #isolation,
        progress: ((BulkWriteProgress) throws -> Void)? = nil
    ) async throws -> BulkWriteProgress {
        try await writeInBulk(records, stepSize: Record.recordsPerStep, pace, progress) { db, records, index in
            try Record.insertStep(
                db, records, onConflict: conflictResolution, columns: columns, table: table, &index)
        }
    }

    /// Inserts the records of an asynchronous sequence in order, and lets others write in between.
    ///
    /// ```swift
    /// let players = request.body.lines.map { line in try Player(line) }
    /// let result = try await dbPool.insertIncrementally(players, onConflict: .ignore)
    /// print("\(result.rowCount) new players, of \(result.elementCount)")
    /// ```
    ///
    /// No connection is held, and no place in the queue, while the sequence is read. It is read on only when its last
    /// chunk is written. The records of a chunk that the sequence doesn't complete because it throws, or because the
    /// task is cancelled, aren't inserted. If the task is cancelled, `progress` was told of each committed transaction.
    ///
    /// - parameter records: read once.
    /// - parameter chunkSize: the number of records that are read before they are inserted; a chunk needs more than one
    ///   transaction if others wait, or after `IncrementalWritePace.maximumHold`.
    /// - parameter conflictResolution: the conflict resolution; nil for the type's policy.
    /// - parameter columns: the names of the columns to insert: the others get their default values, and the records
    ///   are inserted one by one. nil for all.
    /// - parameter table: the table, if it isn't the type's own.
    /// - parameter pace: how long the connection is kept.
    /// - parameter isolation: the actor on which `records` is read and `progress` is called; the caller's.
    /// - parameter progress: called after each commit, without the connection. An error ends the write.
    /// - returns: the numbers of records, of rows and of transactions.
    /// - throws: `BulkWriteError`, with the error of `records`, of `insert` or of `write`; `CancellationError`;
    ///   `SQLITE_MISUSE` if `chunkSize` is less than 1.
    @discardableResult
    public func insertIncrementally<Records: AsyncSequence>(
        _ records: Records, chunkSize: Int = 10_000,
        onConflict conflictResolution: Database.ConflictResolution? = nil, columns: [String]? = nil,
        table: String? = nil, pace: IncrementalWritePace = IncrementalWritePace(),
        isolation: isolated (any Actor)? = #isolation,
        progress: ((BulkWriteProgress) throws -> Void)? = nil
    ) async throws -> BulkWriteProgress where Records.Element: MutablePersistableRecord & Sendable {
        typealias Record = Records.Element
        return try await writeInBulk(records, chunkSize, stepSize: Record.recordsPerStep, pace, progress) {
            db, records, index in
            try Record.insertStep(
                db, records, onConflict: conflictResolution, columns: columns, table: table, &index)
        }
    }

    /// Upserts records in order, and lets others write in between: see `insertIncrementally`.
    ///
    /// ```swift
    /// try dbPool.upsertIncrementally(players)
    /// ```
    /// ```sql
    /// BEGIN IMMEDIATE TRANSACTION
    /// INSERT INTO "player" ("id", "name") VALUES (1,'Arthur')
    /// ON CONFLICT DO UPDATE SET "name" = "excluded"."name" RETURNING "rowid"
    /// INSERT INTO "player" …
    /// COMMIT TRANSACTION
    /// ```
    ///
    /// - throws: `BulkWriteError`, with the error of `upsert` or of `write`.
    @discardableResult
    public func upsertIncrementally<Record: MutablePersistableRecord>(
        _ records: some Sequence<Record>, table: String? = nil,
        pace: IncrementalWritePace = IncrementalWritePace(), progress: ((BulkWriteProgress) throws -> Void)? = nil
    ) throws -> BulkWriteProgress {
        try writeInBulk(records, stepSize: Record.recordsPerStep, pace, progress) { db, records, index in
            try Record.upsertStep(db, records, table: table, &index)
        }
    }

    /// Upserts records as the synchronous `upsertIncrementally`; waiting suspends the task.
    ///
    /// ```swift
    /// try await dbPool.upsertIncrementally(players)
    /// ```
    ///
    /// - throws: the errors of the synchronous `upsertIncrementally`; `CancellationError`.
    @discardableResult
    public func upsertIncrementally<Record: MutablePersistableRecord & SendableMetatype>(
        _ records: some Sequence<Record> & Sendable, table: String? = nil,
        pace: IncrementalWritePace = IncrementalWritePace(), isolation: isolated (any Actor)? = #isolation,
        progress: ((BulkWriteProgress) throws -> Void)? = nil
    ) async throws -> BulkWriteProgress {
        try await writeInBulk(records, stepSize: Record.recordsPerStep, pace, progress) { db, records, index in
            try Record.upsertStep(db, records, table: table, &index)
        }
    }

    /// Upserts the records of an asynchronous sequence in order, and lets others write in between: see
    /// `insertIncrementally`.
    ///
    /// ```swift
    /// try await dbPool.upsertIncrementally(request.body.lines.map { line in try Player(line) })
    /// ```
    ///
    /// - parameter chunkSize: the number of records that are read before they are upserted.
    /// - throws: `BulkWriteError`, with the error of `records`, of `upsert` or of `write`; `CancellationError`;
    ///   `SQLITE_MISUSE` if `chunkSize` is less than 1.
    @discardableResult
    public func upsertIncrementally<Records: AsyncSequence>(
        _ records: Records, chunkSize: Int = 10_000, table: String? = nil,
        pace: IncrementalWritePace = IncrementalWritePace(), isolation: isolated (any Actor)? = #isolation,
        progress: ((BulkWriteProgress) throws -> Void)? = nil
    ) async throws -> BulkWriteProgress where Records.Element: MutablePersistableRecord & Sendable {
        typealias Record = Records.Element
        return try await writeInBulk(records, chunkSize, stepSize: Record.recordsPerStep, pace, progress) {
            db, records, index in
            try Record.upsertStep(db, records, table: table, &index)
        }
    }
}

extension MutablePersistableRecord {
    /// The number of records that are written before the write looks whether others wait: few, because others wait for
    /// them, and four statements of several rows. See `RecordBatch`.
    fileprivate static var recordsPerStep: Int { 128 }
}
