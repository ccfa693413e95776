import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// The power goes after any write of a workload: half of them are tried, all with `QUARRY_ALL_FAULTS=1`. Synced writes
/// survive; the others are dropped, kept or torn. The database is whole, and has each commit that it must have.
@Suite("Lost power", .timeLimit(.minutes(5)), .serialized) struct PowerLossTests {
    struct Scenario: CustomTestStringConvertible, Sendable {
        var isPool = false
        var journal: String
        var synchronous: Configuration.SynchronousMode
        /// How many acknowledged commits may be missing.
        var mayLose: Int
        var testDescription: String { "\(isPool ? "pool" : "queue"), \(journal), \(synchronous.rawValue)" }
    }

    static let durable = [
        // Without a sync of the folder, the journal may be there again, and take the last commit back:
        // https://www.sqlite.org/pragma.html#pragma_synchronous
        Scenario(journal: "DELETE", synchronous: .full, mayLose: 1),
        Scenario(journal: "DELETE", synchronous: .extra, mayLose: 0),
        Scenario(journal: "TRUNCATE", synchronous: .full, mayLose: 0),
        Scenario(journal: "PERSIST", synchronous: .full, mayLose: 0),
        Scenario(journal: "WAL", synchronous: .full, mayLose: 0),
        Scenario(isPool: true, journal: "WAL", synchronous: .full, mayLose: 0),
    ]

    static let consistent = [
        Scenario(journal: "WAL", synchronous: .normal, mayLose: .max),
        Scenario(isPool: true, journal: "WAL", synchronous: .normal, mayLose: .max),
    ]

    static let broken = [
        Scenario(journal: "DELETE", synchronous: .off, mayLose: 0),
        Scenario(isPool: true, journal: "WAL", synchronous: .off, mayLose: 0),
    ]

    @Test(arguments: durable) func noAcknowledgedCommitIsLost(_ scenario: Scenario) async throws {
        let found = try await run(scenario)
        #expect(found.problems == [], "seed \(found.seed)")
        #expect(found.moments > 150)
    }

    @Test(arguments: consistent) func theLastCommitsMayBeLostAndNothingElse(_ scenario: Scenario) async throws {
        let found = try await run(scenario)
        #expect(found.problems == [], "seed \(found.seed)")
        // So a commit that isn't synced would be missed above.
        #expect(found.lossy > 5)
    }

    @Test(arguments: broken) func damageIsFoundWithoutSyncs(_ scenario: Scenario) async throws {
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
    private func run(_ scenario: Scenario, enough: Int = 1000) async throws -> Findings {
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
                try? FileManager.default.removeItem(atPath: after)
                try FileManager.default.createDirectory(atPath: after, withIntermediateDirectories: true)
                for (name, bytes) in loss.survivors(using: &random) {
                    try Data(bytes).write(to: URL(fileURLWithPath: after + "/" + name))
                }
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
    private func commit(_ scenario: Scenario, _ path: String, _ vfs: RecordingVFS) throws {
        var configuration = Configuration()
        configuration.vfs = vfs.name
        configuration.synchronous = scenario.synchronous
        // Pages are written before the commit.
        configuration.cacheSize = 8192
        configuration.prepareDatabase { db in
            if !scenario.isPool { try db.execute(sql: "PRAGMA journal_mode = \(scenario.journal)") }
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 12")
        }
        let writer: any DatabaseWriter =
            scenario.isPool
            ? try DatabasePool(path: path, configuration: configuration)
            : try DatabaseQueue(path: path, configuration: configuration)
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

    private struct Damage: Error, CustomStringConvertible {
        var description: String
    }

    /// The number of the last commit; -1 where there is none. Throws where the database isn't whole.
    private func lastCommit(_ path: String, _ scenario: Scenario) throws -> Int {
        let writer: any DatabaseWriter =
            scenario.isPool ? try DatabasePool(path: path) : try DatabaseQueue(path: path)
        let last = try writer.read { db in
            let problems = try String.fetchAll(db, sql: "PRAGMA integrity_check")
            guard problems == ["ok"] else { throw Damage(description: "\(problems)") }
            guard try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") == 3 else { return -1 }
            let last = try Int.fetchOne(db, sql: "SELECT n FROM last") ?? -2
            let low = max(1, last - 7)
            let rows = try Row.fetchAll(db, sql: "SELECT id, b FROM t ORDER BY id")
            let numbers = last > 0 ? Array(low...last) : []
            guard rows.map({ $0["id"] as Int }) == numbers else { throw Damage(description: "rows of \(last)") }
            for (number, row) in zip(numbers, rows)
            where row["b"] != String(repeating: letter(number), count: number * 977 % 5000) {
                throw Damage(description: "text of row \(number) of \(last)")
            }
            return last
        }
        try writer.close()
        return last
    }
}
