import Quarry

/// How much there is.
struct CatalogCounts: Sendable, Equatable {
    var packages, onMachine, available, names, sections, maintainers, dependencies: Int
    /// In KiB.
    var installedSize: Int

    init(row: Row) throws {
        packages = try row.decode(forColumn: "packages")
        onMachine = try row.decode(forColumn: "on_machine")
        available = try row.decode(forColumn: "available")
        names = try row.decode(forColumn: "names")
        sections = try row.decode(forColumn: "sections")
        maintainers = try row.decode(forColumn: "maintainers")
        dependencies = try row.decode(forColumn: "dependencies")
        installedSize = try row.decode(forColumn: "installed_size")
    }
}

struct PackageSize: Sendable, Equatable {
    var name, architecture, version, state: String
    /// In KiB.
    var installedSize: Int

    init(row: Row) throws {
        name = try row.decode(forColumn: "name")
        architecture = try row.decode(forColumn: "architecture")
        version = try row.decode(forColumn: "version")
        state = try row.decode(forColumn: "state")
        installedSize = try row.decode(forColumn: "installed_size")
    }
}

struct SectionSize: Sendable, Equatable {
    /// Nil for packages that name none.
    var name: String?
    var packages: Int
    /// In KiB.
    var installedSize: Int

    init(row: Row) throws {
        name = try row.decode(forColumn: "name")
        packages = try row.decode(forColumn: "packages")
        installedSize = try row.decode(forColumn: "installed_size")
    }
}

/// How many packages name another one, as a dependency or as a recommendation or suggestion.
struct Demand: Sendable, Equatable {
    var name: String
    var needing, wishing: Int

    init(row: Row) throws {
        name = try row.decode(forColumn: "name")
        needing = try row.decode(forColumn: "needing")
        wishing = try row.decode(forColumn: "wishing")
    }
}

extension Catalog {
    func counts() async throws -> CatalogCounts {
        try await database.read { db in
            let row = try Row.fetchOne(
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
            guard let row else { throw DatabaseError(message: "an aggregate returned no row") }
            return try CatalogCounts(row: row)
        }
    }

    func largestPackages(limit: Int) async throws -> [PackageSize] {
        try await database.read { db in
            let request: SQLRequest<Row> = """
                SELECT names.name, architecture, version, state, installed_size
                FROM packages JOIN names ON names.id = name_id
                WHERE installed_size IS NOT NULL
                ORDER BY installed_size DESC, names.name, architecture, version LIMIT \(limit)
                """
            return try Array(Row.fetchCursor(db, request).map(PackageSize.init(row:)))
        }
    }

    func largestSections(limit: Int) async throws -> [SectionSize] {
        try await database.read { db in
            let request: SQLRequest<Row> = """
                SELECT sections.name, count(*) AS packages, coalesce(sum(installed_size), 0) AS installed_size
                FROM packages LEFT JOIN sections ON sections.id = section_id
                GROUP BY section_id ORDER BY 3 DESC, sections.name LIMIT \(limit)
                """
            return try Array(Row.fetchCursor(db, request).map(SectionSize.init(row:)))
        }
    }

    func mostDependedOn(limit: Int) async throws -> [Demand] {
        try await database.read { db in
            let request: SQLRequest<Row> = """
                SELECT names.name, \(Self.needing) AS needing, \(Self.wishing) AS wishing
                FROM dependencies JOIN names ON names.id = target_id
                GROUP BY target_id HAVING needing > 0
                ORDER BY needing DESC, wishing DESC, names.name LIMIT \(limit)
                """
            return try Array(Row.fetchCursor(db, request).map(Demand.init(row:)))
        }
    }

    /// A package may name another in several entries and counts once.
    static let needing: SQL =
        "count(DISTINCT iif(kind IN ('Depends', 'Pre-Depends'), package_id, NULL))"
    static let wishing: SQL =
        "count(DISTINCT iif(kind IN ('Recommends', 'Suggests'), package_id, NULL))"
}
