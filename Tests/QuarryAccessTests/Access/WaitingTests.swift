import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Waiting for a connection: how long, how many, and what is said of it.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct WaitingTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A clock that the test moves.
    private let still = ManualMonotonicClock()

    /// The errors of accesses that wait for a connection until their time has passed.
    private func errors(
        of accesses: [@Sendable () async throws -> DatabaseError?], in group: ConnectionGroup, others: Int = 0
    ) async throws -> [DatabaseError?] {
        var errors: [DatabaseError?] = []
        for access in accesses {
            errors.append(
                try await still.advance(
                    by: .milliseconds(10), when: "access \(errors.count) waits", group.waiterCount == others + 1,
                    during: access))
        }
        return errors
    }

    private func impatient(_ change: (inout Configuration) -> Void) -> Configuration {
        var configuration = Configuration()
        configuration.acquireTimeout = 0.01
        configuration.monotonicClock = still.monotonicClock
        change(&configuration)
        return configuration
    }

    /// A write, and reads, that hold all connections until the step is reached.
    private func occupy(_ pool: DatabasePool, until mayEnd: Step) async throws -> [OwnThread<Void>] {
        var threads: [OwnThread<Void>] = []
        for index in 0...pool.configuration.maximumReaderCount {
            let hasBegun = Step("access \(index) has begun")
            let body: @Sendable (Database) throws -> Void = { _ in
                hasBegun.reach()
                try mayEnd.wait()
            }
            threads.append(OwnThread { index == 0 ? try pool.write(body) : try pool.read(body) })
            try await hasBegun.reached(by: threads[index])
        }
        return threads
    }

    @Test func timeouts() async throws {
        let configuration = impatient {
            $0.maximumReaderCount = 2
            $0.label = "players"
        }
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        let mayEnd = Step("the accesses may end")
        let threads = try await occupy(pool, until: mayEnd)
        let ofReaders = try await errors(
            of: [
                { await expectError(DatabaseError.self) { try await pool.read { _ in } } },
                { await expectError(DatabaseError.self) { try await pool.unsafeRead { _ in } } },
                { try await onOwnThread { expectError(DatabaseError.self) { try pool.read { _ in } } } },
                {
                    await completion { done in
                        pool.asyncRead { result in
                            if case .failure(let error) = result { done(error as? DatabaseError) }
                        }
                    }
                },
            ], in: pool.readers.group)
        for error in ofReaders {
            #expect(error?.resultCode == .SQLITE_BUSY)
            #expect(
                error?.message == """
                    timeout while waiting for a reader of players: none was free within 0.01 seconds \
                    (Configuration.acquireTimeout)
                    """)
        }
        let ofTheWriter = try await errors(
            of: [
                { await expectError(DatabaseError.self) { try await pool.write { _ in } } },
                { await expectError(DatabaseError.self) { try await pool.barrierWriteWithoutTransaction { _ in } } },
                { try await onOwnThread { expectError(DatabaseError.self) { try pool.write { _ in } } } },
                {
                    await completion { done in
                        pool.asyncWrite { _ in
                        } completion: { _, result in
                            if case .failure(let error) = result { done(error as? DatabaseError) }
                        }
                    }
                },
            ], in: pool.writer.group)
        for error in ofTheWriter {
            #expect(error?.resultCode == .SQLITE_BUSY)
            #expect(
                error?.message == """
                    timeout while waiting for the writer of players: none was free within 0.01 seconds \
                    (Configuration.acquireTimeout)
                    """)
        }
        #expect(pool.readers.group.waiterCount == 0)
        #expect(pool.writer.group.waiterCount == 0)
        mayEnd.reach()
        for thread in threads { try await thread.value }
        try await pool.write { _ in }
        try await pool.read { _ in }
    }

    @Test func timeoutsOfBarriers() async throws {
        let configuration = impatient { $0.maximumReaderCount = 1 }
        let path = folder.file("a.sqlite")
        let pool = try DatabasePool(path: path, configuration: configuration)
        let hasBegun = Step("the read has begun")
        let mayEnd = Step("the read may end")
        let reader = OwnThread {
            try pool.read { _ in
                hasBegun.reach()
                try mayEnd.wait()
            }
        }
        try await hasBegun.reached(by: reader)
        for error in try await errors(
            of: [
                { await expectError(DatabaseError.self) { try await pool.barrierWriteWithoutTransaction { _ in } } },
                {
                    try await onOwnThread {
                        expectError(DatabaseError.self) { try pool.barrierWriteWithoutTransaction { _ in } }
                    }
                },
            ], in: pool.readers.group)
        {
            #expect(error?.resultCode == .SQLITE_BUSY)
            #expect(
                error?.message == """
                    timeout while waiting for all accesses to end: a reader of \(path) was in use for more than 0.01 \
                    seconds (Configuration.acquireTimeout)
                    """)
        }
        try await pool.write { _ in }
        mayEnd.reach()
        try await reader.value
        try await pool.barrierWriteWithoutTransaction { _ in }
    }

    @Test func tooManyWaiters() async throws {
        var configuration = Configuration()
        configuration.maximumWaiters = 2
        configuration.maximumReaderCount = 1
        configuration.label = "players"
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        let mayEnd = Step("the accesses may end")
        let threads = try await occupy(pool, until: mayEnd)
        let task = Task { try await pool.read { _ in 1 } }
        let thread = OwnThread { try pool.read { _ in 2 } }
        try await until("two wait") { pool.readers.group.waiterCount == 2 }
        for error in [
            await expectError(DatabaseError.self) { try await pool.read { _ in } },
            try await onOwnThread { expectError(DatabaseError.self) { try pool.read { _ in } } },
        ] {
            #expect(error?.resultCode == .SQLITE_BUSY)
            #expect(
                error?.message
                    == "too many accesses wait for a reader of players: at most 2 may (Configuration.maximumWaiters)")
        }
        mayEnd.reach()
        #expect(try await task.value == 1)
        #expect(try await thread.value == 2)
        for thread in threads { try await thread.value }
    }

    /// Observations read although many accesses wait, and although waiting takes long.
    @Test func accessesOfTheLibraryHaveNoLimits() async throws {
        let configuration = impatient {
            $0.maximumWaiters = 1
            $0.maximumReaderCount = 1
        }
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        try pool.makeTable(1)
        let mayEnd = Step("the accesses may end")
        let threads = try await occupy(pool, until: mayEnd)
        let results = Recorded<[String]>([])
        let hasRead = Step("the library has read")
        let hasWritten = Step("the library has written")
        let hasFailed = Step("an access of the library has failed")
        TaskValues.$name.withValue("of the user") {
            pool.readers.enqueue(AccessRequest(.pinnedRead, origin: .library)) { db in
                let values = try db.values()
                results.update { $0.append("\(values), a value \(TaskValues.name)") }
                hasRead.reach()
            } whenReleased: { result in
                if case .failure = result { hasFailed.reach() }
            }
            pool.writer.enqueue(AccessRequest(.write, origin: .library)) { db in
                try db.insert(2)
                hasWritten.reach()
            } whenReleased: { result in
                if case .failure = result { hasFailed.reach() }
            }
        }
        let thread = OwnThread {
            try pool.readers.perform(AccessRequest(.read, origin: .library)) { db in try db.count() }
        }
        try await until("the library waits") {
            pool.readers.group.waiterCount == 2 && pool.writer.group.waiterCount == 1
        }
        // An access of the program that arrives later isn't refused, but gives up: the library has waited longer.
        let ofReaders = try await errors(
            of: [
                { await expectError(DatabaseError.self) { try await pool.read { _ in } } },
                { try await onOwnThread { expectError(DatabaseError.self) { try pool.read { _ in } } } },
            ], in: pool.readers.group, others: 2)
        let ofTheWriter = try await errors(
            of: [{ await expectError(DatabaseError.self) { try await pool.write { _ in } } }],
            in: pool.writer.group, others: 1)
        for error in ofReaders + ofTheWriter {
            #expect(error?.message?.hasPrefix("timeout while waiting") ?? false)
        }
        #expect(pool.readers.group.waiterCount == 2)
        #expect(pool.writer.group.waiterCount == 1)
        mayEnd.reach()
        for thread in threads { try await thread.value }
        try await hasRead.reached()
        try await hasWritten.reached()
        #expect(try await [1, 2].contains(thread.value))
        #expect(!hasFailed.isReached)
        #expect(results.value.first?.hasSuffix("a value of nobody") ?? false)
        // The step is reached before the commit.
        try await pool.flush()
        #expect(try await pool.read { db in try db.values() } == [1, 2])
        try pool.close()
        pool.readers.enqueue(AccessRequest(.pinnedRead, origin: .library)) { _ in
        } whenReleased: { result in
            if case .failure(DatabaseError.SQLITE_MISUSE) = result { hasFailed.reach() }
        }
        try await hasFailed.reached()
    }

    private enum TaskValues {
        @TaskLocal static var name = "of nobody"
    }

    /// Tasks are served in the order in which they asked.
    @Test func firstComeFirstServed() async throws {
        let queue = try DatabaseQueue()
        let hasBegun = Step("the connection is out")
        let mayEnd = Step("it may come back")
        let owner = OwnThread {
            try queue.writeWithoutTransaction { _ in
                hasBegun.reach()
                try mayEnd.wait()
            }
        }
        try await hasBegun.reached()
        let order = Recorded<[Int]>([])
        var tasks: [Task<Void, any Error>] = []
        for index in 0..<20 {
            tasks.append(Task { try await queue.write { _ in order.update { $0.append(index) } } })
            try await until("task \(index) waits") { queue.runner.group.waiterCount == index + 1 }
        }
        mayEnd.reach()
        for task in tasks { try await task.value }
        try await owner.value
        #expect(order.value == Array(0..<20))
    }

    /// The place in the line of an access that calls back is taken before it returns.
    @Test func accessesThatCallBackKeepTheirOrder() async throws {
        let queue = try DatabaseQueue(path: folder.file("a.sqlite"))
        let order = Recorded<[Int]>([])
        for index in 0..<100 {
            queue.asyncWriteWithoutTransaction { _ in order.update { $0.append(index) } }
        }
        try await queue.write { _ in }
        #expect(order.value == Array(0..<100))
    }

    /// More threads than connections, that come and go: nobody sleeps for good.
    @Test func manyThreads() async throws {
        var configuration = Configuration()
        configuration.maximumReaderCount = 2
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let running = Recorded((now: 0, most: 0))
        let threads = (0..<8).map { thread in
            OwnThread("thread \(thread)") {
                for index in 0..<200 {
                    if index % 10 == 0 { try pool.write { db in try db.insert(index) } }
                    try pool.read { db in
                        running.update { running in
                            running.now += 1
                            running.most = max(running.most, running.now)
                        }
                        _ = try db.count()
                        running.update { $0.now -= 1 }
                    }
                }
            }
        }
        for _ in 0..<200 { _ = try await pool.read { db in try db.count() } }
        for thread in threads { try await thread.value }
        #expect(running.value.most <= 2)
        #expect(try await pool.read { db in try db.count() } == 160)
    }

    @Test func busyModes() async throws {
        let path = folder.file("a.sqlite")
        let holder = try DatabaseQueue(path: path)
        try await holder.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let hasLock = Step("the lock is taken")
        let mayRelease = Step("the lock may be released")
        let thread = OwnThread {
            try holder.inTransaction(.exclusive) { _ in
                hasLock.reach()
                try mayRelease.wait()
                return .commit
            }
        }
        try await hasLock.reached()
        let tries = Recorded<[Int]>([])
        let modes: [Database.BusyMode] = [
            .immediateError, .timeout(0), .timeout(0.01),
            .callback { number in
                tries.update { $0.append(number) }
                return number < 3
            },
        ]
        for mode in modes {
            var configuration = Configuration()
            configuration.busyMode = mode
            configuration.monotonicClock = ManualMonotonicClock(tick: .milliseconds(1)).monotonicClock
            // Opening reads the file: its lock is an error then.
            let error = expectError(.SQLITE_BUSY) { try DatabaseQueue(path: path, configuration: configuration) }
            #expect(error?.description == "SQLite error 5: database is locked - while opening \(path)")
        }
        #expect(tries.value == [0, 1, 2, 3])
        mayRelease.reach()
        try await thread.value
    }

    @Test func statementTimeouts() async throws {
        var configuration = Configuration()
        configuration.statementTimeout = 0.01
        configuration.monotonicClock = ManualMonotonicClock(tick: .milliseconds(1)).monotonicClock
        for writer in [
            try DatabaseQueue(configuration: configuration),
            try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration),
        ] as [any DatabaseWriter] {
            try await writer.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
            for error in [
                await expectError(DatabaseError.self) { try await writer.read { db in try db.runUntilTimeout() } },
                await expectError(DatabaseError.self) {
                    try await writer.write { db in
                        try db.insert(1)
                        try db.runUntilTimeout()
                    }
                },
                try await onOwnThread {
                    expectError(DatabaseError.self) { try writer.read { db in try db.runUntilTimeout() } }
                },
            ] {
                #expect(error?.resultCode == .SQLITE_INTERRUPT)
                #expect(error?.message == "statement timeout: it ran longer than 0.01 seconds")
            }
            #expect(try await writer.read { db in try db.values() } == [])
        }
    }

    @Test func interruptions() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let isReading = Step("a read runs")
        let isWriting = Step("a write runs")
        let reader = OwnThread {
            expectError(DatabaseError.self) {
                try pool.read { db in
                    isReading.reach()
                    try db.runForever()
                }
            }
        }
        let writer = OwnThread {
            expectError(DatabaseError.self) {
                try pool.write { db in
                    try db.insert(1)
                    isWriting.reach()
                    try db.runForever()
                }
            }
        }
        try await isReading.reached()
        try await isWriting.reached()
        let isOver = Recorded(false)
        let interrupter = OwnThread {
            // The statements may not have begun yet: again and again, until both have ended.
            try spin(until: "both accesses have ended") {
                pool.interrupt()
                return isOver.value
            }
        }
        #expect(try await reader.value?.resultCode == .SQLITE_INTERRUPT)
        #expect(try await writer.value?.resultCode == .SQLITE_INTERRUPT)
        isOver.update { $0 = true }
        try await interrupter.value
        #expect(try await pool.read { db in try db.values() } == [])
    }
}
