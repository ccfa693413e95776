import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// The writes that a read sees: those before it, and none of those beside it and after it.
@Suite struct IsolationTests {
    let folder: TemporaryFolder
    let pool: DatabasePool

    init() throws {
        folder = try TemporaryFolder()
        pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable(1)
    }

    /// A read that is pinned before a write doesn't see it, even if it has read nothing yet.
    @Test(arguments: [true, false]) func aReadBeforeAWrite(readsFirst: Bool) async throws {
        let pool = pool
        let hasBegun = Step("the read has begun")
        let hasWritten = Step("the write has returned")
        let reader = OwnThread("reader") {
            try pool.read { db in
                let before = readsFirst ? try db.values() : nil
                hasBegun.reach()
                try hasWritten.wait()
                return (before, try db.values(), try db.values())
            }
        }
        try await hasBegun.reached()
        try await pool.write { db in try db.insert(2) }
        #expect(try await pool.read { db in try db.values() } == [1, 2], "a read that begins later")
        hasWritten.reach()
        let (before, after, again) = try await reader.value
        #expect(before == (readsFirst ? [1] : nil))
        #expect(after == [1])
        #expect(again == [1])
    }

    @Test func readsInsideAWriteTransactionOfAnother() async throws {
        let pool = pool
        let hasInserted = Step("a row is inserted, and not committed")
        let hasRead = Step("the row has been looked for")
        let writer = OwnThread("writer") {
            try pool.write { db in
                try db.insert(2)
                hasInserted.reach()
                try hasRead.wait()
            }
        }
        try await hasInserted.reached()
        #expect(try await pool.read { db in try db.values() } == [1])
        let onThread = try await onOwnThread { try pool.read { db in try db.values() } }
        #expect(onThread == [1])
        hasRead.reach()
        try await writer.value
        #expect(try await pool.read { db in try db.values() } == [1, 2])
    }

    @Test func aReadInsideAWrite() throws {
        try pool.write { db in
            try db.insert(2)
            #expect(try db.values() == [1, 2])
            #expect(try pool.read { reader in try reader.values() } == [1], "what isn't committed isn't seen")
        }
        #expect(try pool.read { reader in try reader.values() } == [1, 2])
    }

    @Test func aWriteInsideARead() throws {
        try pool.read { reader in
            try pool.write { db in try db.insert(2) }
            #expect(try reader.values() == [1])
        }
        #expect(try pool.read { reader in try reader.values() } == [1, 2])
    }

    @Test func eachStatementOfAnUnsafeReadSeesWhatIsCommitted() throws {
        try pool.unsafeRead { reader in
            #expect(try reader.values() == [1])
            try pool.write { db in try db.insert(2) }
            #expect(try reader.values() == [1, 2])
        }
    }

    @Test func readsSurviveCheckpoints() throws {
        for mode in ["PASSIVE", "FULL", "RESTART", "TRUNCATE"] {
            let before = try pool.read { db in try db.values() }
            try pool.read { reader in
                try pool.write { db in try db.insert(before.count + 1) }
                try pool.writeWithoutTransaction { db in
                    // A checkpoint that waits for readers would wait for this thread.
                    try db.execute(sql: "PRAGMA busy_timeout = 0")
                    let busy = try Int.fetchOne(db, sql: "PRAGMA wal_checkpoint(\(mode))")
                    #expect(busy == (mode == "PASSIVE" ? 0 : 1), "\(mode)")
                }
                #expect(try reader.values() == before, "\(mode)")
            }
        }
        #expect(try pool.read { db in try db.values() } == [1, 2, 3, 4, 5])
    }

    /// Each read that begins after a write has returned sees it, whoever reads.
    @Test func whatIsWrittenIsSeen() async throws {
        let pool = pool
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 1...4 {
                group.addTask {
                    for index in 0..<50 {
                        let value = task * 1000 + index
                        try await pool.write { db in try db.insert(value) }
                        let found = try await pool.read { db in
                            try Int.fetchOne(db, sql: "SELECT a FROM t WHERE a = ?", arguments: [value])
                        }
                        #expect(found == value)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await pool.read { db in try db.count() } == 201)
    }

    /// A queue's read is a transaction: two statements see one state, whatever another connection writes.
    @Test func readsOfAQueueSeeOneState() throws {
        var configuration = Configuration()
        configuration.journalMode = .wal
        let path = folder.file("queue.sqlite")
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.makeTable(1)
        let other = try DatabaseQueue(path: path)
        try queue.read { db in
            #expect(try db.values() == [1])
            try other.write { db in try db.insert(2) }
            #expect(try db.values() == [1])
        }
        #expect(try queue.read { db in try db.values() } == [1, 2])
    }

    @Test func aFailedWriteLeavesNothing() async throws {
        struct Refusal: Error {}
        await #expect(throws: Refusal.self) {
            try await pool.write { db in
                try db.insert(2)
                try db.execute(sql: "CREATE TABLE u (a)")
                throw Refusal()
            }
        }
        #expect(try await pool.read { db in try db.values() } == [1])
        #expect(try await pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") } == 1)
    }

    @Test func readersSeeChangesOfTheSchema() async throws {
        _ = try await pool.read { db in try db.values() }
        try await pool.write { db in try db.execute(sql: "ALTER TABLE t ADD COLUMN b DEFAULT 5") }
        let columns = try await pool.read { db in try Row.fetchOne(db, sql: "SELECT * FROM t")?.count }
        #expect(columns == 2)
    }
}
