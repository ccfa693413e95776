import Quarry
import Testing

@testable import PackageCatalog

struct CatalogTests {
    private static let status = """
        Package: app
        Status: install ok installed
        Architecture: amd64
        Version: 1.0
        Section: web
        Maintainer: A <a@example.org>
        Installed-Size: 2048
        Depends: libc6 (>= 2.36) | libc6-udeb, python3:any
        Suggests: app-doc

        Package: libc6
        Status: install ok installed
        Architecture: amd64
        Version: 2.36
        Section: libs
        Maintainer: B <b@example.org>
        Installed-Size: 12000
        """

    private static let packages = """
        SELECT names.name, architecture, version, state, installed_size FROM packages JOIN names ON names.id = name_id
        ORDER BY 1, 2, 3
        """

    @Test func tables() async throws {
        let catalog = try await Catalog.inMemory()
        let result = try await catalog.importText(Self.status)
        #expect([result.packages, result.added, result.updated, result.removed, result.skipped] == [2, 2, 0, 0, 0])
        #expect(result.rows == 15)
        #expect(
            try await catalog.rows(Self.packages) == [
                "app|amd64|1.0|installed|2048", "libc6|amd64|2.36|installed|12000",
            ])
        #expect(
            try await catalog.rows(
                """
                SELECT position, alternative, kind, name, qualifier, relation, dependencies.version
                FROM dependencies JOIN names ON id = target_id ORDER BY 1, 2, 3
                """) == [
                    "0|0|Depends|libc6||>=|2.36", "0|1|Depends|libc6-udeb|||", "1|0|Depends|python3|any||",
                    "2|0|Suggests|app-doc|||",
                ])
        #expect(try await catalog.rows("SELECT name FROM sections ORDER BY 1") == ["libs", "web"])
        let maintainers = try await catalog.rows("SELECT name FROM maintainers ORDER BY 1")
        #expect(maintainers == ["A <a@example.org>", "B <b@example.org>"])
        #expect(try await catalog.rows("PRAGMA foreign_key_check").isEmpty)
    }

    @Test func reports() async throws {
        let catalog = try await Catalog.inMemory()
        try await catalog.importText(Self.status + "\n\nPackage: bare\nDepends: libc6, libc6 (<< 3)")
        let counts = try await catalog.counts()
        #expect([counts.packages, counts.onMachine, counts.available, counts.names] == [3, 2, 1, 6])
        #expect([counts.sections, counts.maintainers, counts.dependencies, counts.installedSize] == [2, 2, 6, 14048])
        #expect(try await catalog.largestPackages(limit: 1).map(\.name) == ["libc6"])
        #expect(
            try await catalog.largestSections(limit: 9).map { "\($0.name ?? "-") \($0.packages) \($0.installedSize)" }
                == ["libs 1 12000", "web 1 2048", "- 1 0"])
        #expect(
            try await catalog.mostDependedOn(limit: 9).map { "\($0.name) \($0.needing) \($0.wishing)" }
                == ["libc6 2 0", "libc6-udeb 1 0", "python3 1 0"])
        let found = try await catalog.lookUp("app")
        #expect(found.packages.map(\.version) == ["1.0"])
        #expect(found.packages.first?.maintainer == "A <a@example.org>")
        #expect(
            found.packages.first?.dependencies.map(\.description)
                == ["libc6 (>= 2.36) | libc6-udeb", "python3:any", "app-doc"])
        #expect(try await catalog.lookUp("app-doc").demand.wishing == 1)
        #expect(try await catalog.lookUp("no' such").packages.isEmpty)
        #expect(try await catalog.newestPackage()?.name == "bare")
    }

    /// Alternatives are part of the tree, and so are names without a package; recommendations aren't. Circles end.
    @Test func dependencyTree() async throws {
        let catalog = try await Catalog.inMemory()
        try await catalog.importText(
            """
            Package: app
            Depends: tool | other, base
            Recommends: extra

            Package: tool
            Pre-Depends: base
            Depends: app, deep

            Package: deep
            Depends: deeper

            Package: base
            Depends: base
            """)
        func tree(_ name: String, depth: Int) async throws -> [String] {
            let branches = try await catalog.dependencyTree(of: name, depth: depth)
            return branches.map { branch in
                let parent = branches.first { $0.id == branch.parent }?.name
                return "\(branch.level) \(branch.name) < \(parent ?? "-")"
            }
        }
        #expect(
            try await tree("app", depth: 9) == [
                "0 app < -", "1 base < app", "1 other < app", "1 tool < app", "2 deep < tool", "3 deeper < deep",
            ])
        #expect(try await tree("tool", depth: 1) == ["0 tool < -", "1 app < tool", "1 base < tool", "1 deep < tool"])
        #expect(try await tree("base", depth: 9) == ["0 base < -"])
        #expect(try await tree("no' such", depth: 9).isEmpty)
    }

    @Test func largestPackagesOfEachSection() async throws {
        let catalog = try await Catalog.inMemory()
        try await catalog.importText(
            """
            Package: bare
            Installed-Size: 9999

            Package: z
            Section: web
            Installed-Size: 7

            """
                + (1...5).map { "\nPackage: p\($0)\nSection: libs\nInstalled-Size: \($0 / 2)\n" }.joined()
                + "\nPackage: unknown\nSection: docs\n")
        let sections = try await catalog.largestBySection(sections: 9, packages: 3)
        #expect(
            sections.map { section in
                "\(section.name): " + section.packages.map { "\($0.name) \($0.installedSize)" }.joined(separator: ", ")
            } == ["web: z 7", "libs: p4 2, p5 2, p2 1", "docs: "])
        #expect(try await catalog.largestBySection(sections: 1, packages: 1).map(\.name) == ["web"])
    }

    @Test func importingAgainUpdatesInPlace() async throws {
        let catalog = try await Catalog.inMemory()
        try await catalog.importText(Self.status)
        let ids = try await catalog.rows("SELECT id FROM packages ORDER BY id")
        let upgraded = Self.status.replacing("Version: 1.0", with: "Version: 1.1")
            .replacing(", python3:any", with: "").replacing("Section: web", with: "Section: net")
        let result = try await catalog.importText(upgraded)
        #expect([result.added, result.updated, result.removed] == [0, 2, 0])
        #expect(try await catalog.rows("SELECT id FROM packages ORDER BY id") == ids)
        #expect(
            try await catalog.rows(Self.packages) == [
                "app|amd64|1.1|installed|2048", "libc6|amd64|2.36|installed|12000",
            ])
        #expect(
            try await catalog.rows("SELECT name FROM names ORDER BY 1") == ["app", "app-doc", "libc6", "libc6-udeb"])
        #expect(try await catalog.rows("SELECT name FROM sections ORDER BY 1") == ["libs", "net"])
    }

    @Test func packagesThatAreGoneAreRemoved() async throws {
        let catalog = try await Catalog.inMemory()
        try await catalog.importText(Self.status)
        try await catalog.importText("Package: offered\nVersion: 1\n\nPackage: offered\nVersion: 2", name: "list")
        let result = try await catalog.importText(
            "Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nVersion: 3")
        #expect(result.removed == 1)
        #expect(
            try await catalog.rows(Self.packages) == [
                "libc6|amd64|3|installed|", "offered||1|available|", "offered||2|available|",
            ])
        #expect(try await catalog.rows("SELECT count(*) FROM dependencies") == ["0"])
    }

    /// The package of a malformed stanza is unknown, so no package is removed because of it.
    @Test func malformedStanzasRemoveNothing() async throws {
        let catalog = try await Catalog.inMemory()
        try await catalog.importText(Self.status)
        let result = try await catalog.importText(Self.status.replacing("Version: 1.0", with: "Version: ?"))
        #expect([result.updated, result.skipped, result.removed] == [1, 1, 0])
        #expect(try await catalog.rows(Self.packages).count == 2)
    }

    @Test func anErrorKeepsWhatWasCommittedBefore() async throws {
        let catalog = try await Catalog.inMemory()
        try await catalog.importText(stanzas(3))
        let importID = try await catalog.beginImport(of: "status")
        var broken = try #require(try await catalog.newestPackage())
        broken.installedSize = -1
        var fresh = broken
        fresh.name = "fresh"
        fresh.installedSize = 1
        let batch = [fresh, broken]
        var progress = ImportProgress()
        let error = await #expect(throws: DatabaseError.self) {
            try await catalog.store(batch, import: importID, progress: &progress)
        }
        #expect(progress == ImportProgress())
        #expect(error?.resultCode == .SQLITE_CONSTRAINT)
        #expect(try await catalog.rows(Self.packages).map { $0.prefix(2) } == ["p0", "p1", "p2"])
        #expect(try await catalog.rows("SELECT name FROM names WHERE name = 'fresh'").isEmpty)
    }

    @Test func aPoolServesReadersDuringTheImport() async throws {
        let folder = try TemporaryFolder()
        let catalog = try await Catalog.open(path: folder.file("c.sqlite"), readers: 2)
        let load = ReadLoad(catalog: catalog, readers: 2)
        let (result, reads) = try await load.run { try await catalog.importText(stanzas(200), batchSize: 20) }
        #expect(result.transactions >= 10)
        #expect(reads.count >= 2)
        #expect(try await catalog.rows("PRAGMA journal_mode") == ["wal"])
        try await catalog.close()
        let again = try await Catalog.open(path: folder.file("c.sqlite"))
        #expect(try await again.counts().packages == 200)
        try await again.close()
    }

    @Test func aFailedImportEndsItsReaders() async throws {
        let load = ReadLoad(catalog: try await Catalog.inMemory(), readers: 2)
        await #expect(throws: MalformedStanza.self) {
            _ = try await load.run { throw MalformedStanza(line: 1, reason: "") }
        }
    }
}
