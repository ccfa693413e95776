import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import CatalogServer

/// SIGTERM ends the executable within its deadline, whatever its clients do.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct ShutdownTests {
    /// Long enough for a busy machine. A server that waits for a client would wait longer.
    private static let grace = 40

    private static func server(in folder: TemporaryFolder, _ arguments: [String] = []) async throws -> ServerProcess {
        try await ServerProcess(
            ["--database", folder.path + "/catalog.sqlite", "--grace", "\(grace)"] + arguments, in: folder)
    }

    /// Sends SIGTERM, and expects the exit status 0 within the deadline.
    private static func terminate(
        _ server: ServerProcess, meanwhile: () async throws -> Void = {}
    ) async throws {
        // A connection that waits for its next request, as most clients keep one.
        let idle = try await SilentClient(port: server.port, uri: "/none")
        _ = await idle.read(until: "}")
        let start = ContinuousClock.now
        server.terminate()
        try await meanwhile()
        #expect(await server.status() == 0, "\(server.error)")
        #expect(ContinuousClock.now - start < .seconds(grace))
        withExtendedLifetime(idle) {}
    }

    @Test func cutsARunningImport() async throws {
        let folder = try TemporaryFolder()
        let server = try await Self.server(in: folder)
        let client = try await SilentClient(
            port: server.port,
            request: "POST /imports?source=a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nPackage: a\n\n")
        // The answer begins with the import.
        #expect(await client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200 OK\r\n"))
        try await Self.terminate(server) {
            #expect(await client.read(until: "}").contains("The server is shutting down."))
        }
    }

    @Test func cutsAnAnswerThatIsNotRead() async throws {
        let folder = try TemporaryFolder()
        let server = try await Self.server(in: folder)
        let stanza = "Package: large\nDescription: a\n " + String(repeating: ".", count: 1_000_000) + "\n\n"
        // The beginning of a body must have a package.
        let list = "Package: a\n\n" + stanza
        let response = try await server.client.send(.post, "/imports?source=a", body: .text(list))
        #expect(String(buffer: try await response.body.collect(upTo: 1 << 20)).contains("event: done\n"))
        let sheets = String(repeating: "GET /packages/large HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 12)
        let client = try await SilentClient(port: server.port, request: sheets)
        try await until { try await server.metrics().contains("catalog_connections_stalled 1\n") }
        try await Self.terminate(server)
        withExtendedLifetime(client) {}
    }

    private static let hasLists =
        FileManager.default.fileExists(atPath: "/var/lib/dpkg/status")
        || FileManager.default.fileExists(atPath: "/var/lib/apt/lists")

    @Test(.enabled(if: hasLists, "this machine has no lists of packages: neither dpkg's status nor apt's lists"))
    func cutsTheImportOfTheMachinesLists() async throws {
        let folder = try TemporaryFolder()
        let server = try await Self.server(in: folder, ["--import", "machine"])
        try await until {
            let response = try await server.client.send(.get, "/statistics")
            guard response.status == .ok else { return false }
            let body = Data(try await response.body.collect(upTo: 1 << 20).readableBytesView)
            return try JSONDecoder().decode(CatalogStatistics.self, from: body).packageCount > 0
        }
        try await Self.terminate(server)
    }
}
