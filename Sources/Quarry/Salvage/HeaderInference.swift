/// Infers the facts of a damaged header from the pages.
struct HeaderInference {
    private(set) var header: FileHeader

    /// - parameter knownSize: the size of pages, as known by the log.
    init(_ source: PageSource, _ knownSize: Int?) {
        let size =
            knownSize
            ?? FileHeader.pageSizes.reversed().max {
                Self.countPages(source, size: $0) * $0 < Self.countPages(source, size: $1) * $1
            } ?? 4096
        header = FileHeader(pageSize: size)
        source.setPageSize(size)
        source.correct { $0 = FileHeader(pageSize: size) }
        header.reservedSize = Self.reservedSize(source, size)
    }

    /// The number of sampled pages that are leaves of b-trees and have no broken cell.
    static func countPages(_ source: PageSource, size: Int) -> Int {
        let count = source.size / Int64(size)
        let step = max(1, count / 64)
        return stride(from: Int64(0), to: count, by: Int64.Stride(step)).count { index in
            guard let bytes = source.bytes(at: index * Int64(size), count: size),
                let page = BTreePage(bytes, number: index == 0 ? 1 : 2, usableSize: size)
            else { return false }
            return page.isSound && !page.cells.isEmpty && endsWithCell(bytes, page, size)
        }
    }

    /// Whether the cells lie at the end of the page, as SQLite puts them: a smaller size would find pages, too.
    private static func endsWithCell(_ bytes: [UInt8], _ page: BTreePage, _ size: Int) -> Bool {
        page.cells.contains { $0.local.upperBound > size - 256 } || page.kind == .tableInterior
    }

    /// The bytes behind the last cell, which are the same on all pages.
    private static func reservedSize(_ source: PageSource, _ size: Int) -> Int {
        var end = 0
        for number in source.samplePageNumbers where number > 1 {
            guard let bytes = source.page(number), let page = BTreePage(bytes, number: number, usableSize: size),
                page.isSound
            else { continue }
            for cell in page.cells where page.kind != .tableInterior {
                end = max(end, cell.local.upperBound + (cell.overflow > 0 ? 4 : 0))
            }
        }
        return end > 0 && size - end <= 255 ? size - end : 0
    }
}
