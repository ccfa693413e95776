import Foundation
import Quarry
import Testing

@testable import PackageCatalog

struct BackupTests {
    /// A control file that runs something between its two blocks.
    private struct InterruptedSource: ControlFileSource {
        let name = "status"
        let byteCount: Int? = nil
        let first: TextSource
        let second: TextSource
        let between: @Sendable () async throws -> Void

        func read(_ consume: (ControlFileBlock) async throws -> Void) async throws {
            try await first.read(consume)
            try await between()
            try await second.read(consume)
        }
    }

    private static func backUp(
        _ path: String, to target: String, replace: Bool = false, keep: Int? = nil
    ) async -> (status: Int32, output: String, error: String) {
        let capture = Capture()
        let status = await CatalogBackup(
            database: path, target: target, replacesExisting: replace, keptCount: keep, console: capture.console()
        ).run()
        return (status, capture.output, capture.error)
    }

    @Test func aFileWithTheLastCommit() async throws {
        let folder = try TemporaryFolder()
        let path = try await folder.catalogue(12)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: path, configuration: configuration)
        try await other.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN IMMEDIATE; DELETE FROM dependencies; DELETE FROM packages")
        }
        let target = folder.path + "/backup.sqlite"
        let result = await Self.backUp(path, to: target)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "COMMIT") }
        try other.close()
        #expect(result.status == 0)
        let size = try #require(bytes(target)?.count)
        #expect(
            result.output.hasPrefix(
                "Backed up \(path) into \(target): \((size / 4096).grouped) pages, \(size / 1024) KiB, in "))
        #expect(try packages(in: target) == 12)
        #expect(try packages(in: path) == 0)
        #expect(try folder.names() == ["backup.sqlite", "c.sqlite"])
    }

    @Test func inTheMiddleOfAnImport() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/c.sqlite"
        let catalog = try await Catalog.open(path: path)
        let target = folder.path + "/backup.sqlite"
        let source = InterruptedSource(
            first: TextSource(stanzas(15)), second: TextSource("\nPackage: last\n"),
            between: { #expect(await Self.backUp(path, to: target).status == 0) })
        let result = try await Importer(catalog: catalog, batchSize: 5).run([source]) { _ in }
        #expect(result.packages == 16)
        try await catalog.close()
        // Four packages of the first block wait for the rest of their batch, and the fifth for its end.
        #expect(try packages(in: target) == 10)
        #expect(try packages(in: path) == 16)
    }

    /// The import is in the middle of its input, which comes through a pipe.
    @Test(.timeLimit(.minutes(1))) func besideAnotherProcess() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/c.sqlite"
        let run = try CatalogProcess(["--database", path, "--batch-size", "10", "-"], in: folder)
        try run.input.fileHandleForWriting.write(contentsOf: Data((stanzas(15) + "\n").utf8))
        try await run.says("10 packages")
        let target = folder.path + "/backup.sqlite"
        #expect(await Self.backUp(path, to: target).status == 0)
        try run.input.fileHandleForWriting.close()
        #expect(await run.status() == 0)
        #expect(try packages(in: target) == 10)
        #expect(try packages(in: path) == 15)
    }

    /// A backup is made before a new version changes the tables, and has them as they are.
    @Test func aCatalogueOfTheFirstVersion() async throws {
        let folder = try TemporaryFolder()
        let path = try await folder.catalogue(3)
        let first = try await Catalog.open(path: path)
        try await first.revertToFirstVersion()
        try await first.close()
        let before = bytes(path)
        let target = folder.path + "/backup.sqlite"
        #expect(await Self.backUp(path, to: target).status == 0)
        #expect(bytes(path) == before)
        let hasSearch = try await DatabaseQueue(path: target).read { db in try db.tableExists("package_search") }
        #expect(!hasSearch)
    }

    @Test func anExistingFileIsReplacedIfWanted() async throws {
        let folder = try TemporaryFolder()
        let path = try await folder.catalogue(3)
        let target = try folder.file("backup.sqlite", "precious")
        let refused = await Self.backUp(path, to: target)
        #expect(refused.status == 1)
        #expect(refused.error == "catalog: \(target): exists already; --replace replaces it\n")
        #expect(bytes(target) == Data("precious".utf8))
        #expect(await Self.backUp(path, to: target, replace: true).status == 0)
        #expect(try packages(in: target) == 3)
    }

    @Test func aFolderKeepsSome() async throws {
        let folder = try TemporaryFolder()
        let backups = try TemporaryFolder()
        let path = try await folder.catalogue(3)
        var made: [String] = []
        for _ in 0..<3 {
            let result = await Self.backUp(path, to: backups.path, keep: 2)
            #expect(result.status == 0)
            let line = try #require(result.output.split(separator: "\n").first)
            let name = try #require(line.firstMatch(of: #/c-[0-9TZ.-]+\.sqlite/#)).0
            made.append(String(name))
            #expect(result.output.contains("  removed \(backups.path)/\(made[0])\n") == (made.count == 3))
        }
        #expect(try backups.names() == Array(made.suffix(2)))
        #expect(try packages(in: backups.path + "/" + made[2]) == 3)
        let noFolder = await Self.backUp(path, to: folder.path + "/b.sqlite", keep: 2)
        #expect(noFolder.error == "catalog: \(folder.path)/b.sqlite: --keep needs a folder\n")
        #expect(try folder.names() == ["c.sqlite"])
    }

    @Test func whatCannotBeBackedUp() async throws {
        let folder = try TemporaryFolder()
        let damaged = try await folder.catalogue(12, "damaged.sqlite")
        try damage(damaged, "dependencies")
        let foreign = try await folder.foreignDatabase()
        let text = try folder.file("text", String(repeating: "not a database ", count: 100))
        let empty = try folder.file("empty", "")
        let names = try folder.names()
        let target = folder.path + "/backup.sqlite"
        for (path, message) in [
            (folder.path + "/missing", "\(folder.path)/missing: there is no such file"),
            (folder.path, "\(folder.path): can't be read: it is a directory"),
            (empty, "\(empty): is empty: there is no catalogue in it"),
            (text, "\(text): is not an SQLite database; it was left as it is"),
            (foreign, "\(foreign): is a database of another program; it was left as it is"),
            (damaged, "backup of \(damaged) to \(target): the check has found a problem: "),
        ] {
            let before = bytes(path)
            let result = await Self.backUp(path, to: target)
            #expect(result.status == 1)
            #expect(result.error.hasPrefix("catalog: \(message)"), "\(result.error)")
            #expect(result.error.split(separator: "\n").count == 1)
            #expect(result.output == "")
            #expect(bytes(path) == before)
        }
        #expect(try folder.names() == names)
    }

    @Test func targetsWhereNothingCanBe() async throws {
        let folder = try TemporaryFolder()
        let path = try await folder.catalogue(3)
        let missing = folder.path + "/no/backup.sqlite"
        let result = await Self.backUp(path, to: missing)
        #expect(
            result.error == "catalog: backup of \(path) to \(missing): the folder \(folder.path)/no does not exist\n")
        let own = await Self.backUp(path, to: path, replace: true)
        #expect(own.error == "catalog: backup of \(path) to \(path): it is the file of the database itself\n")
        #expect(try packages(in: path) == 3)
        #expect(try folder.names() == ["c.sqlite"])
    }

    /// Ctrl-C, when a part of the pages is copied.
    @Test func anInterruptedBackupLeavesNothing() async throws {
        let folder = try TemporaryFolder()
        let path = try await folder.largeCatalogue()
        let capture = Capture()
        let target = folder.path + "/backup.sqlite"
        let backup = CatalogBackup(database: path, target: target, console: capture.interrupted)
        #expect(await Task { await backup.run() }.value == 130)
        let erase = "\r\u{1B}[K"
        let shown = try #require(capture.error.wholeMatch(of: /(.*)catalog: interrupted\n/.dotMatchesNewlines())).1
        #expect(shown.hasPrefix(erase + "[###.....................]  256 of "), "\(shown)")
        #expect(shown.hasSuffix(erase), "\(shown)")
        #expect(capture.output == "")
        #expect(try folder.names() == ["c.sqlite"])
    }
}

extension TemporaryFolder {
    /// The path of a new catalogue with many more pages than are copied in a step.
    func largeCatalogue() async throws -> String {
        let path = try await catalogue(3)
        let queue = try DatabaseQueue(path: path)
        try await queue.write { db in
            try db.execute(sql: "INSERT INTO maintainers (name) VALUES (hex(zeroblob(2000000)))")
        }
        try queue.close()
        return path
    }
}
