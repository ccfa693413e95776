public import Quarry
import QuarryClusterWire
package import QuarryCore

/// A database on a dqlite cluster: the nodes have copies of it, and agree on each write.
///
/// ```swift
/// let cluster = try await DatabaseCluster.open(
///     nodes: ["10.0.0.1:9000", "10.0.0.2:9000", "10.0.0.3:9000"], name: "app")
/// try await cluster.write { db in
///     try Player(id: nil, name: "Arthur", score: 10).insert(db)
/// }
/// let best = try await cluster.read { db in
///     try Player.order(\.score.desc).limit(10).fetchAll(db)
/// }
/// ```
///
/// A cluster is for availability: the death of a machine costs less than a second. It is slower than one machine, and
/// its nodes keep the whole database in memory. Records, requests, associations and migrations work as on a
/// `DatabasePool`; what needs the database in this process throws an error that says so. See <doc:Clusters>.
///
/// A write is acknowledged once most nodes have it on their disks.
public final class DatabaseCluster: ForwardingWriter {
    package let writer: any DatabaseWriter
    let pool: ClusterPool
    let options: ClusterConfiguration
    let changes: ChangePoller?

    /// The nodes that were given.
    public let nodes: [NodeAddress]

    /// The name of the database.
    public let name: String

    /// The node that was found to be the leader last; nil before the first search.
    public var leader: NodeAddress? { finder.lastLeader }

    private let finder: LeaderFinder

    /// Opens a database of a cluster. A missing database is created by its first write.
    ///
    /// ```swift
    /// let cluster = try DatabaseCluster(nodes: ["10.0.0.1:9000", "10.0.0.2:9000"], name: "app")
    /// ```
    ///
    /// - parameter nodes: the addresses of some nodes, `host:port`. One answer suffices, because each node knows the
    ///   others.
    /// - parameter name: the name of the database.
    /// - throws: `DatabaseError`: 10250 if no leader is found within `connectTimeout`; `SQLITE_MISUSE` for an address
    ///   that is none; `SQLITE_MISMATCH` for a schema with columns that a node can't carry.
    public convenience init(
        nodes: [String], name: String, configuration: ClusterConfiguration = ClusterConfiguration()
    ) throws {
        let parts = try ClusterParts(nodes: nodes, name: name, configuration)
        let pool = try ClusterPool(path: parts.path, configuration: configuration.database, open: parts.opener)
        try pool.write { db in try db.prepareCluster(configuration) }
        self.init(pool, parts)
    }

    /// Opens a database of a cluster as the initializer does. Waiting for the network holds none of Swift's threads.
    ///
    /// ```swift
    /// let cluster = try await DatabaseCluster.open(nodes: ["10.0.0.1:9000", "10.0.0.2:9000"], name: "app")
    /// ```
    ///
    /// - throws: the errors of the initializer; `CancellationError`.
    public static func open(
        nodes: [String], name: String, configuration: ClusterConfiguration = ClusterConfiguration()
    ) async throws -> DatabaseCluster {
        let parts = try ClusterParts(nodes: nodes, name: name, configuration)
        let pool = try await ClusterPool.open(
            path: parts.path, configuration: configuration.database, open: parts.opener)
        try await pool.write { db in try db.prepareCluster(configuration) }
        return DatabaseCluster(pool, parts)
    }

    private init(_ pool: ClusterPool, _ parts: ClusterParts) {
        self.pool = pool
        writer = pool
        options = parts.configuration
        nodes = parts.nodes
        name = parts.name
        finder = parts.finder
        changes = ChangePoller(pool, interval: parts.configuration.changePollingInterval)
    }

    // MARK: - Observers

    /// Nodes don't tell which rows change.
    @available(
        *, unavailable,
        message: "a TransactionObserver is told of rows, which isn't possible in a cluster: use ValueObservation"
    )
    public func add(
        transactionObserver: some TransactionObserver, extent: Database.TransactionObservationExtent = .observerLifetime
    ) {}

    // MARK: - Accesses that run again

    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        guard options.retriesReads else { return try pool.read(value) }
        return try repeating { try pool.read(value) }
    }

    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        guard options.retriesReads else { return try await pool.read(value) }
        return try await repeating { try await pool.read(value) }
    }

    public func write<T>(_ updates: (Database) throws -> T) throws -> T {
        guard options.retriesWrites else { return try pool.write(updates) }
        return try repeating { try pool.write(updates) }
    }

    public func write<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        guard options.retriesWrites else { return try await pool.write(updates) }
        return try await repeating { try await pool.write(updates) }
    }

    private var clock: MonotonicClock { options.database.monotonicClock }

    private func repeating<T>(_ access: () throws -> T) throws -> T {
        let end = clock.now &+ options.connectTimeout.nanoseconds
        while true {
            do {
                return try access()
            } catch let error as DatabaseError where error.isRetryableInCluster {
                // The next access looks for the leader, and waits there.
                guard clock.now < end else { throw error }
            }
        }
    }

    private func repeating<T: Sendable>(_ access: () async throws -> T) async throws -> T {
        let end = clock.now &+ options.connectTimeout.nanoseconds
        while true {
            do {
                return try await access()
            } catch let error as DatabaseError where error.isRetryableInCluster {
                guard clock.now < end else { throw error }
                try Task.checkCancellation()
            }
        }
    }
}

/// The parts of a cluster's database, before its first connection.
private struct ClusterParts {
    let nodes: [NodeAddress]
    let name: String
    let configuration: ClusterConfiguration
    let finder: LeaderFinder
    let path: String
    let opener: ClusterPool.Opener

    init(nodes: [String], name: String, _ configuration: ClusterConfiguration) throws {
        guard !nodes.isEmpty else {
            throw DatabaseError.misuse("a cluster has at least one node")
        }
        guard !name.isEmpty, !name.utf8.contains(0) else {
            throw DatabaseError.misuse(
                "the name of a cluster's database is a text without NULs: \(String(reflecting: name))")
        }
        let addresses: [NodeAddress]
        do {
            addresses = try nodes.map { try NodeAddress($0) }
        } catch {
            throw DatabaseError.misuse("\(error)")
        }
        for (duration, property) in [
            (configuration.connectTimeout, "connectTimeout"), (configuration.statementTimeout, "statementTimeout"),
            (configuration.settlementTimeout, "settlementTimeout"),
            (configuration.changePollingInterval, "changePollingInterval"),
        ] where duration <= .zero {
            throw DatabaseError.misuse("ClusterConfiguration.\(property) must be more than zero")
        }
        let finder = configuration.makeFinder(addresses)
        let settings = SessionSettings(
            database: name, clientID: UInt64.random(in: 1 ... .max),
            connectTimeout: configuration.connectTimeout.nanoseconds,
            statementTimeout: configuration.statementTimeout.nanoseconds,
            busyTimeout: configuration.database.busyTimeoutNanoseconds,
            settlementTimeout: configuration.settlementTimeout.nanoseconds,
            keepsCommitJournal: configuration.keepsCommitJournal, wallClock: configuration.wallClock,
            clock: configuration.database.monotonicClock, onScan: configuration.onScan)
        self.nodes = addresses
        self.name = name
        self.configuration = configuration
        self.finder = finder
        path = "\(name) at \(addresses.map(\.description).joined(separator: ", "))"
        opener = { isReader in
            do {
                return try ClusterSession(finder, settings, isReader: isReader)
            } catch {
                throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "\(error)")
            }
        }
    }
}

extension ClusterConfiguration {
    fileprivate func makeFinder(_ addresses: [NodeAddress]) -> LeaderFinder {
        guard let connect else { return LeaderFinder(addresses) }
        return LeaderFinder(addresses) { (address, deadline, waker) throws(LinkError) in
            let now = waker.clock.now
            let milliseconds = deadline > now ? Int((deadline - now) / 1_000_000) : 0
            let descriptor: CInt
            do {
                descriptor = try connect(address, milliseconds)
            } catch {
                throw .unreachable(address, reason: "\(error)")
            }
            return try NodeLink(takingOver: descriptor, to: address, until: deadline, waker: waker)
        }
    }
}

extension Configuration {
    fileprivate var busyTimeoutNanoseconds: UInt64 {
        switch busyMode {
        case .immediateError: 0
        case .timeout(let seconds): UInt64(max(0, min(seconds, 1e6)) * 1e9)
        // A function that SQLite would ask: there is no lock of SQLite's on this machine.
        case .callback: 5_000_000_000
        }
    }
}

extension Database {
    /// Creates the commit journal. The access itself has found the cluster, and its schema.
    fileprivate func prepareCluster(_ configuration: ClusterConfiguration) throws {
        guard configuration.keepsCommitJournal, !configuration.database.readonly else { return }
        if try !tableExists("quarry_commit") { try execute(sql: CommitIdentifier.table) }
    }
}

extension DatabaseError {
    /// Whether nothing of the access was kept, so that it may run again: the leader was lost before COMMIT, or none was
    /// found.
    ///
    /// ```swift
    /// do {
    ///     try await cluster.write { db in try player.insert(db) }
    /// } catch let error as DatabaseError where error.isRetryableInCluster {
    ///     // once more, or 503
    /// }
    /// ```
    public var isRetryableInCluster: Bool {
        extendedResultCode == .SQLITE_ABORT_ROLLBACK || extendedResultCode == .notLeader
    }

    /// Whether a write may or may not have been committed. With the commit journal this happens only if no leader is
    /// found within `ClusterConfiguration.settlementTimeout`.
    ///
    /// ```swift
    /// catch let error as DatabaseError where error.isOutcomeUnknown {
    ///     logger.error("\(error)") // has the SQL that tells
    /// }
    /// ```
    public var isOutcomeUnknown: Bool { extendedResultCode == .leadershipLost }
}
