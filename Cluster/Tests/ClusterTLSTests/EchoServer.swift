import ClusterTestSupport
import Foundation
import QuarryClusterTLS
import Synchronization

/// Sends back all bytes of each peer that the listener has accepted.
final class EchoServer {
    let port: UInt16
    private let listener: TLSListener
    private let connections = Connections()

    /// How many peers have been accepted.
    var connectionCount: Int { connections.count.load(ordering: .sequentiallyConsistent) }

    var isListening: Bool { listener.port != nil }

    private final class Connections: Sendable {
        let count = Atomic(0)
    }

    convenience init(_ files: CertificateFiles) throws { try self.init(files.certificates()) }

    init(_ certificates: Certificates) throws {
        let connections = connections
        listener = try TLSListener(host: "127.0.0.1", port: 0, certificates) {
            connections.count.add(1, ordering: .sequentiallyConsistent)
            let (own, other) = try TestSocket.pair()
            Thread.detachNewThread {
                while let bytes = own.receiveSome() { own.sendAll(bytes) }
            }
            return other
        }
        guard let port = listener.port else { throw POSIXError(.EADDRNOTAVAIL) }
        self.port = port
    }

    func close() { listener.close() }
}

/// A connected socket whose calls block, for a minute at most.
final class TestSocket: Sendable {
    private let descriptor: CInt

    init(_ descriptor: CInt) {
        self.descriptor = descriptor
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    deinit { close(descriptor) }

    #if canImport(Glibc)
    private static let streamType = CInt(SOCK_STREAM.rawValue)
    #else
    private static let streamType = SOCK_STREAM
    #endif

    /// Two sockets that are connected with each other.
    static func pair() throws -> (TestSocket, CInt) {
        var pair: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, streamType, 0, &pair) == 0 else { throw POSIXError(.EMFILE) }
        return (TestSocket(pair[0]), pair[1])
    }

    /// A socket that has a port of this machine, at which nothing listens.
    static func withPort() throws -> (TestSocket, UInt16) {
        let holder = TestSocket(socket(AF_INET, streamType, 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(holder.descriptor, pointer, size) == 0 && getsockname(holder.descriptor, pointer, &size) == 0
            }
        }
        guard status else { throw POSIXError(.EADDRNOTAVAIL) }
        return (holder, UInt16(bigEndian: address.sin_port))
    }

    func sendAll(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends while the caller receives.
    func sendOnThread(_ bytes: [UInt8]) { Thread.detachNewThread { self.sendAll(bytes) } }

    /// Bytes that have arrived; nil at the end.
    func receiveSome() -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// That many bytes, or those until the end.
    func receive(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count, let more = receiveSome() { bytes += more }
        return bytes
    }
}
