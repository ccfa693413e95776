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
struct SectionLargest: Sendable, Equatable {
    var name: String
    var packages: [PackageSize]
}

/// How many packages name another one, as a dependency or as a recommendation or suggestion. A package may name it in
/// several entries, and counts once.
struct Demand: CatalogRow {
    var name: String
    var needing, wishing: Int
}

extension CatalogCounts {
    static let request = Totals.select { totals in
        [
            totals.packages, (totals.packages - totals.available).forKey("on_machine"), totals.available,
            totals.installedSize, totals.names, totals.dependencies,
            Section.select(count(.allColumns)).forKey("sections"),
            Maintainer.select(count(.allColumns)).forKey("maintainers"),
        ]
    }
    .asRequest(of: CatalogCounts.self)

    static func fetch(_ db: Database) throws -> CatalogCounts {
        guard let counts = try request.fetchOne(db) else { throw DatabaseError(message: "no totals") }
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

    /// The packages that name no section are a group, too.
    func largestSections(limit: Int) async throws -> [SectionSize] {
        try await database.read { db in try SectionSize.largest(in: db, limit: limit) }
    }

    /// The largest sections, each with its largest packages.
    ///
    /// One request for each section, which reads the first entries of an index: a request for all of them, with
    /// `including(all:)`, would number all packages of these sections. Many small requests are fast in SQLite:
    /// <https://www.sqlite.org/np1queryprob.html>.
    func largestBySection(sections: Int, packages: Int) async throws -> [SectionLargest] {
        try await database.read { db in
            try Section.order { [$0.installedSize.desc, $0.name] }.limit(sections).fetchAll(db).map { section in
                let largest = section.request(for: Section.packages).named().largestFirst().limit(packages)
                return SectionLargest(
                    name: section.name, packages: try largest.asRequest(of: PackageSize.self).fetchAll(db))
            }
        }
    }

    func mostDependedOn(limit: Int) async throws -> [Demand] {
        try await database.read { db in try Demand.most(in: db, limit: limit) }
    }
}

extension SectionSize {
    static func largest(in db: Database, limit: Int) throws -> [SectionSize] {
        let sections = Section.filter { $0.packages > 0 }.select { [$0.name, $0.packages, $0.installedSize] }
        let others = Package.filter { $0.sectionID == nil }.select { package in
            [DatabaseValue.null, count(.allColumns), sum(package.installedSize) ?? 0]
        }
        .having(count(.allColumns) > 0)
        return try sections.unionAll(others).order(Column("installed_size").desc, Column("name")).limit(limit)
            .asRequest(of: SectionSize.self).fetchAll(db)
    }
}

extension Demand {
    static func most(in db: Database, limit: Int) throws -> [Demand] {
        try Name.filter { $0.needing > 0 }.order { [$0.needing.desc, $0.wishing.desc, $0.name] }.limit(limit)
            .demand().fetchAll(db)
    }
}

extension DerivableRequest<Package> {
    /// The packages with their names.
    func named() -> Self { annotated(withRequired: Package.name.select(\.name)) }

    /// The packages whose size is known, which is never below 0.
    ///
    /// With statistics, `IS NOT NULL` seems to leave so many rows that SQLite 3.40 sorts all packages, rather than
    /// reading the first entries of the index.
    func withSize() -> Self { filter { $0.installedSize >= 0 } }

    /// The packages whose size and name are known.
    func largestFirst() -> Self {
        withSize()
            .order { [$0.installedSize.desc, Column("name").detached, $0.architecture, $0.version] }
    }
}

extension QueryInterfaceRequest<Name> {
    func demand() -> QueryInterfaceRequest<Demand> {
        select { [$0.name, $0.needing, $0.wishing] }.asRequest(of: Demand.self)
    }
}
