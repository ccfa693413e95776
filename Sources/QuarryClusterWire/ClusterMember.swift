/// A node in the list of a cluster.
public struct ClusterMember: Hashable, Sendable {
    /// The node's number, unique in its cluster.
    public let id: UInt64

    /// The address that clients and other nodes use.
    public let address: String

    /// Its part in elections and commits.
    public let role: NodeRole

    /// A member.
    public init(id: UInt64, address: String, role: NodeRole) {
        self.id = id
        self.address = address
        self.role = role
    }
}

/// The part of a node in elections and commits.
public enum NodeRole: UInt64, CaseIterable, Sendable {
    /// Has the data, and counts for elections and commits.
    case voter = 0

    /// Has the data.
    case standby = 1

    /// Has no data.
    case spare = 2
}
