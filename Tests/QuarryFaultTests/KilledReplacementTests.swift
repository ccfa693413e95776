import Foundation
import Quarry
import QuarryShared
import QuarryTestSupport
import Testing

/// A process is killed while it replaces and moves the files of a shared database: its path has a whole database, or
/// none between a move and what follows it.
@Suite("Killed replacements", .timeLimit(.minutes(10 * TestTime.factor)), .serialized) struct KilledReplacementTests {
    static let kills = ProcessInfo.processInfo.environment["QUARRY_KILLS"].flatMap { Int($0) } ?? 5

    /// - parameter isApart: whether the new files are on another file system, if the machine has one in memory. They
    ///   are then copied, and a kill between the new name and the removal of the old file leaves both.
    @Test(arguments: [false, true]) func replaceAndMove(isApart: Bool) async throws {
        let problems = try await onOwnThread(within: 500) {
            var generator = SeededGenerator()
            let seed = generator.seed
            var problems: [String] = []
            for round in 1...Self.kills {
                let folder = try TemporaryFolder(isFast: true)
                let newFolder = try isApart ? TemporaryFolder() : folder
                let path = folder.file("db")
                let child = try ChildProcess(["replace", path, newFolder.path])
                _ = try child.killAtRandom(afterLines: 0...25, &generator)
                let database = SharedDatabase(path: path)
                let found = try database.write { db in
                    let check = try String.fetchAll(db, sql: "PRAGMA integrity_check")
                    let rows = try db.tableExists("t") ? Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") : nil
                    return (check, rows)
                }
                if found.0 != ["ok"] || found.1.map({ $0 != 1 }) ?? false {
                    problems.append("seed \(seed), \(round): \(found)")
                }
                // The next process can go on.
                let size = try database.withClosedDatabase { files in try files.sizes() }
                if size.log != 0 { problems.append("seed \(seed), \(round): \(size)") }
            }
            return problems
        }
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    /// Another process that has the database open keeps its files in place.
    @Test
    func twoProcesses() async throws {
        try await onOwnThread(within: 100) {
            let folder = try TemporaryFolder(isFast: true)
            let path = folder.file("db")
            let database = SharedDatabase(path: path)
            let child = try ChildProcess(["commit", path, "pool", "insert"])
            _ = try child.readLine()
            let child2 = child
            for _ in 0..<3 {
                let operations: [(ClosedDatabaseFiles) throws -> Void] = [
                    { try $0.remove() }, { try $0.move(to: folder.file("moved")) },
                ]
                for operation in operations {
                    #expect(throws: DatabaseError.self) { try database.withClosedDatabase(operation) }
                }
                _ = try child2.readLine()
            }
            child.kill()
            _ = try child.wait()
            try database.withClosedDatabase { files in try files.move(to: folder.file("moved")) }
            #expect(FileManager.default.fileExists(atPath: folder.file("moved")))
        }
    }
}
