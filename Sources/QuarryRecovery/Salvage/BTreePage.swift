/// A page of a b-tree: <https://www.sqlite.org/fileformat2.html#b_tree_pages>.
///
/// Any bytes can be read. Cells that contradict the format are left out, and counted.
struct BTreePage {
    enum Kind: UInt8 {
        case indexInterior = 0x02
        case tableInterior = 0x05
        case indexLeaf = 0x0A
        case tableLeaf = 0x0D

        var isLeaf: Bool { self == .indexLeaf || self == .tableLeaf }
        var isTable: Bool { self == .tableInterior || self == .tableLeaf }
    }

    /// A cell: <https://www.sqlite.org/fileformat2.html#b_tree_cell_format>.
    struct Cell: Equatable {
        /// The child with smaller keys, of a cell of an interior page.
        var child: UInt32 = 0
        /// The key of a table.
        var rowID: Int64 = 0
        /// The bytes of the record, here and on overflow pages.
        var payloadSize = 0
        /// The place of the record's first bytes on the page.
        var local = 0..<0
        /// The first overflow page; 0 if the record is complete here.
        var overflow: UInt32 = 0
        /// The place of the whole cell on the page.
        var range = 0..<0
        /// Whether no part of the record is on overflow pages.
        var isLocal: Bool { local.count == payloadSize }
        /// Whether the rest of the page shows that these bytes are those of one cell.
        var isProven = false
    }

    let kind: Kind
    /// The cells in the order of their keys.
    private(set) var cells: [Cell] = []
    /// The child with the largest keys, of an interior page.
    let rightChild: UInt32
    /// The number of cells that contradict the format.
    private(set) var brokenCellCount = 0
    /// Whether cells and unused bytes fill the page exactly, as on each page that SQLite has written.
    private(set) var isExact = false

    /// - parameter number: the number of the page; the first page begins with the header of the file.
    /// - parameter usableSize: the bytes of the page that SQLite uses.
    /// - returns: nil if this isn't a page of a b-tree.
    init?(_ bytes: [UInt8], number: UInt32, usableSize: Int) {
        guard usableSize <= bytes.count, let layout = Layout(bytes, number) else { return nil }
        let (kind, pointers) = (layout.kind, layout.pointers)
        self.kind = kind
        // SQLite's own limit: a cell has at least four bytes, and a pointer.
        let maximumCount = max(0, (usableSize - pointers) / 6)
        brokenCellCount = max(0, layout.count - maximumCount)
        rightChild = kind.isLeaf ? 0 : bytes.bigEndian32(at: pointers - 4) ?? 0
        let contentStart = max(min(layout.contentStart, usableSize), pointers)
        // Cells don't overlap. If a damaged pointer makes one do, the others needn't be lost; but many overlapping
        // cells would make a large database of a small one.
        var spaceLeft = 2 * usableSize
        var offsets: Set<Int> = []
        for index in 0..<min(layout.count, maximumCount) {
            guard let offset = bytes.bigEndian16(at: pointers + 2 * index), offset >= pointers, offset < usableSize,
                offsets.insert(offset).inserted,
                let cell = Self.cell(bytes, at: offset, kind, usableSize)
            else {
                brokenCellCount += 1
                continue
            }
            spaceLeft -= cell.local.count
            // A cell among the pointers is no cell of SQLite's.
            if offset < contentStart && offset < layout.pointersEnd || spaceLeft < 0 {
                brokenCellCount += 1
            } else {
                cells.append(cell)
            }
        }
        if layout.count > 0, cells.isEmpty, kind.isLeaf { return nil }
        let proof = CellProof(cells, layout, layout.freeBlocks(bytes, usableSize), usableSize)
        isExact = proof.isExact && brokenCellCount == 0
        for index in cells.indices { cells[index].isProven = isExact || proof.provenCells[index] }
    }

    /// Whether nothing on the page contradicts the format.
    var isSound: Bool { brokenCellCount == 0 && cells.allSatisfy(\.isProven) }

    /// The number of bytes of a record on its page: <https://www.sqlite.org/fileformat2.html#cell_payload>.
    static func localSize(_ payloadSize: Int, _ kind: Kind, _ usableSize: Int) -> Int {
        let maximum = kind == .tableLeaf ? usableSize - 35 : (usableSize - 12) * 64 / 255 - 23
        if payloadSize <= maximum { return payloadSize }
        let minimum = (usableSize - 12) * 32 / 255 - 23
        let size = minimum + (payloadSize - minimum) % (usableSize - 4)
        return size <= maximum ? size : minimum
    }

    /// The cell at a place; nil if it contradicts the format.
    static func cell(_ bytes: [UInt8], at offset: Int, _ kind: Kind, _ usableSize: Int) -> Cell? {
        var cell = Cell()
        var position = offset
        if !kind.isLeaf {
            guard position + 4 <= usableSize, let child = bytes.bigEndian32(at: position) else { return nil }
            cell.child = child
            position += 4
        }
        if kind != .tableInterior {
            guard let (size, length) = bytes.varint(at: position, end: usableSize), let size = Int(exactly: size),
                size <= Int(UInt32.max)
            else { return nil }
            cell.payloadSize = size
            position += length
        }
        if kind.isTable {
            guard let (key, length) = bytes.varint(at: position, end: usableSize) else { return nil }
            cell.rowID = Int64(bitPattern: key)
            position += length
        }
        if kind == .tableInterior {
            cell.range = offset..<position
            return cell
        }
        let localSize = localSize(cell.payloadSize, kind, usableSize)
        guard position + localSize <= usableSize else { return nil }
        cell.local = position..<position + localSize
        if localSize < cell.payloadSize {
            guard position + localSize + 4 <= usableSize, let page = bytes.bigEndian32(at: position + localSize) else {
                return nil
            }
            cell.overflow = page
        }
        // A cell takes the place of a free block at least.
        cell.range = offset..<max(position + localSize + (localSize < cell.payloadSize ? 4 : 0), offset + 4)
        return cell
    }
}
