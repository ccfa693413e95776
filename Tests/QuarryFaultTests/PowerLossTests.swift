import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// The power goes after any write of a workload: half of them are tried, all with `QUARRY_ALL_FAULTS=1`. Synced writes
/// survive; the others are dropped, kept or torn. The database is whole, and has each commit that it must have.
@Suite("Lost power", .timeLimit(.minutes(5 * TestTime.factor)), .serialized) struct PowerLossTests {
    static let broken = [
        PowerLossScenario(journal: "DELETE", synchronous: .off),
        PowerLossScenario(isPool: true, journal: "WAL", synchronous: .off),
    ]

    @Test(arguments: PowerLossScenario.durable) func noAcknowledgedCommitIsLost(_ scenario: PowerLossScenario)
        async throws
    {
        let found = try await run(scenario)
        #expect(found.problems == [], "seed \(found.seed)")
        #expect(found.moments > 150)
    }

    @Test(arguments: PowerLossScenario.consistent) func theLastCommitsMayBeLostAndNothingElse(
        _ scenario: PowerLossScenario
    ) async throws {
        let found = try await run(scenario)
        #expect(found.problems == [], "seed \(found.seed)")
        // So a commit that isn't synced would be missed above.
        #expect(found.lossy > 5)
    }

    @Test(arguments: broken) func damageIsFoundWithoutSyncs(_ scenario: PowerLossScenario) async throws {
        let found = try await run(scenario, enough: 20)
        #expect(found.problems.count >= 20, "seed \(found.seed)")
    }

    struct Findings: Sendable {
        var seed: UInt64
        var moments = 0
        /// How often an acknowledged commit was missing.
        var lossy = 0
        var problems: [String] = []
    }

    private static let commits = 12

    /// - parameter enough: the number of problems after which no more are looked for.
    private func run(_ scenario: PowerLossScenario, enough: Int = 1000) async throws -> Findings {
        try await onOwnThread(within: 280) {
            let vfs = try RecordingVFS()
            let folder = try TemporaryFolder(isFast: true)
            try commit(scenario, folder.file("db"), vfs)
            let generator = SeededGenerator()
            var found = Findings(seed: generator.seed)
            var random = generator
            var loss = PowerLoss(vfs)
            let after = folder.file("after")
            let everyMoment = ProcessInfo.processInfo.environment["QUARRY_ALL_FAULTS"] == "1"
            while found.problems.count < enough, loss.advance() {
                // Half of the moments, others than the last time.
                guard everyMoment || Bool.random(using: &random) else { continue }
                found.moments += 1
                try loss.writeSurvivors(to: after, using: &random)
                let acknowledged = loss.lastMark ?? -1
                do {
                    let last = try lastCommit(after + "/db", scenario)
                    if last < acknowledged { found.lossy += 1 }
                    if last > acknowledged + 1 || acknowledged - last > scenario.mayLose {
                        found.problems.append("moment \(loss.position): \(last), and \(acknowledged) is acknowledged")
                    }
                } catch {
                    found.problems.append("moment \(loss.position), after \(acknowledged): \(error)")
                }
            }
            return found
        }
    }

    /// Commit 0 is the schema; commit `n` inserts row `n`, deletes row `n - 8` and writes `n` down.
    private func commit(_ scenario: PowerLossScenario, _ path: String, _ vfs: RecordingVFS) throws {
        let writer = try scenario.open(path, scenario.configuration(vfs, checkpointSize: 12))
        try writer.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (id INTEGER PRIMARY KEY, b TEXT);
                    CREATE INDEX i ON t (b);
                    CREATE TABLE last (n INTEGER);
                    INSERT INTO last VALUES (0);
                    """)
        }
        vfs.mark(0)
        for number in 1...Self.commits {
            try writer.write { db in
                try db.execute(
                    sql: "INSERT INTO t VALUES (?, printf('%.*c', ?, ?))",
                    arguments: [number, number * 977 % 5000, letter(number)])
                try db.execute(sql: "DELETE FROM t WHERE id <= ?", arguments: [number - 8])
                try db.execute(sql: "UPDATE last SET n = ?", arguments: [number])
            }
            vfs.mark(number)
            if scenario.journal == "WAL", number % 6 == 0 {
                try writer.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
            }
            if number == 7 { try writer.vacuum() }
        }
        try writer.close()
    }

    private func letter(_ number: Int) -> String { String(UnicodeScalar(UInt8(65 + number % 26))) }

    /// The number of the last commit; -1 where there is none. Throws where the database isn't whole.
    private func lastCommit(_ path: String, _ scenario: PowerLossScenario) throws -> Int {
        let writer = try scenario.open(path)
        let last = try writer.read { db in
            let problems = try String.fetchAll(db, sql: "PRAGMA integrity_check")
            guard problems == ["ok"] else { throw PowerLossDamage(description: "\(problems)") }
            guard try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") == 3 else { return -1 }
            let last = try Int.fetchOne(db, sql: "SELECT n FROM last") ?? -2
            let low = max(1, last - 7)
            let rows = try Row.fetchAll(db, sql: "SELECT id, b FROM t ORDER BY id")
            let numbers = last > 0 ? Array(low...last) : []
            guard rows.map({ $0["id"] as Int }) == numbers else {
                throw PowerLossDamage(description: "rows of \(last)")
            }
            for (number, row) in zip(numbers, rows)
            where row["b"] != String(repeating: letter(number), count: number * 977 % 5000) {
                throw PowerLossDamage(description: "text of row \(number) of \(last)")
            }
            return last
        }
        try writer.close()
        return last
    }
}
