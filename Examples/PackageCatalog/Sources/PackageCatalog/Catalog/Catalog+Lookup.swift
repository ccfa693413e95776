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
            let packages = Package.joining(required: Package.name.filter { $0.name == name }).order(\.id).whole()
            let demand = try Name.filter { $0.name == name }.demand().fetchOne(db)
            return try Lookup(
                packages: packages.fetchAll(db).map(\.assembled),
                demand: demand ?? Demand(name: name, needing: 0, wishing: 0))
        }
    }

    /// The newest package, for readers that look at the catalogue while it grows.
    func newestPackage() async throws -> Package? {
        try await database.read { db in try Package.order(\.id.desc).whole().fetchOne(db)?.assembled }
    }
}

/// A package and the rows of its dependencies.
private struct WholePackage: CatalogRow {
    struct Mention: CatalogRow {
        var record: AlternativeRecord
        var name: String
    }

    var package: Package
    var mentions: [Mention]

    var assembled: Package {
        var package = package
        for mention in mentions {
            if mention.record.alternative == 0 {
                package.dependencies.append(Dependency(kind: mention.record.kind, alternatives: []))
            }
            package.dependencies[package.dependencies.count - 1].alternatives.append(mention.alternative)
        }
        return package
    }
}

extension WholePackage.Mention {
    fileprivate var alternative: Dependency.Alternative {
        Dependency.Alternative(
            name: name, qualifier: record.qualifier,
            requirement: record.relation.map { .init(relation: $0, version: record.version ?? "") },
            architectures: record.architectures, profiles: record.profiles)
    }
}

extension QueryInterfaceRequest<Package> {
    fileprivate func whole() -> QueryInterfaceRequest<WholePackage> {
        let mentions = Package.mentions.order { [$0.position, $0.alternative] }
            .annotated(withRequired: AlternativeRecord.target.select(\.name))
        return named().annotated(withOptional: Package.section.select { $0.name.forKey("section") })
            .annotated(withOptional: Package.maintainer.select { $0.name.forKey("maintainer") })
            .including(all: mentions).asRequest(of: WholePackage.self)
    }
}
