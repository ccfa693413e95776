import Quarry

/// How much there is.
struct CatalogCounts: CatalogRow {
    var packages, onMachine, available, names, sections, maintainers, dependencies: Int
    /// In KiB.
    var installedSize: Int
}

struct PackageSize: CatalogRow {
    var name, architecture, version, state: String
    /// In KiB.
    var installedSize: Int
}

struct SectionSize: CatalogRow {
    /// Nil for packages that name none.
    var name: String?
    var packages: Int
    /// In KiB.
    var installedSize: Int
}

/// A section with its largest packages.
struct SectionLargest: CatalogRow {
    var name: String
    var packages: [PackageSize]
}

/// How many packages name another one, as a dependency or as a recommendation or suggestion.
struct Demand: CatalogRow {
    var name: String
    var needing, wishing: Int
}

extension CatalogCounts {
    static func fetch(_ db: Database) throws -> CatalogCounts {
        let request = Package.select { package in
            [
                count(.allColumns).forKey("packages"),
                count(.allColumns, filter: package.state != Package.available).forKey("on_machine"),
                count(.allColumns, filter: package.state == Package.available).forKey("available"),
                (sum(package.installedSize) ?? 0).forKey("installed_size"),
                Name.select(count(.allColumns)).forKey("names"),
                Section.select(count(.allColumns)).forKey("sections"),
                Maintainer.select(count(.allColumns)).forKey("maintainers"),
                AlternativeRecord.select(count(.allColumns)).forKey("dependencies"),
            ]
        }
        guard let counts = try request.asRequest(of: CatalogCounts.self).fetchOne(db) else {
            throw DatabaseError(message: "an aggregate returned no row")
        }
        return counts
    }
}

extension Catalog {
    func counts() async throws -> CatalogCounts { try await database.read(CatalogCounts.fetch) }

    func largestPackages(limit: Int) async throws -> [PackageSize] {
        try await database.read { db in
            try Package.all().named().largestFirst().limit(limit).asRequest(of: PackageSize.self).fetchAll(db)
        }
    }

    func largestSections(limit: Int) async throws -> [SectionSize] {
        try await database.read { db in
            let request = Package.select { package in
                [count(.allColumns).forKey("packages"), (sum(package.installedSize) ?? 0).forKey("installed_size")]
            }
            return try request.annotated(withOptional: Package.section.select(\.name)).group(\.sectionID)
                .order(Column("installed_size").detached.desc, Column("name").detached)
                .limit(limit).asRequest(of: SectionSize.self).fetchAll(db)
        }
    }

    /// The largest sections, each with its largest packages.
    func largestBySection(sections: Int, packages: Int) async throws -> [SectionLargest] {
        try await database.read { db in
            try Section.annotated(with: Section.packages.sum(\.installedSize).forKey("size"))
                .order(Column("size").detached.desc, Column("name")).limit(sections)
                .including(all: Section.packages.named().largestFirst().limit(packages))
                .asRequest(of: SectionLargest.self).fetchAll(db)
        }
    }

    func mostDependedOn(limit: Int) async throws -> [Demand] {
        try await database.read { db in
            try Name.having(Name.needing > 0).demand()
                .order(Column("needing").detached.desc, Column("wishing").detached.desc, Column("name"))
                .limit(limit).fetchAll(db)
        }
    }
}

extension DerivableRequest<Package> {
    /// The packages with their names.
    func named() -> Self { annotated(withRequired: Package.name.select(\.name)) }

    /// The packages whose size and name are known.
    func largestFirst() -> Self {
        filter { $0.installedSize != nil }
            .order { [$0.installedSize.desc, Column("name").detached, $0.architecture, $0.version] }
    }
}

extension Name {
    /// A package may name another in several entries and counts once.
    static let needing = mentions.count(distinct: \.packageID) { Dependency.Kind.needs.contains($0.kind) }
    static let wishing = mentions.count(distinct: \.packageID) { Dependency.Kind.wishes.contains($0.kind) }
}

extension QueryInterfaceRequest<Name> {
    func demand() -> QueryInterfaceRequest<Demand> {
        annotated(with: Name.needing.forKey("needing"), Name.wishing.forKey("wishing")).asRequest(of: Demand.self)
    }
}
