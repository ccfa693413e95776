internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import NIOTLS

/// Passes bytes from one channel to another, no faster than the other takes them.
final class Tunnel: ChannelInboundHandler, ChannelOutboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var partner: Tunnel?
    private var context: ChannelHandlerContext?
    private var wantsToRead = false

    /// The ends of two channels of one event loop.
    static func ends() -> (Tunnel, Tunnel) {
        let (first, second) = (Tunnel(), Tunnel())
        first.partner = second
        second.partner = first
        return (first, second)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        partner = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        partner?.context?.write(wrapOutboundOut(unwrapInboundIn(data)), promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) { partner?.context?.flush() }

    func channelInactive(context: ChannelHandlerContext) { partner?.context?.close(promise: nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        partner?.context?.close(promise: nil)
        context.close(promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard context.channel.isWritable, let other = partner, other.wantsToRead else { return }
        other.wantsToRead = false
        other.context?.read()
    }

    func read(context: ChannelHandlerContext) {
        // Without a partner, nothing but the handshake arrives.
        if partner?.context?.channel.isWritable ?? true {
            context.read()
        } else {
            wantsToRead = true
        }
    }
}

/// Connects with TLS: the caller's socket is one end of a pair, whose other end this process copies to TLS.
public final class TLSConnector: Connector {
    private let certificates: Certificates

    /// A connector.
    public init(_ certificates: Certificates) { self.certificates = certificates }

    public func connect(to address: NodeAddress, milliseconds: Int) throws -> Int32 {
        let remote = try Sockets.connect(to: address, milliseconds: milliseconds)
        var pair: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
            close(remote)
            throw Sockets.failure("make a pair of sockets")
        }
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let context = certificates.client
        let inner = pair[1]
        let connected = ClientBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLClientHandler(context: context, serverHostname: nil))
                }
            }
            .withConnectedSocket(remote)
            .flatMap { outer in
                ClientBootstrap(group: loop).withConnectedSocket(inner).flatMapThrowing { local in
                    let (first, second) = Tunnel.ends()
                    try outer.pipeline.syncOperations.addHandler(first)
                    try local.pipeline.syncOperations.addHandler(second)
                }
            }
        do {
            try connected.wait()
            return pair[0]
        } catch {
            close(pair[0])
            throw NodeError("Can't connect to \(address) with TLS: \(error)")
        }
    }
}

/// Listens with TLS in front of a node whose socket belongs to this process, and accepts peers with a certificate.
public final class TLSListener {
    private let channel: any Channel

    /// Listens at an address.
    public init(_ address: NodeAddress, _ certificates: Certificates, node: String) throws {
        let context = certificates.server
        do {
            channel = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.backlog, value: 256)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                        try channel.pipeline.syncOperations.addHandler(AwaitHandshake(node: node))
                    }
                }
                .bind(host: address.host, port: Int(address.port)).wait()
        } catch {
            throw NodeError("The node can't listen at \(address): \(error)")
        }
    }

    /// Ends listening; connections stay.
    public func close() { try? channel.close().wait() }
}

/// Connects to the node once the peer has shown its certificate. Unknown peers never reach the node.
private final class AwaitHandshake: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let node: String
    private var waiting: [NIOAny] = []
    private var isDone = false

    init(node: String) { self.node = node }

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
            let descriptor = try Sockets.connect(abstract: node)
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
