import Dispatch
import Foundation
import HTTPTypes
import Quarry
import Testing

@testable import CatalogServer

/// The answers while the database can't serve a request: 503, and a time after which the client may come again.
struct OverloadTests {
    /// Holds the one connection of a queue until it is released.
    private struct Held {
        private let gate = DispatchSemaphore(value: 0)

        init(_ database: any DatabaseWriter) async {
            await withCheckedContinuation { continuation in
                database.asyncWriteWithoutTransaction { [gate] _ in
                    continuation.resume()
                    gate.wait()
                }
            }
        }

        func release() { gate.signal() }
    }

    @Test func answersWithinItsTime() async throws {
        var limits = ServerLimits()
        limits.readTime = .milliseconds(50)
        let queue = try DatabaseQueue()
        try await TestServer.run(limits: limits, database: queue) { server async throws in
            let held = await Held(queue)
            for uri in ["/packages", "/packages/p1", "/statistics", "/packages?q=a"] {
                #expect(
                    try await server.refusal(uri)
                        == Refusal(status: 503, error: "Too many requests wait for the database."))
            }
            held.release()
            try await until { try await server.get("/packages").status == .ok }
        }
    }

    @Test func refusesMoreWaiters() async throws {
        var configuration = Configuration()
        configuration.maximumWaiters = 1
        let queue = try DatabaseQueue(configuration: configuration)
        var limits = ServerLimits()
        limits.readTime = .seconds(600)
        // Without the observation of `/events`, which would wait, too.
        try await TestServer.run(limits: limits, database: queue, runsServices: false) { server async throws in
            let held = await Held(queue)
            async let waiting = server.get("/packages")
            try await until { queue.statistics.writer.waiters == 1 }
            #expect(
                try await server.refusal("/statistics")
                    == Refusal(status: 503, error: "Too many requests wait for the database."))
            held.release()
            #expect(try await waiting.status == .ok)
        }
    }

    @Test func tellsErrorsOfTheDatabaseApart() {
        func status(_ code: ResultCode, _ message: String = "text") -> Int {
            RequestError(DatabaseError(resultCode: code, message: message)).status.code
        }
        #expect(status(.SQLITE_BUSY) == 503)
        #expect(status(.SQLITE_INTERRUPT) == 503)
        #expect(status(.SQLITE_MISUSE, "Connection is closing") == 503)
        #expect(status(.SQLITE_MISUSE, "Connection is closed") == 503)
        #expect(status(.SQLITE_MISUSE) == 500)
        #expect(status(.SQLITE_CORRUPT) == 500)
        #expect(status(.SQLITE_FULL) == 507)
    }

    @Test func answersThatAClosedDatabaseIsShuttingDown() async throws {
        let queue = try DatabaseQueue()
        try await TestServer.run(database: queue) { server async throws in
            try await queue.closeAsync()
            #expect(
                try await server.refusal("/packages") == Refusal(status: 503, error: "The server is shutting down."))
            #expect(try await server.refusal("/health").status == 503)
        }
    }

    @Test func tellsThatItsDatabaseIsHeld() async throws {
        var limits = ServerLimits()
        limits.healthTime = .milliseconds(50)
        let queue = try DatabaseQueue()
        try await TestServer.run(limits: limits, database: queue) { server async throws in
            let held = await Held(queue)
            let refusal = try await server.refusal("/health")
            #expect(refusal.status == 503)
            #expect(refusal.error.hasPrefix("The database can't be used: "))
            held.release()
            try await until { try await server.get("/health").status == .ok }
        }
    }

    @Test func tellsThatItsFileIsGone() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/catalog.sqlite"
        let pool = try DatabasePool(path: path)
        var limits = ServerLimits()
        limits.healthTime = .seconds(600)
        try await TestServer.run(limits: limits, database: pool, path: path) { server async throws in
            #expect(try await server.get("/health").status == .ok)
            try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
            let refusal = Refusal(status: 503, error: "The file of the database was removed or replaced.")
            #expect(try await server.refusal("/health") == refusal)
            #expect(try await Refusal(server.post(stanzas(0..<1))) == refusal)
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            #expect(try await server.refusal("/health") == refusal)
        }
    }

    @Test func tellsItsHealth() async throws {
        var limits = ServerLimits()
        limits.healthTime = .seconds(600)
        try await TestServer.run(limits: limits) { server async throws in
            #expect(try await server.get("/health").text == #"{"status":"ok"}"#)
            server.server.hub.noteShutdown()
            #expect(
                try await server.refusal("/health") == Refusal(status: 503, error: "The server is shutting down."))
            #expect(try await Refusal(server.post(stanzas(0..<1))).status == 503)
        }
    }
}
