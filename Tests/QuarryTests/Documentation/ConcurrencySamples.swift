import Quarry
import QuarryTestSupport
import Testing

@Suite struct ConcurrencySamples {
    let folder: TemporaryFolder
    let dbPool: DatabasePool

    init() throws {
        folder = try TemporaryFolder()
        dbPool = try DatabasePool(path: folder.file("players.sqlite"))
        try dbPool.write { db in try db.makeScoredPlayers() }
    }

    @Test func syncAndAsync() async throws {
        // On this thread
        func rename(_ id: Int64, to name: String) throws {
            try dbPool.write { db in
                try db.execute(sql: "UPDATE player SET name = ? WHERE id = ?", arguments: [name, id])
            }
        }

        // In a task
        func name(of id: Int64) async throws -> String? {
            try await dbPool.read { db in
                try String.fetchOne(db, sql: "SELECT name FROM player WHERE id = ?", arguments: [id])
            }
        }

        try await dbPool.write { db in try db.execute(sql: "INSERT INTO player (id) VALUES (1)") }
        try rename(1, to: "Arthur")
        #expect(try await name(of: 1) == "Arthur")
    }

    @Test func oneState() throws {
        let (count, best) = try dbPool.read { db in
            let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")!
            let best = try Int.fetchOne(db, sql: "SELECT MAX(score) FROM player")
            return (count, best)
        }
        #expect(count == 0)
        #expect(best == nil)
    }

    @Test func placement() throws {
        var config = Configuration()
        config.asyncExecution = .offloaded  // .automatic (the default), .inline, .offloaded
        #expect(try DatabaseQueue(configuration: config).read { db in try Int.fetchOne(db, sql: "SELECT 1") } == 1)
    }

    @Test func cancellation() async throws {
        let dbPool = dbPool
        let task = Task {
            try await dbPool.read { db in
                try Int.fetchOne(
                    db,
                    sql: """
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
                        SELECT COUNT(*) FROM n
                        """)
            }
        }
        task.cancel()
        let result = await task.result  // .failure(CancellationError())

        #expect(throws: CancellationError.self) { try result.get() }
    }

    @Test func deadlines() throws {
        var config = Configuration()
        config.acquireTimeout = 2  // seconds an access may wait for a connection
        config.maximumWaiters = 1000  // accesses that may wait for one at the same time
        config.statementTimeout = 30  // seconds a statement may run
        #expect(try DatabaseQueue(configuration: config).read { db in try Int.fetchOne(db, sql: "SELECT 1") } == 1)
    }

    @Test func concurrentRead() async throws {
        let dbPool = dbPool
        let counts = AsyncStream<Int> { continuation in
            dbPool.asyncWriteWithoutTransaction { db in
                do {
                    try db.inTransaction {
                        try db.execute(sql: "DELETE FROM player")
                        return .commit
                    }
                    // Reads the state of this very commit, while the writer goes on.
                    dbPool.asyncConcurrentRead { result in
                        let count = try? Int.fetchOne(result.get(), sql: "SELECT COUNT(*) FROM player")
                        continuation.yield(count ?? -1)
                        continuation.finish()
                    }
                    try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
                } catch {
                    continuation.finish()
                }
            }
        }
        var seen: [Int] = []
        for await count in counts { seen.append(count) }
        #expect(seen == [0])
    }

    @Test func reentrancy() throws {
        let error = #expect(throws: DatabaseError.self) {
            try dbPool.read { _ in
                try dbPool.read { _ in }  // SQLITE_MISUSE: Database methods are not reentrant.
            }
        }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.message == "Database methods are not reentrant.")
    }
}
