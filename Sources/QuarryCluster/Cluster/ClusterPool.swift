import Quarry
import QuarryCore

/// The database of a cluster, as the accesses of this process see it: one connection that writes, and several that
/// read.
///
/// The connections are sessions at the leader: see `ShadowRoute`. All accesses wait for an answer from the network, so
/// asynchronous ones run on the library's threads.
final class ClusterPool: GroupWriter {
    let configuration: Configuration

    /// The name of the database, and the nodes.
    let path: String

    let writer: AccessRunner
    let readers: AccessRunner
    let core: DatabaseCore
    let workers: WorkerThreads
    let readRequest: AccessRequest
    let writeRequest: AccessRequest
    let transactionRequest: AccessRequest

    /// Makes the other end of a connection. It doesn't wait for the network.
    typealias Opener = @Sendable (_ isReader: Bool) throws -> ClusterSession

    /// Opens the connection that writes. Its first access finds the other end.
    convenience init(path: String, configuration: Configuration, open: @escaping Opener) throws {
        try configuration.check()
        try self.init(
            path: path, configuration, WorkerThreads(connectionCount: configuration.maximumReaderCount + 1),
            followsTask: false, open)
    }

    /// As the initializer; opening holds none of Swift's threads.
    static func open(
        path: String, configuration: Configuration, open: @escaping Opener
    ) async throws -> ClusterPool {
        try configuration.check()
        let workers = WorkerThreads(connectionCount: configuration.maximumReaderCount + 1)
        return try await workers.opening {
            try ClusterPool(path: path, configuration, workers, followsTask: true, open)
        }
    }

    private init(
        path: String, _ configuration: Configuration, _ workers: WorkerThreads, followsTask: Bool,
        _ open: @escaping Opener
    ) throws {
        let core = DatabaseCore(isShared: true, configuration.monotonicClock)
        for prepare in configuration.preparations { core.setups.add(.atBeginning(prepare)) }
        let tracers = TracerList.configured(configuration)
        let connect: @Sendable (Bool, Bool) throws -> Database = { isReader, followsTask in
            // The shadow of a reader changes with the schema, so SQLite may write to it.
            var options = configuration.connectionOptions(readonly: false, inMemory: true)
            options.pragmas = []
            if isReader { options.allowsUnsafeTransactions = false }
            return try configuration.open(
                path: path, readonly: configuration.readonly || isReader, options: options, core: core,
                role: isReader ? .reader : .writer, configuredTracers: tracers, route: ShadowRoute(try open(isReader)),
                followsTask: followsTask)
        }
        self.configuration = configuration
        self.path = path
        self.core = core
        self.workers = workers
        let name = configuration.label ?? path
        let source = DatabaseTraceEvent.Source(label: configuration.label, path: path)
        readers = AccessRunner(
            ConnectionGroup(
                "a reader of \(name)", capacity: configuration.maximumReaderCount, limits: configuration.groupLimits,
                idleClock: configuration.persistentReadOnlyConnections ? nil : .readers,
                open: { try connect(true, false) }),
            workers: workers, core, source, .reader, configuredTracers: tracers)
        let connection = try connect(configuration.readonly, followsTask)
        writer = AccessRunner(
            ConnectionGroup(
                "the writer of \(name)", capacity: 1, limits: configuration.groupLimits,
                connections: [.init(database: connection)], barredGroup: readers.group,
                open: { throw DatabaseError.connectionIsClosed() }),
            workers: workers, core, source, .writer, configuredTracers: tracers,
            sharesCommits: configuration.sharesCommits(inMemory: false))
        readRequest = AccessRequest(.read, .offloaded)
        writeRequest = AccessRequest(.bare, .offloaded)
        transactionRequest = AccessRequest(
            .write, .offloaded, sharesCommit: configuration.sharesCommits(inMemory: false))
        LiveDatabases.add(writer)
    }

    deinit {
        LiveDatabases.remove(writer)
        workers.shutDown()
        readers.group.retireAll()
    }

    func write<T>(_ updates: (Database) throws -> T) throws -> T {
        try writer.perform(transactionRequest, updates)
    }

    func write<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        try await writer.perform(transactionRequest, updates)
    }

    func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T {
        try writer.perform(writeRequest, updates)
    }

    func writeWithoutTransaction<T: Sendable>(
        _ updates: @Sendable (Database) throws -> T
    ) async throws -> T {
        try await writer.perform(writeRequest, updates)
    }

    /// The number of running observations of values.
    var observationCount: Int { core.observationCount }

    /// Reads with the connection that writes, before it returns.
    func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        writer.readHere(readRequest, value)
    }
}

extension ClusterPool {
    var isLocal: Bool { false }
    var groups: [ConnectionGroup] { [writer.group, readers.group] }
    var ownedConnection: Database? { readers.group.ownedConnection ?? writer.group.ownedConnection }
    var unsafeReadRequest: AccessRequest { writeRequest }
    var barrierRequest: AccessRequest { AccessRequest(barrier: readers.group) }
}
