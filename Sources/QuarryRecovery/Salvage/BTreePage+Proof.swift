extension BTreePage {
    /// The facts at the beginning of a page: <https://www.sqlite.org/fileformat2.html#b_tree_pages>.
    struct Layout {
        let kind: Kind
        /// The number of cells.
        let count: Int
        /// The place of the pointers to the cells.
        let pointers: Int
        /// The first byte of the cells and the free blocks.
        let contentStart: Int
        /// The number of unused bytes between them.
        let fragmentSize: Int
        private let firstFreeBlock: Int

        /// SQLite's own limit: <https://www.sqlite.org/fileformat2.html#b_tree_pages>.
        private static let maximumFragmentSize = 60

        /// - returns: nil if this isn't a page of a b-tree.
        init?(_ bytes: [UInt8], _ number: UInt32) {
            // The first page begins with the header of the file.
            let start = number == 1 ? FileHeader.size : 0
            guard start + 8 <= bytes.count, let kind = Kind(rawValue: bytes[start]),
                let firstFreeBlock = bytes.bigEndian16(at: start + 1), let count = bytes.bigEndian16(at: start + 3),
                let content = bytes.bigEndian16(at: start + 5)
            else { return nil }
            self.kind = kind
            self.count = count
            pointers = start + (kind.isLeaf ? 8 : 12)
            // https://www.sqlite.org/fileformat2.html: zero means 65536.
            contentStart = content == 0 ? 65_536 : content
            fragmentSize = Int(bytes[start + 7])
            self.firstFreeBlock = firstFreeBlock
        }

        var pointersEnd: Int { pointers + 2 * count }

        /// The free blocks, up to the first one that contradicts the format; whether there is none such.
        func freeBlocks(_ bytes: [UInt8], _ usableSize: Int) -> (blocks: [Range<Int>], areSound: Bool) {
            var blocks: [Range<Int>] = []
            var (next, end) = (firstFreeBlock, contentStart)
            while next > 0 {
                guard next >= end, let following = bytes.bigEndian16(at: next),
                    let size = bytes.bigEndian16(at: next + 2), size >= 4, next + size <= usableSize
                else { return (blocks, false) }
                blocks.append(next..<next + size)
                (next, end) = (following, next + size)
            }
            return (blocks, true)
        }

        /// The sizes of which the page may prove that SQLite uses them: its last cell or free block ends there, or a
        /// few unused bytes before.
        func usableSizes(_ bytes: [UInt8]) -> [Int] {
            let sizes = max(FileHeader.minimumUsableSize, bytes.count - Int(UInt8.max))...bytes.count
            guard count > 0 else { return sizes.contains(contentStart) ? [contentStart] : [] }
            guard pointersEnd <= sizes.upperBound,
                let last = (0..<count).compactMap({ bytes.bigEndian16(at: pointers + 2 * $0) }).max()
            else { return [] }
            let freeEnd = freeBlocks(bytes, sizes.upperBound).blocks.last?.upperBound ?? 0
            let fragmentSize = min(fragmentSize, Self.maximumFragmentSize)
            func fits(_ end: Int, _ size: Int) -> Bool { size - fragmentSize...size ~= max(end, freeEnd) }
            if let cell = BTreePage.cell(bytes, at: last, kind, sizes.lowerBound), cell.isLocal {
                return sizes.filter { fits(cell.range.upperBound, $0) }
            }
            // How much of a record is here depends on the size.
            return sizes.filter { size in
                last < size
                    && BTreePage.cell(bytes, at: last, kind, size).map { fits($0.range.upperBound, size) } == true
            }
        }
    }

    /// The cells that a page proves.
    ///
    /// SQLite fills the page from the beginning of its content to its end: with cells, free blocks, and a counted
    /// number of unused bytes. If a page differs, a cell is proven if other cells or free blocks begin and end where it
    /// ends and begins. So a damaged pointer, which leaves a gap or makes cells overlap, takes only the cells beside
    /// it.
    struct CellProof {
        private(set) var provenCells: [Bool]
        private(set) var isExact: Bool

        init(_ cells: [Cell], _ layout: Layout, _ free: (blocks: [Range<Int>], areSound: Bool), _ usableSize: Int) {
            provenCells = [Bool](repeating: true, count: cells.count)
            isExact = free.areSound && layout.contentStart >= layout.pointersEnd && layout.contentStart <= usableSize
            var blocks: [(range: Range<Int>, cell: Int?)] = cells.enumerated().map { ($1.range, $0) }
            blocks += free.blocks.map { ($0, nil) }
            blocks.sort { ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound) }
            let contentStart = layout.contentStart
            let hasContentStart = blocks.contains { $0.range.lowerBound == contentStart }
            var (gaps, end) = (0, contentStart)
            // The cell that ends last so far.
            var lastCell: Int?
            for (index, (range, cell)) in blocks.enumerated() {
                if range.lowerBound != end {
                    if index > 0 || range.lowerBound < end { isExact = isExact && range.lowerBound > end }
                    gaps += range.lowerBound - end
                    if range.lowerBound != contentStart { doubt(cell) }
                    if range.lowerBound != contentStart || range.lowerBound < end { doubt(lastCell) }
                }
                // A cell before the content is one of a damaged pointer, unless that beginning is damaged.
                if hasContentStart, range.lowerBound < contentStart { doubt(cell) }
                if index == 0 || range.upperBound >= end { (end, lastCell) = (range.upperBound, cell) }
            }
            gaps += usableSize - end
            if end != usableSize { doubt(lastCell) }
            doubtDisorder(of: cells, layout.kind)
            isExact = isExact && gaps == layout.fragmentSize
        }

        private mutating func doubt(_ cell: Int?) { if let cell { provenCells[cell] = false } }

        /// Doubts the rows of a table whose keys aren't in order.
        private mutating func doubtDisorder(of cells: [Cell], _ kind: Kind) {
            guard kind == .tableLeaf else { return }
            for index in cells.indices.dropFirst() where cells[index - 1].rowID >= cells[index].rowID {
                isExact = false
                doubt(index - 1)
                doubt(index)
            }
        }
    }
}
