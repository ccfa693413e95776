import Foundation
import QuarryClusterWire
import QuarryCore

@testable import QuarryCluster

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A server on 127.0.0.1 in a node's place: it runs a script for each connection, on a thread of its own.
///
/// ```swift
/// let node = try ScriptedNode { connection in
///     while let request = try connection.request() { try connection.answer(.empty) }
/// }
/// defer { node.stop() }
/// ```
final class ScriptedNode: Sendable {
    typealias Script = @Sendable (Connection) throws -> Void

    struct Failure: Error {
        let errno: CInt
    }

    /// The number of connections whose script has begun.
    var connectionCount: Int { state.withLock { $0.connectionCount } }

    /// The address of the listening socket.
    let address: NodeAddress

    private struct State {
        var isStopped = false
        var connectionCount = 0
        /// The sockets of running scripts.
        var open: Set<CInt> = []
    }

    private let listener: CInt
    private let state = Lock(State())

    /// Listens, and accepts connections.
    ///
    /// - parameter port: 0 for any free one.
    /// - parameter receiveBufferSize: the bytes that the system keeps of a connection whose script reads nothing.
    init(port: UInt16 = 0, receiveBufferSize: CInt? = nil, script: @escaping Script) throws {
        let (listener, address) = try ScriptedNode.bound(to: port)
        self.listener = listener
        self.address = address
        if var receiveBufferSize {
            setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &receiveBufferSize, socklen_t(MemoryLayout<CInt>.size))
        }
        guard listen(listener, 64) == 0 else { throw Failure(errno: errno) }
        Thread { [self] in accept(script) }.start()
    }

    /// Closes the listening socket, and breaks all connections. Stopping twice has no effect.
    func stop() {
        state.withLock { state in
            // The number of a closed socket may be another's.
            if state.isStopped { return }
            state.isStopped = true
            // With the lock held, no script closes its socket.
            for descriptor in state.open { shutdown(descriptor, CInt(SHUT_RDWR)) }
            // Wakes the thread that accepts, which closes the socket.
            shutdown(listener, CInt(SHUT_RDWR))
        }
    }

    /// A socket with a free port of 127.0.0.1. Until a server listens, it refuses connections.
    static func bound(to port: UInt16 = 0) throws -> (descriptor: CInt, address: NodeAddress) {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var one: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<CInt>.size))
        let (code, bound) = withName(of: port) { name, size in
            var size = size
            let code = bind(descriptor, name, size) == 0 ? getsockname(descriptor, name, &size) : -1
            let port = name.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_port }
            return (code, UInt16(bigEndian: port))
        }
        guard descriptor >= 0, code == 0 else { throw Failure(errno: errno) }
        return (descriptor, try NodeAddress("127.0.0.1:\(bound)"))
    }

    /// A socket that is connected to a port of 127.0.0.1.
    static func connected(to address: NodeAddress) throws -> CInt {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let code = withName(of: address.port) { connect(descriptor, $0, $1) }
        guard descriptor >= 0, code == 0 else { throw Failure(errno: errno) }
        return descriptor
    }

    private static func withName<T>(of port: UInt16, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> T) -> T {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private func accept(_ script: @escaping Script) {
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            if descriptor < 0 {
                if state.withLock({ $0.isStopped }) { break }
                continue
            }
            let isStopped = state.withLock { state in
                state.connectionCount += 1
                state.open.insert(descriptor)
                return state.isStopped
            }
            if isStopped { shutdown(descriptor, CInt(SHUT_RDWR)) }
            Thread { [self] in
                try? script(Connection(descriptor, port: address.port))
                state.withLock { _ = $0.open.remove(descriptor) }
                close(descriptor)
            }.start()
        }
        close(listener)
    }

    /// The node's side of a connection. Its calls block.
    final class Connection {
        let descriptor: CInt
        private var decoder = FrameDecoder()
        private var handshake: [UInt8]?

        /// The port of the node.
        let port: UInt16

        init(_ descriptor: CInt, port: UInt16) {
            self.descriptor = descriptor
            self.port = port
        }

        /// The next request; nil once the client has closed the connection.
        func request() throws -> Request? {
            if handshake == nil { handshake = try bytes(8) }
            while true {
                if let frame = try decoder.next() { return try Request(decoding: frame) }
                guard let next = try bytes() else { return nil }
                decoder.append(next)
            }
        }

        func answer(_ responses: Response...) throws {
            var bytes: [UInt8] = []
            for response in responses { try response.encode(into: &bytes) }
            try send(bytes)
        }

        func send(_ bytes: [UInt8]) throws {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
                }
                guard count > 0 else { throw Failure(errno: errno) }
                rest = rest.dropFirst(count)
            }
        }

        /// Waits until the client has closed the connection, and reads nothing that it sends.
        func untilClosed() {
            // POLLRDHUP, which Swift's Glibc doesn't name.
            var wait = pollfd(fd: descriptor, events: 0x2000, revents: 0)
            while poll(&wait, 1, -1) < 0 {}
        }

        /// Makes the end of the connection a reset.
        func resetAtEnd() {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }

        /// The bytes that arrive next; nil at the end.
        private func bytes(_ maximum: Int = 65_536) throws -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: maximum)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count >= 0 else { throw Failure(errno: errno) }
            return count == 0 ? nil : [UInt8](buffer[..<count])
        }
    }
}

/// An address of 127.0.0.1 to which connecting doesn't end: the line of connections to accept is full.
final class FullListener: Sendable {
    let address: NodeAddress
    private let descriptors: [CInt]

    init() throws {
        let (listener, address) = try ScriptedNode.bound()
        guard listen(listener, 0) == 0 else { throw ScriptedNode.Failure(errno: errno) }
        // A line of length 0 has room for one.
        let client = try ScriptedNode.connected(to: address)
        self.address = address
        descriptors = [listener, client]
    }

    deinit { for descriptor in descriptors { close(descriptor) } }
}

/// A port of 127.0.0.1 that refuses connections, and that no other process gets meanwhile.
final class DeadPort: Sendable {
    let address: NodeAddress
    private let descriptor: CInt

    init() throws { (descriptor, address) = try ScriptedNode.bound() }

    deinit { close(descriptor) }
}

/// The monotonic time in some milliseconds.
func milliseconds(_ count: UInt64) -> UInt64 { SystemClock.monotonicNanoseconds() + count * 1_000_000 }

/// A deadline that a test reaches only if it fails.
func farDeadline() -> UInt64 { milliseconds(60_000) }
