import ClusterNode
import ClusterTestSupport
import Foundation
import Quarry
import QuarryCluster
import Testing

/// Three voters in processes. The end of this object kills them.
///
/// `@unchecked`: the tests that share it run one after the other, and their tasks use databases alone.
final class ThreeNodes: @unchecked Sendable {
    private let folder: NodeFolder
    private let options: [String]
    private let connector: any Connector
    let addresses: [ClusterNode.NodeAddress]
    private var nodes: [NodeProcess] = []

    /// The nodes that the tests of a suite share.
    @TaskLocal static var current: ThreeNodes?

    /// - parameter latency: milliseconds. A large one makes a busy machine cause no elections.
    init(latency: Int = 100, options: [String] = [], connector: any Connector = SocketConnector()) throws {
        folder = try NodeFolder()
        self.options = options + ["--latency", "\(latency)"]
        self.connector = connector
        addresses = try NodeFolder.addresses(3)
        for address in addresses {
            nodes.append(
                try NodeProcess(
                    address, in: folder.path, join: nodes.isEmpty ? [] : [addresses[0]], options: self.options))
        }
        try NodeFolder.waitForVoters(3, addresses, connector)
    }

    /// Opens a database. Each test has one by another name.
    func open(
        _ name: String, by addresses: [ClusterNode.NodeAddress]? = nil,
        _ change: (inout ClusterConfiguration) -> Void = { _ in }
    ) throws -> DatabaseCluster {
        var configuration = ClusterConfiguration()
        // A busy machine must not change what a test sees.
        configuration.connectTimeout = .seconds(60)
        configuration.statementTimeout = .seconds(60)
        configuration.settlementTimeout = .seconds(60)
        change(&configuration)
        return try DatabaseCluster(
            nodes: (addresses ?? self.addresses).map(\.description), name: name, configuration: configuration)
    }

    /// The index of the leader.
    func leader() throws -> Int {
        let address = try NodeClient.leader(of: addresses, connector).address
        return try #require(addresses.firstIndex(of: address))
    }

    /// Kills a node by SIGKILL.
    func kill(_ index: Int) { nodes[index].kill() }

    /// Lets a node hang: it keeps its connections, and answers nothing.
    func pause(_ index: Int) { nodes[index].pause() }

    func resume(_ index: Int) { nodes[index].resume() }

    /// Ends a node by SIGTERM, so that it hands its leadership over.
    func terminate(_ index: Int) throws {
        let code = nodes[index].terminate()
        try #require(code == 0, "\(nodes[index].log)")
    }

    /// Starts a stopped node.
    func restart(_ index: Int) throws {
        nodes[index] = try NodeProcess(addresses[index], in: folder.path, options: options)
    }

    /// Waits until a node knows a leader.
    func waitUntilFollowing(_ index: Int) throws {
        let (address, connector) = (addresses[index], connector)
        try NodeFolder.wait("the node at \(address) follows") {
            try NodeClient(address, connector).leader() != nil ? () : nil
        }
    }

    /// The logs of nodes that have ended.
    var logsOfEnded: [String] { nodes.filter { !$0.isRunning }.map(\.log) }

    func stop() { nodes.forEach { $0.kill() } }
}

/// Starts three nodes for the tests of a suite, and checks that none of them has died.
struct ThreeNodesTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let nodes = try ThreeNodes()
        defer { nodes.stop() }
        try await ThreeNodes.$current.withValue(nodes) { try await function() }
        #expect(nodes.logsOfEnded == [], "a node has died")
    }
}

extension Trait where Self == ThreeNodesTrait {
    static var threeNodes: ThreeNodesTrait { ThreeNodesTrait() }
}

/// A number from the environment.
func environmentNumber(_ name: String, default value: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? value
}
