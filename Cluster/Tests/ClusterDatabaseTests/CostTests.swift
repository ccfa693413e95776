import Foundation
import Quarry
import QuarryCluster
import Testing

/// Prints the costs of accesses on three nodes of this machine, if `QUARRY_CLUSTER_COSTS` is 1.
@Suite(
    "Costs on nodes", .serialized, .timeLimit(.minutes(30)),
    .enabled(if: environmentNumber("QUARRY_CLUSTER_COSTS", default: 0) == 1))
struct CostTests {
    @Test func costs() async throws {
        let nodes = try NodeGroup(latency: environmentNumber("QUARRY_CLUSTER_LATENCY", default: 20))
        let cluster = try nodes.open("app")
        try await cluster.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER NOT NULL) STRICT;
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
                    INSERT INTO player SELECT i, 'Player ' || i, i % 100 FROM n
                    """)
        }
        var lines: [String] = []
        func measure(_ name: String, _ count: Int, _ body: (Int) throws -> Void) throws {
            for number in 0..<20 { try body(number) }
            var times: [Duration] = []
            for number in 0..<count {
                let start = ContinuousClock.now
                try body(number)
                times.append(ContinuousClock.now - start)
            }
            times.sort()
            lines.append("| \(name) | \(text(times[count / 2])) | \(text(times[count * 99 / 100])) |")
        }
        func text(_ time: Duration) -> String {
            let (seconds, attoseconds) = time.components
            return "\((Double(seconds) * 1e6 + Double(attoseconds) / 1e12).rounded() / 1_000) ms"
        }
        func update(_ id: Int, _ db: Database) throws {
            try db.execute(sql: "UPDATE player SET score = score + 1 WHERE id = ?", arguments: [id])
        }
        try measure("read: a lookup by key", 2_000) { number in
            _ = try cluster.read { db in
                try Row.fetchOne(db, sql: "SELECT * FROM player WHERE id = ?", arguments: [number + 1])
            }
        }
        try measure("read: ten lookups by key", 500) { number in
            try cluster.read { db in
                for id in 1...10 {
                    _ = try Row.fetchOne(db, sql: "SELECT * FROM player WHERE id = ?", arguments: [number + id])
                }
            }
        }
        try measure("read: 1,000 rows", 200) { _ in
            _ = try cluster.read { db in try Row.fetchAll(db, sql: "SELECT * FROM player LIMIT 1000").count }
        }
        try measure("write of one row", 500) { number in try cluster.write { db in try update(number + 1, db) } }
        try measure("write of ten rows", 500) { number in
            try cluster.write { db in for id in 1...10 { try update(number + id, db) } }
        }
        let (writerCount, writesEach) = (64, 40)
        let start = ContinuousClock.now
        try await withThrowingTaskGroup { group in
            for writer in 1...writerCount {
                group.addTask {
                    for _ in 0..<writesEach {
                        try await cluster.write { db in
                            try db.execute(
                                sql: "UPDATE player SET score = score + 1 WHERE id = ?", arguments: [writer])
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let elapsed = ContinuousClock.now - start
        let rate = Double(writerCount * writesEach) / (elapsed / .seconds(1))
        lines.append("| \(writerCount) asynchronous writers, one row each | \(Int(rate)) writes/s | |")
        print("| access | p50 | p99 |\n|---|---|---|\n" + lines.joined(separator: "\n"))
    }
}
