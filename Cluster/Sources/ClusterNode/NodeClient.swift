internal import Glibc
public import QuarryClusterWire

/// A blocking connection to a node, for its administration.
public final class NodeClient {
    /// The node.
    public let address: NodeAddress
    private let descriptor: Int32
    private var decoder = FrameDecoder(maximumBodySize: .max)

    /// Connects. Each wait ends after `seconds`.
    public init(_ address: NodeAddress, _ connector: any Connector, seconds: Int = 5) throws {
        self.address = address
        descriptor = try connector.connect(to: address, milliseconds: seconds * 1_000)
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
        var bytes: [UInt8] = []
        Handshake.encode(into: &bytes)
        try send(bytes)
    }

    deinit { close(descriptor) }

    /// Sends a request, and returns its response; a failure is thrown.
    public func call(_ request: Request) throws -> Response {
        var bytes: [UInt8] = []
        try request.encode(into: &bytes)
        try send(bytes)
        let response = try receive()
        if case .failure(let code, let message) = response {
            throw NodeError("\(address) answers \(code), \"\(message)\".")
        }
        return response
    }

    /// The leader that this node knows.
    public func leader() throws -> (id: UInt64, address: NodeAddress)? {
        guard case .server(let id, let address) = try call(.leader) else { throw unexpected("leader") }
        return address.isEmpty ? nil : (id, try NodeAddress(address))
    }

    /// The members that this node knows.
    public func members() throws -> [ClusterMember] {
        guard case .servers(let members) = try call(.cluster) else { throw unexpected("members") }
        return members
    }

    /// The files of a database.
    public func dump(_ name: String) throws -> [DumpedFile] {
        guard case .files(let files) = try call(.dump(name: name)) else { throw unexpected("files") }
        return files
    }

    /// A connection to the leader, by way of any of some nodes. It asks again until `seconds` have passed.
    public static func leader(
        of nodes: [NodeAddress], _ connector: any Connector, seconds: Int = 20
    ) throws -> NodeClient {
        let end = now() + Double(seconds)
        var last = NodeError("No node is named.")
        repeat {
            for node in nodes {
                do {
                    let client = try NodeClient(node, connector, seconds: 2)
                    if let leader = try client.leader() {
                        let connection = try NodeClient(leader.address, connector)
                        // A dead leader's followers name it for a while; the leader names itself.
                        if try connection.leader()?.address == leader.address { return connection }
                    }
                    last = NodeError("\(node) knows no leader.")
                } catch let error as NodeError { last = error }
            }
            poll(nil, 0, 100)
        } while now() < end
        throw NodeError("No leader is found within \(seconds) s: \(last)")
    }

    /// Seconds of a clock that only rises.
    package static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private func unexpected(_ what: String) -> NodeError { NodeError("\(address) doesn't answer with its \(what).") }

    private func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Sockets.failure("send to \(address)") }
            rest = rest.dropFirst(count)
        }
    }

    private func receive() throws -> Response {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let frame = try decoder.next() { return try Response(decoding: frame) }
            let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
            if count == 0 { throw NodeError("\(address) closed the connection.") }
            guard count > 0 else { throw Sockets.failure("read from \(address)") }
            buffer.withUnsafeBytes { decoder.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }
}

@available(*, unavailable) extension NodeClient: Sendable {}
