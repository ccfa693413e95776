import Foundation
import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// The power goes while 64 tasks write, and their writes share transactions: the database has the writes of the first
/// groups, in their order, each group whole, and those that were acknowledged.
@Suite("Power lost by groups", .timeLimit(.minutes(10 * TestTime.factor)), .serialized) struct PowerLossOfGroupsTests {
    /// How often the power goes in each scenario: `QUARRY_POWER_CUTS`, or 40.
    static let cutCount = ProcessInfo.processInfo.environment["QUARRY_POWER_CUTS"].flatMap { Int($0) } ?? 40

    @Test(arguments: PowerLossScenario.durable) func noAcknowledgedWriteIsLost(_ scenario: PowerLossScenario)
        async throws
    {
        let found = try await run(scenario)
        #expect(found.problems == [], "seed \(found.seed)")
        #expect(found.largestGroup > 8)
    }

    @Test(arguments: PowerLossScenario.consistent) func theLastGroupsMayBeLostAndNothingElse(
        _ scenario: PowerLossScenario
    ) async throws {
        let found = try await run(scenario)
        #expect(found.problems == [], "seed \(found.seed)")
        // So a group that isn't synced would be missed above.
        #expect(found.lossy > found.cuts / 8)
    }

    struct Findings: Sendable {
        var seed: UInt64
        var largestGroup: Int
        var cuts = 0
        /// How often an acknowledged write was missing.
        var lossy = 0
        var problems: [String] = []
    }

    /// The writes of the tasks.
    private struct Writes: Sendable {
        /// The numbers of the writes, in the order in which they ran.
        var numbers: [Int] = []
        /// The number of writes in the first commit, in the first two, and so on.
        var ends: [Int] = []
    }

    private struct Undone: Error {}

    private static let taskCount = 64
    private static let writesOfTask = 20

    private func run(_ scenario: PowerLossScenario) async throws -> Findings {
        let vfs = try RecordingVFS()
        let folder = try TemporaryFolder(isFast: true)
        let writes = try await write(scenario, folder.file("db"), vfs)
        return try await onOwnThread(within: 580) {
            let generator = SeededGenerator()
            let sizes = zip(writes.ends, [0] + writes.ends).map { $0 - $1 }
            var found = Findings(seed: generator.seed, largestGroup: sizes.max() ?? 0)
            var random = generator
            let moments = Set((1...vfs.count).shuffled(using: &random).prefix(Self.cutCount))
            let after = folder.file("after")
            var loss = PowerLoss(vfs)
            while loss.advance() {
                guard moments.contains(loss.position) else { continue }
                found.cuts += 1
                try loss.writeSurvivors(to: after, using: &random)
                do {
                    let missing = try missingGroups(after + "/db", scenario, writes, acknowledged: loss.marks)
                    if missing > 0 { found.lossy += 1 }
                    if missing > scenario.mayLose {
                        found.problems.append("moment \(loss.position): \(missing) acknowledged groups are missing")
                    }
                } catch {
                    found.problems.append("moment \(loss.position): \(error)")
                }
            }
            print(
                "PowerLossOfGroupsTests: \(scenario.testDescription): \(writes.numbers.count) writes in",
                "\(writes.ends.count) commits, \(found.cuts) cuts at \(vfs.count) operations, \(found.lossy) lossy")
            return found
        }
    }

    /// Write `n` inserts row `n` into two tables, and fails for each seventh `n`.
    private func write(_ scenario: PowerLossScenario, _ path: String, _ vfs: RecordingVFS) async throws -> Writes {
        let writes = Recorded(Writes())
        let writer = try await onOwnThread {
            var configuration = scenario.configuration(vfs, checkpointSize: 200)
            configuration.groupCommit = true
            // No access of the library's own commits.
            configuration.otherProcesses = .ignored
            configuration.prepareDatabase { db in
                db.trace { event in
                    guard "\(event)" == "COMMIT TRANSACTION" else { return }
                    writes.update { $0.ends.append($0.numbers.count) }
                }
            }
            let writer = try scenario.open(path, configuration)
            // A slow machine's groups have as many writes.
            (writer as? any GroupWriter)?.writer.groupCommit?.withLock { $0.limits.time = .max }
            try writer.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE first (place INTEGER PRIMARY KEY, n INTEGER, b TEXT);
                        CREATE INDEX i ON first (b);
                        CREATE TABLE second (place INTEGER PRIMARY KEY, n INTEGER);
                        """)
            }
            writes.update { $0 = Writes() }
            return writer
        }
        vfs.mark(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<Self.taskCount {
                group.addTask {
                    for turn in 0..<Self.writesOfTask {
                        let number = 1 + turn * Self.taskCount + task
                        do {
                            try await writer.write { db in
                                try db.execute(
                                    sql: "INSERT INTO first (n, b) VALUES (?, printf('%.*c', ?, 'x') || ?)",
                                    arguments: [number, number * 977 % 700, number])
                                try db.execute(sql: "INSERT INTO second (n) VALUES (?)", arguments: [number])
                                if number % 7 == 0 { throw Undone() }
                                writes.update { $0.numbers.append(number) }
                            }
                            vfs.mark(number)
                        } catch is Undone {}
                    }
                }
            }
            try await group.waitForAll()
        }
        try await onOwnThread { try writer.close() }
        return writes.value
    }

    /// The number of acknowledged groups that are missing. Throws where the database isn't whole, or has anything else
    /// than the first groups.
    private func missingGroups(
        _ path: String, _ scenario: PowerLossScenario, _ writes: Writes, acknowledged marks: [Int]
    ) throws -> Int {
        let writer = try scenario.open(path)
        defer { try? writer.close() }
        return try writer.read { db in
            let problems = try String.fetchAll(db, sql: "PRAGMA integrity_check")
            guard problems == ["ok"] else { throw PowerLossDamage(description: "\(problems)") }
            let acknowledged = Set(marks)
            let last = writes.numbers.lastIndex(where: acknowledged.contains) ?? -1
            let count = last < 0 ? 0 : writes.ends.prefix { $0 <= last }.count + 1
            guard try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") == 3 else {
                // The first commit is the schema's.
                return marks.isEmpty ? 0 : count + 1
            }
            let numbers = try Int.fetchAll(db, sql: "SELECT n FROM first ORDER BY place")
            let others = try Int.fetchAll(db, sql: "SELECT n FROM second ORDER BY place")
            guard numbers == others else { throw PowerLossDamage(description: "a write is half there") }
            guard numbers.elementsEqual(writes.numbers.prefix(numbers.count)) else {
                throw PowerLossDamage(description: "not the first writes: \(numbers.count)")
            }
            let found = writes.ends.prefix { $0 <= numbers.count }.count
            guard numbers.isEmpty || writes.ends[found - 1] == numbers.count else {
                throw PowerLossDamage(description: "a group is not whole: \(numbers.count) writes, \(writes.ends)")
            }
            return max(0, count - found)
        }
    }
}
