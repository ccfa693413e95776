import QuarryClusterWire
import QuarryTestSupport
import Testing

@testable import QuarryCluster

/// Some scripted nodes that name a leader, and open databases.
final class FakeCluster: Sendable {
    private struct State {
        var addresses: [NodeAddress] = []
        /// The leader that each node names.
        var named: [Int: NodeAddress] = [:]
        var requests: [Int: [Request]] = [:]
        /// Responses in place of the usual ones.
        var answer: @Sendable (Int, Request) -> Response? = { _, _ in nil }
        var members: [ClusterMember] = []
    }

    /// The addresses of the nodes, by their index.
    let addresses: [NodeAddress]

    private let nodes: [ScriptedNode]
    private let state = Recorded(State())

    /// Starts nodes that know no leader.
    init(count: Int) throws {
        let state = state
        nodes = try (0..<count).map { index in
            try ScriptedNode { connection in
                while let request = try connection.request() {
                    let (answer, named, members) = state.update { state in
                        state.requests[index, default: []].append(request)
                        return (state.answer, state.named[index], state.members)
                    }
                    if let response = answer(index, request) {
                        try connection.answer(response)
                        continue
                    }
                    switch request {
                    case .leader:
                        try connection.answer(.server(id: named == nil ? 0 : 1, address: named?.description ?? ""))
                    case .client: try connection.answer(.welcome(heartbeatTimeout: 15_000))
                    case .open: try connection.answer(.database(id: UInt32(index) + 10))
                    case .cluster: try connection.answer(.servers(members))
                    default: try connection.answer(.failure(code: 1, message: "no such request"))
                    }
                }
            }
        }
        addresses = nodes.map(\.address)
    }

    /// All nodes name a node as the leader.
    func elect(_ leader: Int) { for index in addresses.indices { name(addresses[leader], at: index) } }

    /// A node names a leader; nil for none.
    func name(_ leader: NodeAddress?, at index: Int) { state.update { $0.named[index] = leader } }

    /// The nodes answer some requests otherwise.
    ///
    /// - parameter body: returns nil for the usual answer.
    func answer(_ body: @escaping @Sendable (_ index: Int, Request) -> Response?) { state.update { $0.answer = body } }

    /// The answer to CLUSTER.
    func setMembers(_ addresses: [NodeAddress]) {
        let members = addresses.enumerated().map {
            ClusterMember(id: UInt64($0.offset) + 1, address: $0.element.description, role: .voter)
        }
        state.update { $0.members = members }
    }

    /// The requests that a node has received since the last call.
    func takeRequests(_ index: Int) -> [Request] { state.update { $0.requests.removeValue(forKey: index) ?? [] } }

    /// Ends a node: it breaks its connections, and refuses others.
    func stop(_ index: Int) { nodes[index].stop() }

    func stop() {
        for node in nodes { node.stop() }
        // The closure may hold this cluster.
        answer { _, _ in nil }
    }
}

/// Makes the connections of a finder, and records their addresses.
final class Connections: Sendable {
    private let addresses = Recorded<[NodeAddress]>([])

    /// The addresses since the last call.
    func take() -> [NodeAddress] {
        addresses.update { addresses in
            defer { addresses = [] }
            return addresses
        }
    }

    /// A finder whose connections are recorded.
    func finder(_ nodes: [NodeAddress]) -> LeaderFinder {
        LeaderFinder(nodes) { [addresses] (address, deadline, waker) throws(LinkError) in
            addresses.update { $0.append(address) }
            return try NodeLink(to: address, until: deadline, waker: waker)
        }
    }
}

/// Opens the database "app", and returns the leader and the number of the database.
@discardableResult
func openLeader(
    _ finder: LeaderFinder, until deadline: @escaping @Sendable () -> UInt64 = farDeadline, waker: Waker? = nil
) async throws -> (leader: NodeAddress, database: UInt32) {
    try await onOwnThread {
        let (link, database) = try finder.openLeader(
            database: "app", clientID: 5, until: deadline(), waker: waker ?? Waker())
        #expect(!link.isDead)
        return (link.address, database)
    }
}

/// The error of opening the database.
func errorOfOpening(
    _ finder: LeaderFinder, until deadline: @escaping @Sendable () -> UInt64, waker: Waker? = nil
) async throws -> LinkError {
    try await #require(throws: LinkError.self) { try await openLeader(finder, until: deadline, waker: waker) }
}
