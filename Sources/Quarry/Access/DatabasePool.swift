public import QuarryCore

/// A database in a file, with one connection that writes and several that read, at the same time.
///
/// ```swift
/// let dbPool = try DatabasePool(path: "/var/lib/app/players.sqlite")
/// try await dbPool.write { db in
///     try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: ["Arthur"])
/// }
/// let count = try await dbPool.read { db in
///     try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")!
/// }
/// ```
///
/// The database is in WAL mode (<https://www.sqlite.org/wal.html>): reads don't wait for writes, nor writes for reads.
/// Each `read` sees the last commit before it began.
public final class DatabasePool: DatabaseWriter {
    /// The configuration the database was opened with.
    public let configuration: Configuration

    /// The path of the file.
    public let path: String

    let writer: AccessRunner
    let readers: AccessRunner
    let workers: WorkerThreads
    let readPlacement: AccessRunner.Placement
    let writePlacement: AccessRunner.Placement

    /// Opens a file, creates it if it is missing, and switches it to WAL mode, unless it is read-only.
    ///
    /// ```swift
    /// let dbPool = try DatabasePool(path: "/var/lib/players.sqlite")
    /// ```
    ///
    /// - throws: `DatabaseError`: `SQLITE_CANTOPEN`, `SQLITE_NOTADB`; what `Configuration.prepareDatabase` throws.
    public convenience init(path: String, configuration: Configuration = Configuration()) throws {
        try configuration.check()
        try self.init(path: path, configuration: configuration, workers: configuration.makePoolWorkers())
    }

    /// Opens a file as the initializer does; what it waits for, the disk or a lock, holds none of Swift's threads.
    ///
    /// ```swift
    /// let dbPool = try await DatabasePool.open(path: "/var/lib/players.sqlite")
    /// ```
    ///
    /// `Configuration.prepareDatabase` runs on a thread of the library's. Cancelling the task ends the wait for a lock.
    ///
    /// - throws: as the initializer; `CancellationError`.
    public static func open(
        path: String, configuration: Configuration = Configuration()
    ) async throws -> DatabasePool {
        try configuration.check()
        let workers = configuration.makePoolWorkers()
        return try await workers.opening {
            try DatabasePool(path: path, configuration: configuration, workers: workers, followsTask: true)
        }
    }

    /// - parameter followsTask: whether opening is cancelled with the task that runs it.
    private init(path: String, configuration: Configuration, workers: WorkerThreads, followsTask: Bool = false) throws {
        self.configuration = configuration
        self.path = path
        var options = configuration.connectionOptions(readonly: configuration.readonly)
        options.isWriterOfPool = true
        let database =
            configuration.readonly
            ? try configuration.open(path: path, readonly: true, options: options, followsTask: followsTask)
            : try configuration.openInWALMode(path: path, options: options, followsTask: followsTask)
        let name = configuration.label ?? path
        self.workers = workers
        let openReader = configuration.readerOpener(path: path)
        readers = AccessRunner(
            ConnectionLane(
                "a reader of \(name)", capacity: configuration.maximumReaderCount, limits: configuration.laneLimits,
                idleClock: configuration.persistentReadOnlyConnections ? nil : .readers, open: openReader),
            workers: workers)
        writer = AccessRunner(
            ConnectionLane(
                "the writer of \(name)", capacity: 1, limits: configuration.laneLimits,
                connections: [.init(database: database)], barredLane: readers.lane,
                open: { throw DatabaseError.connectionIsClosed() }),
            workers: workers)
        readPlacement = configuration.asyncExecution.readPlacement(inMemory: false)
        writePlacement = configuration.asyncExecution.writePlacement(inMemory: false)
    }

    deinit {
        workers.shutDown()
        // The writer goes last: it takes the log into the database, and removes it.
        readers.lane.retireAll()
    }

    public func close() throws {
        // Before the writer is waited for: who has it may wait for this thread's reader.
        if !writer.lane.isClosed { try readers.lane.checkMayClose() }
        guard try writer.lane.beginClosing() else { return }
        do {
            guard try readers.lane.beginClosing() else { return writer.lane.abandonClosing() }
            do {
                // The writer goes last: it takes the log into the database, and removes it.
                try readers.lane.closeConnections()
                try writer.lane.closeConnections()
            } catch {
                readers.lane.abandonClosing()
                throw error
            }
        } catch {
            writer.lane.abandonClosing()
            throw error
        }
        readers.lane.finishClosing()
        writer.lane.finishClosing()
    }

    public func closeAsync() async throws {
        // The writer's connection goes last: it takes the log into the database, and removes it.
        try await ConnectionLane.close([writer.lane, readers.lane], workers)
    }

    public func interrupt() {
        writer.lane.interrupt()
        readers.lane.interrupt()
    }

    // MARK: - Reading

    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try readers.read(.pinnedTransaction, value)
    }

    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await readers.asyncRead(readPlacement, .pinnedTransaction, value)
    }

    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        readers.enqueueRead(.pinnedTransaction, value)
    }

    public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T {
        try readers.sync(value)
    }

    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await readers.async(writePlacement, value)
    }

    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        readers.enqueue(value)
    }

    /// As `unsafeRead`; inside a read of this thread, with its connection; inside a write, with the writer.
    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        if let db = readers.lane.ownedConnection ?? writer.lane.ownedConnection { return try value(db) }
        return try readers.sync(value)
    }

    // MARK: - Writing

    public func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T {
        try writer.sync(updates)
    }

    public func writeWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        try await writer.async(writePlacement, updates)
    }

    public func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void) {
        writer.enqueueWriteWithoutTransaction(updates)
    }

    public func barrierWriteWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T {
        try writer.sync(barrier: readers.lane, updates)
    }

    public func barrierWriteWithoutTransaction<T: Sendable>(
        _ updates: @Sendable (Database) throws -> T
    ) async throws -> T {
        try await writer.async(writePlacement, barrier: readers.lane, updates)
    }

    public func asyncBarrierWriteWithoutTransaction(
        _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        writer.enqueue(barrier: readers.lane, updates)
    }

    public func asyncWrite<T: Sendable>(
        _ updates: @escaping @Sendable (Database) throws -> T,
        completion: @escaping @Sendable (Database, Result<T, any Error>) -> Void
    ) {
        writer.enqueueWrite(updates, completion: completion)
    }

    public func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) throws -> T {
        try writer.reentrant(updates)
    }

    /// Writes in a transaction of some kind.
    ///
    /// ```swift
    /// try dbPool.writeInTransaction(.exclusive) { db in
    ///     try db.execute(sql: "DELETE FROM player")
    ///     return .commit
    /// }
    /// ```
    ///
    /// - parameter kind: nil for IMMEDIATE, or DEFERRED where nothing can be written.
    /// - parameter updates: answers how the transaction ends.
    public func writeInTransaction(
        _ kind: Database.TransactionKind? = nil, _ updates: (Database) throws -> Database.TransactionCompletion
    ) throws {
        try writer.sync { db in
            try db.inTransaction(kind) { try updates(db) }
        }
    }
}

extension Configuration {
    fileprivate func makePoolWorkers() -> WorkerThreads { WorkerThreads(connectionCount: maximumReaderCount + 1) }

    /// Opens a reader of a pool.
    func readerOpener(path: String) -> @Sendable () throws -> Database {
        var options = connectionOptions(readonly: true)
        options.busyMode = readonlyBusyMode ?? .timeout(10)
        // A read leaves no transaction behind, ever.
        options.allowsUnsafeTransactions = false
        // The writer has.
        options.checksSchema = false
        let configuration = self
        return { [options] in try configuration.open(path: path, readonly: true, options: options) }
    }
}
