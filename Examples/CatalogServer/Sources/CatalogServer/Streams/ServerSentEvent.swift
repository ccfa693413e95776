internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// The text of a server-sent event, as <https://html.spec.whatwg.org/multipage/server-sent-events.html> describes it.
enum ServerSentEvent {
    /// `event: progress`, and a line of JSON.
    static func buffer(_ event: String, _ data: some Encodable) throws -> ByteBuffer {
        // JSON has no line breaks: those of strings are escaped.
        let json = try JSONEncoder.catalog.encode(data)
        var buffer = ByteBuffer()
        buffer.writeString("event: \(event)\ndata: ")
        buffer.writeBytes(json)
        buffer.writeString("\n\n")
        return buffer
    }

    /// A comment, which clients ignore.
    static let keepAlive = ByteBuffer(string: ": keep-alive\n\n")

    static let headers: HTTPFields = [
        .contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store",
        // nginx would collect events before it passes them on.
        HTTPField.Name("X-Accel-Buffering")!: "no",
    ]
}
