import Quarry
import QuarryCore

/// Copies everything that can be read of a damaged database into a new one.
///
/// Rows are read from the pages of the file, not through SQLite. First all trees are walked, to know which pages belong
/// to which rows. Then the rows of the tables are copied, around pages that can't be used. Each such page leaves a hole
/// in its table. Then all other pages are searched: a page with rows belongs to the table that has a hole for it, and
/// such rows. Rows whose bytes may be those of another row are kept aside.
final class Salvager {
    let source: PageSource
    var walk: TreeWalk
    var payloads: PayloadReader
    var report: SalvageReport
    var phase = SalvageProgress.Phase.schema
    var objects: [SchemaObject] = []
    /// The tables with places for rows of pages that were lost.
    var damagedTables: [DamagedTable] = []
    /// The entries of indexes with holes: the numbers of their values, nil if unknown.
    var damagedIndexes: [Int?] = []
    /// Whether there may be tables of which nothing is known.
    var mayHaveUnknownTables = false
    /// `sqlite_sequence`: <https://www.sqlite.org/autoinc.html>.
    var sequences: [String: Int64] = [:]
    var hasStatistics = false
    /// The pages that the database doesn't use, and whether they are all known.
    var free: (pages: PageSet, isSound: Bool)
    /// The pages that several trees have, or that a tree has although they are unused.
    var sharedPages: PageSet

    private let includesFreePages: Bool
    private let tick: (SalvageProgress) throws -> Void
    private var tickCount = 0

    /// A table with holes.
    struct DamagedTable {
        let table: SalvageTarget.Table
        let keys: HoleKeys
    }

    init(
        _ source: PageSource, target: String, includesFreePages: Bool,
        _ tick: @escaping (SalvageProgress) throws -> Void
    ) {
        self.source = source
        self.includesFreePages = includesFreePages
        self.tick = tick
        walk = TreeWalk(source)
        payloads = PayloadReader(source)
        free = (source.emptySet(), false)
        sharedPages = source.emptySet()
        report = SalvageReport(source: source.path, target: target)
    }

    // MARK: - Progress

    /// Tells of the progress from time to time, and ends the work if it is cancelled.
    func mayGoOn(always: Bool = false) throws {
        tickCount += 1
        guard always || tickCount % 64 == 0 else { return }
        try tick(
            SalvageProgress(
                phase: phase, readPageCount: source.readCount, pageCount: source.pageCount,
                savedRowCount: report.savedRowCount))
    }

    func begin(_ phase: SalvageProgress.Phase) throws {
        self.phase = phase
        try mayGoOn(always: true)
    }

    // MARK: - Records

    func record(_ content: TreeWalk.Content, _ cell: BTreePage.Cell) -> SalvagedRecord? {
        let (bytes, isComplete, isShared) = payloads.payload(content, cell)
        guard var record = SalvagedRecord(bytes) else { return nil }
        if !isComplete { record.isComplete = false }
        record.doubt =
            if !cell.isProven {
                .cells
            } else if sharedPages.contains(content.number) {
                .page
            } else {
                isShared ? .overflow : nil
            }
        return record
    }

    /// Whether most records of a page can be those of a table.
    func fits(_ content: TreeWalk.Content, _ shape: RowShape) -> Bool {
        // A damaged file may have a table's page in the tree of another one. Some rows show that.
        let cells = content.page.cells
        let sample = stride(from: 0, to: cells.count, by: max(1, cells.count / 8)).map { cells[$0] }
        let misfits = sample.count { cell in
            guard let record = SalvagedRecord(Array(content.bytes[cell.local])) else { return true }
            // A record with overflow pages is incomplete here.
            return record.isComplete && cell.overflow == 0 && shape.fit(record) == nil
        }
        return 2 * misfits <= sample.count
    }

    // MARK: - Schema

    /// Reads the schema: from its tree, and if the tree is damaged, from all pages that have rows of a schema.
    func readSchema() throws {
        try begin(.schema)
        report.pageSize = source.header.pageSize
        report.pageCount = source.pageCount
        report.logFrames = source.logFrames
        report.journalPageCount = source.journalPageCount
        let holes = try walk.walk(.table, root: 1) { content in
            self.fits(content, .schema)
        } _: { content in
            try self.mayGoOn()
            if content.page.kind == .tableLeaf { self.readObjects(content) }
        }
        guard !holes.isEmpty || objects.isEmpty && source.pageCount > 1 else { return }
        report.schemaIsDamaged = !holes.isEmpty
        if report.schemaIsDamaged { mayHaveUnknownTables = true }
        for number in source.pageNumbers where number > 1 {
            try mayGoOn()
            guard !walk.used.contains(number), let content = orphan(number), content.page.kind == .tableLeaf else {
                continue
            }
            let records = content.page.cells.compactMap { record(content, $0) }
            guard !records.isEmpty, records.allSatisfy({ object($0) != nil }) else { continue }
            walk.use(number)
            readObjects(content)
        }
        if source.header.isDamaged, objects.isEmpty { inferEncoding() }
    }

    private func readObjects(_ content: TreeWalk.Content) {
        for cell in content.page.cells {
            guard let record = record(content, cell), let object = object(record) else {
                report.schemaIsDamaged = true
                mayHaveUnknownTables = true
                continue
            }
            if !objects.contains(where: { $0.kind == object.kind && $0.name == object.name }) { objects.append(object) }
        }
        payloads.claim(content)
    }

    /// The object of a record. The first one corrects the encoding of a damaged header.
    private func object(_ record: SalvagedRecord) -> SchemaObject? {
        if let object = SchemaObject(record, source.header.encoding) { return object }
        guard objects.isEmpty else { return nil }
        for encoding in [FileHeader.Encoding.utf8, .utf16LittleEndian, .utf16BigEndian] {
            guard let object = SchemaObject(record, encoding) else { continue }
            source.correctEncoding(encoding)
            return object
        }
        return nil
    }

    /// Infers the encoding from texts: most characters of most texts have a zero byte in UTF-16.
    private func inferEncoding() {
        var zeros = [0, 0]
        var byteCount = 0
        for number in source.samplePageNumbers() {
            guard let content = orphan(number), content.page.kind != .tableInterior else { continue }
            for case .text(let bytes) in content.page.cells.prefix(16).flatMap({ record(content, $0)?.values ?? [] }) {
                for (index, byte) in bytes.prefix(256).enumerated() where byte == 0 { zeros[index % 2] += 1 }
                byteCount += min(bytes.count, 256)
            }
        }
        guard byteCount > 0 else { return }
        if 4 * zeros[1] > byteCount { source.correctEncoding(.utf16LittleEndian) }
        if 4 * zeros[0] > byteCount { source.correctEncoding(.utf16BigEndian) }
    }

    /// A page that no tree has, if it has records and most of its cells are sound.
    func orphan(_ number: UInt32) -> TreeWalk.Content? {
        guard number != source.header.lockPage, let bytes = source.page(number),
            let page = BTreePage(bytes, number: number, usableSize: source.header.usableSize),
            page.isExact || !source.header.isPointerMap(number), !page.cells.isEmpty,
            page.brokenCellCount <= page.cells.count
        else { return nil }
        return TreeWalk.Content(number: number, bytes: bytes, page: page, keys: KeyRange())
    }

    // MARK: - Orphans

    /// Searches the pages that no tree has.
    func salvageOrphans(_ target: SalvageTarget) throws {
        try begin(.orphans)
        for number in source.pageNumbers {
            try mayGoOn()
            guard !walk.used.contains(number) else { continue }
            let isFree = free.pages.contains(number)
            guard includesFreePages || !isFree, let content = orphan(number), content.page.kind != .tableInterior else {
                continue
            }
            let rows = rows(content)
            guard !rows.isEmpty else { continue }
            if content.page.kind == .tableLeaf {
                let tables = tablesWithHole(for: rows, ofIndex: false)
                try place(rows, tables, isCertain: isCertain(tables) && !isFree, target, isFree: isFree)
            } else {
                try placeEntries(rows, target, isFree: isFree)
            }
        }
    }

    private func rows(_ content: TreeWalk.Content) -> [SalvageTarget.Row] {
        content.page.cells.compactMap { cell in
            record(content, cell).map { record in
                SalvageTarget.Row(
                    page: content.number, rowID: content.page.kind == .tableLeaf ? cell.rowID : nil, record: record)
            }
        }
    }

    /// The tables with a hole in which a page's rows fit, the one that they fit best first.
    private func tablesWithHole(for rows: [SalvageTarget.Row], ofIndex: Bool) -> [SalvageTarget.Table] {
        let records = rows.map(\.record).filter(\.isComplete)
        let rowIDs = rows.compactMap(\.rowID)
        let keys = (rowIDs.min() ?? 0)...(rowIDs.max() ?? 0)
        let candidates = damagedTables.compactMap { damaged -> (table: SalvageTarget.Table, fit: Int)? in
            guard damaged.table.isWithoutRowID == ofIndex,
                ofIndex || damaged.keys.contain(keys)
            else { return nil }
            return damaged.table.shape.fit(records).map { (damaged.table, $0) }
        }
        return candidates.sorted { $0.fit > $1.fit }.map(\.table)
    }

    /// Whether a page that fits these tables belongs to the first one: it can't be that of another table, nor have
    /// deleted rows.
    private func isCertain(_ tables: [SalvageTarget.Table]) -> Bool {
        tables.count == 1 && !mayHaveUnknownTables && free.isSound
    }

    /// Places a page of a table WITHOUT ROWID. Pages of indexes are left out: indexes are made anew.
    private func placeEntries(_ rows: [SalvageTarget.Row], _ target: SalvageTarget, isFree: Bool) throws {
        let tables = tablesWithHole(for: rows, ofIndex: true)
        if tables.isEmpty, !mayHaveUnknownTables { return }
        let mayBeIndex = damagedIndexes.contains { count in
            rows.allSatisfy { row in
                // An index has the rowid last.
                guard case .integer = row.record.values.last else { return false }
                return count.map { $0 == row.record.values.count } ?? true
            }
        }
        try place(rows, tables, isCertain: isCertain(tables) && !mayBeIndex && !isFree, target, isFree: isFree)
    }

    /// Inserts the rows of a page into its table, or keeps them in the table of lost rows.
    ///
    /// - parameter tables: the tables that may have the page, the likeliest first.
    /// - parameter isCertain: whether it is that table.
    private func place(
        _ rows: [SalvageTarget.Row], _ tables: [SalvageTarget.Table], isCertain: Bool, _ target: SalvageTarget,
        isFree: Bool
    ) throws {
        for row in rows {
            if isCertain, let table = tables.first {
                if table.name == "sqlite_sequence" {
                    noteSequence(row.record, target.encoding)
                } else {
                    try salvage(row, table, target, isOrphan: true)
                }
            } else {
                let reason =
                    if isFree {
                        "on an unused page"
                    } else if tables.isEmpty {
                        "on a page without a table"
                    } else if tables.count == 1, !free.isSound {
                        "on a page that may be unused"
                    } else {
                        "on a page that several tables may have had"
                    }
                try target.keep(row, table: tables.first?.name, reason: reason)
            }
        }
    }
}
