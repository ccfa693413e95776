import QuarryCore

// Accesses that must have ended at a deadline.

extension DatabaseReader {
    /// Reads as `read`, for a limited time: the wait for a connection, the waits for locks, and the statements.
    ///
    /// ```swift
    /// let players = try dbPool.read(timeout: .milliseconds(200)) { db in try Player.fetchAll(db) }
    /// ```
    ///
    /// After that time, a waiting access leaves the queue, a running statement is interrupted, and further statements
    /// throw. Code of `value` that runs no statement isn't interrupted. `Configuration.acquireTimeout`,
    /// `Configuration.statementTimeout` and the cancellation of the task apply too: the first ends the access.
    ///
    /// - parameter timeout: from this call to the end of the access. A timeout of zero or less throws at once.
    /// - throws: the errors of `read`; `SQLITE_BUSY` if the time has passed while the access waited, `SQLITE_INTERRUPT`
    ///   if it has passed while a statement ran. The message says which wait, and names the timeout.
    public func read<T>(timeout: Duration, _ value: (Database) throws -> T) throws -> T {
        let (reader, deadline) = try limited(timeout)
        return try reader.readers.perform(reader.readRequest.until(deadline), value)
    }

    /// Reads as the synchronous `read(timeout:)`; waiting suspends the task, and holds no thread.
    ///
    /// ```swift
    /// let players = try await dbPool.read(timeout: .milliseconds(200)) { db in try Player.fetchAll(db) }
    /// ```
    ///
    /// - throws: the errors of the synchronous `read(timeout:)`; `CancellationError`.
    public func read<T: Sendable>(timeout: Duration, _ value: @Sendable (Database) throws -> T) async throws -> T {
        let (reader, deadline) = try limited(timeout)
        return try await reader.readers.perform(reader.readRequest.until(deadline), value)
    }

    /// The reader that has the connections, and the deadline of an access that begins now.
    fileprivate func limited(_ timeout: Duration) throws -> (any GroupReader, AccessDeadline) {
        guard let groupReader else { throw DatabaseError.foreignReader() }
        return (groupReader, AccessDeadline(after: timeout, now: groupReader.readers.group.clock.now))
    }
}

extension DatabaseWriter {
    /// Writes as `write`, for a limited time: the wait for the connection, the waits for locks, and the statements.
    ///
    /// ```swift
    /// try dbPool.write(timeout: .seconds(2)) { db in try player.insert(db) }
    /// ```
    ///
    /// After that time, a waiting access leaves the queue, a running statement is interrupted, and further statements
    /// throw. Code of `updates` that runs no statement isn't interrupted.
    ///
    /// A commit isn't interrupted once it has begun, and doesn't begin after the deadline. So if the method returns,
    /// the transaction is committed; if it throws an error of the timeout, the transaction is rolled back.
    ///
    /// - parameter timeout: from this call to the beginning of the commit. A timeout of zero or less throws at once.
    /// - throws: the errors of `write`; `SQLITE_BUSY` if the time has passed while the access waited,
    ///   `SQLITE_INTERRUPT` if it has passed while a statement ran, or before the commit. The message says which wait,
    ///   and names the timeout.
    public func write<T>(timeout: Duration, _ updates: (Database) throws -> T) throws -> T {
        let (reader, deadline) = try limited(timeout)
        guard let writer = reader as? any GroupWriter else { throw DatabaseError.foreignReader() }
        return try writer.writer.perform(writer.transactionRequest.until(deadline), updates)
    }

    /// Writes as the synchronous `write(timeout:)`; waiting suspends the task, and holds no thread.
    ///
    /// ```swift
    /// try await dbPool.write(timeout: .seconds(2)) { db in try player.insert(db) }
    /// ```
    ///
    /// - throws: the errors of the synchronous `write(timeout:)`; `CancellationError`.
    public func write<T: Sendable>(timeout: Duration, _ updates: @Sendable (Database) throws -> T) async throws -> T {
        let (reader, deadline) = try limited(timeout)
        guard let writer = reader as? any GroupWriter else { throw DatabaseError.foreignReader() }
        return try await writer.writer.perform(writer.transactionRequest.until(deadline), updates)
    }
}

extension DatabaseError {
    /// The error of a method that needs a queue, a pool or a snapshot of the library.
    package static func foreignReader() -> DatabaseError {
        DatabaseError.misuse("the database is of a type outside of the library")
    }
}
