import Foundation
import Synchronization
import Testing

@testable import CatalogServer

/// Clients that don't read, send slowly, or go on after they were refused.
@Suite(.timeLimit(.minutes(2)))
struct ConnectionTests {
    /// A package whose sheet has a megabyte, and more than a connection's buffers hold of its sheets.
    ///
    /// Another package comes first, because the beginning of a body must have one.
    private static let large =
        "Package: a\n\nPackage: large\nDescription: a\n " + String(repeating: ".", count: 1_000_000) + "\n\n"
    private static let sheetCount = 12
    private static let manySheets = String(
        repeating: "GET /packages/large HTTP/1.1\r\nHost: localhost\r\n\r\n", count: sheetCount)

    @Test func closesTheConnectionOfAClientThatDoesNotRead() async throws {
        var limits = ServerLimits()
        limits.answerTime = .milliseconds(1)
        try await TestServer.run(limits: limits, stanzas: Self.large) { server async throws in
            let client = try await SilentClient(port: server.port, request: Self.manySheets)
            let counts = server.server.connections
            try await until { counts.abandoned.load(ordering: .relaxed) == 1 }
            #expect(await client.readToEnd() < 1_000_000 * Self.sheetCount)
            try await until { counts.stalled.load(ordering: .relaxed) == 0 }
        }
    }

    @Test func waitsForAClientThatReadsLate() async throws {
        var limits = ServerLimits()
        limits.answerTime = .seconds(600)
        try await TestServer.run(limits: limits, stanzas: Self.large) { server async throws in
            let request = Self.manySheets + "GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            let client = try await SilentClient(port: server.port, request: request)
            let counts = server.server.connections
            try await until { counts.stalled.load(ordering: .relaxed) == 1 }
            #expect(await client.readToEnd() > 1_000_000 * Self.sheetCount)
            #expect(counts.abandoned.load(ordering: .relaxed) == 0)
        }
    }

    private static let importHead = """
        POST /imports?source=a HTTP/1.1\r
        Host: localhost\r
        Content-Length: 100000\r
        \r
        Package: a


        """

    /// After the first package nothing comes.
    @Test func endsAnImportWhoseBodyComesTooSlowly() async throws {
        var limits = ServerLimits()
        limits.bodyTime = .milliseconds(1)
        limits.refusedTime = .milliseconds(1)
        limits.idleTime = .seconds(600)
        try await TestServer.run(limits: limits) { server async throws in
            let client = try await SilentClient(port: server.port, request: Self.importHead)
            let answer = await client.read(until: " of waiting.")
            #expect(answer.contains("event: failed\n"), "\(answer)")
            try await until { server.server.desk.runningCount == 0 }
            // The connection has an end, though the body has none.
            await client.readToEnd()
        }
    }

    @Test func waitsForASlowBodyWithinItsTime() async throws {
        var limits = ServerLimits()
        limits.bodyTime = .seconds(600)
        try await TestServer.run(limits: limits) { server async throws in
            let client = try await SilentClient(
                port: server.port, request: Self.importHead.replacing("100000", with: "24"))
            try await until { server.server.desk.runningCount == 1 }
            client.sendMore("Package: b\n\n")
            #expect(await client.read(until: "event: done").contains("event: done"))
        }
    }

    @Test func countsTheTimeInWhichABodyIsAwaited() {
        let start = ContinuousClock.now
        func at(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }
        var pace = BodyPace(length: 10, time: .seconds(30))
        #expect(pace.timeLeft(at: at(99)) == .seconds(30))
        pace.waitDidBegin(at: at(100))
        #expect(pace.timeLeft(at: at(110)) == .seconds(20))
        pace.waitDidEnd(with: 1, at: at(120))
        // The import stores: its client doesn't have to hurry.
        #expect(pace.timeLeft(at: at(199)) == .seconds(10))
        pace.waitDidBegin(at: at(200))
        #expect(pace.timeLeft(at: at(210)) == .zero)
        pace.waitDidEnd(with: 9, at: at(210))
        #expect(pace.timeLeft(at: at(211)) == .seconds(30))
    }

    @Test func closesTheConnectionOfARefusedBodyThatGoesOn() async throws {
        var limits = ServerLimits()
        limits.refusedTime = .milliseconds(1)
        limits.idleTime = .seconds(600)
        try await TestServer.run(limits: limits) { server async throws in
            let client = try await SilentClient(
                port: server.port,
                request: "POST /imports HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nPackage")
            #expect(await client.read(until: "}").hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            await client.readToEnd()
        }
    }

    /// A body that ends after its answer leaves the connection to the next request.
    @Test func keepsTheConnectionOfABodyThatEnds() async throws {
        var limits = ServerLimits()
        limits.refusedTime = .seconds(600)
        limits.healthTime = .seconds(600)
        try await TestServer.run(limits: limits) { server async throws in
            let client = try await SilentClient(
                port: server.port,
                request: "POST /imports HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nab")
            _ = await client.read(until: "}")
            client.sendMore("cGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(await client.read(until: "}").hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }
}
