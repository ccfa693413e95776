import Foundation
import Quarry
import QuarryExpectations
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

@Suite struct DatabaseDirectoryTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in try db.execute(sql: "CREATE TABLE t (a INTEGER PRIMARY KEY)") }
        return migrator
    }()

    func make(
        _ maximumOpenCount: Int, migrator: DatabaseMigrator? = Self.migrator,
        _ configure: (inout Configuration) -> Void = { _ in }
    ) throws -> DatabaseDirectory {
        var configuration = Configuration()
        configure(&configuration)
        return try DatabaseDirectory(
            path: folder.path, maximumOpenCount: maximumOpenCount, configuration: configuration, migrator: migrator)
    }

    static func insert(_ database: SharedDatabase, _ value: Int) throws {
        try database.write { db in try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [value]) }
    }

    static func values(_ database: SharedDatabase) throws -> [Int] {
        try database.read { db in try Int.fetchAll(db, sql: "SELECT a FROM t ORDER BY a") }
    }

    // MARK: - Opening and closing

    @Test func opensOnDemand() throws {
        let directory = try make(2)
        let a = try directory.database(named: "a")
        #expect(try !directory.contains("a"))
        #expect(!a.isOpened)
        #expect(!a.isBlockaded)
        #expect(try Self.values(a) == [])
        #expect(a.isOpened)
        try Self.insert(a, 1)
        #expect(try directory.database(named: "a") === a)
        #expect(try directory.names() == ["a"])
        #expect(directory.statistics.openCount == 1)
    }

    @Test func leastRecentlyUsedDatabasesClose() async throws {
        let directory = try make(2)
        let databases = try ["a", "b", "c"].map { try directory.database(named: $0) }
        func open() -> [Bool] { databases.map(\.isOpened) }
        try Self.insert(databases[0], 1)
        try Self.insert(databases[1], 1)
        #expect(open() == [true, true, false])
        _ = try Self.values(databases[0])
        try Self.insert(databases[2], 1)
        #expect(open() == [true, false, true])
        // Its log is in the file: nothing else is left.
        #expect(!FileManager.default.fileExists(atPath: folder.file("b.sqlite-wal")))
        #expect(try Self.values(databases[1]) == [1])
        #expect(open() == [false, true, true])
        #expect(directory.statistics.evictedCount == 2)
        #expect(directory.statistics.openedCount == 4)
    }

    /// An open database stays open when the program has released it, and one that is closed is forgotten.
    @Test func databasesThatTheProgramReleases() async throws {
        let directory = try make(1)
        try Self.insert(directory.database(named: "a"), 1)
        #expect(directory.statistics.databases["a"]?.writer.open == 1)
        #expect(try Self.values(directory.database(named: "a")) == [1])
        #expect(directory.statistics.openedCount == 1)
        try Self.insert(directory.database(named: "b"), 1)
        try await until("a is forgotten") { directory.statistics.databases.keys.sorted() == ["b"] }
        // Its work still counts.
        #expect(directory.statistics.total.transactions.committed == 4)
    }

    @Test func closingAll() async throws {
        let directory = try make(3)
        let databases = try ["a", "b", "c"].map { try directory.database(named: $0) }
        for database in databases { try Self.insert(database, 1) }
        try directory.close()
        #expect(databases.allSatisfy { !$0.isOpened })
        #expect(try folder.openFiles == [])
        #expect(directory.statistics.openCount == 0)
        for database in databases { #expect(try Self.values(database) == [1]) }
        try await directory.closeAsync()
        #expect(try folder.openFiles == [])
        // Closing what is closed has no effect, and opens nothing.
        try databases[0].close()
        try await databases[0].closeAsync()
        try directory.close()
        #expect(directory.statistics.openedCount == 6)
    }

    /// Closing all inside an access closes the others.
    @Test func closingAllInsideAnAccess() throws {
        let directory = try make(3)
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        try Self.insert(b, 1)
        try a.write { db in
            expectError(.SQLITE_MISUSE) { try directory.close() }
            #expect(!b.isOpened)
            try db.execute(sql: "INSERT INTO t VALUES (1)")
        }
        #expect(try Self.values(a) == [1])
    }

    // MARK: - Waiting

    /// If all are in use, an access waits for the first that is idle.
    @Test func accessesWaitForAPlace() async throws {
        let directory = try make(2)
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        let c = try directory.database(named: "c")
        let (isInA, isInB) = (Step("a reads"), Step("b writes"))
        let (mayLeaveA, mayLeaveB) = (Step("a may end"), Step("b may end"))
        let reader = OwnThread {
            try a.read { _ in
                isInA.reach()
                try mayLeaveA.wait()
            }
        }
        let writer = OwnThread {
            try b.write { _ in
                isInB.reach()
                try mayLeaveB.wait()
            }
        }
        try await isInA.reached()
        try await isInB.reached()
        let waiter = OwnThread { try Self.insert(c, 1) }
        let task = Task { try await c.write { db in try db.execute(sql: "INSERT INTO t VALUES (2)") } }
        try await until("c waits") { directory.statistics.waitingCount == 1 }
        try await until("both accesses wait") { c.statistics.writer.waiters == 2 }
        #expect(!c.isOpened)
        mayLeaveB.reach()
        try await waiter.value
        try await task.value
        #expect(!b.isOpened)
        #expect(a.isOpened)
        #expect(try await onOwnThread { try Self.values(c) } == [1, 2])
        mayLeaveA.reach()
        try await reader.value
        try await writer.value
    }

    /// Databases that wait for a place get it in the order of arrival.
    @Test func orderOfArrival() async throws {
        let directory = try make(1)
        let isInA = Step("a writes")
        let mayLeaveA = Step("a may end")
        let a = try directory.database(named: "a")
        let holder = OwnThread {
            try a.write { _ in
                isInA.reach()
                try mayLeaveA.wait()
            }
        }
        try await isInA.reached()
        let order = Recorded<[Int]>([])
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<8 {
            let database = try directory.database(named: "b\(number)")
            tasks.append(Task { try await database.write { _ in order.update { $0.append(number) } } })
            try await until("it waits") { directory.statistics.waitingCount == number + 1 }
        }
        mayLeaveA.reach()
        for task in tasks { try await task.value }
        try await holder.value
        #expect(order.value == Array(0..<8))
        #expect(directory.statistics.openCount == 1)
    }

    @Test(.blocksSwiftThreads) func accessesThatGiveUp() throws {
        let clock = ManualMonotonicClock()
        let directory = try make(1) { $0.monotonicClock = clock.monotonicClock }
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        let c = try directory.database(named: "c")
        try a.write { _ in
            // In another thread, since this one has a place.
            let other = OwnThread {
                expectError(
                    .SQLITE_BUSY,
                    "timeout while waiting for the writer of \(b.path): none was free within 0.01 seconds "
                        + "(the timeout of the access)"
                ) { try b.write(timeout: .milliseconds(10)) { _ in } }
            }
            try spin(until: "the thread waits") { directory.statistics.waitingCount == 1 }
            clock.advance(by: .milliseconds(10))
            try blocking { _ = try await other.value }
            try blocking {
                try await clock.advance(by: .milliseconds(10), when: "it waits", directory.statistics.waitingCount == 1)
                {
                    _ = await expectError(.SQLITE_BUSY) { try await b.write(timeout: .milliseconds(10)) { _ in } }
                }
                let waiting = Task { try await c.read { _ in } }
                waiting.cancel()
                await expectError(CancellationError.self) { try await waiting.value }
            }
        }
        // Nobody wants a place any more: the databases weren't opened.
        try Self.insert(a, 1)
        #expect(try directory.names() == ["a"])
        try Self.insert(b, 1)
        #expect(try Self.values(b) == [1])
    }

    /// Runs a task while this thread waits, as a server's code may by mistake.
    private func blocking(_ body: @escaping @Sendable () async throws -> Void) throws {
        let isOver = Step("the task has ended")
        Task.detached {
            defer { isOver.reach() }
            do { try await body() } catch { Issue.record(error) }
        }
        try isOver.wait()
    }

    /// An access inside another one of the directory keeps the place of the other: it doesn't wait for it.
    @Test func nestedAccesses() async throws {
        let directory = try make(1)
        let databases = try (0..<4).map { try directory.database(named: "\($0)") }
        let values = try await onOwnThread {
            try databases[0].write { db in
                try databases[1].write { db in
                    try databases[2].read { _ in try Self.insert(databases[3], 3) }
                    try db.execute(sql: "INSERT INTO t VALUES (1)")
                }
                try db.execute(sql: "INSERT INTO t VALUES (0)")
            }
            return try databases.map { try Self.values($0) }
        }
        #expect(values == [[0], [1], [], [3]])
        try await until("the rest is closed") { databases.count(where: \.isOpened) == 1 }
        #expect(directory.statistics.openCount == 1)
    }

    /// Two threads, each inside an access of one database, need the other's.
    @Test func crossedAccesses() async throws {
        let directory = try make(2)
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        let (c, d) = (try directory.database(named: "c"), try directory.database(named: "d"))
        let (isInA, isInB) = (Step("a"), Step("b"))
        let first = OwnThread {
            try a.write { _ in
                isInA.reach()
                try isInB.wait()
                try Self.insert(c, 1)
            }
        }
        let second = OwnThread {
            try b.write { _ in
                isInB.reach()
                try isInA.wait()
                try Self.insert(d, 1)
            }
        }
        try await first.value
        try await second.value
        let values = try await onOwnThread { try [Self.values(c), Self.values(d)] }
        #expect(values == [[1], [1]])
    }

    // MARK: - What keeps a database open

    @Test func snapshotsKeepTheirDatabases() throws {
        // The thread looks at the clock while it waits.
        let directory = try make(1) { $0.monotonicClock = ManualMonotonicClock(tick: .seconds(1)).monotonicClock }
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        try Self.insert(a, 1)
        var snapshot: DatabaseSnapshot? = try a.makeSnapshot()
        expectError(.SQLITE_BUSY) { try b.write(timeout: .milliseconds(10)) { _ in } }
        #expect(try snapshot?.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == 1)
        snapshot = nil
        try Self.insert(b, 1)
        #expect(!a.isOpened)
    }

    /// A database whose connection has a statement left can't be closed: another one is, and it isn't tried again and
    /// again.
    @Test func leftStatements() throws {
        let directory = try make(2)
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        let c = try directory.database(named: "c")
        try Self.insert(a, 1)
        try Self.insert(b, 1)
        do {
            let statement = try a.writeWithoutTransaction { db in try db.makeStatement(sql: "SELECT 1") }
            try Self.insert(b, 2)
            // The least recently used one is a.
            try Self.insert(c, 1)
            #expect(a.isOpened)
            #expect(!b.isOpened)
            #expect(try a.writeWithoutTransaction { _ in try Int.fetchOne(statement) } == 1)
        }
        try Self.insert(c, 2)
        try Self.insert(b, 3)
        #expect(!a.isOpened)
        #expect(try Self.values(b) == [1, 2, 3])
        #expect(try Self.values(a) == [1])
    }

    @Test func observationsGoOn() async throws {
        let directory = try make(1)
        let a = try directory.database(named: "a")
        let b = try directory.database(named: "b")
        let counts = Recorded<[Int]>([])
        let observation = ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t")! }
            .removeDuplicates()
        let cancellable = observation.start(in: a, scheduling: .async(onQueue: .global())) { error in
            Issue.record(error)
        } onChange: { count in
            counts.update { $0.append(count) }
        }
        try await until("the first value") { counts.value == [0] }
        for number in 1...5 {
            try await b.write { db in try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [number]) }
            try await a.write { db in try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [number]) }
            try await until("value \(number)") { counts.value == Array(0...number) }
        }
        #expect(directory.statistics.evictedCount >= 5)
        cancellable.cancel()
    }

    // MARK: - Owners

    @Test func otherOwners() throws {
        let outside = SharedDatabase(path: folder.file("a.sqlite"))
        let directory = try make(1)
        expectError(
            .SQLITE_MISUSE,
            "\(folder.file("a.sqlite")) is used outside of its directory, as \(folder.file("a.sqlite"))"
        ) { try directory.database(named: "a") }
        _ = outside
        // The other way round, the path leads to the database of the directory.
        let b = try directory.database(named: "b")
        let alias = SharedDatabase(path: folder.file("b.sqlite"))
        #expect(alias.isSameDatabase(as: b))
        try Self.insert(alias, 1)
        #expect(directory.statistics.openCount == 1)
        // A second directory of the folder can't have it.
        expectError(.SQLITE_MISUSE) { try make(1).database(named: "b") }
    }

    /// A database that outlives its directory goes on without it.
    @Test func databasesThatOutliveTheirDirectory() async throws {
        var directory: DatabaseDirectory? = try make(1)
        let a = try #require(try directory?.database(named: "a"))
        let b = try #require(try directory?.database(named: "b"))
        try Self.insert(a, 1)
        directory = nil
        try Self.insert(b, 1)
        #expect(a.isOpened && b.isOpened)
        #expect(try await a.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == 1)
    }

    /// An access that waits keeps a database that the program has released.
    @Test func accessesOutliveTheirDatabase() async throws {
        let directory = try make(1)
        let a = try directory.database(named: "a")
        let hasRun = Step("the access has run")
        try await onOwnThread {
            try a.write { _ in
                try directory.database(named: "b").asyncRead { result in
                    #expect(throws: Never.self) { _ = try result.get() }
                    hasRun.reach()
                }
            }
        }
        try await hasRun.reached()
        try await until("b has ended") { directory.statistics.waitingCount == 0 && directory.statistics.openCount <= 1 }
        try await onOwnThread { try Self.insert(a, 1) }
    }

    @Test func removing() async throws {
        let directory = try make(1)
        let a = try directory.database(named: "a")
        try Self.insert(a, 1)
        try Self.insert(directory.database(named: "b"), 1)
        try await directory.remove("a")
        #expect(try directory.names() == ["b"])
        #expect(try Self.values(a) == [])
        try await onOwnThread {
            try directory.remove("a")
            try directory.remove("never-made")
        }
        #expect(try directory.names() == ["b"])
    }

    /// The files of a closed database can be replaced; the new ones are migrated.
    @Test func replacing() throws {
        try DatabaseQueue(path: folder.file("new")).write { db in try db.execute(sql: "CREATE TABLE other (a)") }
        let directory = try make(1)
        let a = try directory.database(named: "a")
        try Self.insert(a, 1)
        try Self.insert(directory.database(named: "b"), 1)
        try a.withClosedDatabase { files in try files.replace(with: folder.file("new")) }
        #expect(try Self.values(a) == [])
        #expect(try a.read { db in try db.tableExists("other") })
    }

    @Test func statistics() throws {
        let directory = try make(2) { $0.label = "tenants" }
        let a = try directory.database(named: "a")
        #expect(a.configuration.label == "tenants/a")
        try Self.insert(a, 1)
        for number in 1...2 { try Self.insert(directory.database(named: "b"), number) }
        let statistics = directory.statistics
        #expect(statistics.limit == 2)
        // The keeper of the log may have had accesses, too.
        let counts = statistics.databases.mapValues(\.writer.accessCount)
        #expect(counts["a"] ?? 0 >= 1)
        #expect(counts["b"] ?? 0 >= 2)
        #expect(statistics.total.writer.accessCount == counts.values.reduce(0, +))
        #expect(statistics.total.writer.open == 2)
        #expect(statistics.total.logBytes == statistics.databases.values.map(\.logBytes).reduce(0, +))
        #expect(statistics.waitingCount == 0)
        #expect(directory.releaseIdle().emptiedConnections == 2)
    }

    /// All databases share a few threads, beside those on which tasks stay.
    @Test func threads() async throws {
        let directory = try DatabaseDirectory(
            path: folder.path, maximumOpenCount: 50, migrator: Self.migrator, maximumThreadCount: 3)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                let database = try directory.database(named: "\(number)")
                group.addTask { try await database.write { db in try db.execute(sql: "INSERT INTO t VALUES (1)") } }
            }
            try await group.waitForAll()
        }
        #expect(directory.threadCount <= 3 + CooperativePool.width)
        #expect(directory.statistics.total.transactions.committed == 100)
    }
}
