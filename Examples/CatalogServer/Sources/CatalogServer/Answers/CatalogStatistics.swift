public import Hummingbird
internal import PackageCatalog

/// The answer of `GET /statistics`, and the event `statistics` of `GET /events`.
public struct CatalogStatistics: Codable, Sendable, Equatable, ResponseEncodable {
    public struct Section: Codable, Sendable, Equatable {
        /// Absent for the packages that name no section.
        public var section: String?
        public var packageCount: Int
        /// In bytes.
        public var installedSize: Int
    }

    public struct Target: Codable, Sendable, Equatable {
        public var name: String
        /// How many packages need it.
        public var dependentCount: Int
    }

    public struct Large: Codable, Sendable, Equatable {
        public var name: String
        /// In bytes.
        public var installedSize: Int
    }

    public var packageCount: Int
    public var dependencyCount: Int
    /// Of all packages, in bytes.
    public var installedSize: Int
    /// Largest installed size first.
    public var sections: [Section]
    public var mostDependedOn: [Target]
    public var largestPackages: [Large]
    /// The number of the last commit that the server knows of, counted from its start.
    public var commit: Int
}

extension CatalogStatistics {
    init(_ overview: CatalogOverview, commit: Int) {
        self.init(
            packageCount: overview.packageCount, dependencyCount: overview.dependencyCount,
            installedSize: bytes(ofKiB: overview.installedSize),
            sections: overview.sections.map { section in
                Section(
                    section: section.name, packageCount: section.packageCount,
                    installedSize: bytes(ofKiB: section.installedSize))
            },
            mostDependedOn: overview.mostDependedOn.map { target in
                Target(name: target.name, dependentCount: target.dependentCount)
            },
            largestPackages: overview.largestPackages.map { package in
                Large(name: package.name, installedSize: bytes(ofKiB: package.installedSize ?? 0))
            },
            commit: commit)
    }
}
