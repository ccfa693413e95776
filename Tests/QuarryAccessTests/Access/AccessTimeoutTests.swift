import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// `read(timeout:)` and `write(timeout:)`: the time that a single access may take.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct AccessTimeoutTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let short = Duration.milliseconds(10)
    /// Long enough for an access to reach its statement: it looks at the clock a few times before.
    private static let reaching = Duration.milliseconds(250)

    /// A clock that the test moves.
    private let still = ManualMonotonicClock()
    /// Each look at the clock takes a millisecond.
    private let ticking = ManualMonotonicClock(tick: .milliseconds(1))

    /// A configuration whose timeouts pass by looks at the clock.
    private var configuration: Configuration {
        var configuration = Configuration()
        configuration.monotonicClock = ticking.monotonicClock
        return configuration
    }

    private func pool(_ clock: ManualMonotonicClock, _ configuration: Configuration = Configuration()) throws
        -> DatabasePool
    {
        var configuration = configuration
        configuration.monotonicClock = clock.monotonicClock
        configuration.label = "players"
        configuration.maximumReaderCount = 1
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        try pool.makeTable()
        return pool
    }

    /// An access that has its connection until the step is reached.
    private func hold(_ isWrite: Bool, _ writer: any DatabaseWriter, until mayEnd: Step) async throws -> OwnThread<Void>
    {
        let hasBegun = Step("an access goes on")
        let holder = OwnThread {
            let body: (Database) throws -> Void = { _ in
                hasBegun.reach()
                try mayEnd.wait()
            }
            isWrite ? try writer.write(body) : try writer.read(body)
        }
        try await hasBegun.reached(by: holder)
        return holder
    }

    // MARK: - Waiting

    @Test(arguments: [true, false]) func waitersLeaveTheQueue(isWrite: Bool) async throws {
        let pool = try pool(still)
        let mayEnd = Step("the waiters have left")
        let holder = try await hold(isWrite, pool, until: mayEnd)
        let group = isWrite ? pool.writer.group : pool.readers.group
        for error in [
            try await still.advance(by: Self.short, when: "a task waits", group.waiterCount == 1) {
                await expectError(DatabaseError.self) {
                    isWrite
                        ? try await pool.write(timeout: Self.short) { _ in }
                        : try await pool.read(timeout: Self.short) { _ in }
                }
            },
            try await still.advance(by: Self.short, when: "a thread waits", group.waiterCount == 1) {
                try await onOwnThread {
                    expectError(DatabaseError.self) {
                        isWrite
                            ? try pool.write(timeout: Self.short) { _ in } : try pool.read(timeout: Self.short) { _ in }
                    }
                }
            },
        ] {
            #expect(error?.resultCode == .SQLITE_BUSY)
            #expect(
                error?.message == """
                    timeout while waiting for \(isWrite ? "the writer" : "a reader") of players: none was free within \
                    0.01 seconds (the timeout of the access)
                    """)
        }
        #expect(pool.writer.group.waiterCount == 0)
        #expect(pool.readers.group.waiterCount == 0)
        mayEnd.reach()
        try await holder.value
        try await pool.write(timeout: .seconds(60)) { db in try db.insert(1) }
        #expect(try await pool.read(timeout: .seconds(60)) { db in try db.values() } == [1])
    }

    /// The timer of a group is set again for a waiter that comes later and gives up earlier.
    @Test func aLaterWaiterLeavesEarlier() async throws {
        let pool = try pool(still)
        let mayEnd = Step("the hasty one has left")
        let holder = try await hold(true, pool, until: mayEnd)
        let patient = Task { try await pool.write(timeout: .seconds(600)) { db in try db.insert(1) } }
        let group = pool.writer.group
        try await until("the patient one waits", by: patient) { group.waiterCount == 1 }
        try await still.advance(by: Self.short, when: "the hasty one waits", group.waiterCount == 2) {
            await expectError(.SQLITE_BUSY) { try await pool.write(timeout: Self.short) { db in try db.insert(2) } }
        }
        #expect(group.waiterCount == 1)
        mayEnd.reach()
        try await holder.value
        try await patient.value
        #expect(try await pool.read { db in try db.values() } == [1])
    }

    @Test(arguments: [true, false]) func theFirstLimitOfWaitingCounts(acquireTimeoutIsFirst: Bool) async throws {
        var configuration = Configuration()
        configuration.acquireTimeout = acquireTimeoutIsFirst ? 0.01 : 600
        let pool = try pool(still, configuration)
        let mayEnd = Step("the waiters have left")
        let holder = try await hold(true, pool, until: mayEnd)
        let timeout: Duration = acquireTimeoutIsFirst ? .seconds(600) : Self.short
        let setting = acquireTimeoutIsFirst ? "(Configuration.acquireTimeout)" : "(the timeout of the access)"
        let group = pool.writer.group
        for error in [
            try await still.advance(by: Self.short, when: "a task waits", group.waiterCount == 1) {
                await expectError(DatabaseError.self) { try await pool.write(timeout: timeout) { _ in } }
            },
            try await still.advance(by: Self.short, when: "a thread waits", group.waiterCount == 1) {
                try await onOwnThread { expectError(DatabaseError.self) { try pool.write(timeout: timeout) { _ in } } }
            },
        ] {
            #expect(error?.resultCode == .SQLITE_BUSY)
            #expect(error?.message?.hasSuffix("within 0.01 seconds \(setting)") ?? false)
        }
        mayEnd.reach()
        try await holder.value
    }

    @Test(arguments: [true, false]) func cancellationComesFirst(whileWaiting: Bool) async throws {
        let pool = try pool(still)
        let mayEnd = Step("the access is cancelled")
        let holder = try await hold(whileWaiting, pool, until: mayEnd)
        let runs = Step("the access runs")
        let task = Task {
            try await pool.write(timeout: .seconds(600)) { db in
                try db.insert(1)
                runs.reach()
                try db.runUntilTimeout()
            }
        }
        if whileWaiting {
            try await until("it waits", by: task) { pool.writer.group.waiterCount == 1 }
        } else {
            try await runs.reached(by: task)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        mayEnd.reach()
        try await holder.value
        #expect(try await pool.read { db in try db.values() } == [])
    }

    // MARK: - Locks

    @Test(arguments: [WriterKind.fileQueue, .walQueue, .pool]) func waitsForLocksEnd(_ kind: WriterKind) async throws {
        var configuration = configuration
        configuration.busyMode = .timeout(600)
        let writer = try kind.make(folder, configuration)
        try writer.makeTable()
        let other = try DatabaseQueue(path: writer.path)
        let mayEnd = Step("the write has given up")
        let holder = try await hold(true, other, until: mayEnd)
        for error in [
            await expectError(DatabaseError.self) { try await writer.write(timeout: Self.reaching) { _ in } },
            try await onOwnThread {
                expectError(DatabaseError.self) { try writer.write(timeout: Self.reaching) { _ in } }
            },
        ] {
            #expect(error?.resultCode == .SQLITE_BUSY)
            #expect(error?.message == "access timeout: it waited for a lock for longer than 0.25 seconds")
        }
        mayEnd.reach()
        try await holder.value
        try await writer.write(timeout: .seconds(60)) { db in try db.insert(1) }
    }

    /// A commit that waits for readers gives up, and its changes are rolled back.
    @Test func commitsThatWaitAreRolledBack() async throws {
        var configuration = configuration
        configuration.busyMode = .timeout(600)
        let writer = try DatabaseQueue(path: folder.file("a.sqlite"), configuration: configuration)
        try writer.makeTable()
        let other = try DatabaseQueue(path: writer.path)
        let hasRead = Step("another connection reads")
        let mayEnd = Step("the commit has given up")
        let holder = OwnThread {
            try other.read { db in
                _ = try db.values()
                hasRead.reach()
                try mayEnd.wait()
            }
        }
        try await hasRead.reached(by: holder)
        await expectError(.SQLITE_BUSY, "access timeout: it waited for a lock for longer than 0.25 seconds") {
            try await writer.write(timeout: Self.reaching) { db in try db.insert(1) }
        }
        mayEnd.reach()
        try await holder.value
        #expect(try await writer.read { db in try db.values() } == [])
    }

    // MARK: - Statements

    @Test(arguments: WriterKind.allCases) func statementsAreInterrupted(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder, configuration)
        try writer.makeTable(1)
        for error in [
            await expectError(DatabaseError.self) {
                try await writer.read(timeout: Self.reaching) { db in try db.runUntilTimeout() }
            },
            await expectError(DatabaseError.self) {
                try await writer.write(timeout: Self.reaching) { db in
                    try db.insert(2)
                    try db.runUntilTimeout()
                }
            },
            try await onOwnThread {
                expectError(DatabaseError.self) {
                    try writer.read(timeout: Self.reaching) { db in try db.runUntilTimeout() }
                }
            },
            try await onOwnThread {
                expectError(DatabaseError.self) {
                    try writer.write(timeout: Self.reaching) { db in
                        try db.execute(
                            sql: """
                                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
                                INSERT INTO t SELECT i FROM n
                                """)
                    }
                }
            },
        ] {
            #expect(error?.resultCode == .SQLITE_INTERRUPT)
            #expect(error?.message == "access timeout: it ran longer than 0.25 seconds")
        }
        // The deadline is forgotten: these statements take more steps than the progress handler lets pass.
        let long = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) SELECT COUNT(*) FROM n"
        #expect(try await writer.read { db in try Int.fetchOne(db, sql: long) } == 20000)
        #expect(try await writer.write { db in try Int.fetchOne(db, sql: long) } == 20000)
        #expect(try await writer.read { db in try db.values() } == [1])
    }

    @Test func snapshots() async throws {
        let pool = try pool(ticking)
        for snapshot in [
            try pool.makeSnapshot(), try pool.makeSnapshotPool(), try await pool.makeStableReader(),
            AnyDatabaseReader(try pool.makeSnapshot()),
        ] as [any DatabaseReader] {
            await expectError(.SQLITE_INTERRUPT, "access timeout: it ran longer than 0.25 seconds") {
                try await snapshot.read(timeout: Self.reaching) { db in try db.runUntilTimeout() }
            }
            #expect(try await snapshot.read(timeout: .seconds(60)) { db in try db.values() } == [])
        }
    }

    /// An access that ignores the error can't run further statements, and doesn't commit.
    @Test(arguments: WriterKind.allCases) func nothingIsCommittedAfterTheDeadline(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder, configuration)
        try writer.makeTable(1)
        await expectError(.SQLITE_INTERRUPT, "access timeout: it ran longer than 0.25 seconds") {
            try await writer.write(timeout: Self.reaching) { db in
                try db.insert(2)
                try? db.runUntilTimeout()
                expectError(.SQLITE_INTERRUPT, "access timeout: it ran longer than 0.25 seconds") { try db.insert(3) }
                #expect(db.isInsideTransaction)
            }
        }
        #expect(try await writer.read { db in try db.values() } == [1])
        // A read has nothing to lose.
        #expect(
            try await writer.read(timeout: Self.reaching) { db in
                let values = try db.values()
                try? db.runUntilTimeout()
                return values
            } == [1])
    }

    @Test func statementTimeoutsComeFirst() async throws {
        var configuration = configuration
        configuration.statementTimeout = 0.01
        let queue = try DatabaseQueue(configuration: configuration)
        await expectError(.SQLITE_INTERRUPT, "statement timeout: it ran longer than 0.01 seconds") {
            try await queue.read(timeout: .seconds(600)) { db in try db.runUntilTimeout() }
        }
        configuration.statementTimeout = 600
        let patient = try DatabaseQueue(configuration: configuration)
        await expectError(.SQLITE_INTERRUPT, "access timeout: it ran longer than 0.25 seconds") {
            try await patient.read(timeout: Self.reaching) { db in try db.runUntilTimeout() }
        }
    }

    // MARK: - Values of the timeout

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func accessesWithoutTimeDoNotBegin(_ timeout: Duration) async throws {
        let pool = try pool(still)
        let message = "access timeout: it can't begin within \(AccessDeadline(after: timeout, now: 0).text)"
        expectError(.SQLITE_BUSY, message) { try pool.read(timeout: timeout) { _ in Issue.record("it runs") } }
        expectError(.SQLITE_BUSY, message) { try pool.write(timeout: timeout) { _ in Issue.record("it runs") } }
        await expectError(.SQLITE_BUSY, message) {
            try await pool.read(timeout: timeout) { _ in Issue.record("it runs") }
        }
        await expectError(.SQLITE_BUSY, message) {
            try await pool.write(timeout: timeout) { _ in Issue.record("it runs") }
        }
    }

    @Test(arguments: WriterKind.allCases) func hugeTimeouts(_ kind: WriterKind) async throws {
        var configuration = configuration
        configuration.monotonicClock = still.monotonicClock
        let writer = try kind.make(folder, configuration)
        try writer.makeTable()
        let huge = Duration.seconds(Int64.max)
        try await writer.write(timeout: huge) { db in try db.insert(1) }
        #expect(try await writer.read(timeout: huge) { db in try db.values() } == [1])
        let mayEnd = Step("another waits")
        let holder = try await hold(true, writer, until: mayEnd)
        let group = try #require(writer.groupReader).groups[0]
        let task = Task { try await writer.write(timeout: huge) { db in try db.insert(2) } }
        try await until("it waits", by: task) { group.waiterCount == 1 }
        let thread = OwnThread { try writer.write(timeout: huge) { db in try db.insert(3) } }
        try await until("both wait", by: thread) { group.waiterCount == 2 }
        still.advance(by: .seconds(1_000_000))
        mayEnd.reach()
        try await holder.value
        try await task.value
        try await thread.value
        #expect(try await writer.read { db in try db.values() } == [1, 2, 3])
    }

    // MARK: - Inside accesses

    @Test func nestedAccessesHaveTheirOwnDeadlines() async throws {
        let pool = try pool(ticking)
        try await onOwnThread {
            try pool.read(timeout: .seconds(600)) { db in
                expectError(.SQLITE_INTERRUPT, "access timeout: it ran longer than 0.25 seconds") {
                    try pool.write(timeout: Self.reaching) { db in try db.runUntilTimeout() }
                }
                try pool.write { db in try db.insert(1) }
                #expect(try db.values() == [])
                expectError(.SQLITE_MISUSE, "Database methods are not reentrant.") {
                    try pool.read(timeout: Self.short) { _ in }
                }
            }
        }
        #expect(try await pool.read { db in try db.values() } == [1])
    }

    @Test func closuresThatThrowOrEndTheirTransaction() async throws {
        struct Own: Error {}
        let pool = try pool(still)
        await #expect(throws: Own.self) {
            try await pool.write(timeout: .seconds(60)) { db in
                try db.insert(1)
                throw Own()
            }
        }
        await expectError(.SQLITE_ABORT) {
            try await pool.write(timeout: .seconds(60)) { db in
                try db.insert(1)
                try db.execute(sql: "ROLLBACK")
            }
        }
        #expect(try await pool.read { db in try db.values() } == [])
        try await pool.closeAsync()
        await expectError(.SQLITE_MISUSE, "Connection is closed") { try await pool.read(timeout: .seconds(1)) { _ in } }
    }
}
