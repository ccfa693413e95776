import Quarry

/// A package that a search has found.
struct SearchResult: CatalogRow {
    var name: String
    var version: String
    /// The part of its texts that fits best, with the words that were found in brackets.
    var found: String
}

/// The words of packages.
private struct PackageText: TableRecord {
    static let databaseTableName = "package_search"
    static let package = belongsTo(Package.self, using: ForeignKey([.rowID], to: [Package.Columns.id]))
}

extension Catalog {
    /// The packages whose name, summary and description have all words of a text as words or prefixes, best match
    /// first, each name once: with the package that was stored first. The name counts most, and then the summary.
    ///
    /// - returns: an empty list for a text without words.
    func search(_ text: String, limit: Int) async throws -> [SearchResult] {
        let table = PackageText.databaseTableName
        let (package, earlier) = (TableAlias<Package>(), TableAlias<Package>())
        let others = Package.all().aliased(earlier)
            .filter(earlier.nameID == package.nameID && earlier.id < package.id)
        let request = PackageText.matching(FTS5Pattern(matchingAllPrefixesIn: text))
            .order(FTS5.bm25(of: table, weights: [10, 5, 1]), Column.rowID)
            .limit(limit)
            .select(
                Column("name"),
                FTS5.snippet(of: table, open: "[", close: "]", tokenCount: 10).forKey("found")
            )
            .annotated(
                withRequired: PackageText.package.aliased(package).filter(!others.exists()).select(\.version)
            )
            .asRequest(of: SearchResult.self)
        return try await database.read { db in try request.fetchAll(db) }
    }
}
