import ClusterNode
import ClusterTestSupport

/// Three voters in processes, in a temporary folder. The end of this object kills them.
final class BenchNodes {
    private let folder: NodeFolder
    private let options: [String]
    private var nodes: [NodeProcess] = []
    let addresses: [NodeAddress]

    init(latency: Int) throws {
        folder = try NodeFolder()
        options = ["--latency", "\(latency)"]
        addresses = try NodeFolder.addresses(3)
        for address in addresses {
            nodes.append(
                try NodeProcess(
                    address, in: folder.path, join: nodes.isEmpty ? [] : [addresses[0]], options: options))
        }
        try NodeFolder.waitForVoters(3, addresses, SocketConnector())
    }

    /// Kills the leader by SIGKILL.
    ///
    /// - returns: its index.
    func killLeader() throws -> Int {
        let leader = try NodeClient.leader(of: addresses, SocketConnector()).address
        guard let index = addresses.firstIndex(of: leader) else {
            throw BenchFailure("The leader \(leader) is unknown.")
        }
        nodes[index].kill()
        return index
    }

    /// Starts a killed node, and waits until it follows a leader.
    func restart(_ index: Int) throws {
        nodes[index] = try NodeProcess(addresses[index], in: folder.path, options: options)
        let address = addresses[index]
        try NodeFolder.wait("the node at \(address) follows") {
            try NodeClient(address, SocketConnector()).leader() != nil ? () : nil
        }
    }

    func stop() { nodes.forEach { $0.kill() } }
}
