import Quarry
import QuarryTestSupport
import Testing

@Suite struct AccessSmokeTests {
    @Test(.timeLimit(.minutes(1))) func queueAndPool() async throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try await pool.write { db in
            try db.execute(sql: "CREATE TABLE t (a INTEGER)")
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for i in 0..<50 {
                group.addTask {
                    try await pool.write { db in try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [i]) }
                    _ = try await pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == 50)
        let snapshot = try pool.makeSnapshot()
        let snapshots = try pool.makeSnapshotPool()
        try await pool.barrierWriteWithoutTransaction { db in try db.execute(sql: "DELETE FROM t") }
        #expect(try await snapshot.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == 50)
        #expect(try await snapshots.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == 50)
        await #expect(throws: DatabaseError.self) {
            try await pool.read { db in try db.execute(sql: "INSERT INTO t VALUES (1)") }
        }
        await #expect(throws: DatabaseError.self) { try await pool.read { _ in try pool.read { _ in } } }
        try snapshot.close()
        try snapshots.close()
        try pool.close()
        await #expect(throws: DatabaseError.self) { try await pool.read { _ in } }
        let queue = try DatabaseQueue()
        try await queue.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        #expect(try await queue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == 0)
    }
}
