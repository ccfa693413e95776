import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryRecovery

/// One byte of the first hundred is damaged: each row is saved, and as it was.
///
/// `QUARRY_SALVAGE_HEADERS=1` tries all damages of all shapes of files, rather than a part.
@Suite("Damaged headers", .timeLimit(.minutes(60 * TestTime.factor))) struct HeaderDamageTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    private func salvage(_ path: String) throws -> (report: SalvageReport, saved: SampleDatabase.Saved) {
        let target = folder.file("new")
        FileCopy.remove(target)
        let report = try DatabaseSalvage(path: path).salvage(into: target)
        return (report, try SampleDatabase.saved(target))
    }

    @Test(arguments: [150, 300, 600]) func magicThatIsDamagedCostsNoRow(rowCount: Int) throws {
        let database = try SampleDatabase(path: folder.file("db"), rowCount: rowCount, largeSize: 5000)
        try DamagedFile.overwrite(database.path, at: 0, with: [0])
        let (report, saved) = try salvage(database.path)
        #expect(saved == .init(t: rowCount, u: rowCount), "\(report)")
        #expect(report.headerIsDamaged && report.pageSize == 4096 && report.lostAndFoundRowCount == 0, "\(report)")
    }

    /// The header looks valid, but the pages contradict it.
    @Test(arguments: [(20, 8), (20, 255), (16, 0x20), (16, 0x08), (16, 0x02), (16, 0x80), (52, 1), (59, 2)])
    func fieldsThatPagesContradictCostNoRow(offset: Int, byte: Int) throws {
        let database = try SampleDatabase(path: folder.file("db"), rowCount: 500, largeSize: 30)
        try DamagedFile.overwrite(database.path, at: offset, with: [UInt8(byte)])
        let (report, saved) = try salvage(database.path)
        #expect(saved == .init(t: 500, u: 500), "\(report)")
        #expect(report.headerIsDamaged && report.pageSize == 4096 && report.lostAndFoundRowCount == 0, "\(report)")
    }

    @Test func fieldsThatNothingContradictsAreKept() throws {
        let database = try SampleDatabase(path: folder.file("db"), rowCount: 20, largeSize: 30)
        try DamagedFile.overwrite(database.path, at: 3, with: [0])
        #expect(try salvage(database.path).report.headerIsDamaged)
        #expect(try userVersion() == 7)
        // Of a header of zeros, nothing is believed.
        try DamagedFile.overwrite(database.path, at: 0, with: [UInt8](repeating: 0, count: 100))
        let (report, saved) = try salvage(database.path)
        #expect(saved == .init(t: 20, u: 20) && report.headerIsDamaged, "\(report)")
        #expect(try userVersion() == 0)
    }

    private func userVersion() throws -> Int? {
        try DatabaseQueue(path: folder.file("new")).read { db in try Int.fetchOne(db, sql: "PRAGMA user_version") }
    }

    /// Without any page of its table's rows, a file has its first page, which proves the sizes.
    @Test(arguments: [(512, 0), (1024, 40), (65_536, 0), (65_536, 64)])
    func databasesWithoutTablesProveTheirSizes(pageSize: Int, reservedSize: Int) throws {
        let database = try SampleDatabase(
            path: folder.file("db"), pageSize: pageSize, reservedSize: reservedSize, rowCount: 1, largeSize: 0)
        let queue = try DatabaseQueue(path: database.path)
        try queue.writeWithoutTransaction { db in try db.execute(sql: "DROP TABLE t; DROP TABLE u; VACUUM") }
        try queue.close()
        try DamagedFile.overwrite(database.path, at: 16, with: [3, 3, 3, 3, 3])
        let header = try PageSource(path: database.path, vfs: nil).header
        #expect(header.pageSize == pageSize && header.reservedSize == reservedSize && header.isDamaged)
    }

    // MARK: - All damages

    /// For each of the hundred bytes: each bit flipped, 0, 1 and 255; also each valid size of pages, each number of
    /// reserved bytes up to 64, and each encoding. More than 1000 in all.
    static func damages(of header: [UInt8]) -> [(offset: Int, byte: UInt8)] {
        var list: [(offset: Int, byte: UInt8)] = []
        for offset in 0..<FileHeader.size {
            var values = Set((0..<8).map { header[offset] ^ (1 << UInt8($0)) } + [0, 1, 255])
            switch offset {
            case 16, 17: values.formUnion([0, 1, 2, 4, 8, 16, 32, 64, 128])
            case 20: values.formUnion(0...64)
            case 59: values.formUnion(0...4)
            default: break
            }
            values.remove(header[offset])
            list += values.sorted().map { (offset, $0) }
        }
        return list
    }

    struct Shape: CustomTestStringConvertible {
        var pageSize: Int
        var reservedSize: Int
        var isAutoVacuum: Bool

        var testDescription: String {
            "\(pageSize) bytes, \(reservedSize) reserved\(isAutoVacuum ? ", auto-vacuum" : "")"
        }

        static let all = FileHeader.pageSizes.flatMap { pageSize in
            [0, 1, 8, 32, 64].filter { pageSize - $0 >= 480 }.flatMap { reservedSize in
                [false, true].map {
                    Shape(pageSize: pageSize, reservedSize: reservedSize, isAutoVacuum: $0)
                }
            }
        }
        static let some = [
            Shape(pageSize: 512, reservedSize: 0, isAutoVacuum: true),
            Shape(pageSize: 4096, reservedSize: 8, isAutoVacuum: false),
            Shape(pageSize: 65_536, reservedSize: 64, isAutoVacuum: false),
        ]
    }

    static let triesAll = DamagedDatabasesTests.environment["QUARRY_SALVAGE_HEADERS"] != nil

    /// A salvage depends on the header that it infers, and on pages, which are the same here. So it is run once for
    /// each header that damages lead to.
    @Test(arguments: triesAll ? Shape.all : Shape.some)
    func noSingleByteCostsOrChangesARow(shape: Shape) async throws {
        try await onOwnThread(within: 3500 * Double(TestTime.factor)) {
            let database = try SampleDatabase(
                path: folder.file("db"), pageSize: shape.pageSize, reservedSize: shape.reservedSize,
                isAutoVacuum: shape.isAutoVacuum, rowCount: 40, largeSize: shape.pageSize * 5 / 4)
            let intact = try PageSource(path: database.path, vfs: nil).header
            #expect(!intact.isDamaged)
            #expect(intact.pageSize == shape.pageSize && intact.reservedSize == shape.reservedSize)
            #expect(intact.isAutoVacuum == shape.isAutoVacuum)
            let bytes = Array(try #require(FileCopy.bytes(database.path))[..<100])
            let damages = Self.damages(of: bytes)
            #expect(damages.count > 1000)
            var headers: [FileHeader] = []
            for (index, (offset, byte)) in damages.enumerated() where Self.triesAll || index % 11 == 0 {
                try DamagedFile.overwrite(database.path, at: offset, with: [byte])
                defer { try? DamagedFile.overwrite(database.path, at: offset, with: [bytes[offset]]) }
                var header = try PageSource(path: database.path, vfs: nil).header
                #expect(
                    header.pageSize == intact.pageSize && header.reservedSize == intact.reservedSize
                        && header.isAutoVacuum == intact.isAutoVacuum, "\(offset): \(byte)")
                // Numbers of the program concern no row.
                (header.userVersion, header.applicationID) = (0, 0)
                if headers.contains(header) { continue }
                headers.append(header)
                let (report, saved) = try salvage(database.path)
                #expect(saved == .init(t: 40, u: 40), "\(offset): \(byte), \(report)")
                #expect(report.tables.filter { !$0.isComplete }.isEmpty, "\(offset): \(byte), \(report)")
            }
            print("\(shape.testDescription): \(damages.count) damages, \(headers.count) headers")
        }
    }
}
