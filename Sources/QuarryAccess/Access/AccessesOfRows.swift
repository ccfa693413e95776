public import QuarryCore

// Asynchronous accesses that return rows. Rows aren't `Sendable`: without these methods, `await read` would call the
// synchronous `read`, which blocks the thread.

/// Rows that leave an access.
///
/// `@unchecked`: the rows have their own values, which nothing changes, so that any thread may read them.
private struct LeavingRows<Rows: RowContainer>: @unchecked Sendable {
    let rows: Rows

    init(_ rows: Rows) throws { self.rows = try rows.copyingRows() }
}

extension DatabaseReader {
    /// Reads rows as the asynchronous `read` reads other values.
    ///
    /// ```swift
    /// let rows = try await dbPool.read { db in try Row.fetchAll(db, sql: "SELECT * FROM player") }
    /// ```
    ///
    /// The rows aren't `Sendable`. A function that returns them to another actor returns `sending [Row]`.
    ///
    /// - throws: the errors of `read`; `SQLITE_MISUSE` for the row of a cursor that has ended.
    public func read<Rows: RowContainer>(_ value: @Sendable (Database) throws -> Rows) async throws -> sending Rows {
        try await read { db in try LeavingRows(value(db)) }.rows
    }

    /// Reads rows as the asynchronous `unsafeRead` reads other values.
    ///
    /// ```swift
    /// let row = try await dbPool.unsafeRead { db in try Row.fetchOne(db, sql: "SELECT * FROM player LIMIT 1") }
    /// ```
    ///
    /// - throws: the errors of `unsafeRead`; `SQLITE_MISUSE` for the row of a cursor that has ended.
    public func unsafeRead<Rows: RowContainer>(
        _ value: @Sendable (Database) throws -> Rows
    ) async throws -> sending Rows {
        try await unsafeRead { db in try LeavingRows(value(db)) }.rows
    }

    /// Reads rows as the asynchronous `read(timeout:)` reads other values.
    ///
    /// ```swift
    /// let rows = try await dbPool.read(timeout: .seconds(2)) { db in try Row.fetchAll(db, sql: sql) }
    /// ```
    ///
    /// - throws: the errors of `read(timeout:)`; `SQLITE_MISUSE` for the row of a cursor that has ended.
    public func read<Rows: RowContainer>(
        timeout: Duration, _ value: @Sendable (Database) throws -> Rows
    ) async throws -> sending Rows {
        try await read(timeout: timeout) { db in try LeavingRows(value(db)) }.rows
    }
}

extension DatabaseWriter {
    /// Writes as the asynchronous `write` that returns other values, and returns rows.
    ///
    /// ```swift
    /// let rows = try await dbPool.write { db in
    ///     try Row.fetchAll(db, sql: "DELETE FROM player WHERE score = 0 RETURNING *")
    /// }
    /// ```
    ///
    /// - throws: the errors of `write`; `SQLITE_MISUSE`, after a rollback, for the row of a cursor that has ended.
    public func write<Rows: RowContainer>(
        _ updates: @Sendable (Database) throws -> Rows
    ) async throws -> sending Rows {
        try await write { db in try LeavingRows(updates(db)) }.rows
    }

    /// Writes as the asynchronous `write(timeout:)` that returns other values, and returns rows.
    ///
    /// ```swift
    /// let rows = try await dbPool.write(timeout: .seconds(2)) { db in
    ///     try Row.fetchAll(db, sql: "UPDATE player SET score = 0 RETURNING *")
    /// }
    /// ```
    ///
    /// - throws: the errors of `write(timeout:)`; `SQLITE_MISUSE`, after a rollback, for the row of a cursor that has
    ///   ended.
    public func write<Rows: RowContainer>(
        timeout: Duration, _ updates: @Sendable (Database) throws -> Rows
    ) async throws -> sending Rows {
        try await write(timeout: timeout) { db in try LeavingRows(updates(db)) }.rows
    }

    /// Writes as the asynchronous `writeWithoutTransaction` that returns other values, and returns rows.
    ///
    /// ```swift
    /// let checkpoint = try await dbPool.writeWithoutTransaction { db in
    ///     try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(PASSIVE)")
    /// }
    /// ```
    ///
    /// - throws: the errors of `writeWithoutTransaction`; `SQLITE_MISUSE` for the row of a cursor that has ended.
    public func writeWithoutTransaction<Rows: RowContainer>(
        _ updates: @Sendable (Database) throws -> Rows
    ) async throws -> sending Rows {
        try await writeWithoutTransaction { db in try LeavingRows(updates(db)) }.rows
    }

    /// Writes as the asynchronous `barrierWriteWithoutTransaction` that returns other values, and returns rows.
    ///
    /// ```swift
    /// let checkpoint = try await dbPool.barrierWriteWithoutTransaction { db in
    ///     try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    /// }
    /// ```
    ///
    /// - throws: the errors of `barrierWriteWithoutTransaction`; `SQLITE_MISUSE` for the row of a cursor that has
    ///   ended.
    public func barrierWriteWithoutTransaction<Rows: RowContainer>(
        _ updates: @Sendable (Database) throws -> Rows
    ) async throws -> sending Rows {
        try await barrierWriteWithoutTransaction { db in try LeavingRows(updates(db)) }.rows
    }
}
