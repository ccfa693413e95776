import Foundation
import Quarry
import QuarryRecovery
import QuarryTestSupport
import Testing

/// A process is killed while it salvages, again and again: the damaged file and its log are untouched, each target is
/// whole or absent, and the next salvage removes what was left.
///
/// `QUARRY_KILLS` is the number of times for each kind of file; 5 by default.
@Suite("Killed salvages", .timeLimit(.minutes(10 * TestTime.factor)), .serialized) struct KilledSalvageTests {
    static let kills = ProcessInfo.processInfo.environment["QUARRY_KILLS"].flatMap { Int($0) } ?? 5

    struct Broken: Error, CustomStringConvertible {
        var description: String
    }

    enum Source: String, CaseIterable {
        case undamaged
        case undamagedWithLog
        case damaged
        case damagedWithLog

        var isDamaged: Bool { self == .damaged || self == .damagedWithLog }
        var hasLog: Bool { self == .undamagedWithLog || self == .damagedWithLog }

        /// Makes the files that a killed program would leave.
        func make(_ path: String) throws {
            let working = path + "-working"
            let queue = try DatabaseQueue(path: working)
            try queue.writeWithoutTransaction { db in
                try db.execute(
                    sql: """
                        PRAGMA page_size = 1024;
                        CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT UNIQUE);
                        CREATE INDEX t_length ON t (length(b));
                        CREATE VIRTUAL TABLE f USING fts5(b, content='t', content_rowid='a');
                        WITH c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c WHERE n < 3000)
                        INSERT INTO t SELECT n, 'row ' || n || hex(randomblob(20)) FROM c;
                        """)
                if hasLog {
                    try db.execute(
                        sql: """
                            PRAGMA wal_autocheckpoint = 0; PRAGMA journal_mode = WAL;
                            INSERT INTO t SELECT a + 3000, 'later ' || b FROM t WHERE a <= 300;
                            """)
                }
                try FileManager.default.copyItem(atPath: working, toPath: path)
                if hasLog { try FileManager.default.copyItem(atPath: working + "-wal", toPath: path + "-wal") }
            }
            try queue.close()
            try FileManager.default.removeItem(atPath: working)
            guard isDamaged else { return }
            var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            for page in stride(from: 10, to: bytes.count / 1024, by: 10) {
                bytes.replaceSubrange((page - 1) * 1024..<page * 1024, with: Data(count: 1024))
            }
            try bytes.write(to: URL(fileURLWithPath: path))
        }
    }

    private static func files(_ path: String) -> [Data?] {
        ["", "-wal", "-journal", "-shm"].map { try? Data(contentsOf: URL(fileURLWithPath: path + $0)) }
    }

    private static func rowCount(_ path: String) throws -> Int {
        var configuration = Configuration()
        configuration.readonly = true
        return try DatabaseQueue(path: path, configuration: configuration).read { db in
            let problems = try String.fetchAll(db, sql: "PRAGMA integrity_check")
            guard problems == ["ok"] else { throw Broken(description: "\(problems)") }
            return try Int.fetchOne(db, sql: "SELECT count(*) FROM t")!
        }
    }

    @Test(arguments: Source.allCases) func leaveTheSourceAndNoTornTarget(source: Source) async throws {
        let problems = try await onOwnThread(within: 550) {
            let folder = try TemporaryFolder(isFast: true)
            let targets = try TemporaryFolder(isFast: true)
            let path = folder.file("db")
            try source.make(path)
            let files = Self.files(path)
            // An undisturbed salvage.
            let report = try DatabaseSalvage(path: path).salvage(into: folder.file("first"))
            let rowCount = try Self.rowCount(folder.file("first"))
            var problems: [String] = []
            let hasAll = rowCount == (source.hasLog ? 3300 : 3000)
            if hasAll == source.isDamaged || report.isComplete == source.isDamaged || rowCount < 1500 {
                problems.append("\(source): \(rowCount), \(report)")
            }
            var generator = SeededGenerator()
            let seed = generator.seed
            var (number, completeCount, leftoverCount, killedBefore) = (1, 0, 0, [String: Int]())
            for round in 1...Self.kills {
                let name = "seed \(seed), \(round)"
                do {
                    let child = try ChildProcess(["salvage", path, targets.path, "\(number)"])
                    let said = try child.killAtRandom(afterLines: 0...60, &generator)
                    let begun = said.filter { $0.hasPrefix("begin ") }.compactMap { Int($0.dropFirst(6)) }
                    let ended = said.filter { $0.hasPrefix("end ") }.map { $0.split(separator: " ") }
                    killedBefore[said.last.map { String($0.prefix { $0 != " " }) } ?? "start", default: 0] += 1
                    for words in ended where words[2] != "\(report.savedRowCount)" {
                        problems.append("\(name): \(words)")
                    }
                    for number in begun {
                        let target = targets.file("\(number)")
                        let exists = FileManager.default.fileExists(atPath: target)
                        if exists {
                            completeCount += 1
                            let count = try Self.rowCount(target)
                            if count != rowCount { problems.append("\(name): \(count) rows in \(number)") }
                        } else if ended.contains(where: { $0[1] == "\(number)" }) {
                            problems.append("\(name): \(number) is absent")
                        }
                    }
                    if Self.files(path) != files { problems.append("\(name): the source has changed") }
                    number = (begun.last ?? number - 1) + 1
                    let last = number - 1
                    let leftovers = try FileManager.default.contentsOfDirectory(atPath: targets.path).filter {
                        Int($0) == nil
                    }
                    if !leftovers.isEmpty { leftoverCount += 1 }
                    if !leftovers.allSatisfy({ $0.hasPrefix(".\(last).") && $0.contains(".partial") }) {
                        problems.append("\(name): \(leftovers)")
                    }
                    // The next salvage with that target removes them.
                    if last > 0 {
                        try? FileManager.default.removeItem(atPath: targets.file("\(last)"))
                        _ = try DatabaseSalvage(path: path).salvage(into: targets.file("\(last)"))
                        let names = try FileManager.default.contentsOfDirectory(atPath: targets.path)
                        if names.contains(where: { Int($0) == nil }) { problems.append("\(name): left: \(names)") }
                        for name in names { try FileManager.default.removeItem(atPath: targets.file(name)) }
                    }
                } catch {
                    problems.append("\(name): \(error)")
                }
            }
            print(
                """
                killed salvages, \(source), seed \(seed): \(Self.kills), \(leftoverCount) left a file, \(completeCount) \
                complete targets, last heard of: \(killedBefore.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })
                """)
            return problems
        }
        #expect(problems == [])
    }
}
