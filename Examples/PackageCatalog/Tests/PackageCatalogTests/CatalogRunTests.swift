import Foundation
import Quarry
import Testing

@testable import PackageCatalog

/// The program as its user sees it: exit status, standard output, standard error.
struct CatalogRunTests {
    private static func run(
        _ folder: borrowing TemporaryFolder, inputs: [String], _ change: (inout CatalogRun.Options) -> Void = { _ in }
    ) async throws -> (status: Int32, output: String, error: String) {
        var options = CatalogRun.Options()
        options.database = try folder.file("c.sqlite")
        options.inputs = inputs
        options.machine = MachineFiles(status: folder.path + "/no-status", lists: folder.path + "/no-lists")
        change(&options)
        let capture = Capture()
        let status = await CatalogRun(options, console: capture.console()).run()
        return (status, capture.output, capture.error)
    }

    @Test func printsTables() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("status", stanzas(12) + "\n\nnonsense\n")
        let first = try await Self.run(folder, inputs: [file]) { $0.limit = 2 }
        #expect(first.status == 0)
        #expect(first.error.hasPrefix("\(file):85: field without a colon\n"))
        #expect(first.output.contains("  12 packages: 12 new, 0 updated, 0 removed; 1 malformed stanza skipped\n"))
        #expect(first.output.contains("  p11      1.0      amd64  available  11 KiB\n"))
        #expect(first.output.contains("  libs           12  66 KiB\n"))
        #expect(
            first.output.contains(
                """
                Largest packages of each section
                  section  package    size
                  libs     p11      11 KiB
                           p10      10 KiB
                           p9        9 KiB

                """))
        #expect(first.output.contains("  p0               1              0\n"))
        #expect(first.output.contains("Lookup: p0\n"))
        #expect(first.output.contains("  read meanwhile"))
        // A single one has no rate: neither opening nor a query.
        for step in ["open", "counts", "lookup"] {
            let row = try #require(first.output.split(separator: "\n").first { $0.hasPrefix("  \(step) ") })
            #expect(row.hasSuffix(" s") || row.hasSuffix("ms") || row.hasSuffix("µs"), "\(row)")
        }
        let end = try #require(first.output.split(separator: "\n").last)
        #expect(end.hasPrefix("While 12 packages were written in ") && end.hasSuffix(" a second."), "\(end)")
        let second = try await Self.run(folder, inputs: [file]) { $0.lookup = "p3" }
        #expect(second.status == 0)
        #expect(second.output.contains("  12 packages: 0 new, 12 updated, 0 removed; 1 malformed stanza skipped\n"))
        #expect(second.output.contains("  Depends         p2\n"))
        #expect(
            second.output.contains(
                """
                Dependency tree: p3
                  package
                  p3
                    p2
                      p1
                        p0

                """))
        let third = try await Self.run(folder, inputs: [file]) {
            $0.lookup = "p9"
            $0.limit = 3
        }
        #expect(
            third.output.contains("Dependency tree: p9\n  package\n  p9\n    p8\n      p7\n  ... and 6 more\n"))
        let searched = try await Self.run(folder, inputs: [file]) { $0.search = "P11" }
        #expect(searched.output.contains("Search: P11\n  package  version  found\n  p11      1.0      [p11]\n"))
        let nothing = try await Self.run(folder, inputs: [file]) { $0.search = " \"*\u{1B}" }
        #expect(nothing.output.contains("Search:  \"*\u{FFFD}\n  (none)\n"))
        let fourth = try await Self.run(folder, inputs: [file]) { $0.lookup = "missing" }
        #expect(fourth.output.contains("  package        not in the catalogue\n"))
        #expect(fourth.output.contains("Dependency tree: missing\n  (none)\n"))
    }

    @Test func endsWithWhatItHasShown() {
        var result = ImportProgress()
        (result.packages, result.transactions) = (67_221, 299)
        let reads = ReadLoad.Reads(count: 138_884, elapsed: .seconds(32))
        #expect(
            CatalogRun.end(of: result, reads)
                == "While 67,221 packages were written in 299 transactions, 138,884 reads were answered: 4,340 a second.\n"
        )
        #expect(
            CatalogRun.end(of: result, .init()) == "67,221 packages were written in 299 transactions.\n")
    }

    /// A package that the machine has, and lists offer in other versions.
    @Test func showsEachPackageOnce() async throws {
        let folder = try TemporaryFolder()
        let versions = (1...4).map { "Package: libc6\nArchitecture: amd64\nVersion: 2.\($0)\nDescription: C library\n" }
        let file = try folder.file("x_Packages", versions.joined(separator: "\n"))
        let result = try await Self.run(folder, inputs: [file]) {
            $0.lookup = "libc6"
            $0.search = "library"
            $0.limit = 2
        }
        #expect(
            result.output.contains(
                """
                Lookup: libc6
                  field          value
                  package        libc6 2.1 (amd64, available)
                  summary        C library
                  also           2.2 (amd64, available)
                  also           2.3 (amd64, available)
                  also           ... and 1 more
                  needed by      0
                  wished for by  0

                """), "\(result.output)")
        #expect(
            result.output.contains("Search: library\n  package  version  found\n  libc6    2.1      C [library]\n\n"),
            "\(result.output)")
    }

    @Test func takesTheMachinesFilesByDefault() async throws {
        let folder = try TemporaryFolder()
        let machine = try MachineFiles(
            status: folder.file("status", "Package: a\nStatus: install ok installed\n"), lists: folder.path)
        _ = try folder.file("x_Packages", "Package: a\n")
        let compressed = try await folder.compressed("Package: b\n", by: .gz)
        if let compressed {
            try FileManager.default.moveItem(atPath: compressed, toPath: folder.path + "/y_Packages.gz")
        }
        _ = try folder.file("x_Sources", "Source: a\n")
        let result = try await Self.run(folder, inputs: []) { $0.machine = machine }
        #expect(result.status == 0)
        #expect(!result.error.contains("catalog: "))
        #expect(result.output.contains(compressed == nil ? "2 packages: 2 new" : "3 packages: 3 new"))
    }

    @Test func inputsThatCannotBeRead() async throws {
        let folder = try TemporaryFolder()
        let none = try await Self.run(folder, inputs: [])
        #expect(none.status == 1)
        #expect(
            none.error == """
                catalog: nothing to read: \
                there is no \(folder.path)/no-status and no \(folder.path)/no-lists/*_Packages; \
                give Debian control files as arguments, such as a Packages file of a repository, \
                or - to read standard input

                """)
        let missing = try await Self.run(folder, inputs: [folder.path + "/missing"])
        #expect(missing.status == 1)
        #expect(missing.error == "catalog: \(folder.path)/missing: can't be read: No such file or directory\n")
        let directory = try await Self.run(folder, inputs: [folder.path])
        #expect(directory.error == "catalog: \(folder.path): can't be read: Is a directory\n")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/c.sqlite"))
    }

    @Test func databasesThatCannotBeUsed() async throws {
        let folder = try TemporaryFolder()
        let input = try folder.file("status", stanzas(1))
        let text = try folder.file("text", String(repeating: "not a database ", count: 100))
        let before = bytes(text)
        let foreign = try await folder.foreignDatabase()
        let foreignBefore = bytes(foreign)
        let newer = try folder.file("newer.sqlite")
        try await Catalog.open(path: newer).close()
        try await DatabaseQueue(path: newer).write {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('of tomorrow')")
        }
        for (path, message) in [
            (
                folder.path + "/no/c.sqlite",
                "the catalogue can't be written there: unable to open database file: No such file or directory"
            ),
            (folder.path, "the catalogue can't be written there: it is a directory"),
            (text, "is not an SQLite database; it was left as it is"),
            (foreign, "is a database of another program; it was left as it is"),
            (newer, "is a catalogue of a newer version of this program; it was left as it is"),
        ] {
            let result = try await Self.run(folder, inputs: [input]) { $0.database = path }
            #expect(result.status == 1)
            #expect(result.error == "catalog: \(path): \(message)\n")
            #expect(result.output == "")
        }
        #expect(bytes(text) == before)
        #expect(bytes(foreign) == foreignBefore)
    }

    @Test func aFullDiskKeepsTheStepsBefore() async throws {
        let folder = try TemporaryFolder()
        let input = try folder.file("status", stanzas(2000))
        let path = try folder.file("c.sqlite")
        let result = try await Self.run(folder, inputs: [input]) {
            $0.batchSize = 100
            $0.maximumPages = 60
        }
        #expect(result.status == 1)
        let kept = try #require(try packages(in: path))
        #expect(kept > 0 && kept < 2000 && kept.isMultiple(of: Catalog.packagesPerStep))
        #expect(
            result.error.hasSuffix(
                """
                catalog: \(path): the disk is full, or the file has reached --max-pages; \
                \(path) keeps the \(kept.grouped) packages stored before

                """))
        let again = try await Self.run(folder, inputs: [input])
        #expect(again.output.contains("2,000 packages: \((2000 - kept).grouped) new, \(kept.grouped) updated"))
    }

    @Test func aCancelledImportKeepsTheStepsBefore() async throws {
        let catalog = try await Catalog.inMemory()
        let task = Task {
            try await Importer(catalog: catalog, batchSize: 10).run([TextSource(stanzas(100))]) { event in
                if case .stored(let progress) = event, progress.packages == 30 {
                    withUnsafeCurrentTask { $0?.cancel() }
                }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await catalog.counts().packages == 30)
    }

    /// The executable itself: its input comes through a pipe that stays open, so it is waiting when Ctrl-C comes.
    @Test(.timeLimit(.minutes(1))) func controlC() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("c.sqlite")
        let run = try CatalogProcess(["--database", path, "--batch-size", "10", "-"], in: folder)
        try run.input.fileHandleForWriting.write(contentsOf: Data((stanzas(15) + "\n").utf8))
        try await run.says("10 packages")
        run.process.interrupt()
        #expect(await run.status() == 130)
        let message = "interrupted: the open transaction was rolled back; \(path) keeps the 10 packages stored before"
        #expect(run.error.hasSuffix("catalog: \(message)\n"))
        #expect(try packages(in: path) == 10)
        try run.input.fileHandleForWriting.close()
    }
}
