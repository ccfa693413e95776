import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// A process that commits is killed, 100 times on one file for each kind of database: the file has each commit that the
/// process has reported, and at most one more.
@Suite("Killed processes", .timeLimit(.minutes(3 * TestTime.factor)), .serialized) struct KilledProcessTests {
    /// The work of the process between commits, and how often it is killed.
    static let works = [("commit", 30), ("checkpoint", 30), ("vacuum", 20), ("open", 20)]

    @Test(arguments: ["queue", "walQueue", "pool"]) func inTheMidstOfCommits(kind: String) async throws {
        let folder = try TemporaryFolder(isFast: true)
        let path = folder.file("db")
        var generator = SeededGenerator()
        let seed = generator.seed
        var last = 0
        for (work, count) in Self.works {
            for round in 1...count {
                // None: it is killed while it starts and opens the file.
                let lines = Int.random(in: 0...5, using: &generator) * Int.random(in: 1...8, using: &generator)
                let turns = Int.random(in: 0..<(lines == 0 ? 10_000_000 : 200_000), using: &generator)
                let name = "seed \(seed), \(work) \(round)"
                let before = last
                let acknowledged = try await onOwnThread {
                    let child = try ChildProcess(["commit", path, kind, work])
                    var acknowledged = before
                    for _ in 0..<lines {
                        guard let line = try child.readLine() else { break }
                        if let number = Int(line) { acknowledged = number }
                    }
                    // The next statement has begun, or the one after it.
                    var turn = 0
                    while turn < turns { turn += 1 }
                    child.kill()
                    let exit = try child.wait()
                    guard exit.status == .signal(SIGKILL), exit.errors == "" else {
                        throw Broken(description: "\(name): \(exit)")
                    }
                    return max(acknowledged, exit.lines.compactMap { Int($0) }.last ?? 0)
                }
                last = try await onOwnThread { try check(path, kind, name) }
                #expect(
                    acknowledged...acknowledged + 1 ~= last, "\(name): \(acknowledged) was acknowledged, not \(last)")
            }
        }
        #expect(last > 500)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["db"])
    }

    struct Broken: Error, CustomStringConvertible {
        var description: String
    }

    /// The number of the last commit, in a database that is whole.
    private func check(_ path: String, _ kind: String, _ name: String) throws -> Int {
        let writer: any DatabaseWriter =
            kind == "pool" ? try DatabasePool(path: path) : try DatabaseQueue(path: path)
        let last = try writer.read { db in
            let problems = try String.fetchAll(db, sql: "PRAGMA integrity_check")
            guard problems == ["ok"] else { throw Broken(description: "\(name): \(problems)") }
            // Killed before its first commit.
            guard try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master WHERE name = 'last'") == 1 else {
                return 0
            }
            let last = try Int.fetchOne(db, sql: "SELECT n FROM last") ?? -1
            let row = try Row.fetchOne(db, sql: "SELECT COUNT(*) AS n, MIN(id) AS low, MAX(id) AS high FROM t")
            guard row == ["n": min(last, 50), "low": max(1, last - 49), "high": last] else {
                throw Broken(description: "\(name): \(last), \(row?.description ?? "")")
            }
            return last
        }
        // It can be written, too: this deletes a journal whose transaction had not begun to change the file.
        try writer.write { db in try db.execute(sql: "PRAGMA user_version = \(last)") }
        try writer.close()
        return last
    }

    @Test func endlessProcessIsKilledAtItsDeadline() async throws {
        let (failure, zombie) = try await onOwnThread {
            let child = try ChildProcess(["hang"], deadline: 0.2)
            let failure = #expect(throws: ChildProcess.Failure.self) { _ = try child.wait() }
            // No zombie is left to be waited for.
            return (failure, waitpid(child.id, nil, WNOHANG))
        }
        #expect(zombie == -1)
        #expect(failure?.description == "QuarryTestProcess hang has not ended in time. It said: ")
    }
}
