public import QuarryCore

/// A type that reads a database: a queue, a pool, a snapshot.
///
/// ```swift
/// func playerCount(_ reader: any DatabaseReader) async throws -> Int {
///     try await reader.read { db in
///         try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")!
///     }
/// }
/// ```
///
/// Accesses aren't reentrant: an access inside another access to the same connection throws `SQLITE_MISUSE`. Types
/// outside the library don't conform.
public protocol DatabaseReader: AnyObject, Sendable {
    /// The configuration the database was opened with.
    var configuration: Configuration { get }

    /// The path of the file; `:memory:` or a URI in memory.
    var path: String { get }

    /// Closes all connections, after the running accesses.
    ///
    /// ```swift
    /// try dbQueue.close()
    /// ```
    ///
    /// Waiting and later accesses throw `SQLITE_MISUSE`, "Connection is closed". Closing again has no effect.
    ///
    /// - throws: `SQLITE_BUSY` if statements are left; then the database stays usable.
    func close() throws

    /// As `close`; waiting suspends the task, and closing holds none of Swift's threads.
    ///
    /// ```swift
    /// try await dbPool.closeAsync()
    /// ```
    ///
    /// Cancelling the task ends the wait: `CancellationError` is thrown, and the database stays open.
    ///
    /// - throws: the errors of `close`; `CancellationError`.
    func closeAsync() async throws

    /// Adds a closure that prepares each connection, also those that are open: functions, collations, traces, pragmas.
    ///
    /// ```swift
    /// dbPool.prepareConnections { db in
    ///     db.add(function: distance)
    /// }
    /// ```
    ///
    /// The closure runs once on each connection, at the beginning of its next access, or when it is opened, after the
    /// closures of `Configuration.prepareDatabase` and those added earlier. An access that is running ends without it.
    /// A pool and its snapshots share their closures, and so do the queues of one named database in memory. On a
    /// snapshot's connections the closure runs inside their transactions.
    ///
    /// If the closure throws, so does the access or the opening; the connection's next access runs it again. Readers
    /// can't write: a closure that writes asks `db.configuration.readonly` first. The database keeps the closure, which
    /// must not keep the database.
    ///
    /// - parameter setup: runs on the thread of the access. It must not leave a transaction open.
    /// - returns: the closure's registration, with which it can be removed.
    @discardableResult
    func prepareConnections(_ setup: @escaping @Sendable (Database) throws -> Void) -> ConnectionPreparation

    /// Interrupts the running statements: they throw `SQLITE_INTERRUPT`, and SQLite rolls back transactions that write.
    ///
    /// See <https://www.sqlite.org/c3ref/interrupt.html>.
    func interrupt()

    /// Reads on this thread, from a state that doesn't change meanwhile. Writing throws `SQLITE_READONLY`.
    ///
    /// ```swift
    /// let count = try reader.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")! }
    /// ```
    /// ```sql
    /// BEGIN DEFERRED TRANSACTION
    /// SELECT COUNT(*) FROM player
    /// COMMIT TRANSACTION
    /// ```
    ///
    /// - throws: the error of `value`; `DatabaseError` if no connection is available.
    func read<T>(_ value: (Database) throws -> T) throws -> T

    /// Reads as the synchronous `read`; waiting suspends the task, and holds no thread.
    ///
    /// ```swift
    /// let names = try await reader.read { db in try String.fetchAll(db, sql: "SELECT name FROM player") }
    /// ```
    ///
    /// Cancelling the task ends the wait or interrupts the running statement, and `CancellationError` is thrown.
    ///
    /// - throws: the error of `value`; `DatabaseError` if no connection is available; `CancellationError`.
    func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T

    /// Reads in its own task, which enters the queue of accesses before this method returns.
    ///
    /// ```swift
    /// dbQueue.asyncRead { result in
    ///     do {
    ///         print(try Int.fetchOne(result.get(), sql: "SELECT COUNT(*) FROM player")!)
    ///     } catch {
    ///         print(error)
    ///     }
    /// }
    /// ```
    ///
    /// - parameter value: receives the connection, or the error if none is available.
    func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Reads without a transaction: each statement sees its own state. A queue's connection can write.
    ///
    /// ```swift
    /// let mode = try reader.unsafeRead { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") }
    /// ```
    ///
    /// - throws: the error of `value`; `SQLITE_MISUSE` if `value` leaves a transaction open.
    func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T

    /// As the synchronous `unsafeRead`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `unsafeRead`; `CancellationError`.
    func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T

    /// As `unsafeRead`, in its own task.
    func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// As `unsafeRead`. Inside an access of this thread, uses that access's connection.
    ///
    /// - throws: the errors of `unsafeRead`.
    func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T
}

/// A reader whose accesses run on connection groups: a queue, a pool, a snapshot. A type that conforms has its groups
/// and requests, and inherits the methods of `DatabaseReader`.
package protocol GroupReader: DatabaseReader {
    /// Runs the reads.
    var readers: AccessRunner { get }
    /// The part that all connections of the database share.
    var core: DatabaseCore { get }
    var workers: WorkerThreads { get }
    /// All groups, in the order in which closing waits for them. Their connections are closed in the opposite order.
    var groups: [ConnectionGroup] { get }
    /// The connection that this thread has, if it has one.
    var ownedConnection: Database? { get }
    var readRequest: AccessRequest { get }
    var unsafeReadRequest: AccessRequest { get }
    /// Whether the data is on this machine.
    var isLocal: Bool { get }
}

extension GroupReader {
    package var isLocal: Bool { true }

    /// Throws if the database is elsewhere, where an operation can't be done.
    ///
    /// - parameter operation: the subject of a sentence.
    package func checkIsLocal(_ operation: String) throws {
        if !isLocal { throw Database.notInACluster(operation) }
    }

    public func close() throws {
        try Closing(groups, .atOnce).run()
        didClose()
    }

    public func closeAsync() async throws {
        try await Closing(groups, .atOnce).run(workers) {}
        didClose()
    }

    /// Ends what depends on the connections, which are closed.
    func didClose() {
        core.parts.forEach { $0.databaseDidClose(self) }
    }

    @discardableResult
    public func prepareConnections(
        _ setup: @escaping @Sendable (Database) throws -> Void
    ) -> ConnectionPreparation { core.prepareConnections(setup) }

    public func interrupt() {
        for group in groups { group.interrupt() }
    }

    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try readers.perform(readRequest, value)
    }

    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await readers.perform(readRequest, value)
    }

    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        readers.enqueue(readRequest, value)
    }

    public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T {
        try readers.perform(unsafeReadRequest, value)
    }

    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await readers.perform(unsafeReadRequest, value)
    }

    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        readers.enqueue(unsafeReadRequest, value)
    }

    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        if let db = ownedConnection { return try value(db) }
        return try readers.perform(unsafeReadRequest, value)
    }
}

extension DatabaseReader {
    /// The reader itself, or the one that it forwards to; nil for a type of another module.
    package var groupReader: (any GroupReader)? {
        if let reader = self as? any GroupReader { return reader }
        return (self as? any ForwardingReader)?.base.groupReader
    }
}
