import Foundation
import HTTPTypes
import NIOCore

/// The events of an answer, as they come.
struct EventReader {
    private var chunks: TestClient.ResponseBody.AsyncIterator
    private var text = ""

    init(_ body: TestClient.ResponseBody) { chunks = body.makeAsyncIterator() }

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
    func stream(
        posting body: AsyncStream<ByteBuffer>, source: String = "status"
    ) async throws -> TestClient.Response {
        try await client.send(.post, "/imports?source=\(source)", body: .stream(body))
    }

    func events() async throws -> EventReader { try await client.events() }
}

extension TestClient {
    /// The events of `GET /events`.
    func events() async throws -> EventReader { EventReader(try await send(.get, "/events").body) }
}
