import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// Several processes meet the damage of a file at the same time, and each wants to restore a backup: one restores it,
/// and no row that a process has written afterwards is lost by the restoration of another one.
///
/// `QUARRY_KILLS` is the number of rounds for each kind of database; 5 by default.
@Suite("Processes with a damaged file", .timeLimit(.minutes(10 * TestTime.factor)), .serialized)
struct DamagedFileProcessesTests {
    static let rounds = KilledSalvageTests.kills
    static let names = ["one", "two", "three"]

    private static func make(_ path: String, isDamaged: Bool) throws {
        let queue = try DatabaseQueue(path: path)
        let page = try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); CREATE TABLE names (name TEXT);
                    WITH c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c WHERE n < 2000)
                    INSERT INTO t SELECT n, 'some text of row ' || n FROM c;
                    """)
            return try Int.fetchOne(
                db, sql: "SELECT min(pageno) FROM dbstat WHERE name = 't' AND pagetype = 'leaf'")!
        }
        try queue.close()
        guard isDamaged else { return }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seek(toOffset: UInt64((page - 1) * 4096))
        try file.write(contentsOf: Data(count: 4096))
        try file.close()
    }

    @Test(arguments: ["queue", "walQueue", "pool"]) func oneRestoresAndNothingWrittenIsLost(kind: String) async throws {
        let (outcomes, problems) = try await onOwnThread(within: 500) {
            var (outcomes, problems): ([String: Int], [String]) = ([:], [])
            for round in 1...Self.rounds {
                let folder = try TemporaryFolder(isFast: true)
                try Self.make(folder.file("db"), isDamaged: true)
                try Self.make(folder.file("backup"), isDamaged: false)
                let children = try Self.names.map { name in
                    try ChildProcess(["meet-damage", folder.file("db"), kind, folder.file("backup"), name])
                }
                for child in children { _ = try child.readLine() }
                for child in children { child.closeInput() }
                for (name, child) in zip(Self.names, children) {
                    let exit = try child.wait()
                    if exit.status != .code(0) || exit.errors != "" { problems.append("\(round), \(name): \(exit)") }
                    outcomes[exit.lines.last { $0 != "wrote" } ?? "nothing", default: 0] += 1
                }
                try DatabaseQueue(path: folder.file("db")).read { db in
                    let integrity = try String.fetchAll(db, sql: "PRAGMA integrity_check")
                    let names = try String.fetchAll(db, sql: "SELECT name FROM names ORDER BY name")
                    let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
                    if integrity != ["ok"] || names != Self.names.sorted() || count != 2000 {
                        problems.append("\(round): \(integrity), \(names), \(count ?? 0) rows")
                    }
                }
            }
            return (outcomes, problems)
        }
        let counts = outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        print("processes with a damaged file, \(kind): \(counts)")
        #expect(problems == [])
        #expect(outcomes["restored", default: 0] >= Self.rounds)
    }
}
