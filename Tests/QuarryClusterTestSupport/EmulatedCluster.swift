public import QuarryClusterWire

/// A cluster of nodes in this process, which speak dqlite's wire protocol on 127.0.0.1.
///
/// ```swift
/// let cluster = try EmulatedCluster()
/// // The leader dies when it has executed the transaction, before it answers.
/// cluster.faults.once(.killNode, at: .executed) { $0.sql == "COMMIT" }
/// … // a client of cluster.addresses
/// #expect(try cluster.query("SELECT count(*) FROM player") == [[.integer(1)]])
/// ```
///
/// A file represents the replicated state: all nodes have it at once, so a commit is never lost with a node. The
/// answers are those of dqlite 1.11.1. Known differences:
/// * An INTERRUPT ends the running query; dqlite 1.11.1 doesn't read it before the last page is sent. See
///   `init(nodeCount:interruptsRunningQueries:)`.
/// * A write that returns rows outside a transaction aborts the node at once; dqlite aborts at the next write.
/// * A session of a node that has lost the leadership never executes statements again, even if the node is elected
///   later.
/// * All names of databases open the one file.
public final class EmulatedCluster: Sendable {
    private let core: ClusterCore

    /// Starts the nodes. The first one leads.
    ///
    /// - parameter nodeCount: The number of nodes, all of which vote.
    /// - parameter interruptsRunningQueries: Whether an INTERRUPT ends the pages of the running query. If not, it is
    ///   answered when the query has ended.
    public init(nodeCount: Int = 3, interruptsRunningQueries: Bool = true) throws {
        core = try ClusterCore(nodeCount: nodeCount, interruptsRunningQueries: interruptsRunningQueries)
    }

    deinit { stop() }

    /// The addresses of the nodes, such as "127.0.0.1:40001", for the whole life of the cluster.
    public var addresses: [String] { core.addresses }

    /// The faults to come.
    public var faults: FaultScript { core.faults }

    /// The received requests.
    public var log: RequestLog { core.log }

    // MARK: Nodes

    /// The index of the leader; `nil` if there is none.
    public var leader: Int? { core.state.withLock { $0.leader } }

    /// The reasons for which nodes have aborted. Real nodes would abort their processes.
    public var aborts: [String] { core.state.withLock { $0.aborts } }

    /// Whether a node runs.
    public func isAlive(_ node: Int) -> Bool { core.state.withLock { $0.isAlive(node) } }

    /// Lets a living node lead. Transactions of the old leader are rolled back, and further statements of its sessions
    /// fail with 10250, "not leader".
    public func moveLeader(to node: Int) { core.depose { $0.elect(node) } }

    /// Lets a living node lead, after `killLeader(electing: nil)`.
    public func elect(_ node: Int) { moveLeader(to: node) }

    /// Kills the leader, and lets the next living node lead, if a majority lives.
    ///
    /// - returns: the index of the killed node; `nil` if there was no leader.
    @discardableResult
    public func killLeader() -> Int? { killLeader(.next) }

    /// Kills the leader, and lets a node lead, or none until `elect(_:)`.
    ///
    /// - returns: the index of the killed node; `nil` if there was no leader.
    @discardableResult
    public func killLeader(electing node: Int?) -> Int? { killLeader(node.map { .node($0) } ?? .nobody) }

    private func killLeader(_ successor: ClusterState.Successor) -> Int? {
        guard let leader else { return nil }
        core.kill(leader, electing: successor)
        return leader
    }

    /// Kills a node: its transactions are rolled back, its connections end, and new ones are refused. If it was the
    /// leader, the next living node leads, if a majority lives.
    public func kill(node: Int) { core.kill(node, electing: .next) }

    /// Starts a dead node again, at its address. If there is no leader and a majority lives, the first living node
    /// leads, unless `killLeader(electing: nil)` was the reason.
    public func restart(node: Int) throws { try core.restart(node) }

    /// Ends all connections, threads and nodes, and removes the file. Only `addresses`, `log` and `aborts` are of use
    /// afterwards.
    ///
    /// It waits for the closures of `faults` that run, unless one of them calls it.
    public func stop() { core.stop() }

    // MARK: The file

    /// Rows of the replicated state: committed transactions alone. Values have SQLite's types.
    ///
    /// - throws: an error with SQLite's message.
    public func query(_ sql: String) throws -> [[WireValue]] { try core.execute { try core.file.query(sql) } }

    /// Changes the replicated state.
    ///
    /// - throws: an error with SQLite's message, such as "database is locked" if a session writes.
    public func execute(_ sql: String) throws { try core.execute { try core.file.execute(sql) } }

    // MARK: Connections

    /// The number of connections to living nodes, including those that a node hasn't yet found to be closed.
    public var connectionCount: Int { core.state.withLock { $0.connectionCount } }

    /// Suspends the task until a number of connections exists: a client's end is noticed, and its transaction rolled
    /// back, at some time after the client has closed its socket.
    ///
    /// - returns: `false` after `seconds`.
    public func connectionCountBecomes(_ count: Int, within seconds: Int = 120) async -> Bool {
        await core.state.becomes(within: seconds) { $0.connectionCount == count }
    }
}
