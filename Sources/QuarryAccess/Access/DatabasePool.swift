public import QuarryCore

/// A database in a file, with one connection that writes and several that read, all at the same time.
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
public final class DatabasePool: GroupWriter {
    /// The configuration the database was opened with.
    public let configuration: Configuration

    /// The path of the file.
    public let path: String

    package let writer: AccessRunner
    package let readers: AccessRunner
    package let core: DatabaseCore
    package let workers: WorkerThreads
    /// Opens the connections when they are needed; nil for a pool that has them open until it is closed.
    package let opener: (any PoolOpener)?
    package let readRequest: AccessRequest
    package let writeRequest: AccessRequest
    package let transactionRequest: AccessRequest

    /// Opens a file. Unless the pool is read-only, this creates the file if it is missing, and switches it to WAL mode.
    ///
    /// ```swift
    /// let dbPool = try DatabasePool(path: "/var/lib/players.sqlite")
    /// ```
    ///
    /// - throws: `DatabaseError`: `SQLITE_CANTOPEN`, `SQLITE_NOTADB`; the error of `Configuration.prepareDatabase`.
    public convenience init(path: String, configuration: Configuration = Configuration()) throws {
        try configuration.check()
        try self.init(path: path, configuration: configuration, workers: configuration.makePoolWorkers())
    }

    /// Opens a file as the initializer does. Waiting for the disk or a lock holds none of Swift's threads.
    ///
    /// ```swift
    /// let dbPool = try await DatabasePool.open(path: "/var/lib/players.sqlite")
    /// ```
    ///
    /// `Configuration.prepareDatabase` runs on a thread of the library. Cancelling the task ends the wait for a lock.
    ///
    /// - throws: the errors of the initializer; `CancellationError`.
    public static func open(
        path: String, configuration: Configuration = Configuration()
    ) async throws -> DatabasePool {
        try configuration.check()
        let workers = configuration.makePoolWorkers()
        return try await workers.opening {
            try DatabasePool(path: path, configuration: configuration, workers: workers, followsTask: true)
        }
    }

    /// - parameter followsTask: whether opening is cancelled with the current task.
    private convenience init(
        path: String, configuration: Configuration, workers: WorkerThreads, followsTask: Bool = false
    ) throws {
        let core = DatabaseCore(isShared: true, configuration.monotonicClock)
        let tracers = TracerList.configured(configuration)
        let database = try configuration.openWriterOfPool(
            path: path, core: core, configuredTracers: tracers, followsTask: followsTask)
        self.init(
            path: path, configuration, core, workers, tracers, connections: [.init(database: database)],
            openWriter: { throw DatabaseError.connectionIsClosed() },
            openReader: configuration.readerOpener(path: path, core: core, tracers))
        core.setOwner(writer, readers: readers, database.configuration)
        core.keepLog(of: database)
    }

    /// A pool without connections, which are opened when they are needed.
    ///
    /// - parameter workers: its threads; nil for threads of its own.
    package convenience init(
        path: String, _ configuration: Configuration, _ core: DatabaseCore, _ workers: WorkerThreads?,
        _ tracers: TracerList?, _ opener: any PoolOpener
    ) {
        self.init(
            path: path, configuration, core, workers ?? configuration.makePoolWorkers(), tracers, opener,
            openWriter: { try opener.openWriter() }, openReader: { try opener.openReader() })
    }

    /// - parameter connections: the writer's connection, if it is open.
    private init(
        path: String, _ configuration: Configuration, _ core: DatabaseCore, _ workers: WorkerThreads,
        _ tracers: TracerList?, _ opener: (any PoolOpener)? = nil, connections: [ConnectionGroup.Connection] = [],
        openWriter: @escaping @Sendable () throws -> Database, openReader: @escaping @Sendable () throws -> Database
    ) {
        self.configuration = configuration
        self.path = path
        self.core = core
        self.workers = workers
        self.opener = opener
        let name = configuration.label ?? path
        let source = DatabaseTraceEvent.Source(label: configuration.label, path: path)
        readers = AccessRunner(
            ConnectionGroup(
                "a reader of \(name)", capacity: configuration.maximumReaderCount, limits: configuration.groupLimits,
                idleClock: configuration.persistentReadOnlyConnections ? nil : .readers,
                gate: opener?.poolGate, open: openReader),
            workers: workers, core, source, .reader, configuredTracers: tracers)
        writer = AccessRunner(
            ConnectionGroup(
                "the writer of \(name)", capacity: 1, limits: configuration.groupLimits,
                connections: connections, barredGroup: readers.group, gate: opener?.poolGate,
                open: openWriter),
            workers: workers, core, source, .writer, configuredTracers: tracers,
            sharesCommits: configuration.sharesCommits(inMemory: false))
        readRequest = AccessRequest(.pinnedRead, configuration.asyncExecution.readPlacement(inMemory: false))
        let writePlacement = configuration.asyncExecution.writePlacement(inMemory: false)
        writeRequest = AccessRequest(.bare, writePlacement)
        transactionRequest = AccessRequest(
            .write, writePlacement, sharesCommit: configuration.sharesCommits(inMemory: false))
        LiveDatabases.add(writer)
    }

    deinit {
        LiveDatabases.remove(writer)
        core.ownerWillEnd()
        if opener?.poolWillEnd(writer, readers: readers) ?? true { workers.shutDown() }
        // The writer is closed last: closing it moves the log into the database and removes it.
        readers.group.retireAll()
        if let opener {
            opener.poolWasReleased([readers.group, writer.group])
        } else {
            // Here, even if another thread walks through `LiveDatabases` and has retained the writer.
            _ = writer.group.closeIfUnused()
        }
    }

    // MARK: - Accesses

    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try readers.perform(readRequest, value)
    }

    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await readers.perform(readRequest, value)
    }

    public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T {
        try readers.perform(writeRequest, value)
    }

    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await readers.perform(writeRequest, value)
    }

    public func write<T>(_ updates: (Database) throws -> T) throws -> T {
        try writer.perform(transactionRequest, updates)
    }

    public func write<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        try await writer.perform(transactionRequest, updates)
    }

    public func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T {
        try writer.perform(writeRequest, updates)
    }

    public func writeWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        try await writer.perform(writeRequest, updates)
    }

    /// Writes in a transaction of a given kind.
    ///
    /// ```swift
    /// try dbPool.writeInTransaction(.exclusive) { db in
    ///     try db.execute(sql: "DELETE FROM player")
    ///     return .commit
    /// }
    /// ```
    ///
    /// - parameter kind: nil for IMMEDIATE, or DEFERRED if nothing can be written.
    /// - parameter updates: returns how the transaction ends.
    /// - throws: the error of `updates`, after the rollback; `DatabaseError` if no connection is available, or if the
    ///   commit fails.
    public func writeInTransaction(
        _ kind: Database.TransactionKind? = nil, _ updates: (Database) throws -> Database.TransactionCompletion
    ) throws {
        try writer.perform(writeRequest) { db in
            try db.inTransaction(kind) { try updates(db) }
        }
    }
}

extension DatabasePool {
    /// The writer's connection is closed last: closing it moves the log into the database and removes it.
    package var groups: [ConnectionGroup] { [writer.group, readers.group] }
    package var ownedConnection: Database? { readers.group.ownedConnection ?? writer.group.ownedConnection }
    package var unsafeReadRequest: AccessRequest { writeRequest }
    package var barrierRequest: AccessRequest { AccessRequest(barrier: readers.group) }
}

extension Configuration {
    fileprivate func makePoolWorkers() -> WorkerThreads { WorkerThreads(connectionCount: maximumReaderCount + 1) }

    /// Opens the writer of a pool.
    package func openWriterOfPool(
        path: String, core: DatabaseCore, configuredTracers: TracerList?, followsTask: Bool
    ) throws -> Database {
        var options = connectionOptions(readonly: readonly)
        options.isWriterOfPool = true
        let database =
            readonly
            ? try open(
                path: path, readonly: true, options: options, core: core, configuredTracers: configuredTracers,
                followsTask: followsTask)
            : try openInWALMode(
                path: path, options: options, core: core, configuredTracers: configuredTracers, followsTask: followsTask
            )
        try core.storeCommitNumbers(database, followsTask: followsTask)
        return database
    }

    /// Opens a reader of a pool.
    package func readerOpener(path: String, core: DatabaseCore, _ tracers: TracerList? = nil)
        -> @Sendable () throws -> Database
    {
        var options = connectionOptions(readonly: true)
        options.busyMode = readonlyBusyMode ?? .timeout(10)
        // A read never leaves a transaction behind.
        options.allowsUnsafeTransactions = false
        // The writer has checked it.
        options.checksSchema = false
        let configuration = self
        return { [options] in
            try configuration.open(
                path: path, readonly: true, options: options, core: core, role: .reader,
                configuredTracers: tracers)
        }
    }
}
