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
    let connections: PinnedConnections

    /// - parameter kind: the kind of reader that reports name.
    init(
        of database: any GroupWriter, connection: ConnectionGroup.Connection, workers: WorkerThreads,
        kind: WALReader.Kind = .snapshot, label: String
    ) {
        connections = PinnedConnections("a snapshot of", kind, label, of: database, [connection], workers)
    }
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
    let connections: PinnedConnections

    init(pool: DatabasePool, connections: [ConnectionGroup.Connection], workers: WorkerThreads, label: String) {
        self.connections = PinnedConnections(
            "a connection of a snapshot of", .snapshot, label, of: pool, connections, workers)
    }
}

/// A reader whose connections keep their transactions open. A type that conforms has the connections alone.
protocol PinnedReader: GroupReader, DatabaseSnapshotReader {
    var connections: PinnedConnections { get }
}

extension PinnedReader {
    /// The configuration of the pool, read-only.
    public var configuration: Configuration { connections.configuration }

    /// The path of the file.
    public var path: String { connections.path }

    package var readers: AccessRunner { connections.runner }
    package var core: DatabaseCore { connections.core }
    package var workers: WorkerThreads { connections.runner.workers }
    package var groups: [ConnectionGroup] { [readers.group] }
    package var ownedConnection: Database? { readers.group.ownedConnection }
    package var readRequest: AccessRequest { connections.request }
    package var unsafeReadRequest: AccessRequest { connections.request }

    public func reentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        try readers.performReentrant(readRequest, value)
    }
}

/// The connections of a snapshot, whose transactions are open.
final class PinnedConnections: Sendable {
    /// The configuration of the pool, read-only.
    let configuration: Configuration
    let path: String
    /// The core of the queue or pool.
    let core: DatabaseCore
    /// Runs the reads.
    let runner: AccessRunner
    let request: AccessRequest
    /// The entry in the core's list.
    private let id: Int

    /// - parameter name: names a connection in messages: `a snapshot of`.
    /// - parameter label: names the reader in reports.
    /// - parameter connections: connections whose transactions are open.
    init(
        _ name: String, _ kind: WALReader.Kind, _ label: String, of database: any GroupWriter,
        _ connections: [ConnectionGroup.Connection], _ workers: WorkerThreads
    ) {
        var configuration = database.configuration
        configuration.readonly = true
        configuration.maximumReaderCount = connections.count
        self.configuration = configuration
        path = database.path
        core = database.core
        let loss = SnapshotLoss()
        let group = ConnectionGroup(
            "\(name) \(configuration.label ?? path)", capacity: connections.count, limits: configuration.groupLimits,
            connections: connections, open: { throw loss.error ?? .snapshotIsLost() })
        runner = AccessRunner(
            group, workers: workers, core, DatabaseTraceEvent.Source(label: configuration.label, path: path), .snapshot,
            configuredTracers: database.writer.configuredTracers)
        id = core.pinnedReaders.add(kind, label: label, loss, group)
        request = AccessRequest(.snapshotRead, configuration.asyncExecution.readPlacement(inMemory: false))
    }

    deinit {
        // Closed as long as windows of the database know them.
        _ = runner.group.closeIfUnused()
        core.pinnedReaders.remove(id)
        runner.workers.shutDown()
        core.logKeeper?.readerDidEnd()
    }

    /// The connections see the newest state.
    func didAdvance() { core.pinnedReaders.didAdvance(id) }
}

extension DatabaseError {
    static func snapshotIsLost() -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_ABORT, message: "Snapshot is lost.")
    }
}
