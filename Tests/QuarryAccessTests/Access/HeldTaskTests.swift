import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Tasks that wait for a connection on whose threads they are to go on.
@Suite("Tasks that are held until there is a connection", .timeLimit(.minutes(2 * TestTime.factor)))
struct HeldTaskTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A pool whose log is left alone: a checkpoint would wait in line, and take a thread. No time passes: a shared
    /// transaction that has taken long ends, and its last task stays on its thread while another one runs the next.
    private func makePool() throws -> DatabasePool {
        var configuration = Configuration()
        configuration.wal = .unmanaged
        configuration.monotonicClock = ManualMonotonicClock().monotonicClock
        return try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
    }

    @Test func oneThreadRunsAllTasksThatWaitForTheWriter() async throws {
        let pool = try makePool()
        try await pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        // A thread that has nothing to do for some seconds ends.
        #expect(pool.workers.currentThreadCount <= 1)
        let hasBegun = Step("the write has begun")
        let mayEnd = Step("the write may end")
        let holder = OwnThread {
            try pool.write { _ in
                hasBegun.reach()
                try mayEnd.wait()
            }
        }
        try await hasBegun.reached()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for n in 0..<20 {
                group.addTask {
                    try await pool.write { try $0.execute(sql: "INSERT INTO t VALUES (?)", arguments: [n]) }
                }
            }
            try await until("all wait") { pool.writer.group.waiterCount == 20 }
            #expect(pool.workers.currentThreadCount <= 1)
            mayEnd.reach()
            try await group.waitForAll()
        }
        try await holder.value
        #expect(pool.workers.currentThreadCount <= 1)
        #expect(try await pool.read { try Int.fetchOne($0, sql: "SELECT sum(a) FROM t") } == 190)
    }

    @Test func cancelledHeldTaskGivesUp() async throws {
        let pool = try makePool()
        let hasBegun = Step("the write has begun")
        let mayEnd = Step("the write may end")
        let holder = OwnThread {
            try pool.write { _ in
                hasBegun.reach()
                try mayEnd.wait()
            }
        }
        try await hasBegun.reached()
        let task = Task { try await pool.write { _ in } }
        try await until("it waits") { pool.writer.group.waiterCount == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(pool.writer.group.waiterCount == 0)
        mayEnd.reach()
        try await holder.value
    }
}
