import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// `close(gracePeriod:)`: accesses end, or are interrupted, before the connections are closed.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct GracePeriodTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let short = Duration.milliseconds(10)
    /// Stands still until the test moves it.
    private let clock = ManualMonotonicClock()
    private static let long = Duration.seconds(600)
    private static let ended = "Connection is closing: its grace period has ended"

    /// The form of closing.
    enum Form: CaseIterable, Codable {
        case thread
        case task

        func close(
            _ reader: any DatabaseReader, _ gracePeriod: Duration, interruptionTimeout: Duration = .seconds(60)
        ) -> Task<Void, any Error> {
            Task {
                switch self {
                case .task: try await reader.close(gracePeriod: gracePeriod, interruptionTimeout: interruptionTimeout)
                case .thread:
                    try await onOwnThread {
                        try reader.close(gracePeriod: gracePeriod, interruptionTimeout: interruptionTimeout)
                    }
                }
            }
        }
    }

    private func writer(_ kind: WriterKind) throws -> (any DatabaseWriter, ConnectionGroup) {
        var configuration = Configuration()
        configuration.maximumReaderCount = 2
        configuration.label = "players"
        configuration.monotonicClock = clock.monotonicClock
        // A task that has to go on on a thread of Swift's may come too late: all of them may be busy.
        configuration.asyncExecution = .offloaded
        let writer = try kind.make(folder, configuration)
        try writer.makeTable(1)
        return (writer, try #require(writer.groupReader).groups[0])
    }

    private func pool() throws -> DatabasePool {
        let (writer, _) = try writer(.pool)
        return try #require(writer as? DatabasePool)
    }

    private func isClosing(_ group: ConnectionGroup) -> Bool {
        group.state.withLock { !$0.machine.phase.isOpen }
    }

    private func gracePeriodHasEnded(_ group: ConnectionGroup) -> Bool {
        if case .ending = group.state.withLock({ $0.machine.phase }) { true } else { false }
    }

    /// An access that has its connection until the step is reached, and then runs `end`.
    private func hold<T: Sendable>(
        _ isWrite: Bool, _ writer: any DatabaseWriter, until mayEnd: Step, label: String? = nil,
        _ end: @escaping @Sendable (Database) throws -> T
    ) async throws -> OwnThread<T> {
        let hasBegun = Step("an access goes on")
        let holder = OwnThread {
            let body: (Database) throws -> T = { db in
                db.accessLabel = label
                hasBegun.reach()
                try mayEnd.wait()
                return try end(db)
            }
            return isWrite ? try writer.write(body) : try writer.unsafeRead(body)
        }
        try await hasBegun.reached(by: holder)
        return holder
    }

    // MARK: - In time

    @Test(arguments: WriterKind.allCases, Form.allCases)
    func runningAndWaitingAccessesEnd(_ kind: WriterKind, _ form: Form) async throws {
        let (writer, group) = try writer(kind)
        let mayEnd = Step("the access may end")
        let holder = try await hold(true, writer, until: mayEnd) { db in try db.insert(2) }
        let waitingTask = Task { try await writer.write { db in try db.insert(3) } }
        try await until("a task waits") { group.waiterCount == 1 }
        let waitingThread = OwnThread { try writer.write { db in try db.insert(4) } }
        try await until("a thread waits") { group.waiterCount == 2 }
        let closing = form.close(writer, Self.long)
        try await until("it closes") { isClosing(group) && group.waiterCount == 3 }
        for error in [
            await expectError(DatabaseError.self) { try await writer.write { _ in } },
            await expectError(DatabaseError.self) { try await writer.read { _ in } },
            await expectError(DatabaseError.self) { try await writer.read(timeout: Self.long) { _ in } },
            await expectError(DatabaseError.self) { try await writer.barrierWriteWithoutTransaction { _ in } },
            try await onOwnThread { expectError(DatabaseError.self) { try writer.write { _ in } } },
            try await onOwnThread { expectError(DatabaseError.self) { try writer.unsafeReentrantRead { _ in } } },
            await completion { done in
                writer.asyncRead { result in
                    if case .failure(let error) = result { done(error as? DatabaseError) }
                }
            },
        ] {
            #expect(error?.resultCode == .SQLITE_MISUSE)
            #expect(error?.message == "Connection is closing")
        }
        if let pool = writer as? DatabasePool {
            await expectError(.SQLITE_MISUSE, "Connection is closing") { try await pool.makeSnapshotPoolAsync() }
        }
        mayEnd.reach()
        try await holder.value
        try await waitingTask.value
        try await waitingThread.value
        try await closing.value
        await expectError(.SQLITE_MISUSE, "Connection is closed") { try await writer.read { _ in } }
        try await writer.close(gracePeriod: .zero)
        guard kind != .memoryQueue else { return }
        #expect(try await DatabaseQueue(path: writer.path).read { db in try db.values() } == [1, 2, 3, 4])
    }

    @Test(arguments: WriterKind.allCases, Form.allCases)
    func idleDatabasesCloseAtOnce(_ kind: WriterKind, _ form: Form) async throws {
        let (writer, _) = try writer(kind)
        try await form.close(writer, .zero).value
        await expectError(.SQLITE_MISUSE, "Connection is closed") { try await writer.read { _ in } }
        try await form.close(writer, Self.long).value
        try writer.close()
    }

    /// Closing waits behind a barrier, which has the writer and waits for a read.
    @Test(arguments: Form.allCases) func aBarrierThatWaits(_ form: Form) async throws {
        let pool = try pool()
        let mayEnd = Step("the read may end")
        let holder = try await hold(false, pool, until: mayEnd) { _ in }
        let barrier = Task { try await pool.barrierWriteWithoutTransaction { db in try db.insert(2) } }
        try await until("the barrier waits") { pool.readers.group.waiterCount == 1 }
        let closing = form.close(pool, Self.long)
        try await until("it closes") { isClosing(pool.readers.group) && pool.writer.group.waiterCount == 1 }
        mayEnd.reach()
        try await holder.value
        try await barrier.value
        try await closing.value
        #expect(try await DatabaseQueue(path: pool.path).read { db in try db.values() } == [1, 2])
    }

    /// A read may write, and a write may read, until they end.
    @Test func accessesInsideAccessesGoOn() async throws {
        let pool = try pool()
        let mayEnd = Step("it closes")
        let reader = try await hold(false, pool, until: mayEnd) { db in
            try pool.write { db in try db.insert(2) }
            return try db.values()
        }
        let mayWrite = Step("it closes")
        let writer = try await hold(true, pool, until: mayWrite) { _ in try pool.read { db in try db.values() } }
        let closing = Form.task.close(pool, Self.long)
        try await until("it closes") { isClosing(pool.readers.group) && pool.writer.group.waiterCount == 1 }
        mayWrite.reach()
        #expect(try await writer.value == [1])
        mayEnd.reach()
        #expect(try await reader.value == [1, 2])
        try await closing.value
        #expect(try await DatabaseQueue(path: pool.path).read { db in try db.values() } == [1, 2])
    }

    // MARK: - Too late

    @Test(arguments: WriterKind.allCases, Form.allCases)
    func accessesAreInterrupted(_ kind: WriterKind, _ form: Form) async throws {
        let (writer, group) = try writer(kind)
        let mayRun = Step("another access waits")
        let holder = try await hold(true, writer, until: mayRun) { db in
            try db.insert(2)
            return [
                expectError(DatabaseError.self) { try db.runForever() },
                expectError(DatabaseError.self) { try db.insert(3) },
            ]
        }
        let waiting = Task { try await writer.write { db in try db.insert(4) } }
        try await until("it waits") { group.waiterCount == 1 }
        let thread = OwnThread { try writer.write { db in try db.insert(5) } }
        try await until("both wait") { group.waiterCount == 2 }
        mayRun.reach()
        let closing = form.close(writer, Self.short)
        try await until("closing waits", by: closing) { group.waiterCount == 3 }
        clock.advance(by: Self.short)
        try await closing.value
        // The access has swallowed the errors of its statements; that of its commit counts.
        await expectError(.SQLITE_INTERRUPT, Self.ended) { try await holder.value }
        for error in [
            await expectError(DatabaseError.self) { try await waiting.value },
            await expectError(DatabaseError.self) { try await thread.value },
        ] {
            #expect(error?.resultCode == .SQLITE_MISUSE)
            #expect(
                error?.message == """
                    Connection is closing: its grace period ended while the access waited for \(group.name)
                    """)
        }
        await expectError(.SQLITE_MISUSE, "Connection is closed") { try await writer.write { _ in } }
        guard kind != .memoryQueue else { return }
        #expect(try await DatabaseQueue(path: writer.path).read { db in try db.values() } == [1])
    }

    @Test func asynchronousAccessesAreInterrupted() async throws {
        let pool = try pool()
        let runs = [Step("a read runs"), Step("a write runs")]
        let read = Task {
            try await pool.read { db in
                runs[0].reach()
                try db.runForever()
            }
        }
        let write = Task {
            try await pool.write { db in
                try db.insert(2)
                runs[1].reach()
                try db.runForever()
            }
        }
        for step in runs { try await step.reached() }
        try await pool.close(gracePeriod: .zero)
        await expectError(.SQLITE_INTERRUPT, Self.ended) { try await read.value }
        await expectError(.SQLITE_INTERRUPT, Self.ended) { try await write.value }
    }

    /// An access that begins another one after the grace period gets none.
    @Test func accessesInsideInterruptedAccessesAreRefused() async throws {
        let pool = try pool()
        let mayEnd = Step("the grace period has ended")
        let holder = try await hold(false, pool, until: mayEnd) { db in
            try pool.write { db in try db.insert(2) }
        }
        let closing = Form.task.close(pool, Self.short)
        try await until("closing waits", by: closing) { pool.readers.group.waiterCount == 1 }
        clock.advance(by: Self.short)
        try await until("the grace period has ended", by: closing) { gracePeriodHasEnded(pool.writer.group) }
        mayEnd.reach()
        await expectError(
            .SQLITE_MISUSE,
            "Connection is closing: its grace period ended while the access waited for the writer of players"
        ) { try await holder.value }
        try await closing.value
    }

    @Test(arguments: WriterKind.allCases, Form.allCases)
    func anAccessThatDoesNotEnd(_ kind: WriterKind, _ form: Form) async throws {
        let (writer, group) = try writer(kind)
        let mayEnd = Step("closing has given up")
        let holder = try await hold(true, writer, until: mayEnd, label: "import") { db in try db.insert(2) }
        let closing = form.close(writer, .zero, interruptionTimeout: Self.short)
        try await until("closing waits", by: closing) { gracePeriodHasEnded(group) && group.waiterCount == 1 }
        clock.advance(by: Self.short)
        await expectError(
            .SQLITE_BUSY,
            "unable to close: the access “import” of \(group.name) doesn't end, 0.01 seconds after its interruption"
        ) { try await closing.value }
        mayEnd.reach()
        await expectError(.SQLITE_INTERRUPT, Self.ended) { try await holder.value }
        // The database is open again.
        try await writer.write { db in try db.insert(3) }
        #expect(try await writer.read { db in try db.values() } == [1, 3])
        try await form.close(writer, .zero).value
    }

    @Test func accessesWithoutALabel() async throws {
        let pool = try pool()
        let mayEnd = Step("closing has given up")
        let first = try await hold(false, pool, until: mayEnd) { _ in }
        let second = try await hold(false, pool, until: mayEnd, label: "report") { _ in }
        await expectError(
            .SQLITE_BUSY,
            """
            unable to close: an access without a label of a reader of players, the access “report” of a reader of \
            players doesn't end, 0.0 seconds after its interruption
            """
        ) { try await pool.close(gracePeriod: .zero, interruptionTimeout: .zero) }
        mayEnd.reach()
        try await first.value
        try await second.value
    }

    // MARK: - Giving up

    @Test(arguments: [true, false]) func closingIsCancelled(afterTheGracePeriod: Bool) async throws {
        let pool = try pool()
        let mayEnd = Step("closing is cancelled")
        let holder = try await hold(false, pool, until: mayEnd) { db in try db.values() }
        let closing = Form.task.close(pool, afterTheGracePeriod ? .zero : Self.long, interruptionTimeout: Self.long)
        try await until("it closes") {
            switch pool.writer.group.state.withLock({ $0.machine.phase }) {
            case .draining: !afterTheGracePeriod && pool.readers.group.waiterCount == 1
            case .ending: afterTheGracePeriod && pool.readers.group.waiterCount == 1
            case .open, .closed: false
            }
        }
        closing.cancel()
        await #expect(throws: CancellationError.self) { try await closing.value }
        try await pool.write { db in try db.insert(2) }
        mayEnd.reach()
        if afterTheGracePeriod {
            await expectError(.SQLITE_INTERRUPT, Self.ended) { try await holder.value }
        } else {
            #expect(try await holder.value == [1, 2])
        }
        #expect(try await pool.read { db in try db.values() } == [1, 2])
        try await pool.closeAsync()
    }

    @Test func closingIsCancelledBeforeItBegins() async throws {
        let pool = try pool()
        let closing = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await pool.close(gracePeriod: Self.long)
        }
        await #expect(throws: CancellationError.self) { try await closing.value }
        #expect(try await pool.read { db in try db.values() } == [1])
    }

    @Test(arguments: WriterKind.allCases) func insideAnAccess(_ kind: WriterKind) async throws {
        let (writer, group) = try writer(kind)
        try await onOwnThread {
            try writer.write { db in
                expectError(.SQLITE_BUSY, "unable to close \(group.name): an access of this thread still runs") {
                    try writer.close(gracePeriod: .zero)
                }
                try db.insert(2)
            }
        }
        #expect(try await writer.read { db in try db.values() } == [1, 2])
    }

    @Test(arguments: WriterKind.allCases, Form.allCases)
    func statementsAreLeft(_ kind: WriterKind, _ form: Form) async throws {
        let (writer, _) = try writer(kind)
        do {
            let statement = try onThisThread { try writer.write { db in try db.makeStatement(sql: "SELECT 1") } }
            await expectError(.SQLITE_BUSY) { try await form.close(writer, .zero).value }
            try await writer.write { db in try db.insert(2) }
            _ = consume statement
        }
        try await form.close(writer, .zero).value
    }

    private func onThisThread<T>(_ body: () throws -> T) rethrows -> T { try body() }

    // MARK: - Several at once

    /// The shortest grace period counts.
    @Test(arguments: Form.allCases, Form.allCases) func twoClose(_ first: Form, _ second: Form) async throws {
        let pool = try pool()
        let mayRun = Step("both close")
        let holder = try await hold(true, pool, until: mayRun) { db in try db.runForever() }
        let patient = first.close(pool, Self.long)
        try await until("the first waits") { pool.writer.group.waiterCount == 1 }
        let hasty = second.close(pool, Self.short)
        try await until("both wait", by: hasty) { pool.writer.group.waiterCount == 2 }
        clock.advance(by: Self.short)
        mayRun.reach()
        await expectError(.SQLITE_INTERRUPT, Self.ended) { try await holder.value }
        try await patient.value
        try await hasty.value
        #expect(pool.writer.group.isClosed && pool.readers.group.isClosed)
    }

    /// If one call gives up, the other goes on.
    @Test func oneOfTwoGivesUp() async throws {
        let pool = try pool()
        let mayEnd = Step("one has given up")
        let holder = try await hold(true, pool, until: mayEnd) { db in try db.insert(2) }
        let patient = Form.task.close(pool, Self.long)
        try await until("the first waits") { pool.writer.group.waiterCount == 1 }
        let other = Form.task.close(pool, Self.long)
        try await until("both wait") { pool.writer.group.waiterCount == 2 }
        other.cancel()
        await #expect(throws: CancellationError.self) { try await other.value }
        await expectError(.SQLITE_MISUSE, "Connection is closing") { try await pool.read { _ in } }
        mayEnd.reach()
        try await holder.value
        try await patient.value
        #expect(pool.writer.group.isClosed)
    }

    /// `close()` doesn't wait for the accesses behind it.
    @Test func closeDuringTheGracePeriod() async throws {
        let pool = try pool()
        let mayEnd = Step("all wait")
        let holder = try await hold(true, pool, until: mayEnd) { db in try db.insert(2) }
        let waiting = Task { try await pool.write { db in try db.insert(3) } }
        try await until("a write waits") { pool.writer.group.waiterCount == 1 }
        let patient = Form.task.close(pool, Self.long)
        try await until("it closes") { pool.writer.group.waiterCount == 2 }
        let closing = Task { try await pool.closeAsync() }
        try await until("all wait") { pool.writer.group.waiterCount == 3 }
        mayEnd.reach()
        try await holder.value
        try await closing.value
        try await patient.value
        await expectError(.SQLITE_MISUSE, "Connection is closed") { try await waiting.value }
        #expect(try await DatabaseQueue(path: pool.path).read { db in try db.values() } == [1, 2])
    }

    // MARK: - Observations

    @Test func observationsEnd() async throws {
        let pool = try pool()
        let mayEnd = Step("the write may end")
        let values = Recorded<[[Int]]>([])
        let hasEnded = Step("the observation has ended")
        let cancellable = ValueObservation.tracking { db in try db.values() }.start(
            in: pool, scheduling: .task,
            onError: { error in
                if let error = error as? DatabaseError, error.message == "Connection is closed" { hasEnded.reach() }
            },
            onChange: { value in values.update { $0.append(value) } })
        try await until("it has begun") { values.value == [[1]] }
        let holder = try await hold(true, pool, until: mayEnd) { db in try db.insert(2) }
        let closing = Form.task.close(pool, Self.long)
        try await until("it closes") { isClosing(pool.writer.group) }
        mayEnd.reach()
        try await holder.value
        try await closing.value
        try await hasEnded.reached()
        cancellable.cancel()
    }
}
