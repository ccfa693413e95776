public import QuarryCore

/// A database with one connection: accesses run one after the other, in order of arrival.
///
/// ```swift
/// let dbQueue = try DatabaseQueue(path: "/var/lib/app/players.sqlite")
/// try dbQueue.write { db in
///     try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)")
/// }
/// let names = try await dbQueue.read { db in
///     try String.fetchAll(db, sql: "SELECT name FROM player")
/// }
/// ```
public final class DatabaseQueue: GroupWriter {
    /// The configuration the database was opened with; `maximumReaderCount` is 1.
    public let configuration: Configuration

    /// The path of the file; `:memory:` or a URI in memory.
    public let path: String

    /// Runs all accesses.
    let runner: AccessRunner
    package let core: DatabaseCore
    package let workers: WorkerThreads
    package let readRequest: AccessRequest
    package let writeRequest: AccessRequest
    package let transactionRequest: AccessRequest

    // MARK: - Opening

    /// Opens a file. Creates it if it is missing, unless the queue is read-only.
    ///
    /// ```swift
    /// let dbQueue = try DatabaseQueue(path: "/var/lib/players.sqlite")
    /// ```
    ///
    /// - throws: `DatabaseError`: `SQLITE_CANTOPEN`, `SQLITE_NOTADB`; the error of `Configuration.prepareDatabase`.
    public convenience init(path: String, configuration: Configuration = Configuration()) throws {
        try self.init(path: path, isInMemory: path == ":memory:", configuration: configuration)
    }

    /// Opens a file as the initializer does. Waiting for the disk or a lock holds none of Swift's threads.
    ///
    /// ```swift
    /// let dbQueue = try await DatabaseQueue.open(path: "/var/lib/players.sqlite")
    /// ```
    ///
    /// `Configuration.prepareDatabase` runs on a thread of the library. Cancelling the task ends the wait for a lock.
    ///
    /// - throws: the errors of the initializer; `CancellationError`.
    public static func open(
        path: String, configuration: Configuration = Configuration()
    ) async throws -> DatabaseQueue {
        let workers = WorkerThreads(connectionCount: 1)
        return try await workers.opening {
            try DatabaseQueue(
                path: path, isInMemory: path == ":memory:", configuration: configuration, workers: workers,
                followsTask: true)
        }
    }

    /// A database in memory.
    ///
    /// ```swift
    /// let alone = try DatabaseQueue()
    /// let shared = try DatabaseQueue(named: "players") // the same content wherever that name is opened
    /// ```
    ///
    /// The queues of one name share what `prepareConnections` adds, too.
    ///
    /// - parameter name: the name under which the process shares the content; nil for a separate database.
    /// - parameter configuration: the settings of the connection.
    /// - throws: `SQLITE_CANTOPEN` for a name with a NUL; `DatabaseError`; the error of
    ///   `Configuration.prepareDatabase`.
    public convenience init(named name: String? = nil, configuration: Configuration = Configuration()) throws {
        if let name, name.utf8.contains(0) {
            // SQLite would open the database that the part before the NUL names.
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN,
                message: "the name of a database has a NUL character: \(String(reflecting: name))")
        }
        // https://www.sqlite.org/inmemorydb.html
        let path = name.map { "file:\($0.percentEncodedForURI)?mode=memory&cache=shared" } ?? ":memory:"
        var configuration = configuration
        // The name isn't a path from outside, so no part of it is a parameter.
        if name != nil { configuration.acceptsURIs = true }
        let core = name.map { DatabaseCore.named($0, vfs: configuration.vfs, configuration.monotonicClock) }
        try self.init(
            path: path, isInMemory: true, configuration: configuration, core: core)
    }

    /// - parameter core: the part that its connection shares with the connections of other queues.
    /// - parameter workers: the threads for its asynchronous accesses; nil to create them.
    /// - parameter followsTask: whether opening is cancelled with the current task.
    /// - parameter fill: fills the database, before it may become read-only.
    init(
        path: String, isInMemory: Bool, configuration: Configuration,
        core: DatabaseCore? = nil,
        workers: WorkerThreads? = nil, followsTask: Bool = false, fill: ((Database) throws -> Void)? = nil
    ) throws {
        var configuration = configuration
        configuration.maximumReaderCount = 1
        self.configuration = configuration
        self.path = path
        let core = core ?? DatabaseCore(isShared: false, configuration.monotonicClock)
        self.core = core
        let isReadOnly = configuration.readonly && fill == nil
        let options = configuration.connectionOptions(readonly: isReadOnly, inMemory: isInMemory)
        let tracers = TracerList.configured(configuration)
        let database: Database
        if let fill {
            // A copy must be written before it becomes read-only.
            database = try configuration.open(
                path: path, readonly: false, options: options, core: core, configuredTracers: tracers,
                followsTask: followsTask)
            try AccessRunner.frame(database, nil, followsTask: followsTask, fill)
            if configuration.readonly {
                try database.asAccess { db in try db.execute(sql: "PRAGMA query_only = 1") }
            }
        } else if case .wal = configuration.journalMode, !configuration.readonly {
            database = try configuration.openInWALMode(
                path: path, options: options, core: core, configuredTracers: tracers, followsTask: followsTask)
        } else {
            database = try configuration.open(
                path: path, readonly: isReadOnly, options: options, core: core, configuredTracers: tracers,
                followsTask: followsTask)
            if !isInMemory {
                try database.asAccess { db in try FileSystem.check(db, willBeWAL: false) }
            }
        }
        try core.storeCommitNumbers(database, followsTask: followsTask)
        let group = ConnectionGroup(
            "the connection of \(configuration.label ?? path)", capacity: 1, limits: configuration.groupLimits,
            connections: [.init(database: database)], open: { throw DatabaseError.connectionIsClosed() })
        self.workers = workers ?? WorkerThreads(connectionCount: 1)
        runner = AccessRunner(
            group, workers: self.workers, core, DatabaseTraceEvent.Source(label: configuration.label, path: path),
            .writer, configuredTracers: tracers, sharesCommits: configuration.sharesCommits(inMemory: isInMemory))
        readRequest = AccessRequest(.read, configuration.asyncExecution.readPlacement(inMemory: isInMemory))
        let writePlacement = configuration.asyncExecution.writePlacement(inMemory: isInMemory)
        writeRequest = AccessRequest(.bare, writePlacement)
        transactionRequest = AccessRequest(
            .write, writePlacement, sharesCommit: configuration.sharesCommits(inMemory: isInMemory))
        if !isInMemory {
            core.setOwner(runner, readers: runner, database.configuration)
            core.keepLog(of: database)
        }
        LiveDatabases.add(runner)
    }

    deinit {
        LiveDatabases.remove(runner)
        core.ownerWillEnd()
        workers.shutDown()
        // Here, even if another thread walks through `LiveDatabases` and has retained the runner.
        _ = runner.group.closeIfUnused()
    }

    /// Frees as much memory as possible, after the accesses that were requested earlier.
    public func releaseMemory() {
        try? runner.perform(AccessRequest(.bare)) { db in db.releaseMemory() }
    }

    /// As `releaseMemory`, but waiting suspends the task. If the task is cancelled meanwhile, nothing is freed.
    ///
    /// ```swift
    /// await dbQueue.releaseMemoryAsync()
    /// ```
    public func releaseMemoryAsync() async {
        try? await runner.perform(AccessRequest(.bare, .offloaded)) { db in db.releaseMemory() }
    }

    // MARK: - Accesses

    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try runner.perform(readRequest, value)
    }

    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await runner.perform(readRequest, value)
    }

    public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T {
        try runner.perform(writeRequest, value)
    }

    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await runner.perform(writeRequest, value)
    }

    public func write<T>(_ updates: (Database) throws -> T) throws -> T {
        try runner.perform(transactionRequest, updates)
    }

    public func write<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        try await runner.perform(transactionRequest, updates)
    }

    public func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T {
        try runner.perform(writeRequest, updates)
    }

    public func writeWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        try await runner.perform(writeRequest, updates)
    }

    /// Runs `updates` with the connection, without a transaction, as `writeWithoutTransaction`.
    ///
    /// ```swift
    /// let count = try dbQueue.inDatabase { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")! }
    /// ```
    ///
    /// - throws: the error of `updates`; `SQLITE_MISUSE` if `updates` leaves a transaction open; `DatabaseError` if no
    ///   connection is available.
    public func inDatabase<T>(_ updates: (Database) throws -> T) throws -> T {
        try runner.perform(writeRequest, updates)
    }

    /// Runs `updates` in a transaction.
    ///
    /// ```swift
    /// try dbQueue.inTransaction { db in
    ///     try db.execute(sql: "DELETE FROM player")
    ///     return .rollback
    /// }
    /// ```
    ///
    /// - parameter kind: nil for IMMEDIATE, or DEFERRED if nothing can be written.
    /// - parameter updates: returns how the transaction ends.
    /// - throws: the error of `updates`, after the rollback; `DatabaseError` if no connection is available, or if the
    ///   commit fails.
    public func inTransaction(
        _ kind: Database.TransactionKind? = nil, _ updates: (Database) throws -> Database.TransactionCompletion
    ) throws {
        try runner.perform(writeRequest) { db in
            try db.inTransaction(kind) { try updates(db) }
        }
    }

    public func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        runner.readHere(readRequest, value)
    }
}

extension DatabaseQueue {
    package var readers: AccessRunner { runner }
    package var writer: AccessRunner { runner }
    package var groups: [ConnectionGroup] { [runner.group] }
    package var ownedConnection: Database? { runner.group.ownedConnection }
    package var unsafeReadRequest: AccessRequest { writeRequest }
    package var barrierRequest: AccessRequest { writeRequest }
}

extension String {
    /// The text with characters that have a meaning in a URI escaped: <https://www.sqlite.org/uri.html>.
    fileprivate var percentEncodedForURI: String {
        utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                String(UnicodeScalar(byte))
            default:
                "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }
}
