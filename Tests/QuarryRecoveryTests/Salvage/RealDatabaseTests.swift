import Foundation
import Quarry
import QuarryCore
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryRecovery

/// Copies of a real database, `proj.db` of Debian's `proj-data`, are damaged at random, and salvaged: no row on an
/// undamaged page is lost. Skipped where there is no such file.
///
/// `QUARRY_SALVAGE_FILE` names another file, `QUARRY_SALVAGE_DATABASES=20` sets the number of copies, and
/// `QUARRY_SALVAGE_SEED` the first seed.
@Suite("Damaged copies of a real database", .timeLimit(.minutes(60 * TestTime.factor))) struct RealDatabaseTests {
    static let path = DamagedDatabasesTests.environment["QUARRY_SALVAGE_FILE"] ?? "/usr/share/proj/proj.db"
    static let count = DamagedDatabasesTests.environment["QUARRY_SALVAGE_DATABASES"].flatMap { Int($0) } ?? 1

    @Test(.enabled(if: FileManager.default.fileExists(atPath: path), "there is no such file"))
    func rowsOnUndamagedPagesAreSalvagedIfTheFileExists() async throws {
        try await onOwnThread(within: 3500 * Double(TestTime.factor)) {
            let folder = try TemporaryFolder(isFast: true)
            try FileManager.default.copyItem(atPath: Self.path, toPath: folder.file("whole"))
            let expected = try ExpectedRows(path: folder.file("whole"))
            let pageSize = try PageSource(path: folder.file("whole"), vfs: nil).header.pageSize
            for number in 0..<Self.count {
                let seed = DamagedDatabasesTests.firstSeed.map { $0 &+ UInt64(number) } ?? .random(in: 0 ... .max)
                var generator = SeededGenerator(seed: seed)
                let path = folder.file("db")
                do {
                    try FileManager.default.copyItem(atPath: Self.path, toPath: path)
                    let kinds = Damage.allCases.filter { $0 != .log }
                    let damage = kinds[number % kinds.count]
                    try damage.apply(
                        to: path, pageSize: pageSize, interior: expected.interiorPages, using: &generator)
                    let damaged = FileCopy.bytes(path)
                    var (most, pageCount) = (0, 0)
                    let report = try DatabaseSalvage(path: path).salvage(into: folder.file("new")) { progress in
                        (most, pageCount) = (progress.readPageCount, progress.pageCount)
                    }
                    #expect(FileCopy.bytes(path) == damaged, "seed \(seed)")
                    #expect(most <= 20 * pageCount, "seed \(seed): \(most) readings of \(pageCount) pages")
                    let source = try PageSource(path: path, vfs: nil)
                    let pages = expected.pages.indices.map { $0 == 0 ? nil : source.page(UInt32($0)) }
                    let damagedCount = zip(pages, expected.pages).count { $0 != $1 }
                    let saved = try SavedRows(folder.file("new"), report).check(expected, pages: pages)
                    print(
                        """
                        seed \(seed): \(damage), \(damagedCount) of \(expected.pages.count - 1) pages; \(saved.all) of \
                        \(expected.rows.count) rows on undamaged pages, all of them saved, \(saved.inTable) in their \
                        tables; \(most) readings
                        """)
                } catch {
                    Issue.record("seed \(seed): \(error)")
                }
                for name in try FileCopy.names(in: folder.path) where name != "whole" {
                    FileCopy.remove(folder.file(name))
                }
            }
        }
    }
}
