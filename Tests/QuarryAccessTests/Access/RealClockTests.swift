import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Timeouts and timers by the system's clock: they come, however late. Other tests move a clock of their own.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct RealClockTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let short = Duration.milliseconds(5)

    /// An access that has the only connection of a queue until the step is reached.
    private func hold(_ queue: DatabaseQueue, until mayEnd: Step) async throws -> OwnThread<Void> {
        let hasBegun = Step("an access goes on")
        let holder = OwnThread {
            try queue.inTransaction(.immediate) { _ in
                hasBegun.reach()
                try mayEnd.wait()
                return .commit
            }
        }
        try await hasBegun.reached(by: holder)
        return holder
    }

    @Test func waitsOfTasks() async throws {
        let queue = try DatabaseQueue()
        let mayEnd = Step("the others have given up")
        let holder = try await hold(queue, until: mayEnd)
        await expectError(.SQLITE_BUSY) { try await queue.read(timeout: Self.short) { _ in } }
        mayEnd.reach()
        try await holder.value
    }

    @Test func waitsOfThreads() async throws {
        let queue = try DatabaseQueue()
        let mayEnd = Step("the others have given up")
        let holder = try await hold(queue, until: mayEnd)
        _ = try await onOwnThread { expectError(.SQLITE_BUSY) { try queue.read(timeout: Self.short) { _ in } } }
        mayEnd.reach()
        try await holder.value
    }

    @Test func waitsForLocks() async throws {
        let path = folder.file("a.sqlite")
        let other = try DatabaseQueue(path: path)
        var configuration = Configuration()
        configuration.busyMode = .timeout(0.005)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let mayEnd = Step("the other has given up")
        let holder = try await hold(other, until: mayEnd)
        await expectError(.SQLITE_BUSY, "database is locked") { try await queue.write { _ in } }
        mayEnd.reach()
        try await holder.value
    }

    @Test func statements() async throws {
        var configuration = Configuration()
        configuration.statementTimeout = 0.005
        let queue = try DatabaseQueue(configuration: configuration)
        await expectError(.SQLITE_INTERRUPT, "statement timeout: it ran longer than 0.005 seconds") {
            try await queue.read { db in try db.runUntilTimeout() }
        }
    }

    /// The access is interrupted again and again, until it has ended.
    @Test(arguments: GracePeriodTests.Form.allCases) func gracePeriods(_ form: GracePeriodTests.Form) async throws {
        var configuration = Configuration()
        configuration.asyncExecution = .offloaded
        let queue = try DatabaseQueue(configuration: configuration)
        let runs = Step("a read runs")
        let read = Task {
            try await queue.read { db in
                runs.reach()
                try db.runForever()
            }
        }
        try await runs.reached(by: read)
        try await form.close(queue, Self.short, interruptionTimeout: .seconds(600)).value
        await expectError(.SQLITE_INTERRUPT) { try await read.value }
    }

    /// A group closes the connections that haven't been used since its last look.
    @Test func idleReadersGo() async throws {
        let path = folder.file("a.sqlite")
        _ = try DatabasePool(path: path)
        let group = ConnectionGroup(
            "a reader", capacity: 3, limits: .init(), idleClock: IdleClock(seconds: 0.001),
            open: Configuration().readerOpener(path: path, core: DatabaseCore(isShared: true, .system)))
        try await onOwnThread {
            try group.use(group.lease()) { _ in try group.use(group.lease()) { _ in } }
        }
        try await until("both connections have gone") { group.connectionCount == 0 }
        let lease = try await onOwnThread { try group.lease() }
        group.use(lease) { _ in #expect(group.connectionCount == 1) }
        try await until("the connection has gone") { group.connectionCount == 0 }
    }
}
