import Quarry

extension DatabaseStatistics {
    /// The statistics as tables.
    var textTables: [TextTable] { [connectionTable, timeTable, workTable] }

    private var connectionTable: TextTable {
        func row(_ name: String, _ connections: Connections) -> [String] {
            [
                name, connections.open.grouped, connections.limit.grouped, connections.idle.grouped,
                connections.leased.grouped, connections.waiters.grouped, connections.accessCount.grouped,
                connections.waitCount.grouped,
            ]
        }
        return TextTable(
            "Connections",
            [
                .left("of"), .right("open"), .right("limit"), .right("idle"), .right("leased"), .right("waiters"),
                .right("accesses"), .right("waited"),
            ],
            rows: [row("writer", writer), row("readers", readers)])
    }

    private var timeTable: TextTable {
        func rows(_ name: String, _ connections: Connections) -> [[String]] {
            [("wait", connections.wait), ("hold", connections.hold), ("run", connections.run)].map { kind, times in
                [name, kind, Int(times.count).grouped]
                    + [times.percentile(50), times.percentile(99), times.maximum].map {
                        times.count == 0 ? "-" : $0.asMeasured
                    }
            }
        }
        return TextTable(
            "Times of accesses (hold and run: of one access in 64)",
            [.left("of"), .left("time"), .right("count"), .right("p50"), .right("p99"), .right("maximum")],
            rows: rows("writer", writer) + rows("readers", readers))
    }

    private var workTable: TextTable {
        TextTable(
            "Work", [.left("what"), .right("how much")],
            rows: [
                ["transactions committed", transactions.committed.grouped],
                ["transactions rolled back", transactions.rolledBack.grouped],
                ["commits failed", transactions.failed.grouped],
                ["statements prepared", statements.prepared.grouped],
                ["statements found in the cache", statements.foundInCache.grouped],
                ["statements run", statements.run.grouped],
                ["pages found in the cache", pageCache.hitCount.grouped],
                ["pages read from the file", pageCache.missCount.grouped],
                ["pages written", pageCache.writeCount.grouped],
                ["pages written early: the cache was full", pageCache.spillCount.grouped],
                ["size of the page caches", pageCache.bytes.asBytes],
                ["retries for locks", busyRetryCount.grouped],
                ["size of the log", logBytes.asBytes],
                ["age of the oldest reader", oldestReaderAge?.asMeasured ?? "-"],
            ])
    }
}
