import Quarry
import QuarryExpectations
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

/// Accesses that give up, and uses that need no place.
@Suite struct DirectoryLineTests {
    enum Way: CaseIterable, Sendable {
        case threadTimeout, taskTimeout, cancellation, gracePeriod, barrierCancellation
    }

    let folder: TemporaryFolder
    /// Stands still until the test moves it.
    private let clock = ManualMonotonicClock()

    init() throws { folder = try TemporaryFolder(isFast: true) }

    private func make() throws -> DatabaseDirectory {
        var configuration = Configuration()
        configuration.monotonicClock = clock.monotonicClock
        return try DatabaseDirectory(
            path: folder.path, maximumOpenCount: 1, configuration: configuration,
            migrator: DatabaseDirectoryTests.migrator)
    }

    /// Waits for a place, and gives up.
    private func giveUp(_ way: Way, _ database: SharedDatabase, _ directory: DatabaseDirectory) async throws {
        let waiterCount = database.statistics.writer.waiters
        let isWaiting = { database.statistics.writer.waiters == waiterCount + 1 }
        switch way {
        case .threadTimeout:
            try await clock.advance(by: .milliseconds(10), when: "it waits", isWaiting()) {
                _ = try await onOwnThread {
                    expectError(.SQLITE_BUSY) { try database.write(timeout: .milliseconds(10)) { _ in } }
                }
            }
        case .taskTimeout:
            try await clock.advance(by: .milliseconds(10), when: "it waits", isWaiting()) {
                await expectError(.SQLITE_BUSY) { try await database.write(timeout: .milliseconds(10)) { _ in } }
            }
        case .cancellation, .barrierCancellation:
            let task = Task {
                if way == .cancellation {
                    try await database.read { _ in }
                } else {
                    try await database.barrierWriteWithoutTransaction { _ in }
                }
            }
            try await until("it waits", by: task) { directory.statistics.waitingCount == 1 }
            task.cancel()
            await expectError(CancellationError.self) { try await task.value }
        case .gracePeriod:
            let task = Task { try await database.write { _ in } }
            try await until("it waits", by: task) { directory.statistics.waitingCount == 1 }
            // The closing waits for a place, too, and so gives up.
            let closing = Task {
                try await database.close(gracePeriod: .milliseconds(5), interruptionTimeout: .seconds(1_000_000))
            }
            try await until("the grace period has ended", by: closing) {
                // Closing may not have looked at the clock yet.
                clock.advance(by: .milliseconds(1))
                return database.pool.writer.group.state.withLock {
                    if case .ending = $0.machine.phase { true } else { false }
                }
            }
            await expectError(.SQLITE_MISUSE) { try await task.value }
            closing.cancel()
            _ = await closing.result
        }
    }

    /// No database is closed for accesses that have given up, and none counts as waiting.
    @Test(arguments: Way.allCases) func accessesThatGiveUpLeaveTheLine(_ way: Way) async throws {
        let directory = try make()
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        let (isInA, mayLeaveA) = (Step("a writes"), Step("a may end"))
        let holder = OwnThread {
            try a.write { _ in
                isInA.reach()
                try mayLeaveA.wait()
            }
        }
        try await isInA.reached(by: holder)
        try await giveUp(way, b, directory)
        try await until("b has left the line") { directory.statistics.waitingCount == 0 }
        mayLeaveA.reach()
        try await holder.value
        try await onOwnThread { try DatabaseDirectoryTests.insert(a, 1) }
        var statistics = directory.statistics
        #expect(statistics.openedCount == 1 && statistics.evictedCount == 0 && statistics.closingCount == 0)
        #expect(a.isOpened && !b.isOpened)
        #expect(try directory.names() == ["a"])
        // It gets a place when it is wanted again.
        #expect(try await onOwnThread { try DatabaseDirectoryTests.values(b) } == [])
        statistics = directory.statistics
        #expect(statistics.openedCount == 2 && statistics.evictedCount == 1)
    }

    /// A database stays in line for the accesses that haven't given up.
    @Test func othersStillWait() async throws {
        let directory = try make()
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        let (isInA, mayLeaveA) = (Step("a writes"), Step("a may end"))
        let holder = OwnThread {
            try a.write { _ in
                isInA.reach()
                try mayLeaveA.wait()
            }
        }
        try await isInA.reached(by: holder)
        let waiter = OwnThread { try DatabaseDirectoryTests.insert(b, 1) }
        try await until("b waits") { b.statistics.writer.waiters == 1 }
        try await giveUp(.threadTimeout, b, directory)
        #expect(directory.statistics.waitingCount == 1)
        mayLeaveA.reach()
        try await holder.value
        try await waiter.value
        #expect(try await onOwnThread { try DatabaseDirectoryTests.values(b) } == [1])
    }

    /// Accesses that come in the moment in which another one gives up are served.
    @Test(arguments: [UInt64.random(in: .min ... .max)]) func comingAndGoing(seed: UInt64) async throws {
        let directory = try make()
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        var generator = SeededGenerator(seed: seed)
        for round in 0..<200 {
            let (isInA, mayLeaveA) = (Step("a writes, seed \(seed)"), Step("a may end"))
            let holder = OwnThread {
                try a.write { _ in
                    isInA.reach()
                    try mayLeaveA.wait()
                }
            }
            try await isInA.reached(by: holder)
            let going = Task { try await b.write { _ in } }
            for _ in 0..<Int.random(in: 0..<20, using: &generator) { await Task.yield() }
            let coming = Task {
                try await b.write { db in try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [round]) }
            }
            going.cancel()
            for _ in 0..<Int.random(in: 0..<20, using: &generator) { await Task.yield() }
            mayLeaveA.reach()
            try await coming.value
            _ = await going.result
            try await holder.value
        }
        #expect(try await onOwnThread { try DatabaseDirectoryTests.values(b) } == Array(0..<200), "seed \(seed)")
        #expect(directory.statistics.waitingCount == 0)
    }

    /// Waiting for the writes of a closed database closes no other one.
    @Test func flushOpensNothing() async throws {
        let directory = try make()
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        try await onOwnThread {
            try DatabaseDirectoryTests.insert(b, 1)
            try DatabaseDirectoryTests.insert(a, 1)
        }
        try await b.flush()
        #expect(a.isOpened && !b.isOpened)
        let (isInA, mayLeaveA) = (Step("a writes"), Step("a may end"))
        let holder = OwnThread {
            try a.write { _ in
                isInA.reach()
                try mayLeaveA.wait()
            }
        }
        try await isInA.reached(by: holder)
        let write = Task { try await b.write { db in try db.execute(sql: "INSERT INTO t VALUES (2)") } }
        try await until("b waits") { directory.statistics.waitingCount == 1 }
        let flush = Task {
            try await b.flush()
            return b.statistics.transactions.committed
        }
        try await until("the flush waits") { b.pendingWriteCount == 2 }
        let committed = b.statistics.transactions.committed
        mayLeaveA.reach()
        #expect(try await flush.value > committed)
        try await write.value
        try await holder.value
    }
}
