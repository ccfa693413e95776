public import Hummingbird
internal import PackageCatalog

/// The answer of `GET /packages`: a page of packages.
///
/// ```json
/// {"query": "sqlite", "page": 1, "pageCount": 3, "matchCount": 52, "packages": […]}
/// ```
public struct PackagePage: Codable, Sendable, Equatable, ResponseEncodable {
    public struct Package: Codable, Sendable, Equatable {
        public var name, version, architecture: String
        /// dpkg's word for it, such as `installed`; `available` for a package of a list.
        public var state: String
        public var section: String?
        /// In bytes.
        public var installedSize: Int?
        /// The first line of the description; empty if there is none.
        public var summary: [TextSegment]
        /// A part of the rest of the description with words that were found; absent if there is none.
        public var excerpt: [TextSegment]?
    }

    /// The words that were searched for; absent if all packages are listed.
    public var query: String?
    /// The section that was asked for; absent for all.
    public var section: String?
    /// From 1.
    public var page: Int
    /// At least 1: a search without matches has one empty page.
    public var pageCount: Int
    /// How many packages there are on all pages.
    public var matchCount: Int
    public var packages: [Package]
}

extension PackagePage.Package {
    init(_ package: ListedPackage) {
        self.init(
            name: package.name, version: package.version, architecture: package.architecture, state: package.state,
            section: package.section, installedSize: package.installedSize.map(bytes(ofKiB:)),
            summary: TextSegment.segments(of: package.summary ?? ""),
            excerpt: package.excerpt.map(TextSegment.segments).flatMap { segments in
                segments.contains(where: \.isMatch) ? segments : nil
            })
    }
}

/// A KiB count that a control file has made up must not overflow.
func bytes(ofKiB count: Int) -> Int {
    let (bytes, overflow) = count.multipliedReportingOverflow(by: 1024)
    return overflow ? Int.max : bytes
}
