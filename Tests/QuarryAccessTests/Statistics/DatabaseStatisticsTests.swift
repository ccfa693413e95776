import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Counts of a database's work.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct DatabaseStatisticsTests {
    @Test func connectionsOfAPool() async throws {
        let database = try TracedDatabase { $0.maximumReaderCount = 3 }
        let pool = database.pool
        #expect(pool.statistics.readers.open == 0 && pool.statistics.readers.limit == 3)
        let (hasBegun, mayEnd) = (Step("the read has begun"), Step("the read may end"))
        try await pool.read { _ in }
        let reader = OwnThread {
            try pool.read { _ in
                hasBegun.reach()
                try mayEnd.wait()
            }
        }
        try await hasBegun.reached()
        let readers = pool.statistics.readers
        #expect(readers.open == 1 && readers.leased == 1 && readers.idle == 0 && readers.waiters == 0)
        mayEnd.reach()
        try await reader.value
        #expect(pool.statistics.readers.idle == 1 && pool.statistics.readers.leased == 0)
        let writer = pool.statistics.writer
        #expect(writer.limit == 1 && writer.open == 1 && writer.idle == 1 && writer.accessCount == 1)
        #expect(pool.statistics.readers.accessCount == 2)
        try pool.close()
        let closed = pool.statistics
        #expect(closed.writer.open == 0 && closed.readers.open == 0 && closed.readers.accessCount == 2)
        #expect(closed.statements.run > 0 && closed.pageCache.bytes == 0)
    }

    @Test func waitsAreCounted() async throws {
        let database = try TracedDatabase()
        let pool = database.pool
        let (hasBegun, mayEnd) = (Step("the write has begun"), Step("the write may end"))
        let before = pool.statistics.writer
        let writer = OwnThread {
            try pool.write { _ in
                hasBegun.reach()
                try mayEnd.wait()
            }
        }
        try await hasBegun.reached()
        async let asynchronous: Void = pool.write { _ in }
        let synchronous = OwnThread { try pool.write { _ in } }
        try await until("both wait") { pool.statistics.writer.waiters == 2 }
        mayEnd.reach()
        try await asynchronous
        try await synchronous.value
        try await writer.value
        let last = pool.statistics.writer
        #expect(last.waiters == 0 && last.accessCount - before.accessCount == 3 && last.waitCount == 2)
        // The accesses that didn't wait count as 0.
        #expect(last.wait.count == UInt64(last.accessCount) && last.wait.maximum > .zero)
        #expect(last.wait.percentile(10) == .zero)
    }

    /// A checkpoint, say: a test that counts its accesses in line would count one too many.
    @Test func accessesOfTheLibraryAreNoWaiters() async throws {
        let database = try TracedDatabase()
        let pool = database.pool
        let (hasBegun, mayEnd) = (Step("the write has begun"), Step("the write may end"))
        let writer = OwnThread {
            try pool.write { _ in
                hasBegun.reach()
                try mayEnd.wait()
            }
        }
        try await hasBegun.reached(by: writer)
        let hasRun = Step("the library's access has run")
        pool.writer.enqueue(AccessRequest(.bare, origin: .library)) { _ in
        } whenReleased: { _ in
            hasRun.reach()
        }
        #expect(pool.writer.group.waiterCount == 1 && pool.statistics.writer.waiters == 0)
        mayEnd.reach()
        try await writer.value
        try await hasRun.reached()
    }

    /// They count until they are released, or until the database is closed.
    @Test func observationsAndReadersOfCommits() async throws {
        let database = try TracedDatabase()
        let pool = database.pool
        #expect(pool.statistics.observations == 0 && pool.statistics.commitReaders == 0)
        let observation = ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM player") }
        var values: AsyncValueObservation<Int?>.Iterator? = observation.values(in: pool).makeAsyncIterator()
        _ = try await values?.next()
        var commits: DatabaseCommits.Iterator? = pool.commits.makeAsyncIterator()
        #expect(commits != nil && pool.statistics.observations == 1 && pool.statistics.commitReaders == 1)
        var both = pool.statistics
        both.merge(pool.statistics)
        #expect(both.observations == 2 && both.commitReaders == 2)
        (values, commits) = (nil, nil)
        #expect(pool.statistics.observations == 0 && pool.statistics.commitReaders == 0)
        let cancellable = observation.start(in: pool, scheduling: .task) { _ in
        } onChange: { _ in
        }
        #expect(pool.statistics.observations == 1)
        try pool.close()
        try await until("the observation has ended") { pool.statistics.observations == 0 }
        cancellable.cancel()
    }

    /// Once reads take too long for Swift's threads, they take their connection on the library's.
    @Test func eachReadCountsOnce() async throws {
        let clock = ManualMonotonicClock()
        let database = try TracedDatabase { $0.monotonicClock = clock.monotonicClock }
        let pool = database.pool
        let before = pool.statistics.readers
        var count = 0
        func read() async throws {
            try await pool.read { db in
                clock.advance(by: .milliseconds(2))
                let value = try Int.fetchOne(db, sql: "SELECT 1")
                #expect(value == 1)
            }
            count += 1
        }
        while pool.readers.readAdmission.expectsShortReads { try await read() }
        for _ in 0..<10 { try await read() }
        #expect(pool.statistics.readers.accessCount - before.accessCount == count)
    }

    /// Of 64 accesses one is timed.
    @Test(arguments: [true, false]) func timesOfAccesses(isTraced: Bool) async throws {
        let clock = ManualMonotonicClock(tick: .nanoseconds(1))
        let database = try TracedDatabase { $0.monotonicClock = clock.monotonicClock }
        let pool = database.pool
        if isTraced { pool.addTracer(RecordingTracer(.all)) }
        for _ in 0..<128 { try await pool.read { db in _ = try Int.fetchOne(db, sql: "SELECT 1") } }
        for _ in 0..<127 { try await pool.write { _ in } }
        let statistics = pool.statistics
        #expect(statistics.readers.hold.count == 2 && statistics.readers.run.count == 2)
        #expect(statistics.writer.hold.count == 2 && statistics.writer.run.count == 2)
        #expect(statistics.readers.run.sum > .zero && statistics.readers.run.sum < statistics.readers.hold.sum)
        #expect(statistics.writer.run.sum < statistics.writer.hold.sum)
    }

    @Test func transactions() throws {
        struct OwnError: Error {}
        let database = try TracedDatabase()
        let pool = database.pool
        let before = pool.statistics
        for _ in 0..<3 { try pool.write { db in try db.execute(sql: "DELETE FROM player") } }
        expectError(OwnError.self) { try pool.write { _ in throw OwnError() } }
        try pool.writeWithoutTransaction { db in
            try db.inTransaction { .rollback }
            try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
        }
        try pool.read { _ in }
        try pool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY);
                    CREATE TABLE child (a REFERENCES team DEFERRABLE INITIALLY DEFERRED)
                    """)
        }
        expectError(.SQLITE_CONSTRAINT_FOREIGNKEY) {
            try pool.write { db in try db.execute(sql: "INSERT INTO child VALUES (1)") }
        }
        // A transaction that SQLite rolls back itself.
        expectError(.SQLITE_CONSTRAINT_UNIQUE) {
            try pool.write { db in try db.execute(sql: "INSERT OR ROLLBACK INTO player (name) VALUES ('Arthur')") }
        }
        let transactions = pool.statistics.since(before).transactions
        #expect(transactions.committed == 4 && transactions.rolledBack == 4 && transactions.failed == 1)
    }

    @Test func statements() throws {
        let queue = try DatabaseQueue()
        let before = queue.statistics
        try queue.read { db in
            for _ in 0..<10 { _ = try Int.fetchOne(db, sql: "SELECT 1") }
            _ = try db.cachedStatement(sql: "SELECT 1")
        }
        let statements = queue.statistics.since(before).statements
        // BEGIN, COMMIT and the queries.
        #expect(statements.run == 12 && statements.foundInCache == 10)
        // BEGIN, COMMIT, ROLLBACK and the query.
        #expect(statements.prepared == 4)
    }

    @Test func pageCache() throws {
        let database = try TracedDatabase()
        let before = database.pool.statistics
        try database.pool.write { db in
            for number in 0..<100 {
                try db.execute(sql: "INSERT INTO player (name, score) VALUES (?, ?)", arguments: ["\(number)", number])
            }
        }
        try database.pool.read { db in _ = try Row.fetchAll(db, sql: "SELECT * FROM player") }
        let cache = database.pool.statistics.pageCache
        let change = database.pool.statistics.since(before).pageCache
        #expect(change.hitCount > 0 && change.missCount > 0 && change.writeCount > 0 && cache.bytes > 4096)
        // Schema and statements are read at the end of the next access.
        try database.pool.read { _ in }
        try database.pool.write { _ in }
        let next = database.pool.statistics.pageCache
        #expect(next.schemaBytes > 0 && next.statementBytes > 0)
    }

    /// A connection in use is read at the end of its access: reading statistics touches none in use.
    @Test func connectionInUse() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            let before = queue.statistics.pageCache
            for _ in 0..<10 { _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
            #expect(queue.statistics.pageCache == before)
        }
        #expect(queue.statistics.pageCache.hitCount >= 10)
    }

    /// The counts of closed readers remain.
    @Test func closedReaders() throws {
        let database = try TracedDatabase()
        try database.pool.read { db in _ = try Row.fetchAll(db, sql: "SELECT * FROM player") }
        let before = database.pool.statistics
        database.pool.invalidateReadOnlyConnections()
        #expect(before.readers.open == 1 && database.pool.statistics.readers.open == 0)
        let after = database.pool.statistics.since(before)
        #expect(after.statements.run == 0 && after.pageCache.hitCount >= 0 && after.statements.prepared == 0)
    }

    @Test func busyRetries() async throws {
        let folder = try TemporaryFolder()
        let (first, second) = (
            try DatabaseQueue(path: folder.file("db")), try DatabaseQueue(path: folder.file("db"))
        )
        // The first write of an empty file writes its header: its commit would wait while the other looks for the lock.
        try await first.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        let (hasBegun, mayEnd) = (Step("the write has begun"), Step("the write may end"))
        let writer = OwnThread {
            try first.write { _ in
                hasBegun.reach()
                try mayEnd.wait()
            }
        }
        try await hasBegun.reached()
        async let waiting: Void = second.write { _ in }
        try await until("the second has tried again") { second.statistics.busyRetryCount > 0 }
        mayEnd.reach()
        try await waiting
        try await writer.value
        #expect(first.statistics.busyRetryCount == 0)
    }

    @Test func logAndOldestReader() throws {
        let database = try TracedDatabase { $0.wal = .init() }
        let snapshot = try database.pool.makeSnapshot()
        try database.pool.write { db in try db.execute(sql: "DELETE FROM player") }
        let statistics = database.pool.statistics
        #expect(statistics.logBytes > 0)
        #expect(statistics.oldestReaderAge.map { $0 > .zero } == true)
        #expect(snapshot.statistics.readers.open == 1 && snapshot.statistics.writer.open == 0)
    }

    @Test func queue() throws {
        let queue = try DatabaseQueue()
        try queue.write { _ in }
        let statistics = queue.statistics
        #expect(statistics.writer == statistics.readers && statistics.writer.accessCount == 1)
        #expect(statistics.logBytes == 0 && statistics.oldestReaderAge == nil)
        #expect(AnyDatabaseReader(queue).statistics.writer.open == 1)
    }

    @Test func processMemory() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        let memory = DatabaseStatistics.process
        #expect(memory.memoryBytes > 0 && memory.highestMemoryBytes >= memory.memoryBytes && memory.allocationCount > 0)
    }
}
