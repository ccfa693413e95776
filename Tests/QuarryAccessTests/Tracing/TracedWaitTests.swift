import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Waits for connections, as tracers see them.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct TracedWaitTests {
    private func waitTracer(_ action: @escaping @Sendable (DatabaseTraceEvent) -> Void) -> RecordingTracer {
        RecordingTracer([.waits, .blockedThreads, .accesses]) { options in
            options.waitThreshold = .zero
        } _: {
            action($0)
        }
    }

    /// A handler that does something else in the middle of a write makes others wait: the event names it, and its SQL.
    @Test(arguments: [true, false]) func sleepingWriterIsNamed(isAsynchronous: Bool) async throws {
        let database = try TracedDatabase()
        let pool = database.pool
        let isTold = Step("the wait is told")
        let tracer = waitTracer { event in if case .wait = event { isTold.reach() } }
        pool.addTracer(tracer)
        let hasWritten = Step("the first write has written")
        let writer = OwnThread {
            try pool.write { db in
                db.accessLabel = "nightly import"
                try db.execute(sql: "UPDATE player SET score = 7 WHERE name = 'Arthur'")
                hasWritten.reach()
                // The second write is still waiting then: this one sleeps until the event has come.
                try isTold.wait()
            }
        }
        try await hasWritten.reached()
        let write: @Sendable (Database) throws -> Void = { db in try db.execute(sql: "DELETE FROM player") }
        if isAsynchronous {
            try await pool.write(write)
        } else {
            try await onOwnThread { try pool.write(write) }
        }
        _ = try await writer.value
        let wait = try #require(tracer.waits.first)
        #expect(wait.access.kind == .write && wait.access.isAsynchronous == isAsynchronous)
        #expect(wait.waited > .zero && wait.waiterCount == 1 && wait.database.label == "players")
        try #require(wait.holders.count == 1)
        let holder = wait.holders[0]
        #expect(holder.label == "nightly import" && holder.connection.role == .writer)
        #expect(holder.sql == "UPDATE player SET score = ? WHERE name = ?" && !holder.isRunning)
        #expect(holder.hold.map { $0 > .zero } == true)
        #expect(tracer.accesses.contains { $0.beginning.id == holder.accessID })
        // One event for one wait.
        #expect(tracer.waits.count == 1)
        #expect(tracer.accesses.last { $0.beginning.id == wait.access.id }.map { $0.wait > .zero } == true)
    }

    /// A statement that runs while others wait for its connection.
    @Test func runningStatementIsNamed() async throws {
        let database = try TracedDatabase()
        let pool = database.pool
        let (isRunning, isTold) = (Step("the statement runs"), Step("the wait is told"))
        let tracer = waitTracer { event in if case .wait = event { isTold.reach() } }
        pool.addTracer(tracer)
        let writer = OwnThread {
            try pool.write { db in
                db.add(
                    function: DatabaseFunction("waitForTracer", argumentCount: 0) { _ in
                        isRunning.reach()
                        try isTold.wait()
                        return 1
                    })
                _ = try Int.fetchOne(db, sql: "SELECT waitForTracer()")
            }
        }
        try await isRunning.reached()
        try await pool.write { _ in }
        _ = try await writer.value
        let holder = try #require(tracer.waits.first?.holders.first)
        #expect(holder.sql == "SELECT waitForTracer()" && holder.isRunning && holder.label == nil)
    }

    /// A holder that began before the tracer was added is named by its label alone.
    @Test func earlierHolder() async throws {
        let database = try TracedDatabase()
        let pool = database.pool
        let (hasBegun, isTold) = (Step("the write has begun"), Step("the wait is told"))
        let writer = OwnThread {
            try pool.write { db in
                db.accessLabel = "early"
                hasBegun.reach()
                try isTold.wait()
            }
        }
        try await hasBegun.reached()
        let tracer = waitTracer { event in if case .wait = event { isTold.reach() } }
        pool.addTracer(tracer)
        try await pool.barrierWriteWithoutTransaction { _ in }
        _ = try await writer.value
        let holder = try #require(tracer.waits.first?.holders.first)
        #expect(holder.label == "early" && holder.accessID == nil && holder.sql == nil && holder.hold == nil)
    }

    /// A barrier waits for reads.
    @Test func readersAreNamed() async throws {
        let database = try TracedDatabase { $0.maximumReaderCount = 2 }
        let pool = database.pool
        let isTold = Step("the wait is told")
        let tracer = waitTracer { event in if case .wait = event { isTold.reach() } }
        pool.addTracer(tracer)
        var readers: [OwnThread<Void>] = []
        for name in ["first", "second"] {
            let hasBegun = Step("the \(name) read has begun")
            readers.append(
                OwnThread {
                    try pool.read { db in
                        db.accessLabel = name
                        hasBegun.reach()
                        try isTold.wait()
                    }
                })
            try await hasBegun.reached()
        }
        try await pool.barrierWriteWithoutTransaction { _ in }
        for reader in readers { try await reader.value }
        let wait = try #require(tracer.waits.first)
        #expect(wait.holders.compactMap(\.label).sorted() == ["first", "second"])
        #expect(wait.holders.allSatisfy { $0.connection.role == .reader })
    }

    @Test func noWaitIsToldWithoutOne() throws {
        let database = try TracedDatabase()
        let tracer = waitTracer { _ in }
        database.pool.addTracer(tracer)
        for _ in 0..<10 { try database.pool.write { _ in } }
        #expect(tracer.waits.isEmpty && tracer.blockedThreads.isEmpty && tracer.accesses.count == 10)
    }

    /// A task that waits in a synchronous access blocks its thread; a thread of the program's own blocks nobody.
    @Test func blockedThreadIsTold() async throws {
        let database = try TracedDatabase()
        let pool = database.pool
        let isTold = Step("the wait is told")
        let tracer = waitTracer { event in if case .wait = event { isTold.reach() } }
        pool.addTracer(tracer)
        func block(_ isTask: Bool) async throws {
            let (hasBegun, mayEnd) = (Step("the write has begun"), Step("the write may end"))
            let writer = OwnThread {
                try pool.write { _ in
                    hasBegun.reach()
                    try mayEnd.wait()
                }
            }
            try await hasBegun.reached()
            let synchronousWrite: @Sendable () throws -> Void = { try pool.write { _ in } }
            let count = tracer.waits.count
            let ender = OwnThread {
                try spin(until: "another wait is told") { tracer.waits.count > count }
                mayEnd.reach()
            }
            if isTask { try synchronousWrite() } else { try await onOwnThread(synchronousWrite) }
            try await ender.value
            try await writer.value
        }
        try await block(false)
        #expect(tracer.blockedThreads.isEmpty)
        try await block(true)
        let blocked = try #require(tracer.blockedThreads.first)
        #expect(!blocked.access.isAsynchronous && blocked.waited > .zero && tracer.blockedThreads.count == 1)
    }
}
