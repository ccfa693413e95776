import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// A backup of a database that another process writes to: the copy is whole, and has one of its commits.
@Suite("Backups beside a process", .timeLimit(.minutes(3 * TestTime.factor)), .serialized)
struct BackupBesideProcessTests {
    private struct Ended: Error {}

    /// - parameter work: what the other process does between its commits.
    @Test(arguments: ["queue", "walQueue", "pool"], ["nothing", "vacuum", "open"])
    func otherProcessCommits(kind: String, work: String) async throws {
        let problems = try await onOwnThread(within: 170) {
            let folder = try TemporaryFolder(isFast: true)
            let target = try TemporaryFolder(isFast: true)
            let child = try ChildProcess(["commit", folder.file("db"), kind, work])
            defer { child.kill() }
            func nextNumber() throws -> Int {
                while let line = try child.readLine() { if let number = Int(line) { return number } }
                throw Ended()
            }
            while try nextNumber() < 60 {}
            var configuration = Configuration()
            if kind == "walQueue" { configuration.journalMode = .wal }
            let writer: any DatabaseWriter =
                kind == "pool"
                ? try DatabasePool(path: folder.file("db"))
                : try DatabaseQueue(path: folder.file("db"), configuration: configuration)
            var problems: [String] = []
            for round in 0..<5 {
                var options = BackupOptions()
                options.pagesPerStep = 8
                options.replacesExisting = true
                options.check = .integrity
                options.compact = round == 3
                let first = try nextNumber()
                var last = first
                var waits = 0
                try writer.backup(toFile: target.file("copy"), options: options) { _ in
                    // The last access of a disturbed queue holds a lock that the other process waits for.
                    waits += 1
                    if waits <= 2 { last = try nextNumber() }
                }
                let copy = try DatabaseQueue(path: target.file("copy"))
                let (number, count, high) = try copy.read { db in
                    (
                        try Int.fetchOne(db, sql: "SELECT n FROM last") ?? -1,
                        try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") ?? -1,
                        try Int.fetchOne(db, sql: "SELECT MAX(id) FROM t") ?? -1
                    )
                }
                try copy.close()
                if number != high || count != 50 || number < first || last <= first {
                    problems.append("\(round): from \(first) to \(last): \(number), \(count) rows to \(high)")
                }
                let names = try FileManager.default.contentsOfDirectory(atPath: target.path)
                if names != ["copy"] { problems.append("\(round): \(names)") }
            }
            child.kill()
            _ = try child.wait()
            try writer.close()
            return problems
        }
        #expect(problems == [])
    }
}
