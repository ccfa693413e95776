import Foundation
import Quarry
import QuarryCore
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryRecovery

/// Random databases are damaged at random, and salvaged: no row on an undamaged page is lost.
///
/// `QUARRY_SALVAGE_DATABASES=200` sets their number, `QUARRY_SALVAGE_SEED` the first seed.
@Suite("Damaged databases", .timeLimit(.minutes(30 * TestTime.factor))) struct DamagedDatabasesTests {
    static let environment = ProcessInfo.processInfo.environment
    static let count = environment["QUARRY_SALVAGE_DATABASES"].flatMap { Int($0) } ?? 16
    static let firstSeed = environment["QUARRY_SALVAGE_SEED"].flatMap { UInt64($0) }

    @Test func rowsOnUndamagedPagesAreSalvaged() async throws {
        try await onOwnThread(within: 1700 * Double(TestTime.factor)) {
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
                try SavedRows(folder.file("whole"), report).check(expected, pages: expected.pages).inTable
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
        let saved = try SavedRows(folder.file("salvaged"), report).check(expected, pages: pages)
        print(
            """
            seed \(seed): \(damage), \(saved.all) of \(expected.rows.count) rows on undamaged pages, all of them saved, \
            \(saved.inTable) in their tables
            """)
    }
}
