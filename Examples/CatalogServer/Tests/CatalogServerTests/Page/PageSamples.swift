@testable import CatalogServer

extension CatalogStatistics {
    /// Three packages in two sections, and one without.
    static let sample = CatalogStatistics(
        packageCount: 3, dependencyCount: 2, installedSize: 3_500_000,
        sections: [
            Section(section: "libs", packageCount: 2, installedSize: 3_000_000),
            Section(section: nil, packageCount: 1, installedSize: 500_000),
        ],
        mostDependedOn: [Target(name: "libc6", dependentCount: 2)],
        largestPackages: [Large(name: "libc6", installedSize: 2_500_000)], commit: 7)

    static let empty = CatalogStatistics(
        packageCount: 0, dependencyCount: 0, installedSize: 0, sections: [], mostDependedOn: [], largestPackages: [],
        commit: 0)
}

extension PackagePage {
    /// - parameter text: of the name, the version, the summary and the excerpt.
    static func sample(_ text: String = "nano", page: Int = 1, pageCount: Int = 1, query: String? = nil) -> PackagePage
    {
        let package = Package(
            name: text, version: text, architecture: "amd64", state: "installed", section: text, installedSize: 2048,
            summary: [TextSegment(text: text, isMatch: true), TextSegment(text: " \(text)", isMatch: false)],
            excerpt: [TextSegment(text: text, isMatch: true)])
        return PackagePage(
            query: query, page: page, pageCount: pageCount, matchCount: 1 + (pageCount - 1) * 20, packages: [package])
    }

    static let unmatched = PackagePage(page: 1, pageCount: 1, matchCount: 0, packages: [])
}

extension PackageDetails {
    /// - parameter text: of the name and all texts.
    static func sample(_ text: String = "nano", homepage: String? = nil) -> PackageDetails {
        PackageDetails(
            name: text, version: text, architecture: text, state: text, section: text, maintainer: text,
            homepage: homepage ?? text, installedSize: 2048, summary: text, description: "\(text)\n\n* \(text)",
            otherVersions: [text], hasMoreVersions: true, dependentCount: 2,
            dependencies: [
                Dependency(name: "libc6", depth: 1, neededBy: text, isKnown: true),
                Dependency(name: text + "x", depth: 1, neededBy: text, isKnown: false),
                Dependency(name: "libgcc-s1", depth: 2, neededBy: "libc6", isKnown: true),
            ],
            hasMoreDependencies: false)
    }
}
