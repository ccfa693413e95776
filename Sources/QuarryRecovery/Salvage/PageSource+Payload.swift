extension PageSource {
    /// Follows the overflow pages of a cell: <https://www.sqlite.org/fileformat2.html#cell_payload_overflow_pages>.
    ///
    /// A circle has no end, so that a chain of the right length that ends has each page once.
    ///
    /// - parameter body: is called with the number of each page, and its part of the record. It may end the search.
    /// - returns: whether the chain has as many pages as the record needs, and ends with the last one.
    func follow(
        _ cell: BTreePage.Cell, usableSize: Int, _ body: (UInt32, ArraySlice<UInt8>) -> Bool
    ) -> Bool {
        let capacity = usableSize - 4
        var (next, rest) = (cell.overflow, cell.payloadSize - cell.local.count)
        guard rest <= pageCount * capacity else { return false }
        while rest > 0 {
            let count = min(rest, capacity)
            guard next > 0, let page = page(next), let following = page.bigEndian32(at: 0),
                body(next, page[4..<4 + count])
            else { return false }
            (next, rest) = (following, rest - count)
        }
        return next == 0
    }
}

/// Reads records that continue on overflow pages, and proves that the pages are theirs.
///
/// An overflow page belongs to one record. The pages of all records of trees are noted before one of them is read, so
/// that it is known of each page whether two records have it: then one of them has a damaged reference, and it isn't
/// known which.
///
/// Chains of damaged files may be long, circular, and shared by many cells. In all, each page is read a few times at
/// most, and a chain that is longer than any record of SQLite's isn't followed.
struct PayloadReader {
    private let source: PageSource
    /// The pages whose records' overflow pages were noted.
    private var claimants: PageSet
    /// The overflow pages of their records.
    private var claimed: PageSet
    /// The overflow pages of two of them.
    private var contested: PageSet
    /// The pages that the database doesn't use, as far as they are known.
    var freePages: PageSet
    /// The overflow pages that were read.
    private var visited: PageSet
    /// The number of readings left until a page is read only once more.
    private var budget: Int

    init(_ source: PageSource) {
        self.source = source
        claimants = source.emptySet()
        claimed = source.emptySet()
        contested = source.emptySet()
        freePages = source.emptySet()
        visited = source.emptySet()
        budget = 4 * source.pageCount + 1024
    }

    /// The longest record that SQLite is built for, unless told otherwise: <https://www.sqlite.org/limits.html>.
    private static let maximumSize = 1_000_000_000

    /// Notes the overflow pages of the records of a page.
    mutating func claim(_ content: TreeWalk.Content) {
        guard claimants.insert(content.number) else { return }
        for cell in content.page.cells where cell.isProven && !cell.isLocal && cell.payloadSize <= Self.maximumSize {
            var chain: [UInt32] = []
            let isWhole = source.follow(cell, usableSize: source.header.usableSize) { page, _ in
                chain.append(page)
                return mayVisit(page)
            }
            // A chain of a wrong length is no record's.
            guard isWhole else { continue }
            for page in chain where !claimed.insert(page) { contested.insert(page) }
        }
    }

    func isClaimed(_ page: UInt32) -> Bool { claimed.contains(page) }

    /// The bytes of a cell's record; those on its page if its chain of pages is broken.
    ///
    /// - returns: also whether another record has one of the overflow pages, or whether one of them isn't used.
    mutating func payload(
        _ content: TreeWalk.Content, _ cell: BTreePage.Cell
    ) -> (bytes: [UInt8], isComplete: Bool, isShared: Bool) {
        let local = Array(content.bytes[cell.local])
        if cell.isLocal { return (local, true, false) }
        guard cell.payloadSize <= Self.maximumSize else { return (local, false, false) }
        let isClaimant = cell.isProven && claimants.contains(content.number)
        var (bytes, isShared) = (local, false)
        let isWhole = source.follow(cell, usableSize: source.header.usableSize) { page, part in
            if isClaimant, contested.contains(page) || freePages.contains(page) { isShared = true }
            // The pages of one record are read without limit: no other one reads them.
            let mayRead = claimed.contains(page) ? isClaimant && (!isShared || mayVisit(page)) : mayVisit(page)
            bytes += part
            return mayRead
        }
        return isWhole ? (bytes, true, isShared) : (local, false, false)
    }

    private mutating func mayVisit(_ page: UInt32) -> Bool {
        let isNew = visited.insert(page)
        if !isNew { budget -= 1 }
        return isNew || budget > 0
    }
}
