import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import Synchronization

@testable import CatalogServer

extension TestServer {
    /// The answer of the routes themselves: the parser of HTTP/1.1 refuses unknown methods before they reach these.
    func route(_ uri: String, _ method: HTTPRequest.Method) async throws -> TestResponse {
        // The context needs the channel of a connection.
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(to: SocketAddress(ipAddress: "127.0.0.1", port: port)).get()
        defer { channel.close(promise: nil) }
        let head = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: uri)
        let response = try await server.makeRouter().buildResponder().respond(
            to: Request(head: head, body: RequestBody(buffer: ByteBuffer())),
            context: CatalogRequestContext(source: .init(channel: channel, logger: .quiet)))
        let writer = BodyWriter()
        try await response.body.write(writer)
        return TestResponse(status: response.status, headers: response.headers, body: writer.bytes.withLock(\.self))
    }

    /// Keeps a body.
    private final class BodyWriter: ResponseBodyWriter {
        let bytes = Mutex(ByteBuffer())

        func write(_ buffer: ByteBuffer) async throws { _ = bytes.withLock { $0.writeImmutableBuffer(buffer) } }

        func finish(_ trailers: HTTPFields?) async throws {}
    }
}
