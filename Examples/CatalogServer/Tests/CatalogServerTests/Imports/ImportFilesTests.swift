import Foundation
import Logging
import PackageCatalog
import Quarry
import Testing

@testable import CatalogServer

/// The files that are imported when the server starts.
@Suite(.timeLimit(.minutes(2)))
struct ImportFilesTests {
    private static func server(
        _ limits: ServerLimits = ServerLimits()
    ) async throws -> (CatalogServer, ReadableLog.Lines) {
        let lines = ReadableLog.Lines()
        // However busy the machine is.
        var limits = limits
        limits.slowStatement = .seconds(3600)
        let catalog = try await Catalog(DatabaseQueue(), path: ":memory:")
        return (CatalogServer(catalog, limits: limits, logger: .readable(lines)), lines)
    }

    private static func file(_ name: String, _ text: String, in folder: TemporaryFolder) throws -> String {
        let path = folder.path + "/" + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test func leaveOutFilesThatCannotBeRead() async throws {
        let folder = try TemporaryFolder()
        let (server, lines) = try await Self.server()
        let missing = folder.path + "/missing"
        let damaged = try Self.file("damaged.gz", "no gzip", in: folder)
        let good = try Self.file("good", stanzas(0..<3), in: folder)
        await server.importFiles([missing, damaged, folder.path, good])
        #expect(try await server.statistics().packageCount == 3)
        let log = lines.all
        #expect(log.contains("warning: A list is left out: \(missing): can't be read: No such file or directory"))
        #expect(log.contains("warning: A list is left out: \(folder.path): can't be read: Is a directory"))
        #expect(log.contains { $0.hasPrefix("error: \(damaged): can't be read: gzip failed") }, "\(log)")
        #expect(log.last == "info: Imported")
        #expect(server.desk.runningCount == 0)
    }

    @Test func tellThatNoneCanBeRead() async throws {
        let (server, lines) = try await Self.server()
        await server.importFiles(["/none/1", "/none/2"])
        let reason = "can't be read: No such file or directory"
        #expect(lines.all == [1, 2].map { "warning: A list is left out: /none/\($0): \(reason)" })
    }

    /// A client imports the same list, or as many as may.
    @Test(arguments: ["list", "another"])
    func waitForClients(source: String) async throws {
        let folder = try TemporaryFolder()
        var limits = ServerLimits()
        limits.importCount = source == "another" ? 1 : 2
        limits.importPause = .milliseconds(1)
        let (server, lines) = try await Self.server(limits)
        let list = try Self.file("list", stanzas(0..<3), in: folder)
        let ticket = try server.desk.begin(source == "list" ? list : source, totalByteCount: nil)
        async let importing: Void = server.importFiles([list])
        try await until { lines.all.contains { $0.hasPrefix("info: An import waits: ") } }
        #expect(try await server.statistics().packageCount == 0)
        ticket.end(.failed(.init(reason: "test")))
        await importing
        #expect(try await server.statistics().packageCount == 3)
        #expect(lines.all.count == 2, "\(lines.all)")
    }

    @Test func stopWaitingWhenTheServerShutsDown() async throws {
        let folder = try TemporaryFolder()
        var limits = ServerLimits()
        limits.importPause = .seconds(600)
        let (server, lines) = try await Self.server(limits)
        let list = try Self.file("list", stanzas(0..<3), in: folder)
        let ticket = try server.desk.begin(list, totalByteCount: nil)
        let importing = Task { await server.importFiles([list]) }
        try await until { !lines.all.isEmpty }
        importing.cancel()
        await importing.value
        ticket.end(.failed(.init(reason: "test")))
        #expect(try await server.statistics().packageCount == 0)
    }
}
