package import ClusterNode
import Foundation
import Synchronization

/// A network of nodes, each in a network namespace of its own: <https://man7.org/linux/man-pages/man8/ip-netns.8.html>.
///
/// ```
/// client ── near switch ──trunk── far switch
///            │   │   │
///            0   1   2
/// ```
///
/// A cut takes the trunk down, and moves nodes to the far switch, so that packets between the two sides vanish. The
/// client is this process. The end of this object removes the network.
package final class NodeNetwork {
    package let addresses: [NodeAddress]
    private let names: Names

    /// The names of interfaces and namespaces, unique in the system. An interface's name has at most 15 bytes.
    private struct Names {
        private static let counter = Mutex(0)
        let prefix: String

        init() {
            let number = Names.counter.withLock { number in
                number += 1
                return number
            }
            prefix = "q\(getpid())\(Character(UnicodeScalar(UInt8(97 + number % 26))))"
        }

        var near: String { prefix + "near" }
        var far: String { prefix + "far" }
        var trunk: String { prefix + "tn" }
        var farTrunk: String { prefix + "tf" }
        func port(_ node: Int) -> String { "\(prefix)p\(node)" }
        func namespace(_ node: Int) -> String { "\(prefix)\(node)" }
    }

    /// The reason for which this process can't make such networks; nil if it can.
    package static let obstacle: String? = {
        do {
            _ = try NodeNetwork(1)
            return nil
        } catch {
            return "\(error)"
        }
    }()

    package init(_ count: Int) throws {
        names = Names()
        let subnet = try NodeNetwork.freeSubnet()
        addresses = try (0..<count).map { try NodeAddress("\(subnet).\(10 + $0):\(9_000 + $0)") }
        do {
            for bridge in [names.near, names.far] { try Command.run("ip", "link", "add", bridge, "type", "bridge") }
            try Command.run("ip", "link", "add", names.trunk, "type", "veth", "peer", "name", names.farTrunk)
            try Command.run("ip", "link", "set", names.trunk, "master", names.near)
            try Command.run("ip", "link", "set", names.farTrunk, "master", names.far)
            try Command.run("ip", "address", "add", "\(subnet).1/24", "dev", names.near)
            for device in [names.near, names.far, names.trunk, names.farTrunk] { try set(device, "up") }
            for node in 0..<count {
                let (namespace, port) = (names.namespace(node), names.port(node))
                try Command.run("ip", "netns", "add", namespace)
                try Command.run("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", namespace)
                try Command.run("ip", "link", "set", port, "master", names.near, "up")
                try Command.run(
                    "ip", "-n", namespace, "address", "add", "\(addresses[node].host)/24", "dev", "eth0")
                for device in ["eth0", "lo"] { try Command.run("ip", "-n", namespace, "link", "set", device, "up") }
            }
        } catch {
            remove()
            throw error
        }
    }

    /// The first three numbers of a network for measurements that no interface has: RFC 2544 reserves 198.18.0.0/15.
    private static func freeSubnet() throws -> String {
        let used = try Command.run("ip", "-oneline", "-4", "address")
        for offset in 0..<512 {
            let number = (Int(getpid()) + offset) % 512
            let subnet = "198.\(18 + number / 256).\(number % 256)"
            if !used.contains(" \(subnet).") { return subnet }
        }
        throw NodeProcess.Failure(description: "all networks of 198.18.0.0/15 are in use")
    }

    /// The beginning of a command that runs in a node's namespace.
    package func launcher(_ node: Int) -> [String] {
        [Command.searchPath, "ip", "netns", "exec", names.namespace(node)]
    }

    /// Cuts some nodes off from the others and from the client.
    package func cutOff(_ nodes: [Int]) throws {
        try set(names.trunk, "down")
        for node in addresses.indices {
            try Command.run(
                "ip", "link", "set", names.port(node), "master", nodes.contains(node) ? names.far : names.near)
        }
    }

    /// Joins the two sides again.
    package func heal() throws { try set(names.trunk, "up") }

    private func set(_ device: String, _ state: String) throws {
        try Command.run("ip", "link", "set", device, state)
    }

    /// Removes what exists. The end of a pair of interfaces, or of a namespace, ends the other interface.
    private func remove() {
        for device in [names.near, names.far, names.trunk] { _ = try? Command.run("ip", "link", "delete", device) }
        for node in addresses.indices {
            _ = try? Command.run("ip", "link", "delete", names.port(node))
            _ = try? Command.run("ip", "netns", "delete", names.namespace(node))
        }
    }

    deinit { remove() }
}

@available(*, unavailable) extension NodeNetwork: Sendable {}
