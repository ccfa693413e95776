import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// A process whose writes share transactions is killed: every acknowledged write is kept, none twice, none half.
@Suite("Killed groups", .timeLimit(.minutes(10 * TestTime.factor)), .serialized) struct KilledGroupTests {
    /// How often the process is killed: `QUARRY_KILLS`, or 20.
    static let count = ProcessInfo.processInfo.environment["QUARRY_KILLS"].flatMap { Int($0) } ?? 20

    @Test func acknowledgedWritesAreKept() async throws {
        let folder = try TemporaryFolder(isFast: true)
        let path = folder.file("db")
        var generator = SeededGenerator()
        let seed = generator.seed
        var acknowledged: Set<Int> = []
        var first = 1
        for round in 1...Self.count {
            let lines = Int.random(in: 0...400, using: &generator)
            let turns = Int.random(in: 0..<(lines == 0 ? 10_000_000 : 200_000), using: &generator)
            let numbers = try await onOwnThread { [first] in
                let child = try ChildProcess(["commit-in-groups", path, "\(first)"])
                var numbers: [Int] = []
                for _ in 0..<lines {
                    guard let line = try child.readLine() else { break }
                    if let number = Int(line) { numbers.append(number) }
                }
                var turn = 0
                while turn < turns { turn += 1 }
                child.kill()
                let exit = try child.wait()
                #expect(exit.status == .signal(SIGKILL) && exit.errors == "", "seed \(seed), \(round): \(exit)")
                return numbers + exit.lines.compactMap { Int($0) }
            }
            acknowledged.formUnion(numbers)
            first = max(
                first,
                try await onOwnThread { [acknowledged] in try check(path, acknowledged, "seed \(seed), round \(round)")
                } + 1)
        }
        print("KilledGroupTests: \(acknowledged.count) acknowledged writes, \(Self.count) kills")
        #expect(acknowledged.count > Self.count)
    }

    /// - returns: the highest number in the database.
    private func check(_ path: String, _ acknowledged: Set<Int>, _ name: String) throws -> Int {
        let pool = try DatabasePool(path: path)
        defer { try? pool.close() }
        return try pool.read { db in
            #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"], "\(name)")
            guard try db.tableExists("twice") else { return 0 }
            let rows = try Set(Int.fetchAll(db, sql: "SELECT id FROM t"))
            #expect(acknowledged.isSubset(of: rows), "\(name)")
            #expect(rows.allSatisfy { $0 % 7 != 0 }, "\(name): a write that has failed is there")
            let twice = try Set(Int.fetchAll(db, sql: "SELECT id FROM twice GROUP BY id HAVING COUNT(*) = 2"))
            let parts = try Set(Int.fetchAll(db, sql: "SELECT DISTINCT id FROM twice"))
            #expect(twice == rows && parts == rows, "\(name): a write is half there")
            return rows.max() ?? 0
        }
    }
}
