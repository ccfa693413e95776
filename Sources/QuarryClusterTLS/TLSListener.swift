#if ClusterTLS
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import NIOTLS

/// Accepts connections with TLS, from peers with a certificate of the authority, and copies their bytes to sockets of
/// this process: `quarry-node` has one in front of its node.
///
/// ```swift
/// let listener = try TLSListener(host: "10.0.0.1", port: 9000, certificates) { try connectToNode() }
/// ```
public final class TLSListener: Sendable {
    private let channel: any Channel

    /// Listens at an address. Port 0 lets the system choose one.
    ///
    /// - parameter connect: called for each peer that has shown its certificate, on a thread that mustn't block long:
    ///   returns the descriptor of a connected stream socket, which belongs to the listener from then on.
    /// - throws: `ClusterTLSError` if the address isn't found or is in use.
    public init(
        host: String, port: UInt16, _ certificates: Certificates, connect: @escaping @Sendable () throws -> CInt
    ) throws {
        let context = certificates.server
        do {
            channel = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.backlog, value: 256)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                        try channel.pipeline.syncOperations.addHandler(AwaitHandshake(connect))
                    }
                }
                .bind(host: host, port: Int(port)).wait()
        } catch {
            throw ClusterTLSError("Can't listen at \(host):\(port): \(error)")
        }
    }

    /// The port; nil once it is closed.
    public var port: UInt16? {
        // NIO forgets the address after it has told that the channel is closed.
        guard channel.isActive else { return nil }
        return channel.localAddress?.port.flatMap { UInt16(exactly: $0) }
    }

    /// Ends listening; connections stay.
    public func close() { try? channel.close().wait() }
}

/// Connects once the peer has shown its certificate. Unknown peers reach nothing.
private final class AwaitHandshake: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connect: @Sendable () throws -> CInt
    private var waiting: [NIOAny] = []
    private var isDone = false

    init(_ connect: @escaping @Sendable () throws -> CInt) { self.connect = connect }

    func handlerAdded(context: ChannelHandlerContext) {
        let this = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .seconds(10)) {
            let (handler, context) = this.value
            if !handler.isDone { context.close(promise: nil) }
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { waiting.append(data) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard let event = event as? TLSUserEvent, case .handshakeCompleted = event, !isDone else { return }
        isDone = true
        let this = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        do {
            let descriptor = try connect()
            ClientBootstrap(group: context.eventLoop).withConnectedSocket(descriptor).whenComplete { result in
                let (handler, context) = this.value
                do {
                    let local = try result.get()
                    do {
                        try handler.join(context, local)
                    } catch {
                        // The peer has closed its connection meanwhile.
                        local.close(promise: nil)
                        throw error
                    }
                } catch {
                    context.close(promise: nil)
                }
            }
        } catch {
            context.close(promise: nil)
        }
    }

    /// Makes a tunnel of the two channels, passes the bytes that arrived meanwhile, and leaves.
    private func join(_ context: ChannelHandlerContext, _ local: any Channel) throws {
        let (first, second) = Tunnel.ends()
        try context.pipeline.syncOperations.addHandler(first)
        try local.pipeline.syncOperations.addHandler(second)
        for data in waiting { context.fireChannelRead(data) }
        context.fireChannelReadComplete()
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }
}
#endif
