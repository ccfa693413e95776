public import Quarry
import QuarryCore
import QuarryTestSupport

/// Frequent accesses: a table of integers, its rows, its count.
extension DatabaseWriter {
    /// Creates `t (a INTEGER)` with a row for each value.
    public func makeTable(_ values: Int...) throws {
        try write { db in
            try db.execute(sql: "CREATE TABLE t (a INTEGER)")
            for value in values { try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [value]) }
        }
    }
}

extension Database {
    /// The rows of `t`, in order.
    public func values() throws -> [Int] { try Int.fetchAll(self, sql: "SELECT a FROM t ORDER BY a") }

    public func insert(_ value: Int) throws { try execute(sql: "INSERT INTO t VALUES (?)", arguments: [value]) }

    public func count() throws -> Int { try Int.fetchOne(self, sql: "SELECT COUNT(*) FROM t") ?? -1 }

    /// Runs until it is interrupted: the rows of an endless query. It throws after some minutes, so that a test ends
    /// whose canceller has failed.
    public func runForever() throws {
        SwiftThreads.willBlock(until: "an endless query is interrupted")
        try runUntilTimeout()
    }

    /// As `runForever`, in a test whose timeout ends the query: no task of the test needs a thread meanwhile.
    public func runUntilTimeout() throws {
        // Not the clock of the database, which a test may move.
        let end = SystemClock.monotonicNanoseconds() + UInt64(2 * Step.patience * 1e9)
        var isLate = false
        let client = hooks.onProgress {
            isLate = isLate || SystemClock.monotonicNanoseconds() >= end
            return !isLate
        }
        defer { hooks.remove(client) }
        do {
            try execute(
                sql: """
                    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers)
                    SELECT n FROM numbers WHERE n < 0
                    """)
        } catch DatabaseError.SQLITE_INTERRUPT where isLate {}
        throw Step.NeverReached("the interruption of an endless query")
    }
}
