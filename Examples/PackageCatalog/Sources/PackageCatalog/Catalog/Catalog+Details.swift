import Quarry

/// All that the catalogue has on one package, and the packages that it needs.
public struct PackageSheet: Sendable, Equatable {
    /// A package that another one needs, directly or through others.
    public struct Need: Sendable, Equatable {
        public var name: String
        /// 1 for packages that the package itself needs.
        public var depth: Int
        /// The package that names it, at the depth before.
        public var neededBy: String
        /// Whether the catalogue has a package of this name: others are virtual, or in another list.
        public var isKnown: Bool
    }

    public var name, version, architecture, state: String
    public var section, maintainer, homepage, summary, description: String?
    /// In KiB.
    public var installedSize: Int?
    /// Other versions and architectures of the name, as `version architecture`.
    public var otherVersions: [String]
    /// Whether there are more than `otherVersions` has.
    public var hasMoreVersions: Bool
    /// How many packages need this one, and recommend or suggest it.
    public var needing, wishing: Int
    /// Each name at its first occurrence, depth by depth.
    public var needs: [Need]
    /// Whether there are more than `needs` has.
    public var hasMoreNeeds: Bool
}

private struct OtherVersion: CatalogRow {
    var version, architecture: String
}

extension Catalog {
    /// The package of a name that was stored first, with the tree of packages that it needs.
    ///
    /// - parameters:
    ///   - depth: the last depth of the tree.
    ///   - limit: how many packages the tree may have.
    ///   - versionLimit: how many other versions are listed.
    /// - returns: nil if there is no package of this name.
    /// - throws: `DatabaseError`, after the timeout `SQLITE_BUSY` or `SQLITE_INTERRUPT`.
    public func sheet(
        of name: String, depth: Int, limit: Int, versionLimit: Int, timeout: Duration
    ) async throws -> PackageSheet? {
        try await database.read(timeout: timeout) { db in
            db.accessLabel = "show package"
            let packages = Package.joining(required: Package.name.filter { $0.name == name }).order(\.id)
            let first = packages.annotated(withRequired: Package.name.select(\.name))
                .annotated(withOptional: Package.section.select { $0.name.forKey("section") })
                .annotated(withOptional: Package.maintainer.select { $0.name.forKey("maintainer") })
            guard let package = try first.fetchOne(db) else { return nil }
            // Descriptions of others aren't read: a list may have thousands of versions.
            let others = try packages.select { [$0.version, $0.architecture] }.limit(versionLimit + 1, offset: 1)
                .asRequest(of: OtherVersion.self).fetchAll(db)
            let demand = try Name.filter { $0.name == name }.demand().fetchOne(db)
            let needs = try Self.needs(of: name, depth: depth, limit: limit + 1, in: db)
            return PackageSheet(
                name: package.name, version: package.version, architecture: package.architecture,
                state: package.state, section: package.section, maintainer: package.maintainer,
                homepage: package.homepage, summary: package.summary, description: package.description,
                installedSize: package.installedSize,
                otherVersions: others.prefix(versionLimit).map { "\($0.version) \($0.architecture)" },
                hasMoreVersions: others.count > versionLimit,
                needing: demand?.needing ?? 0, wishing: demand?.wishing ?? 0,
                needs: Array(needs.prefix(limit)), hasMoreNeeds: needs.count > limit)
        }
    }

    private static func needs(
        of name: String, depth: Int, limit: Int, in db: Database
    ) throws -> [PackageSheet.Need] {
        // The first is the package itself. A level comes after the one that it refers to.
        let branches = try dependencyTree(of: name, depth: depth, limit: limit + 1, in: db)
        var names: [Int64: String] = [:]
        for branch in branches { names[branch.id] = branch.name }
        let known = try Set(
            Int64.fetchAll(db, Package.filter(branches.map(\.id).contains(Package.Columns.nameID)).select(\.nameID)))
        return branches.dropFirst().map { branch in
            PackageSheet.Need(
                name: branch.name, depth: branch.level, neededBy: branch.parent.flatMap { names[$0] } ?? name,
                isKnown: known.contains(branch.id))
        }
    }
}
