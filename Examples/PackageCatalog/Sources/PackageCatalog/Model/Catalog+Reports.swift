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

/// How many packages name another one, as a dependency or as a recommendation or suggestion.
struct Demand: CatalogRow {
    var name: String
    var needing, wishing: Int
}

extension Catalog {
    func counts() async throws -> CatalogCounts {
        try await database.read { db in
            let counts = try CatalogCounts.fetchOne(
                db,
                sql: """
                    SELECT (SELECT count(*) FROM names) AS names,
                        (SELECT count(*) FROM sections) AS sections,
                        (SELECT count(*) FROM maintainers) AS maintainers,
                        (SELECT count(*) FROM dependencies) AS dependencies,
                        count(*) AS packages,
                        count(*) FILTER (WHERE state <> 'available') AS on_machine,
                        count(*) FILTER (WHERE state = 'available') AS available,
                        coalesce(sum(installed_size), 0) AS installed_size
                    FROM packages
                    """)
            guard let counts else { throw DatabaseError(message: "an aggregate returned no row") }
            return counts
        }
    }

    func largestPackages(limit: Int) async throws -> [PackageSize] {
        try await database.read { db in
            let request: SQLRequest<PackageSize> = """
                SELECT names.name, architecture, version, state, installed_size
                FROM packages JOIN names ON names.id = name_id
                WHERE installed_size IS NOT NULL
                ORDER BY installed_size DESC, names.name, architecture, version LIMIT \(limit)
                """
            return try request.fetchAll(db)
        }
    }

    func largestSections(limit: Int) async throws -> [SectionSize] {
        try await database.read { db in
            let request: SQLRequest<SectionSize> = """
                SELECT sections.name, count(*) AS packages, coalesce(sum(installed_size), 0) AS installed_size
                FROM packages LEFT JOIN sections ON sections.id = section_id
                GROUP BY section_id ORDER BY 3 DESC, sections.name LIMIT \(limit)
                """
            return try request.fetchAll(db)
        }
    }

    func mostDependedOn(limit: Int) async throws -> [Demand] {
        try await database.read { db in
            let request: SQLRequest<Demand> = """
                SELECT names.name, \(Self.needing) AS needing, \(Self.wishing) AS wishing
                FROM dependencies JOIN names ON names.id = target_id
                GROUP BY target_id HAVING needing > 0
                ORDER BY needing DESC, wishing DESC, names.name LIMIT \(limit)
                """
            return try request.fetchAll(db)
        }
    }

    /// A package may name another in several entries and counts once.
    static let needing: SQL =
        "count(DISTINCT iif(kind IN ('Depends', 'Pre-Depends'), package_id, NULL))"
    static let wishing: SQL =
        "count(DISTINCT iif(kind IN ('Recommends', 'Suggests'), package_id, NULL))"
}
