import Foundation
import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

/// The asynchronous form of a blockade.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct BlockadeTests {
    let folder: TemporaryFolder
    let database: SharedDatabase
    /// Stands still until a test moves it.
    private let clock = ManualMonotonicClock()

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        var configuration = Configuration()
        configuration.monotonicClock = clock.monotonicClock
        database = SharedDatabase(path: folder.file("a.sqlite"), configuration: configuration)
        try database.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
    }

    private func count() async throws -> Int? {
        try await database.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
    }

    /// An access that runs until a step.
    private func hold(until mayEnd: Step, writes: Bool = true) async throws -> OwnThread<Void> {
        let isRunning = Step("an access runs")
        let holder = OwnThread { [database] in
            let body: (Database) throws -> Void = { _ in
                isRunning.reach()
                try mayEnd.wait()
            }
            if writes { try database.write(body) } else { try database.read(body) }
        }
        try await isRunning.reached(by: holder)
        return holder
    }

    @Test func accessesWaitForTheEnd() async throws {
        let blockade = try await database.blockade()
        #expect(database.isBlockaded && !database.isOpened)
        #expect(try folder.openFiles.isEmpty)
        #expect(try blockade.files.sizes().database > 0)
        let task = Task { [database] in
            try await database.write { db in try db.execute(sql: "INSERT INTO t VALUES (2)") }
        }
        let thread = OwnThread { [database] in
            try database.write { db in try db.execute(sql: "INSERT INTO t VALUES (3)") }
        }
        try await until("both wait") { database.pool.writer.group.waiterCount == 2 }
        blockade.end()
        blockade.end()
        try await task.value
        try await thread.value
        #expect(try await count() == 3)
        #expect(!database.isBlockaded)
    }

    @Test(arguments: [true, false]) func cancellationEndsTheWait(forTheReaders: Bool) async throws {
        let mayEnd = Step("the access may end")
        let holder = try await hold(until: mayEnd, writes: !forTheReaders)
        let task = Task { [database] in _ = try await database.blockade() }
        let group = forTheReaders ? database.pool.readers.group : database.pool.writer.group
        try await until("the blockade waits") { group.waiterCount == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!database.isBlockaded)
        mayEnd.reach()
        try await holder.value
        #expect(try await count() == 1)
        let cancelled = Task { [database] in
            withUnsafeCurrentTask { task in task?.cancel() }
            _ = try await database.blockade()
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(try await count() == 1)
    }

    /// It waits in line behind the accesses that came earlier, lends the writer, and lets a read write first.
    @Test func aReadThatWritesComesFirst() async throws {
        let isRunning = Step("the read runs")
        let mayWrite = Step("the read may write")
        let reader = OwnThread { [database] in
            try database.read { _ in
                isRunning.reach()
                try mayWrite.wait()
                try database.write { db in try db.execute(sql: "INSERT INTO t VALUES (2)") }
            }
        }
        try await isRunning.reached()
        let task = Task { [database] in try await database.blockade() }
        try await until("the blockade waits for the readers") { database.pool.readers.group.waiterCount == 1 }
        mayWrite.reach()
        try await reader.value
        let blockade = try await task.value
        #expect(database.isBlockaded)
        blockade.end()
        #expect(try await count() == 2)
    }

    /// One blockade at a time. An access of the task that has one waits, too, as long as its deadline lets it.
    @Test func blockadesInsideOneAnother() async throws {
        let blockade = try await database.blockade()
        let group = database.pool.writer.group
        try await clock.advance(by: .milliseconds(10), when: "the write waits", group.waiterCount == 1) {
            [database] in
            await expectError(.SQLITE_BUSY) { try await database.write(timeout: .milliseconds(10)) { _ in } }
        }
        let next = Task { [database] in try await database.blockade() }
        try await until("the next one waits", by: next) { group.waiterCount == 1 }
        let other = SharedDatabase(path: folder.file("b.sqlite"))
        let blockadeOfOther = try await other.blockade()
        #expect(other.isBlockaded)
        blockadeOfOther.end()
        blockade.end()
        let second = try await next.value
        #expect(database.isBlockaded)
        second.end()
        #expect(try await count() == 1)
    }

    @Test func aBlockadeEndsWithItsObject() async throws {
        _ = try await database.blockade()
        #expect(!database.isBlockaded)
        #expect(try await count() == 1)
    }

    @Test func whatRefusesAWindowRefusesABlockade() async throws {
        let snapshot = try await database.makeSnapshotAsync(label: "report")
        await expectError(.SQLITE_BUSY, "unable to close \(database.path): “report” reads it") {
            _ = try await database.blockade()
        }
        #expect(!database.isBlockaded)
        #expect(try await count() == 1)
        try await snapshot.closeAsync()
        let statement = try onWriter { db in try db.makeStatement(sql: "SELECT 1") }
        await expectError(.SQLITE_BUSY) { _ = try await database.blockade() }
        #expect(!database.isBlockaded)
        #expect(try await count() == 1)
        _ = statement
    }

    private func onWriter(_ body: (Database) throws -> Statement) throws -> Statement { try database.write(body) }

    /// All of Swift's threads wait for the end of the blockade, whose task stays on a thread of the library.
    @Test func theEndNeedsNoneOfSwiftsThreads() async {
        await #expect(processExitsWith: .success) {
            alarm(60)
            let folder = try TemporaryFolder()
            let database = SharedDatabase(path: folder.file("a.sqlite"))
            try await database.open()
            let group = database.pool.writer.group
            let width = CooperativePool.width
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask {
                    let blockade = try await database.blockade()
                    try spin(until: "all of Swift's threads wait") { group.waiterCount == width }
                    blockade.end()
                }
                try await until("the blockade has begun") { database.isBlockaded }
                for _ in 0..<width { tasks.addTask { try write(database) } }
                try await tasks.waitForAll()
            }
        }
    }
}

/// A synchronous access, on the thread of the task that calls.
private func write(_ database: SharedDatabase) throws { try database.write { _ in } }
