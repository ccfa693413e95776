import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// A process is killed while it backs up or restores, again and again: the source is whole, the target is whole or
/// absent, and a restored database has the content of one of the files, at least as new as the process has reported.
///
/// `QUARRY_KILLS` is the number of times for each kind of database and each of the two; 5 by default.
@Suite("Killed backups", .timeLimit(.minutes(10 * TestTime.factor)), .serialized) struct KilledBackupTests {
    static let kills = ProcessInfo.processInfo.environment["QUARRY_KILLS"].flatMap { Int($0) } ?? 5

    struct Broken: Error, CustomStringConvertible {
        var description: String
    }

    private static func rows(_ reader: any DatabaseReader) throws -> Int {
        try reader.read { db in
            let problems = try String.fetchAll(db, sql: "PRAGMA integrity_check")
            guard problems == ["ok"] else { throw Broken(description: "\(problems)") }
            guard try db.tableExists("t") else { return 0 }
            let row = try Row.fetchOne(db, sql: "SELECT COUNT(*) AS n, IFNULL(MAX(a), 0) AS high FROM t")
            guard let row, row["n"] as Int == row["high"] as Int else {
                throw Broken(description: "\(row?.description ?? "")")
            }
            return row["n"]
        }
    }

    private static func open(_ kind: String, _ path: String, _ configuration: Configuration = Configuration()) throws
        -> any DatabaseWriter
    {
        kind == "pool"
            ? try DatabasePool(path: path, configuration: configuration)
            : try DatabaseQueue(path: path, configuration: configuration)
    }

    @Test(arguments: ["queue", "pool"]) func backup(kind: String) async throws {
        let problems = try await onOwnThread(within: 500) {
            let folder = try TemporaryFolder(isFast: true)
            let target = try TemporaryFolder(isFast: true)
            var generator = SeededGenerator()
            let seed = generator.seed
            var problems: [String] = []
            var (last, lastBackup, leftoverCount) = (0, 0, 0)
            for round in 1...Self.kills {
                let name = "seed \(seed), \(round)"
                do {
                    let child = try ChildProcess(["backup", folder.file("db"), kind, target.file("copy")])
                    let said = try child.killAtRandom(afterLines: 0...6, &generator)
                    last = said.compactMap { Int($0) }.last ?? last
                    for line in said where line.hasPrefix("backup ") { lastBackup = Int(line.dropFirst(7)) ?? -1 }
                    let names = try FileManager.default.contentsOfDirectory(atPath: target.path)
                    let others = names.filter { $0 != "copy" }
                    leftoverCount += others.isEmpty ? 0 : 1
                    if !others.allSatisfy({ $0.hasPrefix(".copy.") && $0.contains(".partial") }) {
                        problems.append("\(name): \(names)")
                    }
                    let writer = try Self.open(kind, folder.file("db"))
                    let now = try Self.rows(writer)
                    if now != max(150, last), now != last + 1, last > 0 { problems.append("\(name): \(last), \(now)") }
                    if names.contains("copy") {
                        var configuration = Configuration()
                        configuration.readonly = true
                        let copy = try Self.rows(
                            DatabaseQueue(path: target.file("copy"), configuration: configuration))
                        if !(lastBackup...now ~= copy) { problems.append("\(name): \(lastBackup), \(copy), \(now)") }
                    } else if lastBackup > 0 {
                        problems.append("\(name): the target is absent")
                    }
                    try writer.close()
                } catch {
                    problems.append("\(name): \(error)")
                }
            }
            // The next backup removes the leftovers.
            let writer = try Self.open(kind, folder.file("db"))
            var options = BackupOptions()
            options.replacesExisting = true
            try writer.backup(toFile: target.file("copy"), options: options)
            let names = try FileManager.default.contentsOfDirectory(atPath: target.path)
            if names != ["copy"] { problems.append("left: \(names)") }
            print("killed backups, \(kind): \(Self.kills), \(leftoverCount) in the middle, \(lastBackup) complete")
            return problems
        }
        #expect(problems == [])
    }

    @Test(arguments: ["queue", "walQueue", "pool"]) func restore(kind: String) async throws {
        let problems = try await onOwnThread(within: 500) {
            let folder = try TemporaryFolder(isFast: true)
            var configuration = Configuration()
            configuration.commitNumbers = .stored
            var sources: [String: Int] = [:]
            for (name, rows) in [("a", 150), ("b", 230)] {
                let queue = try DatabaseQueue(path: folder.file(name))
                try queue.write { db in
                    try db.execute(
                        sql: """
                            CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB);
                            WITH c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c WHERE n < ?)
                            INSERT INTO t SELECT n, randomblob(3900) FROM c;
                            """, arguments: [rows])
                }
                try queue.close()
                sources[folder.file(name)] = rows
            }
            let (a, b) = (folder.file("a"), folder.file("b"))
            let bytes = try [a, b].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
            var generator = SeededGenerator()
            let seed = generator.seed
            var problems: [String] = []
            var last = (rows: 0, number: 0)
            for round in 1...Self.kills {
                let name = "seed \(seed), \(round)"
                do {
                    let child = try ChildProcess(["restore", folder.file("db"), kind, a, b])
                    let said = try child.killAtRandom(afterLines: 0...6, &generator)
                    if let words = said.last?.split(separator: " "), words.count == 2 {
                        last = (sources[String(words[0])] ?? -1, Int(words[1]) ?? -1)
                    }
                    let writer = try Self.open(kind, folder.file("db"), configuration)
                    let (rows, number) = (try Self.rows(writer), writer.lastCommitNumber.rawValue)
                    // The acknowledged restoration, or the one that followed; before the first, nothing.
                    let isSame = rows == last.rows && number == last.number
                    let isNext = sources.values.contains(rows) && number == last.number + 1
                    let isNew = last.number == 0 && rows == 0
                    if !isSame, !isNext, !isNew {
                        problems.append("\(name): \(last), then \(rows) rows, number \(number)")
                    }
                    last = (rows, number)
                    try writer.close()
                } catch {
                    problems.append("\(name): \(error)")
                }
            }
            if try [a, b].map({ try Data(contentsOf: URL(fileURLWithPath: $0)) }) != bytes {
                problems.append("a source has changed")
            }
            print("killed restorations, \(kind): \(Self.kills), the last number is \(last.number)")
            return problems
        }
        #expect(problems == [])
    }
}
