import Quarry
import QuarryCore
import QuarryFixtures
import QuarryIncrementalWrites
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

#if canImport(Glibc)
import Glibc
#endif

/// Blocks the library's thread, if the task stays on it. Blocking one of Swift's would stop other tests.
func block(until step: Step) async throws {
    func block() throws { try step.wait() }
    if WorkerThreads.isCurrentThread { try block() } else { try await step.reached() }
}

/// Jobs that come to a thread while its task stays: another thread has to run them, since the program may block this
/// one.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct StayingSeamTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    // MARK: - Jobs of other tasks, which come while no task is current

    /// The program waits for a task that it has started with `Task.immediate`.
    @Test(arguments: [false, true]) func anImmediateTask(reads: Bool) async throws {
        let pool = try folder.offloadedPool()
        let hasRun = Step("the immediate task has run")
        let task = Task {
            try await pool.write { _ in }
            let immediate = Task.immediate {
                if reads { try await pool.read { _ in } } else { try await pool.write { _ in } }
                hasRun.reach()
            }
            try await block(until: hasRun)
            try await immediate.value
        }
        try await task.value
    }

    /// The program doesn't wait for it, but is busy: another task can write.
    @Test func anImmediateTaskThatNobodyAwaits() async throws {
        let pool = try folder.offloadedPool()
        let isBusy = Step("the program is busy")
        let hasWritten = Step("another task has written")
        let task = Task {
            try await pool.write { _ in }
            let immediate = Task.immediate { try await pool.write { _ in } }
            isBusy.reach()
            try await block(until: hasWritten)
            try await immediate.value
        }
        try await isBusy.reached()
        let other = Task {
            try await pool.write { _ in }
            hasWritten.reach()
        }
        try await task.value
        try await other.value
    }

    @Test func anImmediateChild() async throws {
        let pool = try folder.offloadedPool()
        let hasRun = Step("the immediate child has run")
        let task = Task {
            try await pool.write { _ in }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addImmediateTask {
                    try await pool.write { _ in }
                    hasRun.reach()
                }
                try await block(until: hasRun)
                try await group.waitForAll()
            }
        }
        try await task.value
    }

    /// In the access itself, of another connection.
    @Test func anImmediateTaskOfAnAccess() async throws {
        let pool = try folder.offloadedPool()
        let hasRun = Step("the immediate task has run")
        try await pool.write { _ in
            Task.immediate {
                try await pool.read { _ in }
                hasRun.reach()
            }
            try hasRun.wait()
        }
    }

    /// The result of a task, discarded when the task ends. It uses the database once more.
    private final class Session: Sendable {
        let end: @Sendable () -> Void

        init(_ end: @escaping @Sendable () -> Void) { self.end = end }

        deinit { end() }
    }

    @Test func theEndOfAResult() async throws {
        let pool = try folder.offloadedPool()
        let result = Recorded<Result<Void, any Error>?>(nil)
        Task {
            try await pool.write { _ in }
            return Session {
                let isWritten = Step("the last write")
                pool.asyncWrite { _ in
                } completion: { _, _ in
                    isWritten.reach()
                }
                let outcome = Result { try isWritten.wait() }
                result.update { $0 = outcome }
            }
        }
        try await until("the session has ended") { result.value != nil }
        try result.value?.get()
    }

    /// The first write hands the connection to a task that waits, and the second waits for that task.
    @Test func theEndOfAResultWritesTwice() async throws {
        var configuration = Configuration()
        configuration.asyncExecution = .offloaded
        configuration.acquireTimeout = Step.patience
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        let result = Recorded<Result<Void, any Error>?>(nil)
        let isFirst = Step("the session writes")
        let mayEnd = Step("another task waits")
        Task {
            try await pool.write { _ in }
            return Session {
                let outcome = Result {
                    try pool.write { _ in
                        isFirst.reach()
                        try mayEnd.wait()
                    }
                    try pool.write { _ in }
                }
                result.update { $0 = outcome }
            }
        }
        try await isFirst.reached()
        let other = Task { try await pool.write { _ in } }
        try await until("the other waits") { pool.writer.group.waiterCount == 1 }
        mayEnd.reach()
        try await until("the session has ended") { result.value != nil }
        try result.value?.get()
        try await other.value
    }

    // MARK: - Accesses whose tasks don't stay

    /// A write that lets others write goes back to Swift's threads between its transactions, also if its task has
    /// stayed before: those that it lets in need the same time to come.
    @Test func incrementalWritesDoNotStay() async throws {
        let pool = try folder.offloadedPool()
        try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        for _ in 0..<20 {
            try await pool.write { _ in }
            try await pool.writeIncrementally { step in
                try step.db.execute(sql: "INSERT INTO t VALUES (1)")
                return step.index < 3 ? .next : .done
            }
            #expect(!WorkerThreads.isCurrentThread)
        }
    }

    // MARK: - SQL, settings, and other readers

    /// SQL that begins, ends or breaks a transaction, or changes the schema, in an access that others wait behind. Its
    /// program blocks until they have written.
    @Test(
        arguments: [
            "ROLLBACK", "COMMIT", "COMMIT; BEGIN IMMEDIATE", "SAVEPOINT s; ROLLBACK TO s", "CREATE TABLE u (a)",
            "DROP TABLE t", "ATTACH ':memory:' AS other", "DETACH main", "nonsense",
        ], [false, true])
    func rawSQL(_ sql: String, inTransaction: Bool) async throws {
        let pool = try folder.offloadedPool()
        try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a); CREATE TABLE v (a)") }
        let isFirst = Step("the access runs")
        let mayEnd = Step("the others wait")
        let isWritten = Step("the others have written")
        let access: @Sendable (Database) throws -> Void = { db in
            isFirst.reach()
            try mayEnd.wait()
            try db.execute(sql: sql)
        }
        let first = Task {
            // Some of these throw: that they do is tested elsewhere.
            if inTransaction { try? await pool.write(access) } else { try? await pool.writeWithoutTransaction(access) }
            try await block(until: isWritten)
            // The connection is in order.
            try await pool.write { db in try db.execute(sql: "INSERT INTO v VALUES (0)") }
        }
        try await isFirst.reached()
        let others = (0..<3).map { (index: Int) in
            Task {
                try await pool.write { db in try db.execute(sql: "INSERT INTO v VALUES (?)", arguments: [index]) }
            }
        }
        try await until("the others wait") { pool.writer.group.waiterCount == 3 }
        mayEnd.reach()
        for other in others { try await other.value }
        isWritten.reach()
        try await first.value
        #expect(try await pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM v") } == 4)
    }

    /// A setting that changes the way of accesses to the threads.
    enum Setting: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case noGroupCommit, acquireTimeout, statementTimeout, maximumWaiters, tracer, busyCallback, inline

        var testDescription: String { rawValue }

        func apply(to configuration: inout Configuration) {
            switch self {
            case .noGroupCommit: configuration.groupCommit = false
            case .acquireTimeout: configuration.acquireTimeout = Step.patience
            case .statementTimeout: configuration.statementTimeout = Step.patience
            case .maximumWaiters: configuration.maximumWaiters = 10
            case .tracer: configuration.tracers = [RecordingTracer([.accesses, .statements, .waits])]
            case .busyCallback: configuration.busyMode = .callback { _ in true }
            case .inline: configuration.asyncExecution = .inline
            }
        }
    }

    /// The program blocks after each kind of access until another task has made the same.
    @Test(arguments: Setting.allCases, StayingTests.Access.allCases)
    func settings(_ setting: Setting, _ access: StayingTests.Access) async throws {
        var configuration = Configuration()
        configuration.asyncExecution = .offloaded
        configuration.maximumReaderCount = 1
        setting.apply(to: &configuration)
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        let isBlocked = Step("the program blocks")
        let isDone = Step("another task has had its access")
        let program = Task {
            _ = try await access.run(pool)
            let isStaying = WorkerThreads.isCurrentThread
            isBlocked.reach()
            try await block(until: isDone)
            return isStaying
        }
        try await isBlocked.reached()
        for _ in 0..<3 { _ = try await access.run(pool) }
        isDone.reach()
        let isStaying = try await program.value
        // A barrier of a pool is always offloaded.
        #expect(isStaying == (setting != .inline || access == .barrier))
    }

    @Test func snapshots() async throws {
        let pool = try folder.offloadedPool()
        try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        let readers: [any DatabaseReader] = [
            try await pool.makeSnapshotAsync(), try await pool.makeSnapshotPoolAsync(),
        ]
        for reader in readers {
            let isBlocked = Step("the program blocks")
            let isDone = Step("another task has read")
            let program = Task {
                try await reader.read { _ in }
                #expect(WorkerThreads.isCurrentThread)
                isBlocked.reach()
                try await block(until: isDone)
                try await reader.closeAsync()
            }
            try await isBlocked.reached()
            try await pool.write { db in try db.execute(sql: "INSERT INTO t VALUES (1)") }
            #expect(try await reader.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == 0)
            isDone.reach()
            try await program.value
        }
    }

    /// Closing waits for accesses, not for the programs that have made them.
    @Test(arguments: [false, true]) func closingBesideAProgram(isAsynchronous: Bool) async throws {
        let pool = try folder.offloadedPool()
        let isBlocked = Step("the program blocks")
        let isClosed = Step("the pool is closed")
        let program = Task {
            try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
            isBlocked.reach()
            try await block(until: isClosed)
            await #expect(throws: DatabaseError.self) { try await pool.write { _ in } }
            try pool.close()
        }
        try await isBlocked.reached()
        if isAsynchronous { try await pool.closeAsync() } else { try await onOwnThread { try pool.close() } }
        isClosed.reach()
        try await program.value
    }

    #if canImport(Glibc)
    /// No thread can be started while a program blocks the only one: the task that asks runs its access itself.
    @Test func noThreadIsLeft() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let pool = try folder.offloadedPool()
            let isBlocked = Step("the program blocks")
            let isServed = Step("another task has read")
            let program = Task {
                try await pool.write { _ in }
                isBlocked.reach()
                try isServed.wait()
            }
            try await isBlocked.reached()
            #expect(pool.workers.currentThreadCount == 1)
            // No thread gets a stack of 64 TB.
            Self.setStackSize(1 << 46)
            try await pool.read { _ in }
            #expect(pool.workers.currentThreadCount == 1)
            Self.setStackSize(1 << 23)
            isServed.reach()
            try await program.value
        }
    }

    private static func setStackSize(_ size: Int) {
        typealias SetDefault = @convention(c) (UnsafePointer<pthread_attr_t>) -> CInt
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        defer { attributes.deallocate() }
        pthread_attr_init(attributes)
        defer { pthread_attr_destroy(attributes) }
        #expect(pthread_attr_setstacksize(attributes, size) == 0)
        // Not declared without _GNU_SOURCE.
        guard let symbol = dlsym(nil, "pthread_setattr_default_np") else { return }
        #expect(unsafeBitCast(symbol, to: SetDefault.self)(attributes) == 0)
    }
    #endif

    // MARK: - Programs that block

    /// Programs that block until others have made progress: a job that was left to such a thread would stop all.
    @Test(arguments: [AsyncExecution.automatic, .offloaded], [true, false])
    func programsThatWaitForProgress(_ execution: AsyncExecution, sharesCommits: Bool) async throws {
        struct OwnError: Error {}
        var configuration = Configuration()
        configuration.asyncExecution = execution
        configuration.maximumReaderCount = 2
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        let progress = Recorded(0)
        let isOver = Recorded(false)
        let stays = Recorded(0)
        let drivers = (0..<6).map { index in
            Task {
                var number = index
                while !isOver.value {
                    number += 1
                    switch number % 6 {
                    case 0: try await pool.read { _ in }
                    case 1: try? await pool.write { _ in throw OwnError() }
                    case 2: try await pool.writeWithoutTransaction { _ in }
                    case 3:
                        let task = Task { try? await pool.write { _ in } }
                        task.cancel()
                        await task.value
                    case 4: try? await pool.write(timeout: .microseconds(200)) { _ in }
                    case _ where sharesCommits: try await pool.write { _ in }
                    default: try await pool.barrierWriteWithoutTransaction { _ in }
                    }
                    await Task.yield()
                    progress.update { $0 += 1 }
                }
            }
        }
        let programs = (0..<8).map { index in
            Task {
                for number in 0..<30 {
                    switch (number + index) % 4 {
                    case 0: try await pool.read { _ in }
                    case 1: try? await pool.write { _ in throw OwnError() }
                    case 2: try await pool.writeWithoutTransaction { _ in }
                    default: try await pool.write { _ in }
                    }
                    guard WorkerThreads.isCurrentThread else { continue }
                    stays.update { $0 += 1 }
                    let goal = progress.value + 3
                    try spin(until: "others have made progress") { progress.value >= goal }
                }
            }
        }
        for program in programs { try await program.value }
        isOver.update { $0 = true }
        for driver in drivers { try await driver.value }
        #expect(stays.value > 0)
    }

    /// As many programs as may stay block in each of three databases. Swift's threads are free, and the databases work.
    @Test func theHeartGoesOnBeating() async throws {
        let pools = try (0..<3).map { try folder.offloadedPool("\($0).sqlite") }
        let mayGoOn = Step("the programs may go on")
        let blocked = Recorded(0)
        var programs: [Task<Void, any Error>] = []
        for pool in pools {
            for _ in 0..<CooperativePool.width {
                let before = blocked.value
                programs.append(
                    Task {
                        try await pool.write { _ in }
                        #expect(WorkerThreads.isCurrentThread)
                        blocked.update { $0 += 1 }
                        try await block(until: mayGoOn)
                    })
                try await until("the program blocks") { blocked.value == before + 1 }
            }
        }
        var beats = 0
        for _ in 0..<100 { beats += await Task.detached { 1 }.value }
        #expect(beats == 100)
        for pool in pools {
            #expect(pool.workers.currentThreadCount <= 4 + CooperativePool.width)
            try await pool.barrierWriteWithoutTransaction { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
            let snapshot = try await pool.makeSnapshotAsync()
            #expect(try await snapshot.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == 0)
            try await pool.writeIncrementally { step in
                try step.db.execute(sql: "INSERT INTO t VALUES (1)")
                return step.index < 10 ? .next : .done
            }
            try await pool.closeAsync()
        }
        mayGoOn.reach()
        for program in programs { try await program.value }
    }

    /// A directory closes databases for others while programs block that have used some.
    @Test func aDirectoryEvicts() async throws {
        var configuration = Configuration()
        configuration.asyncExecution = .offloaded
        let directory = try DatabaseDirectory(
            path: folder.path, maximumOpenCount: 2, configuration: configuration, maximumThreadCount: 1)
        let mayGoOn = Step("the programs may go on")
        let blocked = Recorded(0)
        var programs: [Task<Void, any Error>] = []
        for index in 0..<CooperativePool.width {
            let database = try directory.database(named: "p\(index)")
            programs.append(
                Task {
                    try await database.write { _ in }
                    blocked.update { $0 += 1 }
                    try await block(until: mayGoOn)
                })
            try await until("the program blocks") { blocked.value == index + 1 }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                let database = try directory.database(named: "\(number)")
                group.addTask {
                    for _ in 0..<5 {
                        try await database.write { _ in }
                        try await database.read { _ in }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(directory.threadCount <= 1 + CooperativePool.width)
        mayGoOn.reach()
        for program in programs { try await program.value }
    }
}
