internal import Glibc
public import Logging
public import QuarryClusterTLS
internal import QuarryClusterWire

/// A node with its folder, its listener and its membership.
///
/// A new node without others to join begins a cluster; with others, it becomes a member. The leader then gives roles.
public final class NodeService {
    /// The settings.
    public struct Configuration: Sendable {
        /// The folder of the node.
        public var directory: String

        /// The address for clients and other nodes.
        public var address: NodeAddress

        /// Members of a cluster. Used by a node's first start alone.
        public var join: [NodeAddress] = []

        /// dqlite's settings.
        public var node = DqliteNode.Settings()

        /// The wanted number of voters.
        public var voterCount = 3

        /// TLS, or `nil` for connections in the clear.
        public var certificates: Certificates?

        /// A configuration.
        public init(directory: String, address: NodeAddress) {
            self.directory = directory
            self.address = address
        }
    }

    /// Looks in vain, a second apart, after which a member counts as unreachable.
    private static let patience = 5

    private let configuration: Configuration
    private let logger: Logger
    private let directory: NodeDirectory
    private let connector: any Connector
    private let node: DqliteNode
    private var listener: TLSListener?
    private let id: UInt64
    private var failedLooks: [UInt64: Int] = [:]
    private var disk = DiskWatch()

    /// Starts a node, and makes it a member.
    public init(_ configuration: Configuration, logger: Logger) throws {
        self.configuration = configuration
        self.logger = logger
        directory = try NodeDirectory(configuration.directory)
        connector = configuration.certificates.map { TLSConnector($0) as any Connector } ?? SocketConnector()
        let address = configuration.address
        let known = try directory.identity()
        if let known, known.address != address {
            throw NodeError(
                "The folder \(configuration.directory) belongs to the node at \(known.address), not \(address): "
                    + "a member keeps its address.")
        }
        id = known?.id ?? (configuration.join.isEmpty ? 1 : DqliteNode.newID(for: address))
        let isEncrypted = configuration.certificates != nil
        node = try DqliteNode(
            id: id, address: address, directory: configuration.directory,
            bind: isEncrypted ? "@" : address.description, settings: configuration.node, connector: connector)
        try node.start()
        if let certificates = configuration.certificates {
            let socket = node.bindAddress
            listener = try TLSListener(host: address.host, port: address.port, certificates) {
                try Sockets.connect(abstract: socket)
            }
        }
        logger.info("node \(id) listens at \(address)\(isEncrypted ? " with TLS" : "")")
        // A cut between `add` and `setIdentity` leaves a spare that `remove` removes; the reverse order would leave a
        // node that believes to be a member.
        if known == nil, !configuration.join.isEmpty { try join() }
        if known == nil { try directory.setIdentity(id, address) }
    }

    private func join() throws {
        let leader = try NodeClient.leader(of: configuration.join, connector)
        let address = configuration.address.description
        guard try !leader.members().contains(where: { $0.address == address }) else {
            throw NodeError(
                "The cluster has a member at \(address) already: remove it first, since its folder was lost.")
        }
        _ = try leader.call(.add(id: id, address: address))
        logger.info("joined the cluster led by \(leader.address)")
    }

    /// Looks at the disk, and hands the leadership over if it is nearly full. Looks at the members, and gives roles if
    /// this node leads. To be called about once a second.
    ///
    /// - throws: `NodeError` once the disk was full and dqlite has given its log up, or may have: the process should
    ///   end, to be started again.
    public func look() throws {
        switch disk.look(at: configuration.directory) {
        case .none: break
        case .handOver:
            logger.warning("the disk of \(configuration.directory) is nearly full")
            do { try handOver() } catch { logger.warning("the leadership isn't handed over: \(error)") }
        case .endUnlessLeading:
            let leader = try? NodeClient(configuration.address, connector, seconds: 2).leader()
            if leader?.id != id { throw diskWasFull }
        case .end: throw diskWasFull
        }
        do {
            let client = try NodeClient(configuration.address, connector, seconds: 2)
            guard let leader = try client.leader(), leader.id == id else {
                failedLooks = [:]
                return
            }
            let members = try client.members()
            for member in members where member.id != id {
                failedLooks[member.id] = isReachable(member.address) ? 0 : failedLooks[member.id, default: 0] + 1
            }
            let unreachable = Set(failedLooks.filter { $0.value >= NodeService.patience }.keys)
            let plan = RolePlan(voterCount: configuration.voterCount)
            guard let next = plan.next(members, leader: id, unreachable: unreachable) else { return }
            // A promotion waits until the member has the data.
            let patient = try NodeClient(configuration.address, connector, seconds: 60)
            _ = try patient.call(.assign(id: next.id, role: next.role))
            logger.info("node \(next.id) is a \(next.role) now")
        } catch {
            logger.debug("no look at the members: \(error)")
        }
    }

    private var diskWasFull: NodeError {
        NodeError(
            "The disk of \(configuration.directory) was full, which may have ended the log. Start the node again.")
    }

    /// Hands the leadership over if this node leads, then stops it.
    public func stop() throws {
        do { try handOver() } catch { logger.warning("the leadership isn't handed over: \(error)") }
        listener?.close()
        try node.stop()
        logger.info("node \(id) has stopped")
    }

    private func handOver() throws {
        let client = try NodeClient(configuration.address, connector, seconds: 5)
        guard let leader = try client.leader(), leader.id == id else { return }
        let voters = try client.members().filter { $0.role == .voter && $0.id != id && isReachable($0.address) }
        var last: (any Error)?
        for voter in voters {
            do {
                _ = try client.call(.transfer(id: voter.id))
                logger.info("the leadership is handed over to node \(voter.id)")
                return
            } catch { last = error }
        }
        if let last { throw last }
    }

    private func isReachable(_ address: String) -> Bool {
        guard let address = try? NodeAddress(address),
            let client = try? NodeClient(address, connector, seconds: 1)
        else { return false }
        return (try? client.leader()) != nil
    }
}

@available(*, unavailable) extension NodeService: Sendable {}
