import Foundation
import Quarry
import Testing

@testable import PackageCatalog

struct RestoreTests {
    private static func restore(
        _ path: String, from source: String
    ) async -> (status: Int32, output: String, error: String) {
        let capture = Capture()
        let status = await CatalogRestore(database: path, source: source, console: capture.console()).run()
        return (status, capture.output, capture.error)
    }

    private static func backUp(_ path: String, to target: String) async {
        let backup = CatalogBackup(database: path, target: target, console: Capture().console())
        #expect(await backup.run() == 0)
    }

    @Test func theContentOfABackup() async throws {
        let folder = try TemporaryFolder()
        let path = try await folder.catalogue(12)
        let backup = folder.path + "/backup.sqlite"
        await Self.backUp(path, to: backup)
        let other = try await Catalog.open(path: path)
        try await other.importText(stanzas(3))
        #expect(try await other.counts().packages == 3)
        let result = await Self.restore(path, from: backup)
        #expect(result.status == 0)
        #expect(
            result.output == """
                Restored \(path) from \(backup)
                  12 packages  12 names  1 sections  0 maintainers  11 dependencies

                """)
        #expect(try await other.counts().packages == 12)
        try await other.importText(stanzas(13))
        #expect(try await other.counts().packages == 13)
        try await other.close()
        #expect(try packages(in: backup) == 12)
        #expect(try folder.names() == ["backup.sqlite", "c.sqlite"])
    }

    @Test func theNewestGoodOneOfAFolder() async throws {
        let folder = try TemporaryFolder()
        let backups = try TemporaryFolder()
        let path = try await folder.catalogue(12)
        await Self.backUp(path, to: backups.path)
        let older = try #require(try backups.names().first)
        await Self.backUp(path, to: backups.path)
        let newer = try #require(try backups.names().last)
        try damage(backups.path + "/" + newer, "packages")
        let result = await Self.restore(path, from: backups.path)
        #expect(result.output.hasPrefix("Restored \(path) from \(backups.path)/\(older)\n  12 packages  "))
        try damage(backups.path + "/" + older, "packages")
        let none = await Self.restore(path, from: backups.path)
        #expect(none.status == 1)
        #expect(none.error == "catalog: \(backups.path): has no backup of c that passes its check\n")
        #expect(try packages(in: path) == 12)
    }

    @Test func aMissingCatalogueAppears() async throws {
        let folder = try TemporaryFolder()
        let backup = try await folder.catalogue(12, "backup.sqlite")
        let path = folder.path + "/c.sqlite"
        #expect(await Self.restore(path, from: backup).status == 0)
        #expect(try packages(in: path) == 12)
        #expect(try folder.names() == ["backup.sqlite", "c.sqlite"])
    }

    @Test func aBackupOfTheFirstVersion() async throws {
        let folder = try TemporaryFolder()
        let backup = try await folder.catalogue(3, "backup.sqlite")
        let first = try await Catalog.open(path: backup)
        try await first.revertToFirstVersion()
        try await first.close()
        let path = try await folder.catalogue(12)
        #expect(await Self.restore(path, from: backup).status == 0)
        let catalog = try await Catalog.open(path: path)
        #expect(try await catalog.search("p2", limit: 9).map(\.name) == ["p2"])
        try await catalog.close()
    }

    /// The way back from a version that has changed the tables.
    @Test func aCatalogueOfANewerVersionIsReplaced() async throws {
        let folder = try TemporaryFolder()
        let path = try await folder.catalogue(3)
        try await DatabaseQueue(path: path).write {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('of tomorrow')")
        }
        let backup = try await folder.catalogue(12, "backup.sqlite")
        #expect(await Self.restore(path, from: backup).status == 0)
        #expect(try packages(in: path) == 12)
    }

    @Test(arguments: [false, true]) func whatIsNoBackup(thereIsACatalogue: Bool) async throws {
        let folder = try TemporaryFolder()
        let path = thereIsACatalogue ? try await folder.catalogue(3) : folder.path + "/c.sqlite"
        let damaged = try await folder.catalogue(12, "damaged.sqlite")
        try damage(damaged, "dependencies")
        let unreadable = try await folder.catalogue(12, "unreadable.sqlite")
        try damage(unreadable, "sqlite_master")
        let newer = try await folder.catalogue(1, "newer.sqlite")
        try await DatabaseQueue(path: newer).write {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('of tomorrow')")
        }
        let foreign = try await folder.foreignDatabase()
        let text = try folder.file("text", String(repeating: "not a database ", count: 100))
        let empty = try folder.file("empty", "")
        let names = try folder.names().filter { !$0.contains("-") }
        for (source, message) in [
            (folder.path + "/missing", "\(folder.path)/missing: there is no such file"),
            (folder.path, "\(folder.path): has no backup of c that passes its check"),
            (empty, "\(empty): is empty: there is no catalogue in it"),
            (text, "\(text): is not an SQLite database; it was left as it is"),
            (foreign, "\(foreign): is a database of another program; it was left as it is"),
            (newer, "\(newer): is a catalogue of a newer version of this program; it was left as it is"),
            (unreadable, "\(unreadable): is damaged: database disk image is malformed; "),
            (
                damaged,
                (thereIsACatalogue ? "restoring \(path) from \(damaged)" : "backup of \(damaged) to \(path)")
                    + ": the check has found a problem: "
            ),
        ] {
            let result = await Self.restore(path, from: source)
            #expect(result.status == 1)
            #expect(result.error.hasSuffix("\n") && result.error.contains("catalog: \(message)"), "\(result.error)")
            #expect(result.output == "")
        }
        if thereIsACatalogue { #expect(try packages(in: path) == 3) }
        #expect(try folder.names().filter { !$0.contains("-") } == names)
    }

    @Test func whatMustNotBeReplaced() async throws {
        let folder = try TemporaryFolder()
        let backup = try await folder.catalogue(3, "backup.sqlite")
        let foreign = try await folder.foreignDatabase()
        let damaged = try await folder.catalogue(3, "damaged.sqlite")
        try damage(damaged, "sqlite_master")
        for (path, message) in [
            (foreign, "\(foreign): is a database of another program; it was left as it is"),
            (
                damaged,
                "\(damaged): is damaged: database disk image is malformed; "
                    + "move it away, with its -wal, and restore again"
            ),
            (backup, "restoring \(backup) from \(backup): it is the file of the database itself"),
        ] {
            let before = bytes(path)
            let result = await Self.restore(path, from: backup)
            #expect(result.status == 1)
            #expect(result.error.hasSuffix("catalog: \(message)\n"), "\(result.error)")
            #expect(bytes(path) == before)
        }
    }

    /// Ctrl-C, before the content is replaced, and when a part of the new file is copied.
    @Test(arguments: [false, true]) func anInterruptedRestorationChangesNothing(thereIsACatalogue: Bool) async throws {
        let folder = try TemporaryFolder()
        let backup = folder.path + "/backup.sqlite"
        try FileManager.default.moveItem(atPath: try await folder.largeCatalogue(), toPath: backup)
        let path = thereIsACatalogue ? try await folder.catalogue(12) : folder.path + "/c.sqlite"
        let capture = Capture()
        let restore = CatalogRestore(database: path, source: backup, console: capture.interrupted)
        #expect(await Task { await restore.run() }.value == 130)
        #expect(capture.error.hasSuffix("\r\u{1B}[Kcatalog: interrupted\n"))
        #expect(capture.output == "")
        if thereIsACatalogue { #expect(try packages(in: path) == 12) }
        #expect(FileManager.default.fileExists(atPath: path) == thereIsACatalogue)
        #expect(try folder.names().allSatisfy { !$0.hasSuffix(".partial") })
    }
}
