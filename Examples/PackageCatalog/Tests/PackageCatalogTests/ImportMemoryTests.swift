import Foundation
import Quarry
import Synchronization
import Testing

@testable import PackageCatalog

/// An import holds some packages, however large they are.
@Suite(.timeLimit(.minutes(2))) struct ImportMemoryTests {
    /// Stanzas of packages `p0`, `p1`… whose descriptions have a length, which the index of the search skips fast.
    private static func stanzas(_ count: Int, descriptionLength: Int) -> String {
        let description = String(repeating: ".", count: descriptionLength)
        return (0..<count).map { "Package: p\($0)\nDescription: a\n \(description)\n" }.joined(separator: "\n")
    }

    /// The packages at the end of each batch.
    private static func batches(of text: String) async throws -> [Int] {
        let stored = Mutex<[Int]>([])
        let catalog = try await Catalog.inMemory()
        _ = try await Importer(catalog: catalog).run([TextSource(text)]) { event in
            if case .stored(let progress) = event { stored.withLock { $0.append(progress.packages) } }
        }
        return stored.withLock(\.self)
    }

    @Test func batchesEndByNumber() async throws {
        #expect(try await Self.batches(of: Self.stanzas(501, descriptionLength: 10)) == [500, 501])
    }

    /// Six descriptions have more than 4 MiB.
    @Test func batchesEndByWeight() async throws {
        #expect(try await Self.batches(of: Self.stanzas(8, descriptionLength: 800_000)) == [6, 8])
    }

    private static func packages(_ text: String) throws -> [Package] {
        var parser = ControlFileParser(keeping: Package.fieldNames)
        return try (parser.parse(Array(text.utf8)) + parser.finish()).map { try Package(stanza: $0.get()) }
    }

    @Test func stepsEndByNumberAndByWeight() throws {
        let small = try Self.packages(Self.stanzas(41, descriptionLength: 10))
        #expect(Catalog.stepEnds(of: small) == [20, 40, 41])
        let large = try Self.packages(Self.stanzas(5, descriptionLength: 200_000))
        #expect(Catalog.stepEnds(of: large) == [2, 4, 5])
        #expect(Catalog.stepEnds(of: large + small) == [2, 4, 24, 44, 46])
        #expect(Catalog.stepEnds(of: []) == [])
    }

    /// Alternatives take more memory than their text.
    @Test func alternativesHaveWeight() throws {
        let text = "Package: a\nDepends: " + Array(repeating: "b", count: 10_000).joined(separator: "|")
        let package = try #require(try Self.packages(text).first)
        #expect(package.weight > 2_000_000)
        #expect(Catalog.stepEnds(of: [package, package]) == [1, 2])
    }

    /// 12 MB of dependencies: in packages of one batch, they would take a gigabyte.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status"), "Linux tells the peak"))
    func aProcessStaysSmall() async throws {
        let folder = try TemporaryFolder()
        let depends = Array(repeating: "a", count: 150_000).joined(separator: ",")
        let list = try folder.file("list", (0..<40).map { "Package: p\($0)\nDepends: \(depends)\n\n" }.joined())
        // Its standard input stays open, so that it runs when it has read the list.
        let run = try CatalogProcess(["--database", folder.path + "/c.sqlite", list, "-"], in: folder)
        try await run.says("list:119: bad Depends: too many alternatives")
        let status = try String(contentsOfFile: "/proc/\(run.process.processIdentifier)/status", encoding: .utf8)
        let peak = try #require(status.firstMatch(of: /VmHWM:\s+(\d+) kB/).flatMap { Int($0.1) })
        #expect(peak < 250_000)
        try run.input.fileHandleForWriting.close()
        #expect(await run.status() == 0, "\(run.error)")
    }
}
