import Foundation
import Quarry
import Testing

@testable import PackageCatalog

struct CheckTests {
    private static func check(
        _ path: String, quick: Bool = false
    ) async -> (status: Int32, output: String, error: String) {
        let capture = Capture()
        let status = await CatalogCheck(database: path, isQuick: quick, console: capture.console()).run()
        return (status, capture.output, capture.error)
    }

    /// Runs SQL that the library would refuse.
    private static func execute(_ sql: String, in path: String) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.defensive = false
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.writeWithoutTransaction { db in try db.execute(sql: sql) }
        try queue.close()
    }

    @Test func anIntactFile() async throws {
        let folder = try TemporaryFolder()
        let path = try await folder.catalogue(12)
        let before = bytes(path)
        for quick in [false, true] {
            let result = await Self.check(path, quick: quick)
            #expect(result.status == 0)
            #expect(result.output.hasPrefix("\(path): intact, checked in "))
        }
        #expect(bytes(path) == before)
        #expect(try folder.names() == ["c.sqlite"])
    }

    @Test func aDamagedPage() async throws {
        let folder = try TemporaryFolder()
        let path = try await folder.catalogue(12)
        try damage(path, "dependencies")
        let before = bytes(path)
        let result = await Self.check(path)
        #expect(result.status == 1)
        #expect(result.output.hasPrefix("Problems of \(path)\n  kind       place    problem\n"))
        #expect(result.output.contains("\n  structure  page "))
        #expect(result.error.hasSuffix("catalog: \(path): is damaged; `catalog salvage` saves what can be read\n"))
        #expect(bytes(path) == before)
    }

    @Test func aFullTextIndexWithoutEntries() async throws {
        let folder = try TemporaryFolder()
        let path = try await folder.catalogue(12)
        try Self.execute("DELETE FROM package_search_data WHERE id > 10", in: path)
        let result = await Self.check(path)
        #expect(result.status == 1)
        #expect(result.output.contains("\n  full text  package_search  "), "\(result.output)")
    }

    @Test func aBrokenForeignKeyIsNoDamage() async throws {
        let folder = try TemporaryFolder()
        let path = try await folder.catalogue(3)
        try Self.execute("DELETE FROM names WHERE name = 'p0'", in: path)
        let result = await Self.check(path)
        #expect(result.status == 1)
        #expect(
            result.output.contains("\n  foreign key  packages      FOREIGN KEY constraint violation - from packages "))
        #expect(!result.error.contains("damaged"))
    }

    @Test func whatIsNoCatalogue() async throws {
        let folder = try TemporaryFolder()
        let unreadable = try await folder.catalogue(12)
        try damage(unreadable, "sqlite_master")
        let foreign = try await folder.foreignDatabase()
        let text = try folder.file("text", String(repeating: "not a database ", count: 100))
        for (path, message) in [
            (folder.path + "/missing", "there is no such file"),
            (text, "is not an SQLite database; it was left as it is"),
            (foreign, "is a database of another program; it was left as it is"),
            (
                unreadable,
                "is damaged: database disk image is malformed; `catalog salvage` saves what can be read"
            ),
        ] {
            let result = await Self.check(path)
            #expect(result.status == 1)
            #expect(result.error == "catalog: \(path): \(message)\n")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/missing"))
    }

    @Test func interrupted() async throws {
        let folder = try TemporaryFolder()
        let path = try await folder.catalogue(12)
        let capture = Capture()
        let check = CatalogCheck(database: path, console: capture.interrupted)
        #expect(await Task { await check.run() }.value == 130)
        let erase = "\r\u{1B}[K"
        #expect(capture.error == erase + "checking pages and indexes" + erase + "catalog: interrupted\n")
        #expect(capture.output == "")
    }
}

struct SalvageTests {
    private static func salvage(
        _ damaged: String, into target: String
    ) async -> (status: Int32, output: String, error: String) {
        let capture = Capture()
        let status = await CatalogSalvage(damaged: damaged, target: target, console: capture.console()).run()
        return (status, capture.output, capture.error)
    }

    @Test func everythingOfAnIntactFile() async throws {
        let folder = try TemporaryFolder()
        let path = try await folder.catalogue(12)
        let target = folder.path + "/new.sqlite"
        let result = await Self.salvage(path, into: target)
        #expect(result.status == 0)
        #expect(result.output.contains("Salvaged \(path) into \(target): complete\n"), "\(result.output)")
        let catalog = try await Catalog.open(path: target)
        #expect(
            try await catalog.counts().line == "12 packages  12 names  1 sections  0 maintainers  11 dependencies")
        #expect(try await catalog.search("p11", limit: 9).map(\.name) == ["p11"])
        try await catalog.close()
        #expect(try folder.names() == ["c.sqlite", "new.sqlite"])
    }

    @Test func theRowsOfADamagedFile() async throws {
        let folder = try TemporaryFolder()
        let path = try await folder.catalogue(12)
        try damage(path, "dependencies")
        let before = bytes(path)
        let target = folder.path + "/new.sqlite"
        let result = await Self.salvage(path, into: target)
        #expect(result.status == 1)
        #expect(result.output.contains("Salvaged \(path) into \(target): incomplete\n"), "\(result.output)")
        let rows = result.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(rows.contains(["packages", "12", "0", "0", "0", "0"]))
        #expect(rows.contains(["dependencies", "0", "0", "0", "0", "1"]))
        #expect(result.output.contains("Lost pages\n"))
        let catalog = try await Catalog.open(path: target)
        #expect(try await catalog.counts().line == "12 packages  12 names  1 sections  0 maintainers  0 dependencies")
        try await catalog.close()
        #expect(bytes(path) == before)
    }

    @Test func aDamagedSchema() async throws {
        let folder = try TemporaryFolder()
        let path = try await folder.catalogue(12)
        try damage(path, "sqlite_master")
        let target = folder.path + "/new.sqlite"
        let result = await Self.salvage(path, into: target)
        #expect(result.status == 1)
        #expect(result.output.contains("  a part of the schema is lost: tables may be missing\n"), "\(result.output)")
        #expect(try packages(in: target) == 12)
    }

    @Test func rowsThatTheirTableRefuses() async throws {
        let folder = try TemporaryFolder()
        let path = try await folder.catalogue(12)
        let queue = try DatabaseQueue(path: path)
        try await queue.writeWithoutTransaction { db in
            try db.execute(
                sql: "PRAGMA ignore_check_constraints = 1; UPDATE packages SET installed_size = -1 WHERE id > 10")
        }
        try queue.close()
        let result = await Self.salvage(path, into: folder.path + "/new.sqlite")
        #expect(result.status == 1)
        let rows = result.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(rows.contains(["packages", "10", "0", "2", "0", "0"]), "\(result.output)")
        #expect(result.output.contains("\n  2 rows without a place are in lost_and_found\n"))
    }

    @Test func aDatabaseOfAnotherProgram() async throws {
        let folder = try TemporaryFolder()
        let foreign = try await folder.foreignDatabase()
        #expect(await Self.salvage(foreign, into: folder.path + "/new.sqlite").status == 0)
    }

    @Test func whatCannotBeSalvaged() async throws {
        let folder = try TemporaryFolder()
        let path = try await folder.catalogue(3)
        let existing = try folder.file("existing", "precious")
        let empty = try folder.file("empty", "")
        let names = try folder.names()
        let target = folder.path + "/new.sqlite"
        for (damaged, target, message) in [
            (folder.path + "/missing", target, "\(folder.path)/missing: there is no such file"),
            (folder.path, target, "\(folder.path): can't be read: it is a directory"),
            (path, existing, "\(existing): exists already; salvage into a new file"),
            (path, path, "\(path): exists already; salvage into a new file"),
            (empty, target, "\(empty)"), (path, folder.path + "/no/new.sqlite", "\(folder.path)/no"),
        ] {
            let result = await Self.salvage(damaged, into: target)
            #expect(result.status == 1)
            let line = try #require(result.error.split(separator: "\n").last)
            #expect(line.hasPrefix("catalog: ") && line.contains(message), "\(result.error)")
            #expect(result.output == "")
        }
        #expect(bytes(existing) == Data("precious".utf8))
        #expect(try folder.names() == names)
    }

    @Test func interruptedLeavesNothing() async throws {
        let folder = try TemporaryFolder()
        let path = try await folder.catalogue(12)
        let capture = Capture()
        let salvage = CatalogSalvage(
            damaged: path, target: folder.path + "/new.sqlite", console: capture.interrupted)
        #expect(await Task { await salvage.run() }.value == 130)
        #expect(capture.error.contains(" pages  "))
        #expect(capture.error.hasSuffix("\r\u{1B}[Kcatalog: interrupted\n"))
        #expect(try folder.names() == ["c.sqlite"])
    }
}
