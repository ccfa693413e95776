import Foundation
import HTTPTypes
import NIOCore
import PackageCatalog
import Quarry
import Testing

@testable import CatalogServer

/// `POST /imports`.
struct ImportTests {
    @Test func tellsProgressAndTheEnd() async throws {
        try await TestServer.run { server async throws in
            let text = stanzas(0..<700)
            let response = try await server.post(text)
            #expect(response.headers[.contentType] == "text/event-stream; charset=utf-8")
            let last = try #require(response.events.last)
            #expect(last.name == "done")
            #expect(
                try last.decoded()
                    == ImportAnswer.Done(
                        packageCount: 700, newCount: 700, updatedCount: 0, removedCount: 0, skippedCount: 0, skipped: []
                    ))
            for event in response.events.dropLast() {
                let progress: ImportAnswer.Progress = try event.decoded()
                #expect(event.name == "progress")
                #expect(progress.totalByteCount == text.utf8.count)
                #expect(progress.byteCount <= text.utf8.count)
            }
            #expect(try await server.get(CatalogStatistics.self, "/statistics").packageCount == 700)
        }
    }

    @Test func replacesThePackagesOfItsSource() async throws {
        try await TestServer.run(stanzas: stanzas(0..<10)) { server async throws in
            _ = try await server.post(stanzas(20..<22), source: "other")
            let done: ImportAnswer.Done = try #require(try await server.post(stanzas(5..<12)).events.last).decoded()
            #expect((done.newCount, done.updatedCount, done.removedCount) == (2, 5, 5))
            #expect(try await server.get(CatalogStatistics.self, "/statistics").packageCount == 9)
        }
    }

    @Test func tellsSkippedStanzas() async throws {
        var limits = ServerLimits()
        limits.skippedCount = 1
        try await TestServer.run(limits: limits) { server async throws in
            let text = stanzas(0..<1) + "Package: bad name\n\nVersion: 1\n\n" + stanzas(1..<2)
            let done: ImportAnswer.Done = try #require(try await server.post(text).events.last).decoded()
            #expect(done.packageCount == 2 && done.skippedCount == 2)
            #expect(done.skipped.map(\.reason) == ["bad package name \"bad name\""])
        }
    }

    @Test(arguments: [
        ("", "The body is empty; it must be a Debian control file."),
        ("hello", "The body is no Debian control file: line 1: field without a colon."),
        ("Version: 1\n\n", "The body is no Debian control file: line 1: no Package field."),
        ("\u{0}\u{1}\n", "The body is no Debian control file: line 1: field without a colon."),
    ])
    func refusesABodyThatIsNoControlFile(text: String, sentence: String) async throws {
        try await TestServer.run { server async throws in
            #expect(try await Refusal(server.post(text)) == Refusal(status: 400, error: sentence))
            #expect(server.server.desk.runningCount == 0)
        }
    }

    @Test(arguments: [
        "Transfer-Encoding: chunked\r\n\r\nzz\r\nPackage: a\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n2\r\nPackage: a\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nff\r\nPackage: a\n",
        "Content-Length: 1000\r\n\r\nPackage: a\n",
    ])
    func refusesABodyThatBreaksOff(text: String) async throws {
        try await TestServer.run { server async throws in
            let client = try await SilentClient(
                port: server.port, request: "POST /imports?source=a HTTP/1.1\r\nHost: localhost\r\n" + text)
            client.endRequest()
            let answer = await client.read(until: "}")
            #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"), "\(answer)")
            #expect(answer.contains("The body "), "\(answer)")
            try await until { server.server.desk.runningCount == 0 }
        }
    }

    @Test func refusesABodyThatDoesNotBegin() async throws {
        var limits = ServerLimits()
        limits.beginningTime = .milliseconds(1)
        limits.importCount = 1
        try await TestServer.run(limits: limits) { server async throws in
            let client = try await SilentClient(
                port: server.port,
                request: "POST /imports?source=a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nPackage")
            let answer = await client.read(until: "}")
            #expect(answer.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"), "\(answer)")
            #expect(answer.contains("No package has come within"), "\(answer)")
            #expect(server.server.desk.runningCount == 0)
        }
    }

    @Test func tellsThatTheBeginningHasNoPackage() async throws {
        try await TestServer.run { server async throws in
            let refusal = try await Refusal(server.post(String(repeating: "# text\n", count: 10_000)))
            #expect(refusal.status == 400)
            #expect(refusal.error.hasSuffix(" bytes have no package."), "\(refusal.error)")
        }
    }

    @Test func readsNoMoreThanTheBeginningOfAnotherFile() async throws {
        try await TestServer.run { server async throws in
            let text = String(repeating: "a line\n", count: 100_000)
            let refusal = try await Refusal(server.post(text))
            #expect(refusal.status == 400)
        }
    }

    @Test func refusesALongBody() async throws {
        var limits = ServerLimits()
        limits.importLength = 1000
        try await TestServer.run(limits: limits) { server async throws in
            let text = stanzas(0..<100)
            #expect(
                try await Refusal(server.post(text))
                    == Refusal(
                        status: 413,
                        error: "The body has \(text.utf8.count) bytes; at most 1000 are allowed."))
        }
    }

    @Test(arguments: [
        ("/imports", "The parameter \"source\" is missing: the name of the list, whose packages the import replaces."),
        (
            "/imports?source=a%00b",
            "The name of the source must have at most 200 bytes, and no control characters."
        ),
    ])
    func needsANameForTheSource(uri: String, sentence: String) async throws {
        try await TestServer.run { server async throws in
            let response = try await server.client.send(.post, uri, body: .text(stanzas(0..<1)))
            #expect(try Refusal(await response.collect()) == Refusal(status: 400, error: sentence))
        }
    }

    @Test func importsASourceOnceAtATime() async throws {
        var limits = ServerLimits()
        limits.importCount = 2
        try await TestServer.run(limits: limits) { server async throws in
            let ticket = try server.server.desk.begin("status", totalByteCount: nil)
            #expect(
                try await Refusal(server.post(stanzas(0..<1)))
                    == Refusal(status: 503, error: "An import of \"status\" is running."))
            #expect(try await server.post(stanzas(0..<1), source: "other").status == .ok)
            let second = try server.server.desk.begin("second", totalByteCount: nil)
            #expect(
                try await Refusal(server.post(stanzas(0..<1), source: "other"))
                    == Refusal(status: 503, error: "No more than 2 imports may run at a time."))
            second.end(.failed(.init(reason: "test")))
            ticket.end(.failed(.init(reason: "test")))
            #expect(try await server.post(stanzas(0..<1)).status == .ok)
        }
    }

    @Test func runsTwoSourcesAtATime() async throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.path + "/c.sqlite")
        try await TestServer.run(database: pool) { server async throws in
            async let first = server.post(stanzas(0..<800), source: "first")
            async let second = server.post(stanzas(400..<1200), source: "second")
            #expect(try await first.events.last?.name == "done")
            #expect(try await second.events.last?.name == "done")
            #expect(try await server.get(CatalogStatistics.self, "/statistics").packageCount == 1200)
        }
    }

    @Test func answersWhileItReads() async throws {
        try await TestServer.run { server async throws in
            let (body, send) = AsyncStream.makeStream(of: ByteBuffer.self)
            send.yield(ByteBuffer(string: stanzas(0..<600)))
            let response = try await server.stream(posting: body)
            var events = EventReader(response.body)
            // The answer has begun, and the body hasn't ended.
            #expect(try await events.next()?.name == "progress")
            send.yield(ByteBuffer(string: stanzas(600..<700)))
            send.finish()
            var last: ReceivedEvent?
            while let event = try await events.next() { last = event }
            let done: ImportAnswer.Done = try #require(last).decoded()
            #expect(done.packageCount == 700)
        }
    }

    @Test func keepsWhatWasStoredWhenTheClientGoesAway() async throws {
        try await TestServer.run(stanzas: stanzas(0..<700)) { server async throws in
            let (body, send) = AsyncStream.makeStream(of: ByteBuffer.self)
            send.yield(ByteBuffer(string: stanzas(300..<900)))
            let client = Task {
                var events = EventReader(try await server.stream(posting: body).body)
                while let event = try await events.next() {
                    if event.name == "progress" { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }
            _ = await client.result
            send.finish()
            try await until { server.server.desk.runningCount == 0 }
            // Nothing was removed: the packages after the break may be in the file.
            let broken = try await server.get(CatalogStatistics.self, "/statistics").packageCount
            #expect((700...900).contains(broken))
            let done: ImportAnswer.Done = try #require(
                try await server.post(stanzas(300..<900)).events.last
            ).decoded()
            #expect(done.removedCount == 300)
            #expect(try await server.get(CatalogStatistics.self, "/statistics").packageCount == 600)
        }
    }

    @Test func refusesALongBodyOfUnknownLength() async throws {
        var limits = ServerLimits()
        limits.importLength = 200_000
        try await TestServer.run(limits: limits) { server async throws in
            let (body, send) = AsyncStream.makeStream(of: ByteBuffer.self)
            for _ in 0..<10 { send.yield(ByteBuffer(string: stanzas(0..<600))) }
            send.finish()
            var events = EventReader(try await server.stream(posting: body).body)
            var last: ReceivedEvent?
            while let event = try await events.next() { last = event }
            #expect(last?.name == "failed")
            #expect(last?.data == #"{"reason":"The body has more than 200000 bytes; at most 200000 are allowed."}"#)
        }
    }
}
