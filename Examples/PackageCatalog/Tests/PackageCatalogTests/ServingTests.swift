import Foundation
import Quarry
import Testing

@testable import PackageCatalog

/// The lists, sheets and overviews that a server shows.
struct ServingTests {
    private static let texts = """
        Package: nano
        Architecture: amd64
        Version: 7.2-1
        Section: editors
        Homepage: https://www.nano-editor.org/
        Installed-Size: 2
        Depends: libc6
        Description: small text editor
         It edits text.

        Package: vim
        Architecture: amd64
        Version: 9.0
        Section: editors
        Installed-Size: 3
        Depends: libc6
        Description: Vi IMproved

        Package: libc6
        Architecture: amd64
        Version: 2.36
        Description: GNU C Library

        """

    private static func catalog() async throws -> Catalog {
        let catalog = try await Catalog.inMemory()
        try await catalog.importText(texts)
        return catalog
    }

    @Test func listsNamesOnceInOrder() async throws {
        let catalog = try await Self.catalog()
        try await catalog.importText(texts(version: "7.3"), name: "list")
        let all = try await catalog.list(matching: nil, limit: 2, offset: 1, timeout: .seconds(60))
        #expect(all.packages.map(\.name) == ["nano", "vim"])
        #expect(all.packages.map(\.version) == ["7.2-1", "9.0"])
        #expect(all.matchCount == 3)
        let editors = try await catalog.list(matching: nil, section: "editors", limit: 9, timeout: .seconds(60))
        #expect(editors.packages.map(\.name) == ["nano", "vim"])
        #expect(editors.matchCount == 2)
    }

    private func texts(version: String) -> String {
        "Package: nano\nArchitecture: amd64\nVersion: \(version)\nSection: editors\nDescription: small text editor\n"
    }

    @Test func marksWordsThatWereFound() async throws {
        let catalog = try await Self.catalog()
        let found = try await catalog.list(matching: "TEXT", limit: 9, timeout: .seconds(60))
        #expect(found.packages.map(\.summary) == ["small \u{2}text\u{3} editor"])
        #expect(found.packages.map(\.excerpt) == ["It edits \u{2}text\u{3}."])
        for text in ["", " ", "*", "\"", "\u{0}"] {
            #expect(try await catalog.list(matching: text, limit: 9, timeout: .seconds(60)).matchCount == 0)
        }
    }

    /// A list for each combination of a search and a section, in a section of thousands of packages.
    @Test(arguments: [true, false]) func searchesOnceWhateverTheSectionHas(analyzed: Bool) async throws {
        let catalog = try await Catalog.inMemory()
        let libraries = (1...3_000).map {
            "Package: lib\($0)\nArchitecture: all\nVersion: 1\nSection: libs\nDescription: database library\n"
        }
        try await catalog.importText((libraries + [Self.texts]).joined(separator: "\n"))
        if !analyzed { try await catalog.dropStatistics() }
        for (text, section) in [("database library", "libs"), ("database library", nil), ("text", "editors")] {
            let source = try #require(PackageSource(text: text, section: section))
            for sql in [source.page(limit: 20, offset: 0), source.count] {
                let plan = try await catalog.database.read { db in
                    try SQLRequest<Row>(literal: "EXPLAIN QUERY PLAN \(sql)").fetchAll(db)
                        .map { $0["detail"] as String }
                }
                // The search is the outermost loop, and no other.
                #expect(plan.first?.hasPrefix("SCAN package_search ") ?? false, "\(plan)")
                #expect(plan.count { $0.contains("package_search") } == 1, "\(plan)")
            }
        }
        let found = try await catalog.list(
            matching: "database library", section: "libs", limit: 20, timeout: .seconds(60))
        #expect(found.packages.count == 20 && found.matchCount == 3_000)
    }

    /// The search of the command line, too: packages are looked up by the rows that were found.
    @Test(arguments: [true, false]) func searchIsTheOutermostLoop(analyzed: Bool) async throws {
        let catalog = try await Catalog.inMemory()
        let packages = (1...3_000).map { "Package: lib\($0)\nVersion: 1\nDescription: database library\n" }
        try await catalog.importText(packages.joined(separator: "\n"))
        if !analyzed { try await catalog.dropStatistics() }
        let plans = try await catalog.plans { _ = try await catalog.search("database lib", limit: 10) }
        #expect(plans.count == 1, "\(plans)")
        let search = try #require(plans.first?.range(of: "SCAN package_search VIRTUAL TABLE"))
        let lookup = try #require(plans.first?.range(of: "SEARCH packages USING INTEGER PRIMARY KEY"))
        #expect(search.lowerBound < lookup.lowerBound, "\(plans)")
    }

    /// With the statistics of a large catalogue, the tree reads the dependencies of its packages alone, and the largest
    /// packages come from their index.
    @Test func plansOfALargeCatalogue() async throws {
        let catalog = try await Self.catalog()
        try await catalog.database.write { db in
            try db.execute(
                sql: """
                    DELETE FROM sqlite_stat1;
                    INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
                        ('names', 'names_in_demand', '73312 401'),
                        ('names', 'sqlite_autoindex_names_1', '32544 1'),
                        ('packages', 'packages_by_size', '78547 401 1'),
                        ('packages', 'packages_on_offer', '70347 1 1 1'),
                        ('packages', 'packages_on_import_id', '73312 401'),
                        ('packages', 'packages_on_installed_size', '75600 2'),
                        ('packages', 'packages_on_maintainer_id', '71460 134'),
                        ('packages', 'packages_on_name_id', '78515 1'),
                        ('dependencies', 'dependencies_by_target', '388944 401 2 2'),
                        ('dependencies', 'dependencies', '333792 5 1 1');
                    ANALYZE sqlite_schema
                    """)
        }
        let tree = try await catalog.plans { _ = try await catalog.dependencyTree(of: "nano", depth: 3) }
        #expect(tree.count == 1 && tree[0].contains("SEARCH dependencies USING PRIMARY KEY"), "\(tree)")
        #expect(!tree[0].contains("BLOOM FILTER"), "\(tree)")
        let largest = try await catalog.plans {
            _ = try await catalog.largestPackages(limit: 10)
            _ = try await catalog.overview(timeout: .seconds(60))
        }
        #expect(largest.count { $0.contains("packages_on_installed_size") } == 2, "\(largest)")
    }

    /// The first import analyzes the tables; later ones leave what hardly changes.
    @Test func importUpdatesStatistics() async throws {
        let catalog = try await Catalog.inMemory()
        func statistics() async throws -> [String] {
            try await catalog.database.read { db in
                try String.fetchAll(db, sql: "SELECT DISTINCT tbl FROM sqlite_stat1 ORDER BY tbl")
            }
        }
        try await catalog.importText(Self.texts)
        let tables = try await statistics()
        #expect(Set(tables).isSuperset(of: ["names", "packages", "dependencies", "sections"]), "\(tables)")
        try await catalog.importText(texts(version: "7.3"), name: "list")
        #expect(try await statistics() == tables)
    }

    @Test func showsASheetWithItsNeeds() async throws {
        let catalog = try await Self.catalog()
        let sheet = try #require(
            try await catalog.sheet(of: "nano", depth: 3, limit: 10, versionLimit: 9, timeout: .seconds(60)))
        #expect(sheet.homepage == "https://www.nano-editor.org/")
        #expect(sheet.needs == [.init(name: "libc6", depth: 1, neededBy: "nano", isKnown: true)])
        let none = try await catalog.sheet(of: "none", depth: 3, limit: 10, versionLimit: 9, timeout: .seconds(60))
        #expect(none == nil)
    }

    /// A list has many versions of one name: the sheet reads the texts of one.
    @Test func boundsTheOtherVersionsOfASheet() async throws {
        let catalog = try await Catalog.inMemory()
        let versions = (1...4).map { "Package: a\nArchitecture: all\nVersion: \($0)\n" }
        try await catalog.importText(versions.joined(separator: "\n"))
        func sheet(_ versionLimit: Int) async throws -> PackageSheet {
            try #require(
                try await catalog.sheet(
                    of: "a", depth: 1, limit: 1, versionLimit: versionLimit, timeout: .seconds(60)))
        }
        let all = try await sheet(3)
        #expect(all.version == "1" && all.otherVersions == ["2 all", "3 all", "4 all"] && !all.hasMoreVersions)
        let some = try await sheet(2)
        #expect(some.otherVersions == ["2 all", "3 all"] && some.hasMoreVersions)
    }

    /// The words around a word that was found may be of any length.
    @Test func boundsExcerpts() async throws {
        let catalog = try await Catalog.inMemory()
        let long = String(repeating: "x", count: 5_000)
        try await catalog.importText("Package: a\nDescription: summary\n \(long) text \(long)\n")
        let found = try await catalog.list(matching: "text", limit: 9, timeout: .seconds(60))
        #expect(found.packages.map { $0.excerpt?.count } == [1_000])
    }

    @Test func givesAnOverview() async throws {
        let overview = try await Self.catalog().overview(timeout: .seconds(60))
        #expect(overview.packageCount == 3 && overview.dependencyCount == 2 && overview.installedSize == 5)
        #expect(overview.mostDependedOn == [.init(name: "libc6", dependentCount: 2)])
        #expect(overview.largestPackages.map(\.name) == ["vim", "nano"])
        #expect(overview.sections.map(\.name) == ["editors", nil])
    }

    @Test(arguments: [
        ("Package: a\nVersion: 1\n\n", true), ("Package: a b\n\nPackage: a\n\n", true), ("Version: 1\n\n", false),
        ("not a stanza\n\n", false), ("", false),
    ])
    func probesTheBeginningOfAFile(text: String, isControlFile: Bool) {
        var probe = ControlFileProbe()
        #expect((probe.findsPackage(in: Array(text.utf8)) || probe.findsPackageAtEnd()) == isControlFile)
        if !isControlFile && !text.isEmpty { #expect(probe.reason?.line == 1) }
    }
}
