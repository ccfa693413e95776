import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryRecovery

/// Numbers of pages and cells are damaged: no row is saved with the bytes of another one.
///
/// `QUARRY_SALVAGE_DATABASES=1000` sets the number of random damages, `QUARRY_SALVAGE_SEED` the first seed.
@Suite("Proven rows", .timeLimit(.minutes(30 * TestTime.factor))) struct ProvenRowsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    private func number(_ page: UInt32) -> [UInt8] { (0..<4).map { UInt8(page >> (24 - 8 * UInt32($0)) & 0xFF) } }

    /// Rows 7 and 14 have two overflow pages each.
    private func makeTwoLongRows() throws -> (path: String, row7: (offset: Int, cell: BTreePage.Cell), row14: UInt32) {
        let path = try SampleDatabase(path: folder.file("db"), pageSize: 1024, rowCount: 14, largeSize: 2000).path
        let source = try PageSource(path: path, vfs: nil)
        var cells: [Int64: (offset: Int, cell: BTreePage.Cell)] = [:]
        for number in source.pageNumbers where number > 1 {
            guard let bytes = source.page(number), let page = BTreePage(bytes, number: number, usableSize: 1024),
                page.kind == .tableLeaf
            else { continue }
            for cell in page.cells where !cell.isLocal {
                cells[cell.rowID] = (Int(number - 1) * 1024 + cell.local.upperBound, cell)
            }
        }
        return (path, try #require(cells[7]), try #require(cells[14]).cell.overflow)
    }

    private func salvage(_ path: String) throws -> SalvageReport {
        try DatabaseSalvage(path: path).salvage(into: folder.file("new"))
    }

    private func lost() throws -> [String] {
        try DatabaseQueue(path: folder.file("new")).read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM lost_and_found ORDER BY id").map { row in
                let blob = row["fieldCount"] == 3 ? "\((row["c2"] as Data).count) bytes" : "no blob"
                return "\(row["c1"] as String): \(blob), \(row["reason"] as String)"
            }
        }
    }

    /// One of both has a damaged number, and it isn't known which.
    @Test func rowsWithTheSameOverflowPagesAreKeptAside() throws {
        let (path, row7, row14) = try makeTwoLongRows()
        try DamagedFile.overwrite(path, at: row7.offset, with: number(row14))
        let report = try salvage(path)
        #expect(report.tables[0].brokenRowCount == 2 && report.tables[0].savedRowCount == 12, "\(report)")
        #expect(try SampleDatabase.saved(folder.file("new")) == .init(t: 12, u: 14))
        let reason = "its overflow pages are those of another row, or unused"
        #expect(try lost() == ["row 7 2000: 2000 bytes, \(reason)", "row 14 2000: 2000 bytes, \(reason)"])
    }

    @Test func rowsWhoseOverflowPagesAreUnusedAreKeptAside() throws {
        let (path, row7, _) = try makeTwoLongRows()
        let source = try PageSource(path: path, vfs: nil)
        let free = source.freePages(used: source.emptySet())
        // The last pages of the chain of the row that is gone: as many as row 7 has.
        let chainStart = try #require(
            free.pages.first(100).map(UInt32.init).first { page in
                var cell = row7.cell
                cell.overflow = page
                return source.follow(cell, usableSize: 1024) { _, _ in true }
            })
        try DamagedFile.overwrite(path, at: row7.offset, with: number(chainStart))
        let report = try salvage(path)
        #expect(report.tables[0].brokenRowCount == 1 && report.tables[0].savedRowCount == 13, "\(report)")
        #expect(try SampleDatabase.saved(folder.file("new")) == .init(t: 13, u: 14))
        #expect(try lost() == ["row 7 2000: 2000 bytes, its overflow pages are those of another row, or unused"])
    }

    @Test func rowsWithTooFewOverflowPagesKeepTheirFirstValues() throws {
        let (path, row7, _) = try makeTwoLongRows()
        let source = try PageSource(path: path, vfs: nil)
        let second = try #require(source.page(row7.cell.overflow)?.bigEndian32(at: 0))
        try DamagedFile.overwrite(path, at: row7.offset, with: number(second))
        let report = try salvage(path)
        #expect(report.tables[0].brokenRowCount == 1 && report.tables[0].savedRowCount == 13, "\(report)")
        #expect(try SampleDatabase.saved(folder.file("new")) == .init(t: 13, u: 14))
        #expect(try lost() == ["row 7 2000: no blob, the row is damaged"])
    }

    /// Each byte of the beginning of a page, and of its pointers, with each sixteenth value, or with each one if
    /// `QUARRY_SALVAGE_HEADERS` is set: a proven cell is one that the page had.
    @Test(arguments: [512, 1024]) func damagedPointersProveNoOtherCell(pageSize: Int) throws {
        let path = try SampleDatabase(
            path: folder.file("db"), pageSize: pageSize, rowCount: 60, largeSize: 3 * pageSize
        ).path
        let source = try PageSource(path: path, vfs: nil)
        var (leafCount, damageCount, provenCount) = (0, 0, 0)
        for number in source.pageNumbers {
            guard let bytes = source.page(number), let page = BTreePage(bytes, number: number, usableSize: pageSize),
                page.kind.isLeaf
            else { continue }
            #expect(page.isExact && page.isSound, "page \(number)")
            leafCount += 1
            let start = number == 1 ? FileHeader.size : 0
            // Byte 0 is the kind of the page: its cells then have other parts.
            for offset in start + 1..<start + 8 + 2 * page.cells.count {
                for value in 0...UInt8.max where value != bytes[offset] {
                    guard HeaderDamageTests.triesAll || Int(value) % 16 == offset % 16 else { continue }
                    var damaged = bytes
                    damaged[offset] = value
                    damageCount += 1
                    guard let found = BTreePage(damaged, number: number, usableSize: pageSize) else { continue }
                    for cell in found.cells where cell.isProven {
                        provenCount += 1
                        if !page.cells.contains(cell) {
                            Issue.record("page \(number), byte \(offset): \(value), \(cell)")
                        }
                    }
                }
            }
        }
        print("\(leafCount) pages, \(damageCount) damages, \(provenCount) proven cells")
        #expect(leafCount > 5 && provenCount > damageCount)
    }

    // MARK: - Random damage

    enum Damage: CaseIterable {
        case cellPointer
        case pageHeader
        case overflowNumber
        case chainNumber
        case childNumber
        case truncation
        case swappedLeaves
        case copiedLeaf
        case zeroedPage
    }

    @Test func damagedNumbersChangeNoRow() async throws {
        try await onOwnThread(within: 1700 * Double(TestTime.factor)) {
            let count = DamagedDatabasesTests.environment["QUARRY_SALVAGE_DATABASES"].flatMap { Int($0) } ?? 36
            let first = DamagedDatabasesTests.firstSeed ?? 1
            for seed in (0..<UInt64(count)).map({ first &+ $0 }) {
                var generator = SeededGenerator(seed: seed)
                let path = folder.file("db")
                let pageSize = [512, 1024, 4096].randomElement(using: &generator)!
                let database = try SampleDatabase(
                    path: path, pageSize: pageSize, reservedSize: [0, 8].randomElement(using: &generator)!,
                    isAutoVacuum: Bool.random(using: &generator), rowCount: 120, largeSize: 2 * pageSize)
                let damage = Damage.allCases[Int(seed % UInt64(Damage.allCases.count))]
                try Self.apply(damage, database.path, &generator)
                let report = try DatabaseSalvage(path: path).salvage(into: folder.file("new"))
                let saved = try SampleDatabase.saved(folder.file("new"))
                #expect(saved.changed == [], "seed \(seed), \(damage): \(report)")
                if saved.t + saved.u < 240 { #expect(!report.isComplete, "seed \(seed), \(damage)") }
                for name in try FileCopy.names(in: folder.path) { FileCopy.remove(folder.file(name)) }
            }
        }
    }

    private static func apply(_ damage: Damage, _ path: String, _ generator: inout SeededGenerator) throws {
        let source = try PageSource(path: path, vfs: nil)
        let (size, last) = (source.header.pageSize, source.lastPageNumber)
        var file = FileCopy.bytes(path)!
        var trees: [(number: UInt32, page: BTreePage)] = []
        for number in 2...last {
            guard !source.header.isPointerMap(number), let bytes = source.page(number),
                let page = BTreePage(bytes, number: number, usableSize: source.header.usableSize)
            else { continue }
            trees.append((number, page))
        }
        func start(_ page: UInt32) -> Int { Int(page - 1) * size }
        func bytes(_ page: UInt32) -> [UInt8] { Array(file[start(page)..<start(page) + size]) }
        func set(_ offset: Int, _ bytes: [UInt8]) { file.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
        /// Another number of a page, or the same one with another bit.
        func setNumber(_ offset: Int, _ generator: inout SeededGenerator) {
            if Bool.random(using: &generator) {
                let page = UInt32.random(in: 1...last, using: &generator)
                set(offset, (0..<4).map { UInt8(page >> (24 - 8 * UInt32($0)) & 0xFF) })
            } else {
                file[offset + Int.random(in: 0..<4, using: &generator)] ^=
                    1 << UInt8.random(in: 0..<8, using: &generator)
            }
        }
        let leaves = trees.filter { $0.page.kind == .tableLeaf && !$0.page.cells.isEmpty }.map(\.number)
        let (number, page) = trees.filter { !$0.page.cells.isEmpty }.randomElement(using: &generator)!
        let pointers = start(number) + (page.kind.isLeaf ? 8 : 12)
        let long = trees.flatMap { tree in
            tree.page.cells.filter { !$0.isLocal }.map { (offset: start(tree.number) + $0.local.upperBound, cell: $0) }
        }
        switch damage {
        case .cellPointer:
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                file[pointers + Int.random(in: 0..<2 * page.cells.count, using: &generator)] = .random(
                    in: 0...255, using: &generator)
            }
        case .pageHeader:
            file[start(number) + Int.random(in: 0..<8, using: &generator)] = .random(in: 0...255, using: &generator)
        case .overflowNumber: setNumber(long.randomElement(using: &generator)!.offset, &generator)
        case .chainNumber: setNumber(start(long.randomElement(using: &generator)!.cell.overflow), &generator)
        case .childNumber:
            guard let parent = trees.filter({ !$0.page.kind.isLeaf }).randomElement(using: &generator) else { return }
            let offsets = [8] + parent.page.cells.map(\.range.lowerBound)
            setNumber(start(parent.number) + offsets.randomElement(using: &generator)!, &generator)
        case .truncation: file.removeLast(Int.random(in: 1..<file.count / 2, using: &generator))
        case .swappedLeaves, .copiedLeaf:
            let (one, other) = (leaves.randomElement(using: &generator)!, leaves.randomElement(using: &generator)!)
            let (bytesOfOne, bytesOfOther) = (bytes(one), bytes(other))
            set(start(other), bytesOfOne)
            if damage == .swappedLeaves { set(start(one), bytesOfOther) }
        case .zeroedPage: set(start(number), [UInt8](repeating: 0, count: size))
        }
        if Bool.random(using: &generator) {
            file[Int.random(in: 0..<FileHeader.size, using: &generator)] = .random(in: 0...255, using: &generator)
        }
        try Data(file).write(to: URL(fileURLWithPath: path))
    }
}
