import Quarry
import Testing

@testable import PackageCatalog

struct SearchTests {
    private static let texts = """
        Package: sqlite3
        Version: 3.40
        Description: Command line interface for SQLite 3
         SQLite is a C library that implements an SQL database engine.
         .
         Programs that link with it can have databases without servers.

        Package: postgresql
        Version: 15
        Description: object-relational SQL database (supported version)
         Servers for many users.

        Package: shell
        Version: 2
        Description: reads commands
        """

    private static func found(_ catalog: Catalog, _ text: String, limit: Int = 9) async throws -> [String] {
        try await catalog.search(text, limit: limit).map { "\($0.name) \($0.version): \($0.found)" }
    }

    @Test func namesAndDescriptions() async throws {
        let catalog = try await Catalog.inMemory()
        try await catalog.importText(Self.texts)
        let databases = try await Self.found(catalog, "DATABASES")
        #expect(
            databases == [
                "postgresql 15: object-relational SQL [database] (supported version)",
                "sqlite3 3.40: SQLite is a C library that implements an SQL [database]…",
            ])
        #expect(try await Self.found(catalog, "sqlite", limit: 1).first?.hasPrefix("sqlite3 3.40: [sqlite3]") == true)
        #expect(try await Self.found(catalog, "sql serv").map { $0.prefix(6) } == ["postgr", "sqlite"])
        #expect(try await Self.found(catalog, "command").map { $0.prefix(5) } == ["shell", "sqlit"])
        for nothing in ["", "*", "\"", "database shell", "' OR 1"] {
            #expect(try await Self.found(catalog, nothing).isEmpty, "\(nothing)")
        }
    }

    @Test func whatIsUpdatedOrRemovedIsFoundSo() async throws {
        let catalog = try await Catalog.inMemory()
        try await catalog.importText(Self.texts)
        try await catalog.importText(Self.texts.replacing("reads commands", with: "interprets lines"))
        #expect(try await Self.found(catalog, "commands").map { $0.prefix(6) } == ["sqlite"])
        #expect(try await Self.found(catalog, "interpret") == ["shell 2: [interprets] lines"])
        try await catalog.importText("Package: shell\nVersion: 2")
        #expect(try await Self.found(catalog, "database").isEmpty)
        #expect(try await Self.found(catalog, "shell") == ["shell 2: [shell]"])
        // FTS5 compares its index with the texts.
        try await catalog.database.write { db in
            try db.execute(sql: "INSERT INTO package_search (package_search, rank) VALUES ('integrity-check', 1)")
        }
    }
}

struct MigrationTests {
    /// The file of a program that noted no migrations, and had no search.
    @Test func aCatalogueOfTheFirstVersion() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("c.sqlite")
        let first = try await Catalog.open(path: path)
        try await first.importText("Package: a\nVersion: 1\nDescription: first of all")
        try await first.revertToFirstVersion()
        try await first.close()

        let catalog = try await Catalog.open(path: path)
        let applied = try await catalog.database.read { db in try CatalogSchema.migrator.appliedMigrations(db) }
        #expect(applied == ["packages", "search", "progress", "counts", "homepages"])
        #expect(try await catalog.search("first", limit: 9).map(\.found) == ["[first] of all"])
        try await catalog.importText("Package: a\nVersion: 1\nDescription: first of all\n or the last")
        #expect(try await catalog.search("last", limit: 9).map(\.name) == ["a"])
        try await catalog.close()
    }
}
