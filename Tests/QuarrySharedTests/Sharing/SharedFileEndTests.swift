import Quarry
import QuarryExpectations
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

/// Pools of shared databases that are released while parts of them are in use.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct SharedFileEndTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        path = folder.file("a.sqlite")
        try SharedDatabase(path: path).write { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        }
    }

    /// Receives values on the thread that has fetched them.
    private struct SchedulerInPlace: ValueObservationScheduler {
        func immediateInitialValue() -> Bool { false }
        func schedule(_ action: @escaping @Sendable () -> Void) { action() }
    }

    private final class References: Sendable {
        let database: Lock<SharedDatabase?>
        let cancellable = Lock<AnyDatabaseCancellable?>(nil)

        init(_ path: String) { database = Lock(SharedDatabase(path: path)) }

        /// Releases both, without the locks.
        func release() {
            _ = cancellable.withLock { $0.take() }
            _ = database.withLock { $0.take() }
        }

        func observe(_ onChange: @escaping @Sendable () -> Void) {
            guard let database = database.withLock({ $0 }) else { return }
            let observation = ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
            let cancellable = observation.start(
                in: database, scheduling: SchedulerInPlace(), onError: { Issue.record("\($0)") },
                onChange: { _ in onChange() })
            self.cancellable.withLock { $0 = cancellable }
        }
    }

    /// A callback of an observation may run longer than its pool lives. The next pool needn't wait for it: the
    /// connections are closed.
    @Test func callbackOfAnObservation() async throws {
        let hasStarted = Step("the observation has started")
        let isReleased = Step("the pool is released")
        let mayEnd = Step("the callback may end")
        let hasEnded = Step("the callback has ended")
        let references = References(path)
        references.observe {
            try? hasStarted.wait()
            references.release()
            isReleased.reach()
            try? mayEnd.wait()
            hasEnded.reach()
        }
        hasStarted.reach()
        try await isReleased.reached()
        let next = SharedDatabase(path: path)
        try await onOwnThread { [folder] in
            let openFiles = try next.withClosedDatabase { _ in try folder.openFiles }
            #expect(openFiles.isEmpty)
        }
        #expect(try await next.read { db in try Int.fetchOne(db, sql: "SELECT a FROM t") } == 1)
        mayEnd.reach()
        try await hasEnded.reached()
    }

    /// A callback may open the next pool itself.
    @Test func callbackThatOpensTheNextPool() async throws {
        let hasStarted = Step("the observation has started")
        let hasOpened = Step("the next pool is open")
        let references = References(path)
        references.observe { [path] in
            try? hasStarted.wait()
            references.release()
            let next = SharedDatabase(path: path)
            do {
                let sizes = try next.withClosedDatabase { files in try files.sizes() }
                #expect(sizes.log == 0)
                try next.open()
            } catch {
                Issue.record("\(error)")
            }
            hasOpened.reach()
        }
        hasStarted.reach()
        try await hasOpened.reached()
    }

    /// Accesses that wait when their pool is released run on its connection. The next pool opens when they have ended.
    @Test func waitingAccesses() async throws {
        let openingCount = Recorded(0)
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            if !db.configuration.readonly { openingCount.update { $0 += 1 } }
        }
        let hasBegun = Step("the first access has begun")
        let mayGoOn = Step("the first access may go on")
        do {
            let database = SharedDatabase(path: path, configuration: configuration)
            database.asyncWriteWithoutTransaction { _ in
                hasBegun.reach()
                try? mayGoOn.wait()
            }
            for row in 2...40 {
                database.asyncWriteWithoutTransaction { db in
                    try? db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [row])
                }
            }
            database.asyncBarrierWriteWithoutTransaction { db in
                try? db.get().execute(sql: "INSERT INTO t VALUES (41)")
            }
        }
        try await hasBegun.reached()
        let next = SharedDatabase(path: path)
        let counting = Task.detached {
            try await next.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
        }
        mayGoOn.reach()
        #expect(try await counting.value == 41)
        // One connection of each pool.
        #expect(openingCount.value == 1)
    }

    /// A read that was begun inside a write outlives it, and its pool.
    @Test func concurrentRead() async throws {
        let hasBegun = Step("the read has begun")
        let mayEnd = Step("the read may end")
        let order = Recorded<[String]>([])
        do {
            let database = SharedDatabase(path: path)
            try await database.writeWithoutTransaction { db in
                database.asyncConcurrentRead { result in
                    hasBegun.reach()
                    try? mayEnd.wait()
                    let count = (try? result.get()).flatMap { try? Int.fetchOne($0, sql: "SELECT COUNT(*) FROM t") }
                    order.update { $0.append("read \(count ?? -1)") }
                }
                try db.execute(sql: "DELETE FROM t")
            }
        }
        try await hasBegun.reached()
        let next = SharedDatabase(path: path)
        let window = OwnThread { try next.withClosedDatabase { _ in order.update { $0.append("window") } } }
        try await until("the window is open for other accesses to wait") { next.isBlockaded }
        mayEnd.reach()
        try await window.value
        #expect(order.value == ["read 1", "window"])
    }

    /// A snapshot refuses the windows of later pools, too.
    @Test func snapshotOfAReleasedPool() async throws {
        let snapshot = try SharedDatabase(path: path).makeSnapshot(label: "a report")
        let next = SharedDatabase(path: path)
        expectError(.SQLITE_BUSY, "unable to close \(next.path): “a report” reads it") {
            try next.withClosedDatabase { _ in }
        }
        #expect(try await snapshot.read { db in try Int.fetchOne(db, sql: "SELECT a FROM t") } == 1)
        try snapshot.close()
        try await next.withClosedDatabase { _ in }
    }

    /// A released pool opens nothing any more.
    @Test func openingAfterTheEnd() throws {
        let end = SharedFileEnd(path)
        try end.openingWillBegin()
        end.openingDidEnd()
        end.poolWasReleased([])
        end.end()
        expectError(.SQLITE_MISUSE) { try end.openingWillBegin() }
        #expect(end.hasEnded && SharedFileEnd.wait(for: [end]).isEmpty)
    }
}
