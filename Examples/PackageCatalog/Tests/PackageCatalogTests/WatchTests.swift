import Foundation
import Quarry
import Testing

@testable import PackageCatalog

struct WatchTests {
    /// Each value is that of a committed transaction, and the last one is complete.
    @Test func countsWhileImporting() async throws {
        let catalog = try await Catalog.inMemory()
        let watching = Task {
            var packages: [Int] = []
            for try await counts in catalog.liveCounts() {
                packages.append(counts.packages)
                if counts.packages == 100 { break }
            }
            return packages
        }
        try await catalog.importText(stanzas(100), batchSize: 10)
        let packages = try await watching.value
        #expect(packages.last == 100)
        #expect(packages == packages.sorted() && packages.allSatisfy { $0.isMultiple(of: 10) })
    }

    @Test func progressOfTheImportsThatFollow() async throws {
        let catalog = try await Catalog.inMemory()
        try await catalog.importText(stanzas(7))
        let progress = try await catalog.importProgress()
        let watching = Task { () -> StoredProgress? in
            for try await stored in progress {
                if let stored, stored.packages == 30 { return stored }
            }
            return nil
        }
        let result = try await catalog.importText(stanzas(30), batchSize: 10)
        let stored = try #require(try await watching.value)
        #expect(stored.rows == result.rows && stored.byteCount == result.byteCount)
    }

    @Test func watchPrintsCounts() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("status", stanzas(12))
        let capture = Capture()
        let options = CatalogRun.Options(inputs: [file], database: folder.path + "/c.sqlite", batchSize: 5)
        #expect(await CatalogWatch(options, console: capture.console()).run() == 0)
        let lines = capture.output.split(separator: "\n")
        let last = try #require(lines.last)
        #expect(last.hasPrefix("12 packages  12 names  1 sections  0 maintainers  11 dependencies  ("))
        #expect(lines.allSatisfy { $0.contains(" packages  ") })
        #expect(capture.error == "")
    }

    /// The other process is another pool here, which is the same to SQLite.
    @Test func followingPrintsTheImportsOfOthers() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/c.sqlite"
        let other = try await Catalog.open(path: path)
        let capture = Capture()
        let options = CatalogRun.Options(inputs: [], database: path)
        let following = Task {
            await CatalogWatch(options, follow: CatalogWatch.Follow(), console: capture.console()).run()
        }
        func lines() -> [String] { capture.output.split(separator: "\n").map(String.init) }
        func until(_ line: String) async { while lines().last?.hasPrefix(line) != true { await Task.yield() } }
        await until("0 packages")
        try await other.importText(stanzas(12), batchSize: 5)
        await until("12 packages  12 names  1 sections  0 maintainers  11 dependencies")
        try await other.importText(stanzas(3))
        await until("3 packages")
        following.cancel()
        #expect(await following.value == 130)
        #expect(capture.error == "catalog: interrupted\n")
        try other.database.close()
    }

    @Test func followingEndsAfterATime() async throws {
        let folder = try TemporaryFolder()
        let capture = Capture()
        let options = CatalogRun.Options(inputs: [], database: folder.path + "/c.sqlite")
        let watch = CatalogWatch(options, follow: CatalogWatch.Follow(seconds: 0), console: capture.console())
        #expect(await watch.run() == 0)
        #expect(capture.error == "")
    }

    @Test func watchReportsWhatItCannotRead() async throws {
        let folder = try TemporaryFolder()
        let capture = Capture()
        let options = CatalogRun.Options(inputs: [folder.path + "/missing"], database: folder.path + "/c.sqlite")
        #expect(await CatalogWatch(options, console: capture.console()).run() == 1)
        #expect(capture.error == "catalog: \(folder.path)/missing: can't be read: No such file or directory\n")
    }
}
