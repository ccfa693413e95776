import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// Processes that write, read and observe one file are killed at random, for `QUARRY_STRESS_SECONDS`: no acknowledged
/// commit is lost, each observation ends at the truth, and the file stays sound.
@Suite(.timeLimit(.minutes(5 * TestTime.factor)), .serialized) struct KilledFollowersTests {
    private static let seconds = Double(ProcessInfo.processInfo.environment["QUARRY_STRESS_SECONDS"] ?? "") ?? 2

    private static let schema = """
        CREATE TABLE entry (id INTEGER PRIMARY KEY, name TEXT NOT NULL, n INTEGER NOT NULL, UNIQUE (name, n));
        CREATE TABLE account (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL);
        INSERT INTO account VALUES (1, 500), (2, 500);
        """

    @Test(arguments: [
        (2, ["pool"], false), (8, ["pool", "walQueue"], false), (2, ["queue"], false),
        (4, ["pool", "walQueue"], true), (2, ["queue"], true),
    ])
    func processesAreKilled(count: Int, kinds: [String], storesNumbers: Bool) async throws {
        let folder = try TemporaryFolder(isFast: true)
        let path = folder.file("db")
        let seed = UInt64.random(in: 0 ... .max)
        let report = try await onOwnThread(within: 280) {
            try Self.run(count, kinds, path, seed, storesNumbers)
        }
        let numbers = storesNumbers ? ", numbers in the file" : ""
        print("\(count) processes (\(kinds.joined(separator: ", "))\(numbers)): \(report)")
    }

    private struct Report: CustomStringConvertible {
        var (commits, kills) = (0, 0)
        var description: String { "\(commits) commits acknowledged, \(kills) processes killed" }
    }

    private static func run(
        _ count: Int, _ kinds: [String], _ path: String, _ seed: UInt64, _ storesNumbers: Bool
    ) throws -> Report {
        var generator = SeededGenerator(seed: seed)
        let kind = kinds[0]
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        if storesNumbers { configuration.commitNumbers = .stored }
        let writer: any DatabaseWriter =
            kind == "pool"
            ? try DatabasePool(path: path, configuration: configuration)
            : try DatabaseQueue(path: path, configuration: configuration)
        try writer.write { db in try db.execute(sql: schema) }

        // An observation that lives as long as the test, in a process that writes nothing.
        let watcher = try ChildProcess(["watch", path, kind], deadline: 270)
        #expect(try watcher.readLine() == "ready")

        var report = Report()
        var last: [String: Int] = [:]
        func note(_ line: String) {
            let words = line.split(separator: " ")
            guard words.count == 2, let number = Int(words[1]) else { return }
            last[String(words[0])] = number
            report.commits += 1
        }
        func start(_ index: Int, _ rounds: Int? = nil) throws -> ChildProcess {
            try ChildProcess(
                ["follow", path, kinds[index % kinds.count], "p\(index)"] + (storesNumbers ? ["stored"] : [])
                    + (rounds.map { ["\($0)"] } ?? []),
                deadline: 270)
        }
        var children = try (0..<count).map { try start($0) }
        let end = SystemClock.monotonicNanoseconds() + UInt64(seconds * 1e9)
        while SystemClock.monotonicNanoseconds() < end {
            let index = Int.random(in: 0..<count, using: &generator)
            for _ in 0..<Int.random(in: 0...10, using: &generator) {
                guard let line = try children[index].readLine() else { break }
                note(line)
            }
            children[index].kill()
            let exit = try children[index].wait()
            exit.lines.forEach(note)
            #expect(exit.errors == "" && exit.status == .signal(SIGKILL), "seed \(seed)")
            report.kills += 1
            children[index] = try start(index)
        }
        for child in children {
            child.kill()
            let exit = try child.wait()
            exit.lines.forEach(note)
            #expect(exit.errors == "", "seed \(seed)")
        }
        // The last ones end by themselves, when they have seen the truth.
        children = try (0..<count).map { try start($0, 6) }
        for child in children {
            let exit = try child.wait()
            exit.lines.forEach(note)
            #expect(exit.errors == "" && exit.lines.last == "done", "seed \(seed)")
        }
        watcher.closeInput()
        let exit = try watcher.wait()
        #expect(exit.errors == "" && exit.lines.count == 1, "seed \(seed)")

        try writer.read { db in
            #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"], "seed \(seed)")
            #expect(try Int.fetchOne(db, sql: "SELECT SUM(amount) FROM account") == 1000, "seed \(seed)")
            for (name, number) in last {
                let rows = try Int.fetchOne(
                    db, sql: "SELECT COUNT(*) FROM entry WHERE name = ? AND n <= ?", arguments: [name, number])
                #expect(rows == number, "seed \(seed): \(name)")
            }
            let total = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM entry")
            #expect(exit.lines == ["saw \(total ?? -1)"], "seed \(seed)")
        }
        try writer.close()
        return report
    }
}
