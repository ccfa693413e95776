import QuarryClusterWire

/// The known nodes of a cluster, in the order in which a search asks them.
///
/// A node that failed moves to the end, so that a dead node doesn't cost each search the time of an attempt to connect.
struct NodeList {
    /// The nodes that the program named. They are never forgotten: they are the way back if all members change.
    private let configured: [NodeAddress]

    /// The configured nodes and the members that a leader named.
    private(set) var order: [NodeAddress]

    /// The leader that was found last. It needn't be in `order`.
    private(set) var leader: NodeAddress?

    /// The leader that was asked for the members last, whether it answered or not.
    private var leaderAskedForMembers: NodeAddress?

    /// More members are ignored. A cluster has three to seven.
    private static let maximumMemberCount = 100

    init(configured: [NodeAddress]) {
        self.configured = configured.withoutDuplicates
        order = self.configured
    }

    /// The nodes to ask, the last leader first.
    var candidates: [NodeAddress] { (leader.map { [$0] } ?? []) + order.filter { $0 != leader } }

    /// Records a failure: the node is asked after the others, and isn't the leader.
    mutating func nodeFailed(_ address: NodeAddress) {
        if leader == address { leader = nil }
        guard let index = order.firstIndex(of: address) else { return }
        order.append(order.remove(at: index))
    }

    /// Records a leader.
    mutating func leaderFound(_ address: NodeAddress) { leader = address }

    /// Whether a leader should be asked for the members: each once, until another one is asked. The answer is for one
    /// caller, who does so.
    mutating func mustAskForMembers(_ address: NodeAddress) -> Bool {
        defer { leaderAskedForMembers = address }
        return leaderAskedForMembers != address
    }

    /// Records all members of the cluster, in place of those of an earlier answer. Members without a valid address are
    /// ignored.
    mutating func learn(_ members: [ClusterMember]) {
        // Voters first: one of them is the leader.
        let sorted = members.prefix(NodeList.maximumMemberCount).sorted { $0.role.rawValue < $1.role.rawValue }
        let learned = sorted.compactMap { try? NodeAddress($0.address) }
        let known = Set(configured).union(learned)
        order = (order.filter(known.contains) + learned).withoutDuplicates
    }
}

extension [NodeAddress] {
    /// The addresses in their order, each once.
    fileprivate var withoutDuplicates: [NodeAddress] {
        var seen: Set<NodeAddress> = []
        return filter { seen.insert($0).inserted }
    }
}
