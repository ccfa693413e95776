import Foundation
import HTTPTypes
import NIOCore
import PackageCatalog
import Quarry
import Synchronization
import Testing

@testable import CatalogServer

/// `GET /events`.
struct EventTests {
    @Test func beginWithTheStatistics() async throws {
        try await TestServer.run(stanzas: stanzas(0..<3)) { server async throws in
            var earlier = try await server.events()
            _ = try await earlier.next("statistics") { _ in true }
            let ticket = try server.server.desk.begin("other", totalByteCount: nil)
            defer { ticket.end(.failed(.init(reason: "test"))) }
            _ = try await earlier.next("import") { try $0.decoded(ImportStatus.self).source == "other" }
            var events = try await server.events()
            let event = try #require(try await events.next())
            #expect(event.name == "statistics")
            let first: CatalogStatistics = try event.decoded()
            if first.packageCount != 3 {
                let now = try await events.next("statistics") { event in
                    try event.decoded(CatalogStatistics.self).packageCount == 3
                }
                #expect(now != nil)
            }
        }
    }

    @Test func tellOfAnImportItsCommitsAndTheNewStatistics() async throws {
        try await TestServer.run { server async throws in
            var imports = try await server.events()
            var commits = try await server.events()
            var statistics = try await server.events()
            #expect(try await server.post(stanzas(0..<600)).status == .ok)
            let done = try await imports.next("import") { event in
                try event.decoded(ImportStatus.self).state == .done
            }
            let status: ImportStatus = try #require(done).decoded()
            #expect((status.source, status.packageCount) == ("status", 600))
            let commit: CommitEvent = try #require(
                try await commits.next("commit") { event in
                    try event.decoded(CommitEvent.self).tables?.contains("packages") == true
                }
            ).decoded()
            #expect(commit.number > 0 && commit.count > 0)
            let last = try await statistics.next("statistics") { event in
                try event.decoded(CatalogStatistics.self).packageCount == 600
            }
            #expect(last != nil)
        }
    }

    @Test func tellOfACommitOfAnotherConnection() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/c.sqlite"
        let pool = try DatabasePool(path: path)
        try await TestServer.run(database: pool) { server async throws in
            var commits = try await server.events()
            var statistics = try await server.events()
            #expect(try await statistics.next()?.name == "statistics")
            let other = try await Catalog.open(path: path)
            try await other.database.write { db in
                try db.execute(sql: "UPDATE totals SET packages = 7")
            }
            try await other.close()
            let commit = try await commits.next("commit") { event in
                try event.decoded(CommitEvent.self).tables == nil
            }
            #expect(commit != nil)
            let changed = try await statistics.next("statistics") { event in
                try event.decoded(CatalogStatistics.self).packageCount == 7
            }
            #expect(changed != nil)
        }
    }

    @Test func areBoundedInClients() async throws {
        var limits = ServerLimits()
        limits.eventClients = 1
        try await TestServer.run(limits: limits) { server async throws in
            var events = try await server.events()
            #expect(try await events.next()?.name == "statistics")
            #expect(
                try await server.refusal("/events")
                    == Refusal(status: 503, error: "No more than 1 clients may listen to events."))
            withExtendedLifetime(events) {}
        }
    }

    @Test func disconnectASlowClient() async throws {
        var limits = ServerLimits()
        limits.eventBuffer = 2
        try await TestServer.run(limits: limits) { server async throws in
            let socket = try await SilentClient(port: server.port, uri: "/events")
            let subscribers = server.server.hub.subscribers
            try await until { subscribers.count == 1 }
            let event = ByteBuffer(string: ": " + String(repeating: "x", count: 1 << 18) + "\n\n")
            try await until {
                subscribers.send(event)
                return subscribers.count == 0
            }
            #expect(subscribers.disconnectedCount == 1)
            // The connection has an end, and others are served.
            await socket.readToEnd()
            #expect(try await server.get("/health").status == .ok)
        }
    }

    @Test func forgetAClientThatIsGone() async throws {
        var limits = ServerLimits()
        limits.keepAlive = .milliseconds(1)
        try await TestServer.run(limits: limits) { server async throws in
            let subscribers = server.server.hub.subscribers
            let client = Task {
                var events = try await server.events()
                while try await events.next() != nil {}
            }
            try await until { subscribers.count == 1 }
            client.cancel()
            _ = await client.result
            try await until { subscribers.count == 0 }
            #expect(subscribers.disconnectedCount == 0)
        }
    }

    @Test func keepTheOrderAndTheBoundOfABuffer() async {
        let subscribers = EventSubscribers(limit: 2, buffer: 2)
        subscribers.send(ByteBuffer(string: "present"), presentOf: "statistics")
        let disconnected = Atomic(0)
        let slow = subscribers.subscribe { disconnected.add(1, ordering: .relaxed) }
        let reader = subscribers.subscribe {}
        #expect(subscribers.subscribe {} == nil)
        #expect(await reader?.first { _ in true } == ByteBuffer(string: "present"))
        subscribers.send(ByteBuffer(string: "1"))
        #expect(disconnected.load(ordering: .relaxed) == 0)
        subscribers.send(ByteBuffer(string: "2"))
        #expect(disconnected.load(ordering: .relaxed) == 1)
        #expect(subscribers.disconnectedCount == 1)
        // A new client takes the place.
        #expect(subscribers.subscribe {} != nil)
        var received: [String] = []
        if let slow { for await event in slow { received.append(String(buffer: event)) } }
        #expect(received == ["present", "1"])
    }

    @Test func joinCommits() throws {
        var event = CommitEvent(number: 1, count: 1, tables: ["packages"])
        let data = try JSONEncoder.catalog.encode(event)
        #expect(String(decoding: data, as: UTF8.self) == #"{"count":1,"number":1,"tables":["packages"]}"#)
        event.tables = nil
        #expect(
            String(decoding: try JSONEncoder.catalog.encode(event), as: UTF8.self) == #"{"count":1,"number":1}"#)
    }
}
