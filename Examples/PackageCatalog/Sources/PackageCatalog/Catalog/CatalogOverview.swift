public import Quarry

/// The counts of the catalogue, of its sections, and the packages that most others need: of one state.
public struct CatalogOverview: Sendable, Equatable {
    public struct Section: Sendable, Equatable {
        /// Nil for packages that name none.
        public var name: String?
        public var packageCount: Int
        /// In KiB.
        public var installedSize: Int
    }

    public struct Target: Sendable, Equatable {
        public var name: String
        public var dependentCount: Int
    }

    public var packageCount, dependencyCount: Int
    /// In KiB.
    public var installedSize: Int
    /// Largest installed size first.
    public var sections: [Section]
    public var mostDependedOn: [Target]
    public var largestPackages: [ListedPackage]

    /// Reads no row of the large tables but those that it returns: triggers count.
    public static func fetch(_ db: Database) throws -> CatalogOverview {
        let counts = try CatalogCounts.fetch(db)
        return CatalogOverview(
            packageCount: counts.packages, dependencyCount: counts.dependencies, installedSize: counts.installedSize,
            sections: try SectionSize.largest(in: db, limit: 200).map { section in
                Section(name: section.name, packageCount: section.packages, installedSize: section.installedSize)
            },
            mostDependedOn: try Demand.most(in: db, limit: 12).map { demand in
                Target(name: demand.name, dependentCount: demand.needing)
            },
            largestPackages: try ListedPackage.largest(in: db, limit: 12))
    }
}

extension Catalog {
    /// - throws: `DatabaseError`, after the timeout `SQLITE_BUSY` or `SQLITE_INTERRUPT`.
    public func overview(timeout: Duration) async throws -> CatalogOverview {
        try await database.read(timeout: timeout) { db in
            db.accessLabel = "overview"
            return try CatalogOverview.fetch(db)
        }
    }
}

extension ListedPackage {
    fileprivate static func largest(in db: Database, limit: Int) throws -> [ListedPackage] {
        let name = TableAlias<Name>()
        return try Package.all().withSize()
            .annotated(withRequired: Package.name.aliased(name).select(\.name))
            .annotated(withOptional: Package.section.select { $0.name.forKey("section") })
            // Sections have a name, too.
            .order { [$0.installedSize.desc, name.name, $0.architecture, $0.version] }.limit(limit)
            .asRequest(of: ListedPackage.self).fetchAll(db)
    }
}
