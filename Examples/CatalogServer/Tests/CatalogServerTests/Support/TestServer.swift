import Foundation
import HTTPTypes
import Logging
import NIOCore
import PackageCatalog
import Quarry
import Testing

@testable import CatalogServer

/// A server of a catalogue in memory, on a port of this machine.
struct TestServer: Sendable {
    let server: CatalogServer
    let client: TestClient

    var port: Int { client.port }

    static func run<Value: Sendable>(
        limits: ServerLimits = ServerLimits(), database: (any DatabaseWriter)? = nil, path: String = ":memory:",
        runsServices: Bool = true, stanzas: String? = nil, logger: Logger = .quiet,
        _ test: @escaping @Sendable (TestServer) async throws -> Value
    ) async throws -> Value {
        let catalog = try await Catalog(database ?? DatabaseQueue(), path: path)
        let server = CatalogServer(catalog, limits: limits, logger: logger)
        return try await server.serve(services: runsServices ? server.services : [], logger: .quiet) { port in
            let running = TestServer(server: server, client: TestClient(port: port))
            if let stanzas { #expect(try await running.post(stanzas).status == .ok) }
            return try await test(running)
        }
    }

    func get(
        _ uri: String, _ method: HTTPRequest.Method = .get, headers: HTTPFields = [:]
    ) async throws -> TestResponse {
        try await client.send(method, uri, headers: headers).collect()
    }

    func post(_ stanzas: String, source: String = "status") async throws -> TestResponse {
        try await client.send(.post, "/imports?source=\(source)", body: .text(stanzas)).collect()
    }

    /// The answer of a route, decoded.
    func get<Answer: Decodable>(_ type: Answer.Type, _ uri: String) async throws -> Answer {
        let response = try await get(uri)
        #expect(response.status == .ok, "\(response.text)")
        return try JSONDecoder().decode(type, from: Data(response.body.readableBytesView))
    }

    /// The status and the sentence of a request that fails.
    func refusal(_ uri: String, _ method: HTTPRequest.Method = .get) async throws -> Refusal {
        try Refusal(await get(uri, method))
    }
}

/// An answer to a request that failed.
struct Refusal: Equatable {
    var status: Int
    var error: String

    init(status: Int, error: String) {
        self.status = status
        self.error = error
    }

    init(_ response: TestResponse) throws {
        #expect(response.headers[.contentType] == "application/json; charset=utf-8")
        if response.status == .serviceUnavailable { #expect(response.headers[.retryAfter] == "2") }
        status = response.status.code
        error = try JSONDecoder().decode(ErrorAnswer.self, from: Data(response.body.readableBytesView)).error
    }
}

/// A server-sent event.
struct ReceivedEvent: Equatable, Sendable {
    var name: String
    var data: String

    /// Nil for a comment.
    init?(_ text: String) {
        let lines = text.split(separator: "\n")
        guard let name = lines.first(where: { $0.hasPrefix("event: ") }),
            let data = lines.first(where: { $0.hasPrefix("data: ") })
        else { return nil }
        self.name = String(name.dropFirst(7))
        self.data = String(data.dropFirst(6))
    }

    func decoded<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(data.utf8))
    }
}

extension Logger {
    static var quiet: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}

/// Stanzas of packages `p0`, `p1`…, each of which depends on the one before it.
func stanzas(_ numbers: Range<Int>, section: String = "libs", summary: String = "a package") -> String {
    numbers.map { number in
        """
        Package: p\(number)
        Architecture: amd64
        Version: 1.0
        Section: \(section)
        Installed-Size: \(number)
        \(number == 0 ? "" : "Depends: p\(number - 1)\n")Description: \(summary)


        """
    }.joined()
}

/// A folder that is gone after the test.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/catalog-server-tests-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Waits for a condition, and lets other tasks run meanwhile.
func until(_ condition: () async throws -> Bool) async throws {
    while try await !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}
