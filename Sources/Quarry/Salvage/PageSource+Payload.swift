/// Reads records that continue on overflow pages:
/// <https://www.sqlite.org/fileformat2.html#cell_payload_overflow_pages>.
///
/// Chains of damaged files may be long, circular, and shared by many cells. In all, each page is read a few times at
/// most, and a chain that is longer than any record of SQLite's isn't followed.
struct PayloadReader {
    private let source: PageSource
    /// The overflow pages that were read.
    private var visited: PageSet
    /// The number of readings left until a page is read only once more.
    private var budget: Int

    init(_ source: PageSource) {
        self.source = source
        visited = source.emptySet()
        budget = 16 * source.pageCount + 1024
    }

    /// The longest record that SQLite is built for, unless told otherwise: <https://www.sqlite.org/limits.html>.
    private static let maximumSize = 1_000_000_000

    /// The bytes of a cell's record, or the first ones if its chain of pages is broken.
    mutating func payload(_ page: [UInt8], _ cell: BTreePage.Cell) -> (bytes: [UInt8], isComplete: Bool) {
        var bytes = Array(page[cell.local])
        guard cell.payloadSize <= Self.maximumSize else { return (bytes, false) }
        var next = cell.overflow
        var chain: Set<UInt32> = []
        while bytes.count < cell.payloadSize {
            guard next > 0, chain.insert(next).inserted, mayVisit(next), let page = source.page(next),
                let following = page.bigEndian32(at: 0)
            else { return (bytes, false) }
            let count = min(cell.payloadSize - bytes.count, source.header.usableSize - 4)
            bytes += page[4..<4 + count]
            next = following
        }
        // The last page of a chain has no successor.
        return (bytes, next == 0)
    }

    private mutating func mayVisit(_ page: UInt32) -> Bool {
        let isNew = visited.insert(page)
        budget -= 1
        return isNew || budget > 0
    }
}
