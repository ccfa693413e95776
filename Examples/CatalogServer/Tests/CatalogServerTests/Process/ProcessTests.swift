import Foundation
import HTTPTypes
import NIOCore
import PackageCatalog
import Quarry
import Synchronization
import Testing

@testable import CatalogServer

/// The executable as a process.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct ProcessTests {
    /// The answers of a server under load.
    private final class Answers: Sendable {
        private let state = Mutex((statuses: [Int: Int](), acknowledged: [String](), brokenBefore: 0))
        /// Whether SIGTERM was sent: after it connections may be refused.
        let isEnding = Atomic(false)
        private let end = Mutex(ContinuousClock.Instant?.none)
        /// When SIGTERM was sent.
        var endStart: ContinuousClock.Instant? { end.withLock(\.self) }

        var statuses: Set<Int> { state.withLock { Set($0.statuses.keys) } }
        var acknowledged: [String] { state.withLock(\.acknowledged) }
        var brokenBefore: Int { state.withLock(\.brokenBefore) }

        func note(_ status: Int) { state.withLock { $0.statuses[status, default: 0] += 1 } }
        func noteWrite(_ name: String) { state.withLock { $0.acknowledged.append(name) } }

        func noteEnd() {
            end.withLock { $0 = .now }
            isEnding.store(true, ordering: .releasing)
        }

        func noteBroken() {
            if !isEnding.load(ordering: .acquiring) { state.withLock { $0.brokenBefore += 1 } }
        }
    }

    @Test func losesNothingWhenItIsTerminatedUnderLoad() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/catalog.sqlite"
        let process = try await ServerProcess(["--database", path, "--grace", "30"], in: folder)
        let answers = Answers()
        try await store("p0", to: process.client, answers)
        await withDiscardingTaskGroup { group in
            for client in 0..<12 {
                group.addTask {
                    for number in 0... {
                        do {
                            switch number % 4 {
                            case 0: try await store("w\(client)-\(number)", to: process.client, answers)
                            case 1: try await get("/packages?q=package", process.client, answers)
                            case 2: try await get("/packages/p0", process.client, answers)
                            default: try await get("/?q=p", process.client, answers)
                            }
                        } catch {
                            answers.noteBroken()
                            return
                        }
                    }
                }
            }
            group.addTask {
                // A stream that is open must not delay the end.
                guard var events = try? await process.client.events() else { return }
                while (try? await events.next()) != nil {}
            }
            group.addTask {
                try? await until { answers.acknowledged.count >= 20 }
                answers.noteEnd()
                process.terminate()
            }
        }
        #expect(await process.status() == 0, "\(process.error)")
        #expect(try ContinuousClock.now - #require(answers.endStart) < .seconds(30))
        #expect(answers.brokenBefore == 0)
        #expect(answers.statuses.isSubset(of: [200, 503]), "\(answers.statuses)")
        #expect(answers.acknowledged.count >= 20)
        // The log was moved into the file.
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
        let names = try await DatabaseQueue(path: path).read { db in
            try String.fetchSet(db, sql: "SELECT names.name FROM packages JOIN names ON names.id = name_id")
        }
        #expect(Set(answers.acknowledged).isSubset(of: names))
        let integrity = try await DatabaseQueue(path: path).read { db in
            try String.fetchAll(db, sql: "PRAGMA integrity_check")
        }
        #expect(integrity == ["ok"])
    }

    /// A package alone in its source, which is acknowledged by the event `done`.
    private func store(_ name: String, to client: TestClient, _ answers: Answers) async throws {
        let response = try await client.send(
            .post, "/imports?source=\(name)",
            body: .text("Package: \(name)\nArchitecture: all\nVersion: 1\nDescription: a package\n\n"),
            within: .minutes(1))
        answers.note(response.status.code)
        let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
        if response.status.code == 200, text.contains("event: done\n") { answers.noteWrite(name) }
    }

    private func get(_ uri: String, _ client: TestClient, _ answers: Answers) async throws {
        let response = try await client.send(.get, uri, within: .minutes(1))
        answers.note(response.status.code)
        _ = try await response.body.collect(upTo: 1 << 20)
    }

    @Test func tellsOfTheImportOfAnotherProcess() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/catalog.sqlite"
        let list = folder.path + "/list"
        try Data(stanzas(0..<700).utf8).write(to: URL(fileURLWithPath: list))
        let server = try await ServerProcess(["--database", path], in: folder)
        var events = try await server.client.events()
        #expect(try await events.next("statistics") { _ in true } != nil)
        let other = try await ServerProcess(["--database", path, "--import", list], in: folder)
        var isFromOther = false
        var isComplete = false
        while let event = try await events.next() {
            switch event.name {
            case "commit": if try event.decoded(CommitEvent.self).tables == nil { isFromOther = true }
            case "statistics":
                let count = try event.decoded(CatalogStatistics.self).packageCount
                guard count == 700, !isComplete else { continue }
                isComplete = true
                other.terminate()
                #expect(await other.status() == 0, "\(other.error)")
                server.terminate()
            default: break
            }
        }
        #expect(isFromOther)
        #expect(await server.status() == 0, "\(server.error)")
    }

    @Test func makesABackupAtItsStart() async throws {
        let folder = try TemporaryFolder()
        let backups = folder.path + "/backups"
        try FileManager.default.createDirectory(atPath: backups, withIntermediateDirectories: false)
        let server = try await ServerProcess(
            ["--database", folder.path + "/catalog.sqlite", "--backups", backups, "--keep", "2"], in: folder)
        try await until {
            try FileManager.default.contentsOfDirectory(atPath: backups).contains { $0.hasSuffix(".sqlite") }
        }
        server.terminate()
        #expect(await server.status() == 0, "\(server.error)")
    }

    @Test func answersAnImportThatHasNotBegunWhenItIsTerminated() async throws {
        let folder = try TemporaryFolder()
        let server = try await ServerProcess(
            ["--database", folder.path + "/catalog.sqlite", "--grace", "60"], in: folder)
        let client = try await SilentClient(
            port: server.port,
            request: "POST /imports?source=a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nPackage")
        try await until { try await server.metrics().contains("catalog_imports_running 1\n") }
        server.terminate()
        let answer = await client.read(until: "}")
        #expect(answer.hasPrefix("HTTP/1.1 503 "), "\(answer)")
        #expect(answer.contains("The server is shutting down."), "\(answer)")
        #expect(await server.status() == 0, "\(server.error)")
    }

    @Test func keepsConnectionsForRequestsWhenDescriptorsAreFew() async throws {
        let folder = try TemporaryFolder()
        let server = try await ServerProcess(
            ["--database", folder.path + "/catalog.sqlite"], descriptors: 128, in: folder)
        // 64 connections, three quarters of which may be streams.
        var clients: [SilentClient] = []
        var refused = 0
        for _ in 0..<56 {
            let client = try await SilentClient(port: server.port, uri: "/events")
            clients.append(client)
            let answer = await client.read(until: "\r\n\r\n")
            guard answer.hasPrefix("HTTP/1.1 503 ") else { continue }
            refused += 1
            #expect(answer.lowercased().contains("\r\nconnection: close\r\n"))
        }
        #expect(refused == 8)
        #expect(try await server.metrics().contains("catalog_events_clients 48\n"))
        server.terminate()
        #expect(await server.status() == 0, "\(server.error)")
        withExtendedLifetime(clients) {}
    }

    @Test func refusesTheDatabaseOfAnotherProgram() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/foreign.sqlite"
        try await DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE theirs (id)") }
        do {
            _ = try await ServerProcess(["--database", path], in: folder)
            Issue.record("it has started")
        } catch {
            let text = try #require(error as? ServerProcess.NotStarted).message
            #expect(text.contains("is a database of another program; it was left as it is"), "\(text)")
        }
    }
}
