import Quarry

/// A package in a list or in the results of a search.
public struct ListedPackage: CatalogRow {
    public var name, version, architecture: String
    /// dpkg's word for it, or `available`.
    public var state: String
    public var section: String?
    /// In KiB.
    public var installedSize: Int?
    /// The first line of the description. Words that were found are between `Catalog.matchStart` and
    /// `Catalog.matchEnd`.
    public var summary: String?
    /// A part of the other lines that has words that were found, marked in the same way. Nil if there is none.
    public var excerpt: String?
}

/// A page of packages, each name once: with the package that was stored first.
public struct PackageList: Sendable, Equatable {
    public var packages: [ListedPackage]
    /// How many there are on all pages.
    public var matchCount: Int
}

extension Catalog {
    /// The tables of the catalogue whose rows imports write.
    public static let tableNames = ["dependencies", "imports", "maintainers", "names", "packages", "sections"]

    /// The characters around words that were found.
    public static let matchStart: Character = "\u{2}"
    public static let matchEnd: Character = "\u{3}"

    /// The characters of an excerpt. It has some words, which are as long as a description likes.
    static let excerptLength = 1_000

    /// The packages that have all words of a text as words or prefixes, best match first; or all packages, by name.
    ///
    /// - parameters:
    ///   - text: any text. Nil lists all packages; a text without words finds none.
    ///   - section: the name of a section; nil for all.
    ///   - offset: how many packages come on the pages before.
    /// - throws: `DatabaseError`, after the timeout `SQLITE_BUSY` or `SQLITE_INTERRUPT`.
    public func list(
        matching text: String?, section: String? = nil, limit: Int, offset: Int = 0, timeout: Duration
    ) async throws -> PackageList {
        let source = PackageSource(text: text, section: section)
        guard let source else { return PackageList(packages: [], matchCount: 0) }
        return try await database.read(timeout: timeout) { db in
            db.accessLabel = "list packages"
            let page = SQLRequest<ListedPackage>(literal: source.page(limit: limit, offset: offset))
            return try PackageList(
                packages: page.fetchAll(db),
                matchCount: SQLRequest<Int>(literal: source.count).fetchOne(db) ?? 0)
        }
    }
}

/// The rows that a list chooses from.
struct PackageSource {
    private let match: FTS5Pattern?
    private let section: String?

    /// Nil if nothing can match.
    init?(text: String?, section: String?) {
        if let text {
            guard let pattern = FTS5Pattern(matchingAllPrefixesIn: text) else { return nil }
            match = pattern
        } else {
            match = nil
        }
        self.section = section
    }

    /// Each name once: an index has the packages of a name in the order of their ids.
    private var isFirst: SQL {
        """
        NOT EXISTS (SELECT 1 FROM packages AS earlier
            WHERE earlier.name_id = packages.name_id AND earlier.id < packages.id)
        """
    }

    private var isInSection: SQL {
        guard let section else { return "" }
        return " AND packages.section_id = (SELECT id FROM sections WHERE name = \(section))"
    }

    /// A search is read once, and then the package of each row. CROSS JOIN keeps this order: without statistics, SQLite
    /// takes a section for the smaller source, and runs the search for each of its packages.
    private var matchesFirst: SQL { "package_search CROSS JOIN packages ON packages.id = package_search.rowid" }

    private var start: String { String(Catalog.matchStart) }
    private var end: String { String(Catalog.matchEnd) }

    func page(limit: Int, offset: Int) -> SQL {
        guard let match else {
            return """
                SELECT names.name, version, architecture, state, sections.name AS section,
                    packages.installed_size, summary
                FROM names JOIN packages ON packages.name_id = names.id
                    LEFT JOIN sections ON sections.id = section_id
                WHERE \(isFirst)\(isInSection)
                ORDER BY names.name LIMIT \(limit) OFFSET \(offset)
                """
        }
        return """
            SELECT package_search.name, version, architecture, state, sections.name AS section,
                packages.installed_size, highlight(package_search, 1, \(start), \(end)) AS summary,
                substr(snippet(package_search, 2, \(start), \(end), '…', 24), 1, \(Catalog.excerptLength)) AS excerpt
            FROM \(matchesFirst)
                LEFT JOIN sections ON sections.id = section_id
            WHERE package_search MATCH \(match) AND \(isFirst)\(isInSection)
            ORDER BY bm25(package_search, 10, 5, 1), package_search.rowid LIMIT \(limit) OFFSET \(offset)
            """
    }

    var count: SQL {
        guard let match else {
            return "SELECT count(DISTINCT name_id) FROM packages WHERE TRUE\(isInSection)"
        }
        return """
            SELECT count(*) FROM \(matchesFirst)
            WHERE package_search MATCH \(match) AND \(isFirst)\(isInSection)
            """
    }
}
