import QuarryCore

/// One connection that always sees the same state of the database, whatever is written. Its reads run one after
/// another.
///
/// ```swift
/// let snapshot = try dbPool.makeSnapshot()
/// try dbPool.write { db in try db.execute(sql: "DELETE FROM player") }
/// let count = try snapshot.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")! } // as before
/// ```
///
/// See `DatabasePool.makeSnapshot()`.
public final class DatabaseSnapshot: PinnedReader {
    /// The configuration of the pool, read-only.
    public let configuration: Configuration

    /// The path of the file.
    public let path: String

    let readers: AccessRunner
    let core: DatabaseCore
    let workers: WorkerThreads
    let readRequest: AccessRequest

    init(pool: DatabasePool, connection: ConnectionGroup.Connection, workers: WorkerThreads) {
        var configuration = pool.configuration
        configuration.readonly = true
        configuration.maximumReaderCount = 1
        self.configuration = configuration
        path = pool.path
        core = pool.core
        self.workers = workers
        readers = AccessRunner(
            "a snapshot of \(configuration.label ?? path)", pinned: [connection], configuration, workers)
        readRequest = configuration.snapshotReadRequest
    }

    deinit { workers.shutDown() }
}

/// Several connections that always see the same state of the database, whatever is written. They read at the same time.
///
/// ```swift
/// let snapshot = try dbPool.makeSnapshotPool()
/// async let players = snapshot.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")! }
/// async let teams = snapshot.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM team")! }
/// print(try await players, try await teams) // of one state
/// ```
///
/// See `DatabasePool.makeSnapshotPool()`.
public final class DatabaseSnapshotPool: PinnedReader {
    /// The configuration of the pool, read-only.
    public let configuration: Configuration

    /// The path of the file.
    public let path: String

    let readers: AccessRunner
    let core: DatabaseCore
    let workers: WorkerThreads
    let readRequest: AccessRequest

    init(pool: DatabasePool, connections: [ConnectionGroup.Connection], workers: WorkerThreads) {
        var configuration = pool.configuration
        configuration.readonly = true
        self.configuration = configuration
        path = pool.path
        core = pool.core
        self.workers = workers
        readers = AccessRunner(
            "a connection of a snapshot of \(configuration.label ?? path)", pinned: connections, configuration, workers)
        readRequest = configuration.snapshotReadRequest
    }

    deinit { workers.shutDown() }
}

/// A reader whose connections keep their transactions open.
protocol PinnedReader: GroupReader, DatabaseSnapshotReader {}

extension PinnedReader {
    var groups: [ConnectionGroup] { [readers.group] }
    var ownedConnection: Database? { readers.group.ownedConnection }
    var unsafeReadRequest: AccessRequest { readRequest }

    public func reentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        try readers.performReentrant(readRequest, value)
    }
}

extension AccessRunner {
    /// Runs the reads of a snapshot.
    ///
    /// - parameter connections: connections whose transactions are open.
    fileprivate convenience init(
        _ name: String, pinned connections: [ConnectionGroup.Connection], _ configuration: Configuration,
        _ workers: WorkerThreads
    ) {
        let group = ConnectionGroup(
            name, capacity: connections.count, limits: configuration.groupLimits, connections: connections,
            open: { throw DatabaseError.snapshotIsLost() })
        self.init(group, workers: workers)
    }
}

extension Configuration {
    fileprivate var snapshotReadRequest: AccessRequest {
        AccessRequest(.snapshotRead, asyncExecution.readPlacement(inMemory: false))
    }
}

extension DatabaseError {
    static func snapshotIsLost() -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_ABORT, message: "Snapshot is lost.")
    }
}
