import Foundation
import Quarry
import QuarryCaching
import QuarryExpectations
import QuarryFixtures
import QuarryTables
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Idle connections and their memory are given back, without waiting for accesses.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct ReleaseIdleTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func aPool() throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable(1)
        try pool.read { _ in
            try pool.readers.group.withTwoReaders(pool)
            // One reader is in use: by this access. The writer is idle.
            #expect(pool.releaseIdle() == .init(closedConnections: 1, emptiedConnections: 1))
            #expect(pool.readers.group.connectionCount == 1)
            #expect(try pool.table("t", of: Row.self).fetchCount() == 1)
        }
        #expect(pool.releaseIdle() == .init(closedConnections: 1, emptiedConnections: 1))
        #expect(pool.readers.group.connectionCount == 0)
        try pool.write { db in
            #expect(pool.releaseIdle() == .init())
            try db.insert(2)
        }
        #expect(try pool.read { db in try db.values() } == [1, 2])
        try pool.barrierWriteWithoutTransaction { _ in #expect(pool.releaseIdle() == .init()) }
        try pool.close()
        #expect(pool.releaseIdle() == .init())
    }

    @Test func persistentReadersStayOpen() throws {
        var configuration = Configuration()
        configuration.persistentReadOnlyConnections = true
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        try pool.makeTable(1)
        #expect(try pool.read { db in try db.values() } == [1])
        #expect(pool.releaseIdle() == .init(emptiedConnections: 2))
        #expect(pool.readers.group.connectionCount == 1)
    }

    /// Readers are closed only if they are named, and pages and statements are given back separately.
    @Test func partsOfAPool() throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable(1)
        let kept = try pool.read { db in
            try WeakStatement(statement: db.cachedStatement(sql: "SELECT a FROM t"))
        }
        #expect(pool.releaseIdle([]) == .init())
        #expect(kept.statement != nil && pool.readers.group.connectionCount == 1)
        #expect(pool.releaseIdle(.pages) == .init(emptiedConnections: 2))
        #expect(kept.statement != nil && pool.readers.group.connectionCount == 1)
        #expect(pool.releaseIdle(.statements) == .init(emptiedConnections: 2))
        #expect(kept.statement == nil && pool.readers.group.connectionCount == 1)
        #expect(pool.releaseIdle(.readers) == .init(closedConnections: 1))
        #expect(pool.readers.group.connectionCount == 0)
        #expect(pool.releaseIdle([.readers, .pages]) == .init(emptiedConnections: 1))
        #expect(DatabaseMemory.Parts.all == [.readers, .pages, .statements, .records])
    }

    /// The pages go with their own part alone.
    @Test func pagesOfAQueue() throws {
        let queue = try DatabaseQueue(path: folder.file("a.sqlite"))
        try queue.write { db in try db.execute(sql: "CREATE TABLE b (b BLOB); INSERT INTO b VALUES (zeroblob(200000))")
        }
        func pageBytes() throws -> Int {
            // The end of the next access reads SQLite's numbers.
            _ = queue.statistics
            try queue.read { _ in }
            return queue.statistics.pageCache.bytes
        }
        _ = try queue.read { db in try Data.fetchOne(db, sql: "SELECT b FROM b") }
        #expect(try pageBytes() > 200_000)
        #expect(queue.releaseIdle([.readers, .statements]) == .init(emptiedConnections: 1))
        #expect(try pageBytes() > 200_000)
        #expect(queue.releaseIdle(.pages) == .init(emptiedConnections: 1))
        #expect(try pageBytes() < 50_000)
    }

    @Test func statementsOfAQueueAreForgotten() throws {
        let queue = try DatabaseQueue()
        try queue.makeTable(1)
        let compiled = try queue.read { db in
            let first = try ObjectIdentifier(db.cachedStatement(sql: "SELECT a FROM t"))
            #expect(try ObjectIdentifier(db.cachedStatement(sql: "SELECT a FROM t")) == first)
            return try WeakStatement(statement: db.cachedStatement(sql: "SELECT a FROM t"))
        }
        #expect(compiled.statement != nil)
        #expect(queue.releaseIdle() == .init(emptiedConnections: 1))
        #expect(compiled.statement == nil)
        #expect(try queue.read { db in try db.values() } == [1])
    }

    /// The registry has a database from the end of its opening to its release.
    @Test func liveDatabases() throws {
        func isLive(_ writer: AccessRunner) -> Bool { LiveDatabases.writers.contains { $0 === writer } }
        var queue: DatabaseQueue? = try DatabaseQueue()
        var pool: DatabasePool? = try DatabasePool(path: folder.file("a.sqlite"))
        let writers = [try #require(queue).runner, try #require(pool).writer]
        #expect(writers.allSatisfy(isLive))
        #expect(throws: DatabaseError.self) { try DatabaseQueue(path: folder.path) }
        queue = nil
        #expect(!isLive(writers[0]) && isLive(writers[1]))
        try pool?.close()
        #expect(isLive(writers[1]))
        pool = nil
        #expect(!isLive(writers[1]))
    }

    private struct Number: Codable, FetchableRecord, TableRecord, Sendable {
        var id: Int
    }

    /// In a process of its own: other tests count their readers.
    @Test func allDatabases() async {
        await #expect(processExitsWith: .success) { try await ReleaseIdleTests().releaseAll() }
    }

    private func releaseAll() async throws {
        let pools = try (0..<3).map { try DatabasePool(path: folder.file("\($0).sqlite")) }
        for pool in pools {
            try pool.makeTable(1)
            _ = try await pool.read { db in try db.values() }
        }
        try await pools[1].write { db in
            try db.execute(sql: "CREATE TABLE number (id INTEGER PRIMARY KEY); INSERT INTO number VALUES (1)")
        }
        let table = CachedTable<Number>(pools[1])
        try await until("the record is in memory") {
            try table.fetchOne(key: 1) != nil && table.statistics.count == 1
        }
        let released = DatabaseMemory.releaseIdle()
        #expect(released.removedRecords == 1 && table.statistics.count == 0)
        #expect(pools.allSatisfy { $0.readers.group.connectionCount == 0 })
    }

    /// Databases come, are used, and go, while others give everything back.
    @Test func besideAccesses() async {
        await #expect(processExitsWith: .success) { try await ReleaseIdleTests().releaseBesideAccesses() }
    }

    private func releaseBesideAccesses() async throws {
        let pool = try DatabasePool(path: folder.file("pool.sqlite"))
        try pool.makeTable()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for index in 0..<50 {
                        try await pool.write { db in try db.insert(task * 50 + index) }
                        _ = try await pool.read { db in try db.values() }
                    }
                }
                group.addTask {
                    for _ in 0..<100 {
                        DatabaseMemory.releaseIdle()
                        pool.releaseIdle()
                        await Task.yield()
                    }
                }
                group.addTask {
                    for _ in 0..<30 {
                        let queue = try DatabaseQueue()
                        try queue.makeTable(1)
                        #expect(try queue.read { db in try db.values() } == [1])
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await pool.read { db in try db.values() } == Array(0..<200))
    }

    /// A closure that prepares connections throws while one is emptied: the next access throws its error.
    @Test func throwingPreparation() throws {
        struct Failure: Error {}
        let queue = try DatabaseQueue()
        let preparation = queue.prepareConnections { _ in throw Failure() }
        #expect(queue.releaseIdle() == .init())
        expectError(Failure.self) { try queue.read { _ in } }
        preparation.remove()
        try queue.makeTable(1)
    }
}

private struct WeakStatement {
    weak var statement: Statement?
}

extension ConnectionGroup {
    /// Has another reader opened, and given back.
    fileprivate func withTwoReaders(_ pool: DatabasePool) throws {
        try onOtherThread { _ = try pool.read { db in try db.values() } }
        #expect(connectionCount == 2)
    }
}
