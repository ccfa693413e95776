import Foundation

#if BENCH_QUARRY
import Quarry
#else
import GRDB
#endif

/// Small writes of tasks, each acknowledged when it is committed.
package struct DurableWrites: Sendable {
    private let pool: DatabasePool

    /// - parameter synchronous: `FULL` or `NORMAL`.
    /// - parameter groupCommit: whether writes share transactions, where the library has that.
    package init(path: String, synchronous: String, groupCommit: Bool) throws {
        var configuration = Configuration()
        #if BENCH_QUARRY
        configuration.groupCommit = groupCommit
        #endif
        pool = try DatabasePool(path: path, configuration: configuration)
        // A setup comes before a pool's own setting.
        try pool.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA synchronous = \(synchronous)") }
        try pool.write { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, score INTEGER)")
        }
    }

    /// Inserts a row.
    package func write(_ number: Int) async throws {
        try await pool.write { db in
            try db.cachedStatement(sql: "INSERT INTO t (name, score) VALUES (?, ?)")
                .execute(arguments: ["player \(number)", number])
        }
    }

    package func count() throws -> Int {
        try pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") ?? 0 }
    }

    package func close() throws { try pool.close() }
}
