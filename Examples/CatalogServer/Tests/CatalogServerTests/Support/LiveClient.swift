import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// The events of an answer, as they come.
struct EventReader {
    private var chunks: HTTPClientResponse.Body.AsyncIterator
    private var text = ""

    init(_ body: HTTPClientResponse.Body) { chunks = body.makeAsyncIterator() }

    /// The next event; nil at the end.
    mutating func next() async throws -> ReceivedEvent? {
        while true {
            if let end = text.range(of: "\n\n") {
                let event = ReceivedEvent(String(text[..<end.lowerBound]))
                text.removeSubrange(..<end.upperBound)
                if let event { return event }
                continue
            }
            guard let chunk = try await chunks.next() else { return nil }
            text += String(buffer: chunk)
        }
    }

    /// The next event of a name that satisfies a condition.
    mutating func next(_ name: String, where isWanted: (ReceivedEvent) throws -> Bool) async throws -> ReceivedEvent? {
        while let event = try await next() {
            if event.name == name, try isWanted(event) { return event }
        }
        return nil
    }
}

extension TestServer {
    /// Sends a control file of unknown length, and returns when the answer begins.
    func stream(posting body: AsyncStream<ByteBuffer>, source: String = "status") async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(url: "http://localhost:\(port)/imports?source=\(source)")
        request.method = .POST
        request.body = .stream(body, length: .unknown)
        return try await HTTPClient.shared.execute(request, timeout: .minutes(2))
    }

    /// The events of `GET /events`.
    func events() async throws -> EventReader {
        let request = HTTPClientRequest(url: "http://localhost:\(port)/events")
        return EventReader(try await HTTPClient.shared.execute(request, timeout: .minutes(2)).body)
    }
}
