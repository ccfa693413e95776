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
            let request: SQLRequest<Demand> = """
                SELECT \(name) AS name, \(Self.needing) AS needing, \(Self.wishing) AS wishing
                FROM dependencies WHERE target_id = (SELECT id FROM names WHERE name = \(name))
                """
            guard let demand = try request.fetchOne(db) else {
                throw DatabaseError(message: "an aggregate returned no row")
            }
            return try Lookup(packages: Self.packages(db, named: name), demand: demand)
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
            var package = try Package(row: row)
            for row in try Row.fetchAll(dependencies, arguments: [row["id"]]) {
                let found = try AlternativeRecord(row: row)
                if found.alternative == 0 {
                    package.dependencies.append(Dependency(kind: found.kind, alternatives: []))
                }
                let requirement = try found.relation.map { relation in
                    try Dependency.Requirement(relation: relation, version: row.decode(forColumn: "version"))
                }
                try package.dependencies[package.dependencies.count - 1].alternatives.append(
                    Dependency.Alternative(
                        name: row.decode(forColumn: "name"), qualifier: found.qualifier, requirement: requirement,
                        architectures: found.architectures, profiles: found.profiles))
            }
            return package
        }
    }
}
