import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// Processes that migrate one file: killed in the midst of it, or several at once. After each migration that was told
/// of, the file has all that it does, and nothing of the one that was interrupted.
@Suite("Processes that migrate", .timeLimit(.minutes(3 * TestTime.factor)), .serialized) struct MigratingProcessesTests
{
    private struct Broken: Error, CustomStringConvertible {
        var description: String
    }

    /// The number of migrations that are applied, in a database that is whole.
    private static func applied(_ path: String, _ name: String) throws -> Int {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read { db in
            guard try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"] else {
                throw Broken(description: "\(name): the file is damaged")
            }
            guard try db.tableExists("grdb_migrations") else {
                guard try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") == 0 else {
                    throw Broken(description: "\(name): half of the first migration is there")
                }
                return 0
            }
            let identifiers = try String.fetchAll(db, sql: "SELECT identifier FROM grdb_migrations ORDER BY rowid")
            let count = identifiers.count
            guard identifiers == (0..<count).map({ "v\($0 + 1)" }),
                try Int.fetchOne(db, sql: "SELECT n FROM last") == count,
                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM grdb_migration_checksums") == count
            else { throw Broken(description: "\(name): \(identifiers)") }
            let tables = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'grdb_%' ORDER BY name")
            guard tables == (["last"] + (0..<count).map { "t\($0 + 1)" }).sorted() else {
                throw Broken(description: "\(name): \(tables)")
            }
            for number in 1...max(1, count) where number <= count {
                let rows = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t\(number)")
                let columns = try db.columns(in: "t\(number)").map(\.name)
                guard rows == number, columns == (number < count ? ["id", "b", "c"] : ["id", "b"]),
                    try db.indexes(on: "t\(number)").count == 1
                else { throw Broken(description: "\(name): t\(number) has \(rows ?? -1) rows, \(columns)") }
            }
            return count
        }
    }

    @Test(arguments: ["queue", "walQueue", "pool"]) func killedInTheMidst(kind: String) async throws {
        let folder = try TemporaryFolder(isFast: true)
        var generator = SeededGenerator()
        let seed = generator.seed
        var file = 0
        var last = 0
        var completed = 0
        for round in 1...30 {
            let name = "seed \(seed), round \(round)"
            let lines = Int.random(in: 0...8, using: &generator)
            let turns = Int.random(in: 0..<200_000, using: &generator)
            let path = folder.file("db\(file)")
            let before = last
            let acknowledged = try await onOwnThread {
                let child = try ChildProcess(["migrate", path, kind, "20"])
                child.closeInput()
                var acknowledged = before
                for _ in 0...lines {
                    guard let line = try child.readLine(), line != "done" else { break }
                    if line != "ready" { acknowledged = Int(line.dropFirst()) ?? -1 }
                }
                // The next migration has begun, or the one after it.
                var turn = 0
                while turn < turns { turn += 1 }
                child.kill()
                let exit = try child.wait()
                guard exit.errors == "" else { throw Broken(description: "\(name): \(exit)") }
                return max(acknowledged, exit.lines.compactMap { Int($0.dropFirst()) }.last ?? 0)
            }
            last = try await onOwnThread { try Self.applied(path, name) }
            #expect(acknowledged...acknowledged + 1 ~= last, "\(name): \(acknowledged) was acknowledged, not \(last)")
            if last == 20 {
                (file, last, completed) = (file + 1, 0, completed + 1)
            }
        }
        #expect(completed > 1)
    }

    @Test(arguments: [2, 8]) func eachMigrationIsAppliedByOneProcess(processes: Int) async throws {
        for kinds in [["queue"], ["pool"], ["pool", "walQueue"]] {
            let folder = try TemporaryFolder(isFast: true)
            let path = folder.file("db")
            let exits = try await onOwnThread(within: 170) {
                let children = try (0..<processes).map { index in
                    try ChildProcess(["migrate", path, kinds[index % kinds.count], "20"])
                }
                for child in children { #expect(try child.readLine() == "ready") }
                for child in children { child.closeInput() }
                return try children.map { try $0.wait() }
            }
            for exit in exits {
                #expect(exit.errors == "")
                #expect(exit.status == .code(0))
                #expect(exit.lines.last == "done")
            }
            let applied = exits.flatMap(\.lines).filter { $0 != "done" }.compactMap { Int($0.dropFirst()) }.sorted()
            #expect(applied == Array(1...20))
            #expect(try await onOwnThread { try Self.applied(path, "several") } == 20)
        }
    }
}
