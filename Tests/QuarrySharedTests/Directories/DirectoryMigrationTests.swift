import Foundation
import Quarry
import QuarryExpectations
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

extension DatabaseDirectoryTests {
    @Test func migrations() throws {
        let runs = Recorded(0)
        var migrator = Self.migrator
        migrator.registerMigration("v2") { db in
            runs.update { $0 += 1 }
            try db.execute(sql: "ALTER TABLE t ADD COLUMN b DEFAULT 7")
        }
        // With tables of an earlier version.
        try Self.insert(make(1).database(named: "old"), 1)
        let directory = try make(1, migrator: migrator)
        for name in ["old", "new", "old", "new"] {
            let columns = try directory.database(named: name).read { db in try db.columns(in: "t").map(\.name) }
            #expect(columns == ["a", "b"])
        }
        #expect(runs.value == 2)
    }

    @Test func failingMigrations() throws {
        struct Failure: Error {}
        let fails = Recorded(true)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            try db.execute(sql: "CREATE TABLE t (a INTEGER PRIMARY KEY)")
            if fails.value { throw Failure() }
        }
        let directory = try make(1, migrator: migrator)
        let a = try directory.database(named: "a")
        expectError(Failure.self) { try Self.values(a) }
        expectError(Failure.self) { try Self.insert(a, 1) }
        #expect(!a.isOpened)
        fails.update { $0 = false }
        try Self.insert(a, 1)
        #expect(try Self.values(a) == [1])
    }

    /// A migration that uses its own database would wait for itself.
    @Test func migrationsThatUseTheirDatabase() throws {
        let reference = Recorded<DatabaseDirectory?>(nil)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { _ in
            _ = try reference.value?.database(named: "a").read { _ in }
        }
        let directory = try make(1, migrator: migrator)
        reference.update { $0 = directory }
        defer { reference.update { $0 = nil } }
        let a = try directory.database(named: "a")
        expectError(
            .SQLITE_MISUSE,
            "\(a.path) is used while it is opened, by Configuration.prepareDatabase or a migration"
        ) { try a.write { _ in } }
    }

    /// A file that can't be opened takes no place from the others.
    @Test func filesThatCannotBeOpened() throws {
        try Data("this is no database at all, however long it is".utf8).write(
            to: URL(fileURLWithPath: folder.file("bad.sqlite")))
        let directory = try make(1)
        let a = try directory.database(named: "a")
        let bad = try directory.database(named: "bad")
        for number in 1...3 {
            try Self.insert(a, number)
            expectError(.SQLITE_NOTADB) { try Self.insert(bad, 1) }
        }
        #expect(try Self.values(a) == [1, 2, 3])
        let missing = try DatabaseDirectory(path: folder.file("missing"))
        expectError(.SQLITE_CANTOPEN) { try missing.database(named: "a").read { _ in } }
        #expect(try missing.names() == [])
    }

    @Test func foldersThatAreMade() throws {
        var configuration = Configuration()
        configuration.createsIntermediateDirectories = true
        let directory = try DatabaseDirectory(
            path: folder.file("x/y"), configuration: configuration, migrator: Self.migrator)
        try Self.insert(directory.database(named: "a"), 1)
        #expect(FileManager.default.fileExists(atPath: folder.file("x/y/a.sqlite")))
    }
}
