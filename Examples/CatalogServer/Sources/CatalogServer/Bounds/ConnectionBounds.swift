internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes
internal import Synchronization

/// Closes the connection of a client that doesn't read its answer, or that goes on sending after it.
///
/// Without this handler, Hummingbird waits as long as the client likes: to write an answer, and to read the rest of a
/// body that was refused.
final class ConnectionBounds: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limits: ServerLimits
    private let counts: ConnectionCounts
    /// The requests that have ended, less those that were answered. Negative if the last answer came before the end.
    private var endedRequests = 0
    private var isLastAnswer = false
    private var isShuttingDown = false
    /// Set while the client doesn't read.
    private var readDeadline: Scheduled<Void>?
    /// Set after an answer whose request hasn't ended.
    private var endDeadline: Scheduled<Void>?

    init(limits: ServerLimits, counts: ConnectionCounts) {
        self.limits = limits
        self.counts = counts
    }

    // MARK: - Answers that aren't read

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        endReadDeadline()
        if !context.channel.isWritable { beginReadDeadline(context) }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            isShuttingDown = true
            if readDeadline != nil {
                endReadDeadline()
                beginReadDeadline(context)
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func beginReadDeadline(_ context: ChannelHandlerContext) {
        counts.stalled.add(1, ordering: .relaxed)
        let (channel, counts) = (context.channel, counts)
        let time = isShuttingDown ? limits.answerGrace : limits.answerTime
        readDeadline = channel.eventLoop.scheduleTask(in: TimeAmount(time)) {
            counts.abandoned.add(1, ordering: .relaxed)
            channel.close(promise: nil)
        }
    }

    private func endReadDeadline() {
        guard let deadline = readDeadline else { return }
        deadline.cancel()
        readDeadline = nil
        counts.stalled.subtract(1, ordering: .relaxed)
    }

    func channelInactive(context: ChannelHandlerContext) {
        endReadDeadline()
        endDeadline?.cancel()
        context.fireChannelInactive()
    }

    // MARK: - Requests that go on after their answer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .end = unwrapInboundIn(data) {
            endedRequests += 1
            if !isLastAnswer { endDeadline?.cancel() }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head): isLastAnswer = head.headerFields[.connection] == "close"
        case .body: break
        case .end:
            endedRequests -= 1
            guard isLastAnswer || endedRequests < 0 else { break }
            // The client has a moment to read the answer: a connection that is closed while it sends loses it.
            let channel = context.channel
            endDeadline = channel.eventLoop.scheduleTask(in: TimeAmount(limits.refusedTime)) {
                channel.close(promise: nil)
            }
        }
        context.write(data, promise: promise)
    }
}

/// How many connections have a client that doesn't read.
final class ConnectionCounts: Sendable {
    /// At present.
    let stalled = Atomic(0)
    /// The connections that were closed because of that.
    let abandoned = Atomic(0)
}

extension TimeAmount {
    init(_ duration: Duration) { self = .nanoseconds(Int64(duration.seconds * 1e9)) }
}
