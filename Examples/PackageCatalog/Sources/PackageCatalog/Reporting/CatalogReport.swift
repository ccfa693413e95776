/// The tables that a run prints of the catalogue.
struct CatalogReport {
    let catalog: Catalog
    let limit: Int

    func counts() async throws -> TextTable {
        let counts = try await catalog.counts()
        return TextTable(
            "Catalogue", [.left("what"), .right("how many")],
            rows: [
                ["packages", counts.packages.grouped],
                ["  known to dpkg", counts.onMachine.grouped],
                ["  available", counts.available.grouped],
                ["installed size", counts.installedSize.asKibibytes],
                ["dependencies", counts.dependencies.grouped],
                ["package names", counts.names.grouped],
                ["sections", counts.sections.grouped],
                ["maintainers", counts.maintainers.grouped],
            ])
    }

    func largestPackages() async throws -> TextTable {
        TextTable(
            "Largest packages", [.left("package"), .left("version"), .left("arch"), .left("state"), .right("size")],
            rows: try await catalog.largestPackages(limit: limit).map {
                [$0.name, $0.version, $0.architecture, $0.state, $0.installedSize.asKibibytes]
            })
    }

    func largestSections() async throws -> TextTable {
        TextTable(
            "Largest sections", [.left("section"), .right("packages"), .right("size")],
            rows: try await catalog.largestSections(limit: limit).map {
                [$0.name ?? "(none)", $0.packages.grouped, $0.installedSize.asKibibytes]
            })
    }

    func largestBySection() async throws -> TextTable {
        TextTable(
            "Largest packages of each section", [.left("section"), .left("package"), .right("size")],
            rows: try await catalog.largestBySection(sections: limit, packages: 3).flatMap { section in
                section.packages.enumerated().map { number, package in
                    [number == 0 ? section.name : "", package.name, package.installedSize.asKibibytes]
                }
            })
    }

    func mostDependedOn() async throws -> TextTable {
        TextTable(
            "Most depended-on packages", [.left("package"), .right("needed by"), .right("wished for by")],
            rows: try await catalog.mostDependedOn(limit: limit).map {
                [$0.name, $0.needing.grouped, $0.wishing.grouped]
            })
    }

    func lookup(_ name: String) async throws -> TextTable {
        let found = try await catalog.lookUp(name)
        var rows = found.packages.first.map(Self.rows(for:)) ?? [["package", "not in the catalogue"]]
        let others = found.packages.dropFirst()
        rows += others.prefix(limit).map { ["also", "\($0.version) (\($0.architecture), \($0.state))"] }
        if others.count > limit { rows.append(["also", "... and \((others.count - limit).grouped) more"]) }
        rows.append(["needed by", found.demand.needing.grouped])
        rows.append(["wished for by", found.demand.wishing.grouped])
        return TextTable("Lookup: \(name.printable)", [.left("field"), .left("value")], rows: rows)
    }

    /// The dependencies of a package, each indented below its dependent.
    func dependencyTree(_ name: String) async throws -> TextTable {
        let branches = try await catalog.dependencyTree(of: name, depth: 8)
        let children = Dictionary(grouping: branches, by: \.parent)
        func rows(_ parent: Int64?) -> [[String]] {
            (children[parent] ?? []).flatMap { branch in
                [[String(repeating: "  ", count: branch.level) + branch.name]] + rows(branch.id)
            }
        }
        let all = rows(nil)
        let more = all.count > limit ? [["... and \((all.count - limit).grouped) more"]] : []
        return TextTable(
            "Dependency tree: \(name.printable)", [.left("package")], rows: Array(all.prefix(limit)) + more)
    }

    func search(_ text: String) async throws -> TextTable {
        TextTable(
            "Search: \(text.printable)", [.left("package"), .left("version"), .left("found")],
            rows: try await catalog.search(text, limit: limit).map { result in
                [result.name, result.version, result.found.split(separator: "\n").joined(separator: " ")]
            })
    }

    private static func rows(for package: Package) -> [[String]] {
        var rows = [
            ["package", "\(package.name) \(package.version) (\(package.architecture), \(package.state))"]
        ]
        if let summary = package.summary { rows.append(["summary", summary]) }
        if let section = package.section { rows.append(["section", section]) }
        if let maintainer = package.maintainer { rows.append(["maintainer", maintainer]) }
        if let size = package.installedSize { rows.append(["installed size", size.asKibibytes]) }
        for kind in Dependency.Kind.allCases {
            let entries = package.dependencies.filter { $0.kind == kind }
            if !entries.isEmpty {
                rows.append([kind.rawValue, entries.map(\.description).joined(separator: ", ")])
            }
        }
        return rows
    }
}

/// The time of each step of a run, and what it got done.
struct StepTimes {
    private var rows: [[String]] = []

    mutating func add(_ step: String, _ count: Int, _ unit: String, in duration: Duration) {
        // A single one has no rate.
        let rate = count == 1 ? "" : rate(count, per: duration).asRate
        rows.append([step, count.grouped, unit, duration.asMeasured, rate])
    }

    var table: TextTable {
        TextTable(
            "Steps", [.left("step"), .right("count"), .left("of"), .right("time"), .right("per second")], rows: rows)
    }
}
