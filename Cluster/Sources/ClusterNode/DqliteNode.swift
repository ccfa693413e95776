internal import CDQLite
internal import Glibc

/// Opens connections to other nodes.
public protocol Connector: AnyObject, Sendable {
    /// A connected socket, which the caller closes. It blocks, for `milliseconds` at most.
    func connect(to address: NodeAddress, milliseconds: Int) throws -> Int32
}

/// A node of dqlite. Some data makes dqlite abort its process, so a server's process must not contain one.
///
/// One thread uses it.
public final class DqliteNode {
    /// The settings of a node.
    public struct Settings: Sendable {
        /// The average latency between two nodes, one way, in milliseconds.
        public var latency: UInt32 = 20

        /// The tag that `Request.describe` returns.
        public var failureDomain: UInt64 = 0

        /// Log entries between two snapshots, and those kept behind one.
        public var snapshots: (threshold: UInt32, trailing: UInt32)?

        /// Defaults.
        public init() {}
    }

    private let pointer: OpaquePointer
    private var isStarted = false
    /// Retained by this object: the node's threads call it until the node has stopped.
    private let connector: any Connector

    /// Creates a node, not started. `bind` is where it listens: "host:port", or "@" for a socket that only this process
    /// may connect to.
    public init(
        id: UInt64, address: NodeAddress, directory: String, bind: String, settings: Settings, connector: any Connector
    ) throws {
        var created: OpaquePointer?
        let code = dqlite_node_create(id, address.description, directory, &created)
        guard code == 0, let pointer = created else {
            throw NodeError("The node can't use the folder \(directory): \(DqliteNode.message(created, code))")
        }
        self.pointer = pointer
        self.connector = connector
        let others = Set(DqliteNode.descriptors())
        try check(dqlite_node_set_bind_address(pointer, bind), "listen at \(bind)")
        for descriptor in DqliteNode.descriptors() where !others.contains(descriptor) {
            DqliteNode.sendAtOnce(descriptor)
        }
        try check(
            dqlite_node_set_network_latency_ms(pointer, settings.latency), "use a latency of \(settings.latency) ms")
        try check(dqlite_node_set_failure_domain(pointer, settings.failureDomain), "use the failure domain")
        if let snapshots = settings.snapshots {
            try check(
                dqlite_node_set_snapshot_params(pointer, snapshots.threshold, snapshots.trailing),
                "use a snapshot threshold of \(snapshots.threshold) with \(snapshots.trailing) trailing entries")
        }
        try check(
            dqlite_node_set_connect_func(
                pointer,
                { context, address, descriptor in
                    guard let context, let address, let descriptor else { return 1 }
                    let node = Unmanaged<DqliteNode>.fromOpaque(context).takeUnretainedValue()
                    guard let remote = try? NodeAddress(String(cString: address)),
                        let socket = try? node.connector.connect(to: remote, milliseconds: 2_000)
                    else { return 1 }
                    descriptor.pointee = socket
                    return 0
                }, Unmanaged.passUnretained(self).toOpaque()), "use a function to connect")
    }

    deinit {
        if isStarted { dqlite_node_stop(pointer) }
        dqlite_node_destroy(pointer)
    }

    /// Starts the node's thread.
    public func start() throws {
        try check(dqlite_node_start(pointer), "start")
        isStarted = true
    }

    /// Ends the connections and the thread.
    public func stop() throws {
        guard isStarted else { return }
        isStarted = false
        try check(dqlite_node_stop(pointer), "stop")
    }

    /// The address at which the node listens: of a socket in this process, begins with "@".
    public var bindAddress: String { String(cString: dqlite_node_get_bind_address(pointer)) }

    /// Writes a new list of members into the folder of a node that isn't started. The only way out if a majority is
    /// lost.
    public func recover(members: [(id: UInt64, address: NodeAddress)]) throws {
        let texts = members.map { strdup($0.address.description) }
        defer { texts.forEach { free($0) } }
        var infos = zip(members, texts).map { member, text in
            dqlite_node_info_ext(
                size: UInt64(MemoryLayout<dqlite_node_info_ext>.size), id: member.id,
                address: UInt64(UInt(bitPattern: text)), dqlite_role: 0)
        }
        try check(dqlite_node_recover_ext(pointer, &infos, Int32(infos.count)), "recover")
    }

    /// A number for a new member, made of its address and the time. It isn't 1, the number of the first node.
    public static func newID(for address: NodeAddress) -> UInt64 {
        max(2, dqlite_generate_node_id(address.description))
    }

    /// The open descriptors of this process.
    private static func descriptors() -> [Int32] {
        guard let folder = opendir("/proc/self/fd") else { return [] }
        defer { closedir(folder) }
        var result: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            // That of the folder is closed below, and its number may be the next socket's.
            if let descriptor = Int32(name), descriptor != dirfd(folder) { result.append(descriptor) }
        }
        return result
    }

    /// Turns Nagle's algorithm off, which dqlite leaves on: a client that sends several requests at once would receive
    /// the second response only after it has acknowledged the first. Accepted connections inherit the option of the
    /// listening socket. For a descriptor that is no socket of TCP, it has no effect.
    private static func sendAtOnce(_ descriptor: Int32) {
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    private func check(_ code: Int32, _ action: String) throws {
        guard code == 0 else { throw NodeError("The node can't \(action): \(DqliteNode.message(pointer, code))") }
    }

    private static func message(_ pointer: OpaquePointer?, _ code: Int32) -> String {
        guard let pointer, let text = dqlite_node_errmsg(pointer) else { return "error \(code)" }
        let message = String(cString: text)
        return message.isEmpty ? "error \(code)" : message
    }
}

@available(*, unavailable) extension DqliteNode: Sendable {}
