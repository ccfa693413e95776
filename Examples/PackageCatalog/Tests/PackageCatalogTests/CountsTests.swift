import Quarry
import Synchronization
import Testing

@testable import PackageCatalog

/// The counts that triggers keep, and the lookups that rely on them.
struct CountsTests {
    /// `app` needs `lib` in two entries, wishes for it in one, and names a package that no list has.
    private static let status = """
        Package: app
        Version: 1
        Section: web
        Installed-Size: 7
        Depends: lib (>= 1) | other, lib (<< 9)
        Suggests: lib

        Package: lib
        Version: 1
        Section: libs
        Installed-Size: 5

        Package: bare
        Version: 1
        Pre-Depends: lib
        Recommends: app, lib

        """

    @Test func countsFollowEachChange() async throws {
        let catalog = try await Catalog.inMemory()
        try await catalog.importText(Self.status)
        func demand() async throws -> [String] {
            try await catalog.rows("SELECT name, needing, wishing FROM names ORDER BY name")
        }
        #expect(try await demand() == ["app|0|1", "bare|0|0", "lib|2|2", "other|1|0"])
        #expect(try await catalog.miscounts().isEmpty)
        let changes = [
            "UPDATE packages SET section_id = NULL WHERE id = 1",
            "UPDATE packages SET section_id = 1, installed_size = NULL WHERE id = 1",
            "UPDATE packages SET installed_size = 3, state = 'installed', section_id = 2",
            "DELETE FROM dependencies WHERE package_id = 1 AND position = 1",
            "DELETE FROM dependencies WHERE package_id = 1 AND position = 0",
            "DELETE FROM packages WHERE id = 3", "DELETE FROM packages",
            "DELETE FROM names", "DELETE FROM sections",
        ]
        for change in changes {
            try await catalog.database.write { db in try db.execute(sql: change) }
            #expect(try await catalog.miscounts().isEmpty, "\(change)")
        }
        #expect(try await catalog.counts() == Catalog.inMemory().counts())
    }

    /// Other lists, upgrades, other dependencies, packages that go.
    @Test func countsFollowImports() async throws {
        let catalog = try await Catalog.inMemory()
        let imports = [
            (Self.status, "a"), (Self.status.replacing("Version: 1", with: "Version: 2"), "b"), (Self.status, "a"),
            (Self.status.replacing("lib (<< 9)", with: "bare").replacing("Section: web", with: "Section: libs"), "a"),
            (stanzas(30), "a"), ("", "b"), (stanzas(10, version: "2"), "a"), ("", "a"),
        ]
        for (text, name) in imports {
            try await catalog.importText(text, name: name)
            #expect(try await catalog.miscounts().isEmpty, "\(text)")
        }
        #expect(try await catalog.counts() == Catalog.inMemory().counts())
    }

    @Test func aCatalogueOfTheFirstVersionIsCounted() async throws {
        let catalog = try await Catalog.inMemory()
        try await catalog.importText(Self.status)
        let counts = try await catalog.counts()
        try await catalog.revertToFirstVersion()
        let again = try await Catalog(catalog.database)
        #expect(try await again.counts() == counts)
        #expect(try await again.miscounts().isEmpty)
    }

    /// The work of a lookup doesn't grow with the catalogue, with the planner's statistics and without.
    @Test(arguments: [false, true]) func noLookupScansALargeTable(analyzed: Bool) async throws {
        let small = try await Self.work(packages: 300, analyzed: analyzed)
        let large = try await Self.work(packages: 3_000, analyzed: analyzed)
        #expect(small.count == 9)
        for (name, steps) in small {
            #expect(steps > 0, "\(name)")
            let more = try #require(large[name])
            #expect(more <= steps + steps / 10, "\(name): \(steps) steps, \(more) of ten times the packages")
        }
    }

    /// The steps that SQLite's virtual machine takes for each lookup.
    private static func work(packages: Int, analyzed: Bool) async throws -> [String: Int] {
        let catalog = try await Catalog.inMemory()
        let text = (0..<packages).map { number in
            """
            Package: p\(number)
            Version: 1
            Section: s\(number % 20)
            Maintainer: m\(number % 20)
            Installed-Size: \(number)
            Depends: \((0..<12).filter { number % ($0 + 2) == 0 }.map { "p\($0)" }.joined(separator: ", "))
            Description: \(number < 20 ? "few" : "many")
            """
        }
        try await catalog.importText(text.joined(separator: "\n\n") + "\n\nPackage: bare\n")
        if !analyzed { try await catalog.dropStatistics() }
        let steps = StepCounter()
        let token = catalog.database.addTracer(steps)
        let report = CatalogReport(catalog: catalog, limit: 10)
        var work: [String: Int] = [:]
        for (name, lookup) in [
            ("counts", report.counts), ("largest packages", report.largestPackages),
            ("largest sections", report.largestSections), ("largest of each", report.largestBySection),
            ("most depended-on", report.mostDependedOn), ("lookup", { try await report.lookup("p0") }),
            ("dependency tree", { try await report.dependencyTree("p9") }),
            ("search", { try await report.search("few") }),
            (
                "newest",
                {
                    _ = try await catalog.newestPackage()
                    return TextTable("", [], rows: [])
                }
            ),
        ] as [(String, () async throws -> TextTable)] {
            _ = try await lookup()
            work[name] = steps.take()
        }
        withExtendedLifetime(token) {}
        return work
    }
}

/// Sums the steps of SQLite's virtual machine.
private final class StepCounter: DatabaseTracer {
    let options = DatabaseTracing.Options(.statements)
    private let steps = Mutex(0)

    func receive(_ event: DatabaseTraceEvent) {
        guard case .statement(let statement) = event else { return }
        steps.withLock { $0 += statement.virtualMachineStepCount }
    }

    func take() -> Int {
        steps.withLock { steps in
            defer { steps = 0 }
            return steps
        }
    }
}
