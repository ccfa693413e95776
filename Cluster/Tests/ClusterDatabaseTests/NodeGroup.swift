import ClusterNode
import ClusterTestSupport
import Foundation
import Quarry
import QuarryCluster
import Testing

/// Voters in processes. The end of this object kills them.
///
/// `@unchecked`: the tests that share it run one after the other, and their tasks use databases alone.
final class NodeGroup: @unchecked Sendable {
    private let folder: NodeFolder
    private let options: [String]
    private let connector: any Connector
    private let launcher: (Int) -> [String]
    let addresses: [ClusterNode.NodeAddress]
    private var nodes: [NodeProcess] = []

    /// The nodes that the tests of a suite share.
    @TaskLocal static var current: NodeGroup?

    /// Starts the nodes, and waits until all of them vote.
    ///
    /// - parameter latency: milliseconds. A large one makes a busy machine cause no elections.
    /// - parameter addresses: of each node; nil for free ports of this machine.
    /// - parameter launcher: the beginning of the command that starts a node: a program that runs another one.
    /// - parameter prepare: is called with each node's number and folder before the node starts for the first time.
    init(
        _ count: Int = 3, latency: Int = 100, options: [String] = [], connector: any Connector = SocketConnector(),
        addresses: [ClusterNode.NodeAddress]? = nil, launcher: @escaping (Int) -> [String] = { _ in [] },
        prepare: (Int, String) throws -> Void = { _, _ in }
    ) throws {
        folder = try NodeFolder()
        self.options = options + ["--latency", "\(latency)", "--voters", "\(count)"]
        self.connector = connector
        self.launcher = launcher
        self.addresses = try addresses ?? NodeFolder.addresses(count)
        for (index, address) in self.addresses.enumerated() {
            try prepare(index, NodeProcess.directory(of: address, in: folder.path))
            nodes.append(
                try NodeProcess(
                    address, in: folder.path, join: nodes.isEmpty ? [] : [self.addresses[0]], options: self.options,
                    launcher: launcher(index)))
        }
        try NodeFolder.waitForVoters(count, self.addresses, connector)
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
        nodes[index] = try NodeProcess(addresses[index], in: folder.path, options: options, launcher: launcher(index))
    }

    /// Waits until a node's process ends by itself, and returns its exit code, or the number of its signal.
    func waitUntilEnded(_ index: Int) throws -> Int32 { try nodes[index].waitUntilEnded() }

    /// Waits until a node knows a leader.
    func waitUntilFollowing(_ index: Int) throws {
        let (address, connector) = (addresses[index], connector)
        try NodeFolder.wait("the node at \(address) follows") {
            try NodeClient(address, connector).leader() != nil ? () : nil
        }
    }

    /// Waits until a node knows no leader.
    func waitUntilLeaderless(_ index: Int) throws {
        let (address, connector) = (addresses[index], connector)
        try NodeFolder.wait("the node at \(address) knows no leader") {
            try NodeClient(address, connector).leader() == nil ? () : nil
        }
    }

    /// The logs of nodes that have ended.
    var logsOfEnded: [String] { nodes.filter { !$0.isRunning }.map(\.log) }

    func stop() { nodes.forEach { $0.kill() } }
}

/// Starts three nodes for the tests of a suite, and checks that none of them has died.
struct NodeGroupTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let nodes = try NodeGroup()
        defer { nodes.stop() }
        try await NodeGroup.$current.withValue(nodes) { try await function() }
        #expect(nodes.logsOfEnded == [], "a node has died")
    }
}

extension Trait where Self == NodeGroupTrait {
    static var threeNodes: NodeGroupTrait { NodeGroupTrait() }
}

/// A number from the environment.
func environmentNumber(_ name: String, default value: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? value
}
