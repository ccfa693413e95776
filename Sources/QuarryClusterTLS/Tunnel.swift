#if ClusterTLS
internal import NIOCore

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
#endif
