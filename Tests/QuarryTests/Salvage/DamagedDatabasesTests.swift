import Foundation
import QuarryCore
import QuarryTestSupport
import Testing

@testable import Quarry

/// Random databases are damaged at random, and salvaged: no row on an undamaged page is lost.
///
/// `QUARRY_SALVAGE_DATABASES=200` sets their number, `QUARRY_SALVAGE_SEED` the first seed.
@Suite("Damaged databases", .timeLimit(.minutes(30))) struct DamagedDatabasesTests {
    static let environment = ProcessInfo.processInfo.environment
    static let count = environment["QUARRY_SALVAGE_DATABASES"].flatMap { Int($0) } ?? 16
    static let firstSeed = environment["QUARRY_SALVAGE_SEED"].flatMap { UInt64($0) }

    @Test func rowsOnUndamagedPagesAreSalvaged() async throws {
        try await onOwnThread {
            for number in 0..<Self.count {
                let seed = Self.firstSeed.map { $0 &+ UInt64(number) } ?? .random(in: 0 ... .max)
                do {
                    try Self.check(seed: seed)
                } catch {
                    Issue.record("seed \(seed): \(error)")
                }
            }
        }
    }

    static func check(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder(isFast: true)
        let database = try RandomDatabase(path: folder.file("db"), using: &generator)
        let expected = try ExpectedRows(path: database.path)
        if Int.random(in: 0..<4, using: &generator) == 0 {
            // Undamaged, it is salvaged completely.
            let report = try DatabaseSalvage(path: database.path).salvage(into: folder.file("whole"))
            #expect(report.isComplete, "seed \(seed): \(report)")
            #expect(
                try compare(expected, pages: expected.pages, folder.file("whole"), report).inTable
                    == expected.rows.count,
                "seed \(seed)")
        }
        let damage = Damage.allCases.randomElement(using: &generator)!
        try damage.apply(
            to: database.path, pageSize: database.pageSize, interior: expected.interiorPages, using: &generator)
        let damaged = (FileCopy.bytes(database.path), FileCopy.bytes(database.path + "-wal"))
        let report = try DatabaseSalvage(path: database.path).salvage(into: folder.file("salvaged"))
        #expect(FileCopy.bytes(database.path) == damaged.0, "seed \(seed)")
        #expect(FileCopy.bytes(database.path + "-wal") == damaged.1, "seed \(seed)")
        let source = try PageSource(path: database.path, vfs: nil)
        let pages = expected.pages.indices.map { $0 == 0 ? nil : source.page(UInt32($0)) }
        let saved = try compare(expected, pages: pages, folder.file("salvaged"), report)
        print(
            """
            seed \(seed): \(damage), \(saved.all) of \(expected.rows.count) rows on undamaged pages, all of them saved, \
            \(saved.inTable) in their tables
            """)
    }

    /// - parameter pages: the present content of the pages.
    /// - returns: the number of rows that had to be saved.
    private static func compare(
        _ expected: ExpectedRows, pages: [[UInt8]?], _ path: String, _ report: SalvageReport
    ) throws -> (all: Int, inTable: Int) {
        let tables = try ExpectedRows.selectedRows(path: path).mapValues { Set($0.rows.values) }
        let lost = try DatabaseQueue(path: path).read { db in
            try report.lostAndFoundTable.map { try RowText.lostAndFound($0, db) } ?? []
        }
        var (count, inTable) = (0, 0)
        for row in expected.rows {
            guard row.pages.allSatisfy({ expected.pages[Int($0)] == pages[Int($0)] }) else { continue }
            count += 1
            if tables[row.table]?.contains(row.selected) == true {
                inTable += 1
            } else if !lost.contains(row.stored) {
                throw ExpectedRows.Mismatch(
                    description: "lost: \(row.table) \(row.stored.prefix(200)) of pages \(row.pages), \(report)")
            }
        }
        return (count, inTable)
    }
}
