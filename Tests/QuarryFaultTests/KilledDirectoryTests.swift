import Foundation
import Quarry
import QuarryShared
import QuarryTestSupport
import Testing

/// Processes that use the databases of one folder are killed while they open, migrate, write and close them.
@Suite("Killed users of a directory", .timeLimit(.minutes(10 * TestTime.factor)), .serialized)
struct KilledDirectoryTests {
    static let kills = ProcessInfo.processInfo.environment["QUARRY_KILLS"].flatMap { Int($0) } ?? 5

    /// Each database is whole, each acknowledged write is in it, and no write is half there.
    ///
    /// - parameter processCount: how many use the folder at the same time.
    @Test(arguments: [1, 2]) func kills(_ processCount: Int) async throws {
        let problems = try await onOwnThread(within: 500) {
            var generator = SeededGenerator()
            let seed = generator.seed
            let folder = try TemporaryFolder(isFast: true)
            var problems: [String] = []
            var acknowledged: Set<Int> = []
            for round in 1...Self.kills {
                let children = try (0..<processCount).map { index in
                    try ChildProcess(["use-directory", folder.path, "\((round * 2 + index) * 1_000_000)"])
                }
                for child in children {
                    acknowledged.formUnion(
                        try child.killAtRandom(afterLines: 0...200, &generator).compactMap { Int($0) })
                }
                problems += try Self.problems(of: folder, acknowledged).map { "seed \(seed), \(round): \($0)" }
            }
            return problems
        }
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    private static func problems(of folder: TemporaryFolder, _ acknowledged: Set<Int>) throws -> [String] {
        let directory = try DatabaseDirectory(path: folder.path, maximumOpenCount: 2)
        var problems: [String] = []
        var found: Set<Int> = []
        for name in try directory.names() {
            let (check, rows, twice) = try directory.database(named: name).read { db in
                let hasTables = try db.tableExists("twice")
                return (
                    try String.fetchAll(db, sql: "PRAGMA integrity_check"),
                    hasTables ? try Int.fetchAll(db, sql: "SELECT id FROM t ORDER BY id") : [],
                    hasTables ? try Int.fetchAll(db, sql: "SELECT id FROM twice ORDER BY id") : []
                )
            }
            if check != ["ok"] { problems.append("\(name): \(check)") }
            if rows.flatMap({ [$0, $0] }) != twice { problems.append("\(name) has half a write") }
            if rows.contains(where: { "\(($0 * 7) % 12)" != name }) { problems.append("\(name) has a row of another") }
            found.formUnion(rows)
        }
        let lost = acknowledged.subtracting(found)
        if !lost.isEmpty { problems.append("lost: \(lost.sorted())") }
        return problems
    }
}
