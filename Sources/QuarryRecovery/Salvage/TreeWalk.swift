/// The rowids that a page of a table may have: those above `low`, up to `high`.
struct KeyRange: Equatable, Sendable {
    /// nil: no limit.
    var low: Int64?
    /// nil: no limit.
    var high: Int64?

    func contains(_ key: Int64) -> Bool {
        if let low, key <= low { return false }
        if let high, key > high { return false }
        return true
    }
}

/// A page that a tree refers to, and that couldn't be used.
struct TreeHole: Sendable {
    var page: UInt32
    /// The keys of the missing rows, of a table with rowids.
    var keys: KeyRange
    var reason: Reason

    enum Reason: String, Sendable {
        case outsideFile = "the file ends before it"
        case unreadable = "it can't be read"
        case notATreePage = "it is no page of a table"
        case wrongKind = "it belongs to another kind of tree"
        case wrongContent = "its rows don't belong to the table"
        case usedTwice = "it is used in several places"
        case tooDeep = "the tree is too deep"
        case brokenCells = "some of its rows are damaged"
    }
}

/// The keys of missing rows, to be searched.
struct HoleKeys {
    /// In the order of their first keys, with the greatest key of the holes up to there.
    private var ranges: [(first: Int64, last: Int64)] = []

    init(_ holes: [TreeHole]) {
        ranges = holes.compactMap { hole in
            if hole.keys.low == .max { return nil }
            return (hole.keys.low.map { $0 + 1 } ?? .min, hole.keys.high ?? .max)
        }
        ranges.sort { $0.first < $1.first }
        for index in ranges.indices.dropFirst() { ranges[index].last = max(ranges[index].last, ranges[index - 1].last) }
    }

    /// Whether a page with these keys may be missing in one hole.
    func contain(_ keys: ClosedRange<Int64>) -> Bool {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].first <= keys.lowerBound { low = middle + 1 } else { high = middle }
        }
        return low > 0 && ranges[low - 1].last >= keys.upperBound
    }
}

/// Walks the trees of a damaged file: every page that can be reached and used, in the order of keys.
struct TreeWalk {
    /// A page with records, which a tree uses.
    struct Content {
        let number: UInt32
        let bytes: [UInt8]
        let page: BTreePage
        /// The keys that the page may have.
        let keys: KeyRange
    }

    /// The kind of a tree.
    enum Kind {
        /// Of a table with rowids.
        case table
        /// Of an index, or a table WITHOUT ROWID.
        case index
    }

    let source: PageSource
    /// The pages that trees use.
    private(set) var used: PageSet
    /// The pages that two trees use: one of them is wrong, and it isn't known which.
    private var usedTwice: PageSet
    /// How often pages were read that couldn't be used.
    private var refusals: [UInt32: Int] = [:]
    /// A damaged tree may refer to a page of another tree. Trees that do so again and again would take forever to walk.
    private static let maximumRefusals = 64
    /// SQLite's own limit is 20: <https://www.sqlite.org/src/file/src/btreeInt.h>.
    private static let maximumDepth = 20

    init(_ source: PageSource) {
        self.source = source
        used = source.emptySet()
        usedTwice = source.emptySet()
    }

    /// Walks a tree.
    ///
    /// - parameter accepts: whether the records of a page can belong to the tree.
    /// - parameter body: is called with each page that has records.
    /// - returns: the pages that couldn't be used.
    mutating func walk(
        _ kind: Kind, root: UInt32, accepts: (Content) throws -> Bool, _ body: (Content) throws -> Void
    ) throws -> [TreeHole] {
        var holes: [TreeHole] = []
        // The pages to visit, the next one last.
        var stack: [(page: UInt32, keys: KeyRange, depth: Int)] = [(root, KeyRange(), 0)]
        while let (number, keys, depth) = stack.popLast() {
            func hole(_ reason: TreeHole.Reason) { holes.append(TreeHole(page: number, keys: keys, reason: reason)) }
            guard depth < Self.maximumDepth else {
                hole(.tooDeep)
                continue
            }
            guard number > 0, number <= source.lastPageNumber else {
                hole(.outsideFile)
                continue
            }
            guard !usedTwice.contains(number), refusals[number, default: 0] < Self.maximumRefusals else {
                hole(.usedTwice)
                continue
            }
            func refuse(_ reason: TreeHole.Reason) {
                refusals[number, default: 0] += 1
                hole(reason)
            }
            guard let bytes = source.page(number) else {
                refuse(.unreadable)
                continue
            }
            guard let page = BTreePage(bytes, number: number, usableSize: source.header.usableSize) else {
                refuse(.notATreePage)
                continue
            }
            guard page.kind.isTable == (kind == .table), number == root || number != 1 else {
                refuse(.wrongKind)
                continue
            }
            let content = Content(number: number, bytes: bytes, page: page, keys: keys)
            if page.kind != .tableInterior, !page.cells.isEmpty, try !belongs(content, accepts) {
                refuse(.wrongContent)
                continue
            }
            if !used.insert(number) {
                usedTwice.insert(number)
                // The page that belongs here is elsewhere.
                hole(.usedTwice)
            }
            if !page.isSound { hole(.brokenCells) }
            if page.kind != .tableInterior { try body(content) }
            if !page.kind.isLeaf {
                let children = Self.children(page, keys)
                if children.areDoubtful { hole(.brokenCells) }
                stack += children.list.reversed().map { ($0.page, $0.keys, depth + 1) }
            }
        }
        return holes
    }

    private func belongs(_ content: Content, _ accepts: (Content) throws -> Bool) rethrows -> Bool {
        if content.page.kind == .tableLeaf, !content.page.cells.contains(where: { content.keys.contains($0.rowID) }) {
            return false
        }
        return try accepts(content)
    }

    /// The children of an interior page with the keys that they may have. If the keys of the page aren't in order, its
    /// children may have any keys that the page may have.
    private static func children(
        _ page: BTreePage, _ keys: KeyRange
    ) -> (list: [(page: UInt32, keys: KeyRange)], areDoubtful: Bool) {
        guard page.kind == .tableInterior else {
            return (page.cells.map { ($0.child, KeyRange()) } + [(page.rightChild, KeyRange())], false)
        }
        var low = keys.low
        var list: [(page: UInt32, keys: KeyRange)] = []
        var areDoubtful = false
        for cell in page.cells {
            if !KeyRange(low: low, high: keys.high).contains(cell.rowID) { areDoubtful = true }
            list.append((cell.child, KeyRange(low: low, high: cell.rowID)))
            low = cell.rowID
        }
        list.append((page.rightChild, KeyRange(low: low, high: keys.high)))
        return (areDoubtful ? list.map { ($0.page, keys) } : list, areDoubtful)
    }

    /// Marks a page as used, as the orphan whose content was taken.
    mutating func use(_ page: UInt32) { used.insert(page) }
}

extension PageSource {
    /// The pages of the list of unused pages, as far as the list is sound:
    /// <https://www.sqlite.org/fileformat2.html#the_freelist>.
    ///
    /// - parameter used: the pages that trees use. The list can't have one of them as a trunk.
    func freePages(used: PageSet) -> (pages: PageSet, isSound: Bool) {
        var pages = emptySet()
        guard var next = header.freelistTrunk else { return (pages, false) }
        var count = 0
        while next > 0 {
            guard next <= lastPageNumber, !pages.contains(next), !used.contains(next), let trunk = page(next),
                let following = trunk.bigEndian32(at: 0), following <= lastPageNumber,
                let leafCount = trunk.bigEndian32(at: 4), leafCount <= UInt32(header.usableSize / 4 - 2)
            else { return (pages, false) }
            let leaves = (0..<Int(leafCount)).compactMap { trunk.bigEndian32(at: 8 + 4 * $0) }
            guard leaves.allSatisfy({ $0 > 1 && $0 <= lastPageNumber }), Set(leaves).count == leaves.count else {
                return (pages, false)
            }
            pages.insert(next)
            for leaf in leaves { pages.insert(leaf) }
            count += 1 + leaves.count
            next = following
        }
        return (pages, count == Int(header.freelistCount))
    }
}
