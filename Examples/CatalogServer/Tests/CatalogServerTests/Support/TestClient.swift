import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOPosix

/// A client of HTTP/1.1 for a server of this machine.
///
/// Each request has its own connection, and is sent once: a connection that is refused or cut is an error.
struct TestClient: Sendable {
    /// The body of a request.
    enum Body: Sendable {
        case bytes(ByteBuffer)
        /// A body of unknown length, whose elements are sent as they come.
        case stream(AsyncStream<ByteBuffer>)

        static func text(_ text: String) -> Body { .bytes(ByteBuffer(string: text)) }
    }

    /// No answer has begun within its time.
    struct NoAnswer: Error {}

    let port: Int

    /// Sends a request, and returns when the head of its answer has come, even if the body of the request hasn't ended.
    ///
    /// The connection is closed after the answer, when the task is cancelled, and when the answer's body is released.
    ///
    /// - parameter time: the time in which the head must come.
    func send(
        _ method: HTTPRequest.Method, _ uri: String, headers: HTTPFields = [:], body: Body? = nil,
        within time: TimeAmount = .minutes(2)
    ) async throws -> Response {
        let (parts, receiver) = AsyncThrowingStream.makeStream(of: HTTPResponsePart.self)
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connectTimeout(time)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // Tests send addresses that a client should escape.
                    try channel.pipeline.syncOperations.addHTTPClientHandlers(enableOutboundHeaderValidation: false)
                    try channel.pipeline.syncOperations.addHandlers(
                        HTTP1ToHTTPClientCodec(), ResponseHandler(receiver))
                }
            }
            .connect(to: SocketAddress(ipAddress: "127.0.0.1", port: port)).get()
        receiver.onTermination = { _ in
            // Has an effect if the task is cancelled, or the answer is released.
            receiver.finish(throwing: CancellationError())
            channel.close(promise: nil)
        }
        let deadline = channel.eventLoop.scheduleTask(in: time) { receiver.finish(throwing: NoAnswer()) }
        defer { deadline.cancel() }
        let head = HTTPRequest(
            method: method, scheme: "http", authority: "127.0.0.1:\(port)", path: uri, headerFields: headers)
        Self.write(head, body, to: channel)
        var iterator = parts.makeAsyncIterator()
        guard case .head(let head)? = try await iterator.next() else { throw ChannelError.eof }
        return Response(status: head.status, headers: head.headerFields, body: ResponseBody(parts: parts))
    }

    private static func write(_ head: HTTPRequest, _ body: Body?, to channel: any Channel) {
        var head = head
        switch body {
        case nil:
            channel.write(HTTPRequestPart.head(head), promise: nil)
            channel.writeAndFlush(HTTPRequestPart.end(nil), promise: nil)
        case .bytes(let bytes):
            head.headerFields[.contentLength] = "\(bytes.readableBytes)"
            channel.write(HTTPRequestPart.head(head), promise: nil)
            channel.write(HTTPRequestPart.body(bytes), promise: nil)
            channel.writeAndFlush(HTTPRequestPart.end(nil), promise: nil)
        case .stream(let chunks):
            head.headerFields[.transferEncoding] = "chunked"
            channel.writeAndFlush(HTTPRequestPart.head(head), promise: nil)
            let sending = Task {
                for await chunk in chunks { try await channel.writeAndFlush(HTTPRequestPart.body(chunk)) }
                try await channel.writeAndFlush(HTTPRequestPart.end(nil))
            }
            channel.closeFuture.whenComplete { _ in sending.cancel() }
        }
    }
}

extension TestClient {
    /// An answer that has begun.
    struct Response: Sendable {
        let status: HTTPResponse.Status
        let headers: HTTPFields
        let body: ResponseBody

        /// The whole answer.
        func collect() async throws -> TestResponse {
            TestResponse(status: status, headers: headers, body: try await body.collect(upTo: .max))
        }
    }

    /// The body of an answer, as it comes. It can be read once.
    struct ResponseBody: AsyncSequence, Sendable {
        fileprivate let parts: AsyncThrowingStream<HTTPResponsePart, any Error>

        struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate var parts: AsyncThrowingStream<HTTPResponsePart, any Error>.AsyncIterator

            mutating func next() async throws -> ByteBuffer? {
                while let part = try await parts.next() {
                    switch part {
                    case .head: continue
                    case .body(let bytes): return bytes
                    case .end: return nil
                    }
                }
                return nil
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(parts: parts.makeAsyncIterator()) }
    }

    /// Passes the parts of an answer on. They end with an error if the connection ends before the answer.
    private final class ResponseHandler: ChannelInboundHandler {
        typealias InboundIn = HTTPResponsePart

        private let receiver: AsyncThrowingStream<HTTPResponsePart, any Error>.Continuation

        init(_ receiver: AsyncThrowingStream<HTTPResponsePart, any Error>.Continuation) { self.receiver = receiver }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let part = unwrapInboundIn(data)
            receiver.yield(part)
            guard case .end = part else { return }
            receiver.finish()
            context.close(promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            receiver.finish(throwing: error)
            context.close(promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            receiver.finish(throwing: ChannelError.eof)
            context.fireChannelInactive()
        }
    }
}

/// A whole answer.
struct TestResponse: Sendable {
    let status: HTTPResponse.Status
    let headers: HTTPFields
    let body: ByteBuffer

    var text: String { String(buffer: body) }

    /// The events of a stream that has ended.
    var events: [ReceivedEvent] { text.components(separatedBy: "\n\n").compactMap(ReceivedEvent.init) }
}
