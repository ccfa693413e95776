/// Infers the facts of a header from the pages, which a damaged field of the header contradicts.
///
/// Each page of a b-tree proves the number of bytes that SQLite uses of it: `BTreePage.isExact`. So the sizes compete
/// for pages that they explain, and the header decides only between sizes with equally many.
struct HeaderInference {
    /// The size of pages, and of the bytes at their ends that SQLite doesn't use.
    private struct Sizes: Hashable {
        var page: Int
        var reserved: Int
    }

    private let source: PageSource
    private var scores: [Sizes: Int] = [:]

    private init(_ source: PageSource) { self.source = source }

    /// - parameter read: the header as the file has it; nil if it is lost.
    /// - parameter knownSize: the size of pages, as known by the log or the journal.
    static func header(of source: PageSource, _ read: FileHeader?, knownSize: Int?) -> FileHeader {
        var header = read ?? FileHeader(pageSize: knownSize ?? 4096)
        let claimed = Sizes(page: header.pageSize, reserved: header.reservedSize)
        let sizes = proven(by: source, claimed, knownSize) ?? Sizes(page: knownSize ?? claimed.page, reserved: 0)
        (header.pageSize, header.reservedSize) = (sizes.page, sizes.reserved)
        source.setPageSize(sizes.page)
        let hasMap = hasPointerMap(source, header) ?? header.isAutoVacuum
        if sizes != claimed || hasMap != header.isAutoVacuum { header.isDamaged = true }
        header.isAutoVacuum = hasMap
        return header
    }

    // MARK: - Sizes

    /// The points of a page that a size explains.
    private static let fullScore = 8

    /// The sizes that explain most pages; nil if none explains any, and the header has others than the log.
    private static func proven(by source: PageSource, _ claimed: Sizes, _ knownSize: Int?) -> Sizes? {
        let pageSizes = knownSize.map { [$0] } ?? FileHeader.pageSizes
        // The first page and the roots that it names nearly always prove the sizes. Otherwise more pages are looked at.
        for sampleCount in [0, 64, 4096] {
            var inference = HeaderInference(source)
            for size in pageSizes { inference.weigh(size, sampleCount) }
            let best = inference.scores.max { one, other in
                // The order doesn't depend on that of the dictionary.
                (one.value, one.key == claimed ? 1 : 0, one.key.page, -one.key.reserved)
                    < (other.value, other.key == claimed ? 1 : 0, other.key.page, -other.key.reserved)
            }
            if let best, best.value >= 2 * fullScore || sampleCount == 4096 { return best.key }
        }
        return pageSizes.contains(claimed.page) ? claimed : nil
    }

    /// Gives points for the pages that a size explains: the first one, the roots that it names, and a sample.
    private mutating func weigh(_ size: Int, _ sampleCount: Int) {
        source.setPageSize(size)
        var numbers = sampleCount > 0 ? Set(source.samplePageNumbers(sampleCount)) : []
        numbers.formUnion(weigh(page: 1, size))
        numbers.remove(1)
        for number in numbers.sorted() { weigh(page: number, size) }
    }

    /// - returns: the roots that the page names, if it is the first one.
    @discardableResult
    private mutating func weigh(page number: UInt32, _ size: Int) -> [UInt32] {
        guard let bytes = source.page(number), let layout = BTreePage.Layout(bytes, number) else { return [] }
        var roots: [UInt32] = []
        for usableSize in layout.usableSizes(bytes) {
            guard let page = BTreePage(bytes, number: number, usableSize: usableSize) else { continue }
            let score = score(page, usableSize)
            if score > 0 { scores[Sizes(page: size, reserved: size - usableSize), default: 0] += score }
            if number == 1, page.kind == .tableLeaf {
                roots += page.cells.prefix(64).compactMap { Self.root($0, bytes) }
            }
        }
        return roots
    }

    private func score(_ page: BTreePage, _ usableSize: Int) -> Int {
        guard page.isExact else {
            // On a damaged page, most cells must be proven, up to the end.
            guard page.cells.contains(where: { $0.isProven && $0.range.upperBound == usableSize }) else { return 0 }
            let provenCount = page.cells.count(where: \.isProven)
            return (Self.fullScore - 1) * provenCount / (page.cells.count + page.brokenCellCount)
        }
        // Records on overflow pages may end where they should by chance: the number of those pages then differs.
        let cell = page.cells.first { !$0.isLocal && $0.payloadSize <= 1 << 20 }
        guard let cell, source.follow(cell, usableSize: usableSize, { _, _ in true }) else { return Self.fullScore }
        return 2 * Self.fullScore
    }

    /// The root page of a row of the schema.
    private static func root(_ cell: BTreePage.Cell, _ bytes: [UInt8]) -> UInt32? {
        guard let values = SalvagedRecord(Array(bytes[cell.local]))?.values, values.count >= 4,
            case .integer(let root) = values[3]
        else { return nil }
        return UInt32(exactly: root)
    }

    // MARK: - Auto-vacuum

    /// Whether the second page is the map of pages that auto-vacuum needs; nil if that can't be told.
    private static func hasPointerMap(_ source: PageSource, _ header: FileHeader) -> Bool? {
        guard source.lastPageNumber > 2, let bytes = source.page(2) else { return nil }
        let page = BTreePage(bytes, number: 2, usableSize: header.usableSize)
        if let page, page.isExact || page.cells.contains(where: \.isProven) { return false }
        // https://www.sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages
        let isMap = (0..<min(header.usableSize / 5, Int(source.lastPageNumber) - 2)).allSatisfy { index in
            guard let parent = bytes.bigEndian32(at: 5 * index + 1) else { return false }
            switch bytes[5 * index] {
            case 1, 2: return parent == 0
            case 3...5: return 1...source.lastPageNumber ~= parent
            default: return false
            }
        }
        return isMap ? true : nil
    }
}
