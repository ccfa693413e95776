import Quarry

/// All that the catalogue has on one name.
struct Lookup: Sendable, Equatable {
    var packages: [Package]
    var demand: Demand
}

extension Catalog {
    /// The packages of a name, in one snapshot of the catalogue with what depends on them.
    func lookUp(_ name: String) async throws -> Lookup {
        try await database.read { db in
            let request: SQLRequest<Row> = """
                SELECT \(name) AS name, \(Self.needing) AS needing, \(Self.wishing) AS wishing
                FROM dependencies WHERE target_id = (SELECT id FROM names WHERE name = \(name))
                """
            guard let demand = try Row.fetchOne(db, request) else {
                throw DatabaseError(message: "an aggregate returned no row")
            }
            return try Lookup(packages: Self.packages(db, named: name), demand: Demand(row: demand))
        }
    }

    /// The newest package, for readers that look at the catalogue while it grows.
    func newestPackage() async throws -> Package? {
        try await database.read { db in
            let name = try String.fetchOne(
                db,
                sql: """
                    SELECT names.name FROM packages JOIN names ON names.id = name_id
                    ORDER BY packages.id DESC LIMIT 1
                    """)
            guard let name else { return nil }
            return try Self.packages(db, named: name).last
        }
    }

    private static func packages(_ db: Database, named name: String) throws -> [Package] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT packages.*, names.name, sections.name AS section, maintainers.name AS maintainer
                FROM packages JOIN names ON names.id = name_id
                LEFT JOIN sections ON sections.id = section_id
                LEFT JOIN maintainers ON maintainers.id = maintainer_id
                WHERE names.name = ? ORDER BY packages.id
                """, arguments: [name])
        let dependencies = try db.cachedStatement(
            sql: """
                SELECT dependencies.*, names.name FROM dependencies JOIN names ON names.id = target_id
                WHERE package_id = ? ORDER BY position, alternative
                """)
        return try rows.map { row in
            let id = try row.decode(Int64.self, forColumn: "id")
            return try Package(row: row, dependencies: Row.fetchAll(dependencies, arguments: [id]))
        }
    }
}

extension Package {
    /// - parameter dependencies: one row for each alternative, in order.
    init(row: Row, dependencies rows: [Row]) throws {
        name = try row.decode(forColumn: "name")
        architecture = try row.decode(forColumn: "architecture")
        version = try row.decode(forColumn: "version")
        state = try row.decode(forColumn: "state")
        section = try row.decode(forColumn: "section")
        maintainer = try row.decode(forColumn: "maintainer")
        installedSize = try row.decode(forColumn: "installed_size")
        downloadSize = try row.decode(forColumn: "download_size")
        summary = try row.decode(forColumn: "summary")
        dependencies = []
        for row in rows {
            let alternative = try Dependency.Alternative(row: row)
            if try dependencies.isEmpty || row.decode(Int.self, forColumn: "alternative") == 0 {
                let kind = try row.decode(Dependency.Kind.self, forColumn: "kind")
                dependencies.append(Dependency(kind: kind, alternatives: [alternative]))
            } else {
                dependencies[dependencies.count - 1].alternatives.append(alternative)
            }
        }
    }
}

extension Dependency.Alternative {
    init(row: Row) throws {
        name = try row.decode(forColumn: "name")
        qualifier = try row.decode(forColumn: "qualifier")
        architectures = try row.decode(forColumn: "architectures")
        profiles = try row.decode(forColumn: "profiles")
        if let relation = try row.decode(Dependency.Relation?.self, forColumn: "relation") {
            requirement = try Dependency.Requirement(relation: relation, version: row.decode(forColumn: "version"))
        }
    }
}
