import Foundation
import Quarry
import Testing

@testable import PackageCatalog

struct StatsTests {
    private static func run(
        _ options: CatalogRun.Options, _ work: CatalogStats.Work, slow: Double? = nil
    ) async -> (status: Int32, output: String, error: String) {
        let capture = Capture()
        let status = await CatalogStats(options, work: work, slow: slow, console: capture.console()).run()
        return (status, capture.output, capture.error)
    }

    /// The cells behind the name of a row.
    private static func row(_ name: String, in output: String) -> [Int]? {
        output.split(separator: "\n").first { $0.hasPrefix("  \(name)  ") }?.dropFirst(name.count + 2)
            .split(separator: " ").map { Int($0.replacing(",", with: "")) ?? -1 }
    }

    @Test func countsOfAnImport() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("status", stanzas(12))
        let options = CatalogRun.Options(
            inputs: [file], database: folder.path + "/c.sqlite", batchSize: 5, readers: 3)
        let result = await Self.run(options, .importing)
        #expect(result.status == 0)
        #expect(result.error == "")
        let first = try #require(
            result.output.firstMatch(of: /Imported 12 packages in [0-9]+ transactions, beside ([0-9,]+) reads\n/))
        let reads = try #require(Int(first.1.replacing(",", with: "")))
        // The beginning, three batches, and three at the end; more if others wait, or if a step takes long.
        let committed = try #require(Self.row("transactions committed", in: result.output)?.first)
        #expect(committed >= 7)
        #expect(Self.row("transactions rolled back", in: result.output) == [0])
        #expect(Self.row("commits failed", in: result.output) == [0])
        let writer = try #require(Self.row("writer", in: result.output))
        #expect(writer[0] == 1 && writer[1] == 1 && writer[4] == 0)
        // The library's own accesses count, too: it looks after the log now and then.
        #expect(writer[5] >= 7)
        let readers = try #require(Self.row("readers", in: result.output))
        #expect(readers[1] == 3 && readers[3] == 0 && readers[4] == 0 && readers[5] == reads)
        let waits = try #require(Self.row("writer   wait", in: result.output))
        #expect(waits[0] == writer[5])
        // One execution for each package at least, prepared at most once a transaction.
        let run = try #require(Self.row("statements run", in: result.output)?.first)
        let prepared = try #require(Self.row("statements prepared", in: result.output)?.first)
        #expect(run >= 12 + reads && prepared > 0 && prepared < run)
        #expect(try #require(Self.row("pages found in the cache", in: result.output)?.first) > 0)
        #expect(try #require(Self.row("size of the log", in: result.output)?.first) > 0)
    }

    @Test func countsOfAnOpenedCatalogue() async throws {
        let folder = try TemporaryFolder()
        let path = try await folder.catalogue(12)
        let before = bytes(path)
        let result = await Self.run(CatalogRun.Options(database: path), .opening)
        #expect(result.status == 0)
        #expect(
            result.output.hasPrefix(
                "12 packages  12 names  1 sections  0 maintainers  11 dependencies\n\nConnections\n"))
        #expect(Self.row("transactions committed", in: result.output) == [0])
        #expect(bytes(path) == before)
        let missing = folder.path + "/missing"
        let none = await Self.run(CatalogRun.Options(database: missing), .opening)
        #expect(none.status == 1)
        #expect(none.error == "catalog: \(missing): there is no such file\n")
        let foreign = try await folder.foreignDatabase()
        let refused = await Self.run(CatalogRun.Options(database: foreign), .opening)
        #expect(refused.error == "catalog: \(foreign): is a database of another program; it was left as it is\n")
        #expect(try folder.names().contains("missing") == false)
    }

    @Test func slowStatementsWithTheirPlans() async throws {
        let folder = try TemporaryFolder()
        let path = try await folder.catalogue(3)
        let all = await Self.run(CatalogRun.Options(database: path), .opening, slow: 0)
        let lines = all.error.split(separator: "\n")
        let counting = try #require(lines.firstIndex { $0.contains("FROM \"totals\"") })
        #expect(lines[counting].wholeMatch(of: /catalog: slow: [0-9.]+ (µs|ms|s), 1 rows: SELECT .*/) != nil)
        #expect(lines[counting + 1] == "  QUERY PLAN")
        #expect(lines[counting + 2].contains("SCAN totals"))
        let none = await Self.run(CatalogRun.Options(database: path), .opening, slow: 3_600_000)
        #expect(none.error == "")
    }

    @Test func interruptedImport() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("status", stanzas(12))
        let path = folder.path + "/c.sqlite"
        let capture = Capture()
        // Shows the first statement of the import, where Ctrl-C comes.
        let stats = CatalogStats(
            CatalogRun.Options(inputs: [file], database: path, readers: 0), slow: 0, console: capture.interrupted)
        #expect(await Task { await stats.run() }.value == 130)
        #expect(capture.error.hasSuffix("catalog: interrupted\n"))
        #expect(capture.output == "")
        #expect(try packages(in: path) == 0)
    }

    @Test func damagedAndMissingFiles() async throws {
        let folder = try TemporaryFolder()
        let path = try await folder.catalogue(3)
        try damage(path, "sqlite_master")
        let damaged = await Self.run(CatalogRun.Options(database: path), .opening)
        #expect(damaged.status == 1)
        #expect(damaged.error.hasPrefix("catalog: \(path): is damaged: database disk image is malformed; "))
        let input = folder.path + "/missing"
        let missing = await Self.run(CatalogRun.Options(inputs: [input], database: path), .importing)
        #expect(missing.error == "catalog: \(input): can't be read: No such file or directory\n")
    }
}
