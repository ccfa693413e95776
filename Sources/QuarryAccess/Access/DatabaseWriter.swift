public import QuarryCore

/// A type that reads and writes a database: a queue or a pool.
///
/// ```swift
/// func addPlayer(_ name: String, to writer: any DatabaseWriter) async throws {
///     try await writer.write { db in
///         try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: [name])
///     }
/// }
/// ```
///
/// Writes run one after another. Types outside the library don't conform.
public protocol DatabaseWriter: DatabaseReader {
    /// Writes in a transaction, on this thread: all changes or none.
    ///
    /// ```swift
    /// try dbWriter.write { db in
    ///     try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: ["Arthur"])
    /// }
    /// ```
    /// ```sql
    /// BEGIN IMMEDIATE TRANSACTION
    /// INSERT INTO player (name) VALUES ('Arthur')
    /// COMMIT TRANSACTION
    /// ```
    ///
    /// Reads that start afterwards see the changes.
    ///
    /// - throws: the error of `updates`, after the rollback; `DatabaseError` if no connection is available, or if the
    ///   commit fails.
    func write<T>(_ updates: (Database) throws -> T) throws -> T

    /// Writes as the synchronous `write`; waiting suspends the task, and holds no thread.
    ///
    /// ```swift
    /// let id = try await dbQueue.write { db in
    ///     try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
    ///     return db.lastInsertedRowID
    /// }
    /// ```
    ///
    /// Cancelling the task ends the wait or interrupts the running statement. The transaction is rolled back, and
    /// `CancellationError` is thrown.
    ///
    /// - throws: the errors of the synchronous `write`; `CancellationError`.
    func write<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T

    /// Writes without a transaction, on this thread: each statement is its own transaction.
    ///
    /// ```swift
    /// try dbWriter.writeWithoutTransaction { db in
    ///     try db.execute(sql: "VACUUM")
    /// }
    /// ```
    ///
    /// - throws: the error of `updates`; `SQLITE_MISUSE` if `updates` leaves a transaction open, which is rolled back,
    ///   unless `Configuration.allowsUnsafeTransactions` is set.
    func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T

    /// As the synchronous `writeWithoutTransaction`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `writeWithoutTransaction`; `CancellationError`.
    func writeWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T

    /// As `writeWithoutTransaction`, in its own task, which enters the queue of writes before this method returns.
    ///
    /// If no connection is available, `updates` receives a substitute: each use of it throws the reason.
    func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void)

    /// Writes while no other access reads: waits for the running reads, and makes later reads wait.
    ///
    /// ```swift
    /// try dbWriter.barrierWriteWithoutTransaction { db in try db.checkpoint(.truncate) }
    /// ```
    ///
    /// - throws: the error of `updates`; `SQLITE_MISUSE` inside an access of this thread.
    func barrierWriteWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T

    /// As the synchronous `barrierWriteWithoutTransaction`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `barrierWriteWithoutTransaction`; `CancellationError`.
    func barrierWriteWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T

    /// As `barrierWriteWithoutTransaction`, in its own task.
    func asyncBarrierWriteWithoutTransaction(_ updates: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Writes in a transaction, in its own task, which enters the queue of writes before this method returns.
    ///
    /// ```swift
    /// dbQueue.asyncWrite { db in
    ///     try db.execute(sql: "DELETE FROM player")
    /// } completion: { db, result in
    ///     if case .failure(let error) = result { print(error) }
    /// }
    /// ```
    ///
    /// - parameter updates: runs in an IMMEDIATE transaction.
    /// - parameter completion: receives the connection after the transaction, and the result. If no connection is
    ///   available, it receives a substitute: each use of it throws the reason.
    func asyncWrite<T: Sendable>(
        _ updates: @escaping @Sendable (Database) throws -> T,
        completion: @escaping @Sendable (Database, Result<T, any Error>) -> Void)

    /// As `writeWithoutTransaction`. Inside a write of this thread, uses that write's connection.
    ///
    /// - throws: the errors of `writeWithoutTransaction`.
    func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) throws -> T

    /// Reads the state of the last commit. Call it inside a write, outside a transaction: the read doesn't see later
    /// changes.
    ///
    /// ```swift
    /// try dbPool.writeWithoutTransaction { db in
    ///     try db.execute(sql: "DELETE FROM player")
    ///     dbPool.spawnConcurrentRead { result in
    ///         // Later: the players are gone, whatever is written meanwhile.
    ///         if let db = try? result.get() { print(try! Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")!) }
    ///     }
    /// }
    /// ```
    ///
    /// A pool continues writing while it is read; a queue reads before this method returns.
    func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void)
}

/// A writer whose accesses run on connection groups: a queue or a pool.
///
/// The types have their own `read`, `unsafeRead`, `write` and `writeWithoutTransaction`, which are called most often.
/// An extension would read `writer` and the request through the protocol, and retain them. That takes some 150
/// instructions; a whole access without a transaction takes 700.
package protocol GroupWriter: GroupReader, DatabaseWriter {
    /// Runs the writes.
    var writer: AccessRunner { get }
    /// A write without a transaction.
    var writeRequest: AccessRequest { get }
    /// A write in a transaction.
    var transactionRequest: AccessRequest { get }
    var barrierRequest: AccessRequest { get }
}

extension GroupWriter {
    public func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void) {
        writer.enqueue(writeRequest) { result in updates(Self.connection(result)) }
    }

    public func barrierWriteWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T {
        try writer.perform(barrierRequest, updates)
    }

    public func barrierWriteWithoutTransaction<T: Sendable>(
        _ updates: @Sendable (Database) throws -> T
    ) async throws -> T {
        try await writer.perform(barrierRequest, updates)
    }

    public func asyncBarrierWriteWithoutTransaction(
        _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        writer.enqueue(barrierRequest, updates)
    }

    public func asyncWrite<T: Sendable>(
        _ updates: @escaping @Sendable (Database) throws -> T,
        completion: @escaping @Sendable (Database, Result<T, any Error>) -> Void
    ) {
        // A bare access, in which `completion` uses the connection after the transaction.
        let request = transactionRequest
        writer.enqueue(AccessRequest(.bare, request.placement, origin: request.origin)) { connection in
            let result = Result { try request.kind.run(try connection.get(), updates) }
            completion(Self.connection(connection), result)
        }
    }

    /// A connection for a closure that receives one although none may be available. If none is, no other access has the
    /// connection, and each use throws.
    private static func connection(_ result: Result<Database, any Error>) -> Database {
        switch result {
        case .success(let db): db
        case .failure(let error):
            Database(
                refusing: error as? DatabaseError
                    ?? DatabaseError(resultCode: .SQLITE_INTERRUPT, message: "\(error)"))
        }
    }

    public func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) throws -> T {
        try writer.performReentrant(writeRequest, updates)
    }
}

extension DatabaseWriter {
    /// Rebuilds the file, and returns unused space to the file system: <https://www.sqlite.org/lang_vacuum.html>.
    ///
    /// ```sql
    /// VACUUM
    /// ```
    ///
    /// - throws: `DatabaseError`, for example `SQLITE_BUSY` if another connection holds a lock.
    public func vacuum() throws {
        try writeWithoutTransaction { db in try db.execute(sql: "VACUUM") }
    }

    /// As the synchronous `vacuum`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `vacuum`; `CancellationError`.
    public func vacuum() async throws {
        try await writeWithoutTransaction { db in try db.execute(sql: "VACUUM") }
    }

    /// Writes a compact copy to a new file: <https://www.sqlite.org/lang_vacuum.html#vacuuminto>.
    ///
    /// ```sql
    /// VACUUM INTO ?
    /// ```
    ///
    /// - parameter filePath: a file that is missing, or empty.
    /// - throws: `DatabaseError`, for example if the file isn't empty; `SQLITE_CANTOPEN` if it can't be created, if it
    ///   would be the log or journal of this database or of another one that the process has open, or if it has a log
    ///   or journal beside it, which SQLite would apply.
    public func vacuum(into filePath: String) throws {
        try writeWithoutTransaction { db in try db.vacuum(into: filePath) }
    }

    /// As the synchronous `vacuum(into:)`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `vacuum(into:)`; `CancellationError`.
    public func vacuum(into filePath: String) async throws {
        try await writeWithoutTransaction { db in try db.vacuum(into: filePath) }
    }
}
