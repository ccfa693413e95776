public import Hummingbird
internal import PackageCatalog

/// The answer of `GET /packages/{name}`: a package, and the tree of packages that it needs.
public struct PackageDetails: Codable, Sendable, Equatable, ResponseEncodable {
    /// A package that another one needs, directly or through others. Each name comes once, at its first occurrence.
    public struct Dependency: Codable, Sendable, Equatable {
        public var name: String
        /// 1 for packages that the package itself needs.
        public var depth: Int
        /// The package at the depth before that needs it.
        public var neededBy: String
        /// Whether the catalogue has a package of this name.
        public var isKnown: Bool
    }

    public var name, version, architecture, state: String
    public var section, maintainer, homepage: String?
    /// In bytes.
    public var installedSize: Int?
    /// The first line of the description; empty if there is none.
    public var summary: String
    /// The other lines; empty if there are none.
    public var description: String
    /// Other packages of the name, as `version architecture`.
    public var otherVersions: [String]
    /// Whether there are more than `otherVersions`.
    public var hasMoreVersions: Bool
    /// How many packages need this one.
    public var dependentCount: Int
    /// Depth by depth, and by name.
    public var dependencies: [Dependency]
    /// Whether the tree has more packages than `dependencies`.
    public var hasMoreDependencies: Bool
}

extension PackageDetails {
    init(_ sheet: PackageSheet) {
        self.init(
            name: sheet.name, version: sheet.version, architecture: sheet.architecture, state: sheet.state,
            section: sheet.section, maintainer: sheet.maintainer, homepage: sheet.homepage,
            installedSize: sheet.installedSize.map(bytes(ofKiB:)), summary: sheet.summary ?? "",
            description: sheet.description ?? "", otherVersions: sheet.otherVersions,
            hasMoreVersions: sheet.hasMoreVersions, dependentCount: sheet.needing,
            dependencies: sheet.needs.map { need in
                Dependency(name: need.name, depth: need.depth, neededBy: need.neededBy, isKnown: need.isKnown)
            },
            hasMoreDependencies: sheet.hasMoreNeeds)
    }
}
