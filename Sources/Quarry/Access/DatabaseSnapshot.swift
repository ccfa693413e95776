import QuarryCore

/// One connection that goes on seeing one state of the database, whatever is written. Its reads run one after the
/// other.
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

    let core: SnapshotCore

    init(pool: DatabasePool, connection: ConnectionGroup.Connection, workers: WorkerThreads) {
        var configuration = pool.configuration
        configuration.readonly = true
        configuration.maximumReaderCount = 1
        self.configuration = configuration
        path = pool.path
        core = SnapshotCore(
            "a snapshot of \(configuration.label ?? path)", configuration: configuration, connections: [connection],
            workers: workers)
    }
}

/// Several connections that go on seeing one state of the database, whatever is written. They read at the same time.
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

    let core: SnapshotCore

    init(pool: DatabasePool, connections: [ConnectionGroup.Connection], workers: WorkerThreads) {
        var configuration = pool.configuration
        configuration.readonly = true
        self.configuration = configuration
        path = pool.path
        core = SnapshotCore(
            "a connection of a snapshot of \(configuration.label ?? path)", configuration: configuration,
            connections: connections, workers: workers)
    }
}

/// A snapshot that stands on a `SnapshotCore`.
protocol PinnedReader: DatabaseSnapshotReader, BackupSource {
    var core: SnapshotCore { get }
}

extension PinnedReader {
    public func close() throws { try core.runner.group.close() }

    public func closeAsync() async throws { try await ConnectionGroup.close([core.runner.group], core.workers) }

    public func interrupt() { core.runner.group.interrupt() }

    public func read<T>(_ value: (Database) throws -> T) throws -> T { try core.read(value) }

    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await core.asyncRead(value)
    }

    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        core.enqueueRead(value)
    }

    public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T { try core.read(value) }

    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await core.asyncRead(value)
    }

    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        core.enqueueRead(value)
    }

    public func reentrantRead<T>(_ value: (Database) throws -> T) throws -> T { try core.reentrantRead(value) }

    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T { try core.reentrantRead(value) }
}
