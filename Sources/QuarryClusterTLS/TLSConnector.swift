#if ClusterTLS
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Connects to nodes with TLS.
///
/// ```swift
/// let connector = TLSConnector(
///     try Certificates(certificate: "node.pem", key: "node.key", authority: "ca.pem"))
/// var config = ClusterConfiguration()
/// config.connect = { node, milliseconds in
///     try connector.connect(to: node.host, port: node.port, milliseconds: milliseconds)
/// }
/// ```
public final class TLSConnector: Sendable {
    private let certificates: Certificates

    /// A connector that shows a certificate, and accepts those of its authority.
    public init(_ certificates: Certificates) { self.certificates = certificates }

    /// A connected socket, which the caller closes: one end of a pair, whose other end this process copies to TLS. It
    /// blocks, for `milliseconds` at most, so no task of Swift's should call it.
    ///
    /// The peer's certificate is checked afterwards: if it isn't one of the authority, the socket ends.
    ///
    /// - throws: `ClusterTLSError` if the host isn't found, or doesn't accept a connection in time.
    public func connect(to host: String, port: UInt16, milliseconds: Int) throws -> CInt {
        let context = certificates.client
        let connected = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton.next())
            .connectTimeout(.milliseconds(Int64(milliseconds)))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLClientHandler(context: context, serverHostname: nil))
                }
            }
            .connect(host: host, port: Int(port))
            .flatMap { channel in TLSConnector.makeSocket(of: channel) }
        do {
            return try connected.wait()
        } catch {
            throw ClusterTLSError("Can't connect to \(host):\(port) with TLS: \(error)")
        }
    }

    /// The caller's end of a pair of sockets, whose other end is joined with a channel.
    private static func makeSocket(of channel: any Channel) -> EventLoopFuture<CInt> {
        var pair: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, streamType, 0, &pair) == 0 else {
            let error = IOError(errnoCode: errno, reason: "socketpair")
            return channel.close().flatMapThrowing { throw error }
        }
        let own = pair[0]
        _ = fcntl(own, F_SETFD, FD_CLOEXEC)
        return ClientBootstrap(group: channel.eventLoop).withConnectedSocket(pair[1])
            .flatMapThrowing { local in
                let (first, second) = Tunnel.ends()
                try channel.pipeline.syncOperations.addHandler(first)
                try local.pipeline.syncOperations.addHandler(second)
                return own
            }
            .flatMapErrorThrowing { error in
                // The other end follows this one.
                close(own)
                channel.close(promise: nil)
                throw error
            }
    }

    /// A stream of bytes, which programs that this process starts don't get.
    private static var streamType: CInt {
        #if canImport(Darwin)
        SOCK_STREAM
        #elseif canImport(Musl)
        SOCK_STREAM | SOCK_CLOEXEC
        #else
        CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #endif
    }
}
#endif
