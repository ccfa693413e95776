import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// When a pool opens its readers, and when it lets them go.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct ReaderConnectionTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makePool(_ configure: (inout Configuration) -> Void = { _ in }) throws -> DatabasePool {
        var configuration = Configuration()
        configure(&configuration)
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        try pool.makeTable(1)
        return pool
    }

    /// Runs `count` reads at a time.
    private func read(_ pool: DatabasePool, atATime count: Int) async throws {
        let arrived = Recorded(0)
        let threads = (0..<count).map { _ in
            OwnThread {
                try pool.read { _ in
                    arrived.update { $0 += 1 }
                    try spin(until: "all read") { arrived.value == count }
                }
            }
        }
        for thread in threads { try await thread.value }
    }

    @Test func readersAreOpenedWhenTheyAreNeeded() async throws {
        let pool = try makePool()
        #expect(pool.readers.group.connectionCount == 0)
        for _ in 0..<5 {
            _ = try await pool.read { db in try db.values() }
            #expect(pool.readers.group.connectionCount == 1)
        }
        try await read(pool, atATime: 3)
        #expect(pool.readers.group.connectionCount == 3)
        try await read(pool, atATime: 5)
        #expect(pool.readers.group.connectionCount == 5)
    }

    @Test func aReaderThatCannotBeOpened() async throws {
        struct Refusal: Error {}
        let refuses = Recorded(false)
        let pool = try makePool { configuration in
            configuration.maximumReaderCount = 1
            configuration.prepareDatabase { _ in if refuses.value { throw Refusal() } }
        }
        refuses.update { $0 = true }
        for _ in 0..<3 {
            await #expect(throws: Refusal.self) { try await pool.read { _ in } }
            _ = try await onOwnThread { #expect(throws: Refusal.self) { try pool.read { _ in } } }
        }
        #expect(throws: Refusal.self) { try pool.makeSnapshot() }
        refuses.update { $0 = false }
        #expect(try await pool.read { db in try db.values() } == [1])
    }

    @Test func invalidatedReaders() async throws {
        let opened = Recorded(0)
        let pool = try makePool { configuration in
            configuration.prepareDatabase { db in if db.configuration.readonly { opened.update { $0 += 1 } } }
        }
        _ = try await pool.read { db in try db.values() }
        #expect(opened.value == 1)
        pool.invalidateReadOnlyConnections()
        #expect(pool.readers.group.connectionCount == 0)
        _ = try await pool.read { db in try db.values() }
        #expect(opened.value == 2)
        // A reader that is in use is closed when it comes back.
        try await onOwnThread {
            try pool.read { db in
                pool.invalidateReadOnlyConnections()
                #expect(pool.readers.group.connectionCount == 1)
                let values = try db.values()
                #expect(values == [1])
            }
        }
        #expect(pool.readers.group.connectionCount == 0)
        _ = try await pool.read { db in try db.values() }
        #expect(opened.value == 3)
    }

    @Test(arguments: [true, false]) func releasingMemory(isPersistent: Bool) async throws {
        let pool = try makePool { $0.persistentReadOnlyConnections = isPersistent }
        try await read(pool, atATime: 3)
        try await onOwnThread { pool.releaseMemory() }
        #expect(pool.readers.group.connectionCount == (isPersistent ? 3 : 0))
        try await read(pool, atATime: 3)
        pool.releaseMemoryEventually()
        #expect(pool.readers.group.connectionCount == (isPersistent ? 3 : 0))
        try await pool.write { db in try db.insert(2) }
        #expect(try await pool.read { db in try db.values() } == [1, 2])
        let queue = try DatabaseQueue()
        try await queue.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        try await onOwnThread { queue.releaseMemory() }
        #expect(try await queue.read { db in try db.values() } == [])
    }

    @Test func releasingMemoryWaitsForReads() async throws {
        let pool = try makePool()
        let hasBegun = Step("the read has begun")
        let mayEnd = Step("the read may end")
        let reader = OwnThread {
            try pool.read { db in
                hasBegun.reach()
                try mayEnd.wait()
                return try db.values()
            }
        }
        try await hasBegun.reached()
        let isReleased = Recorded(false)
        let releaser = OwnThread {
            pool.releaseMemory()
            isReleased.update { $0 = true }
        }
        try await until("it waits for the read") { pool.readers.group.waiterCount == 1 }
        #expect(!isReleased.value)
        mayEnd.reach()
        #expect(try await reader.value == [1])
        try await releaser.value
        #expect(pool.readers.group.connectionCount == 0)
    }
}
