import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// Interruptions and timeouts in the middle of an observed write, and of a fetch.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct ObservationInterruptionTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    private static let kinds = [WriterKind.memoryQueue, .fileQueue, .pool]

    /// The cause of `SQLITE_INTERRUPT`.
    enum Cause: CaseIterable, Codable, Sendable {
        case timeout
        case interrupt
        case cancellation

        func writer(_ kind: WriterKind, _ folder: TemporaryFolder) throws -> any DatabaseWriter {
            var configuration = Configuration()
            // A write of a database in memory would run on a thread that the interrupting task needs.
            configuration.asyncExecution = .offloaded
            if self == .timeout {
                configuration.statementTimeout = 0.05
                configuration.monotonicClock = ManualMonotonicClock(tick: .milliseconds(1)).monotonicClock
            }
            let writer = try kind.make(folder, configuration)
            try writer.makeTable()
            return writer
        }

        /// Runs an access whose body reaches the step before it runs forever.
        func run(
            _ writer: any DatabaseWriter, _ isRunning: Step, _ body: @escaping @Sendable (Database) throws -> Void
        ) async -> (any Error)? {
            let isOver = Step("the write has ended")
            let write = Task {
                defer { isOver.reach() }
                try await writer.write { db in try body(db) }
            }
            do { try await isRunning.reached(by: write) } catch { return error }
            switch self {
            case .timeout: break
            // An interruption between two statements has no effect.
            case .interrupt:
                try? await until("the write has ended") {
                    writer.interrupt()
                    return isOver.isReached
                }
            case .cancellation: write.cancel()
            }
            do {
                try await write.value
                return nil
            } catch {
                return error
            }
        }
    }

    private func observe(
        _ writer: any DatabaseWriter, _ fetches: Recorded<Int>, _ received: Received<Int>
    ) -> AnyDatabaseCancellable {
        ValueObservation.tracking(region: DatabaseRegion.t) { db in
            fetches.update { $0 += 1 }
            return try db.count()
        }.start(in: writer, scheduling: .task, onError: received.onError, onChange: received.onChange)
    }

    /// The transaction is rolled back, and nothing is fetched.
    @Test(arguments: Cause.allCases, kinds) func aWrite(_ cause: Cause, _ kind: WriterKind) async throws {
        let writer = try cause.writer(kind, folder)
        let (fetches, received) = (Recorded(0), Received<Int>())
        let cancellable = observe(writer, fetches, received)
        _ = try await received.value(1)
        let isRunning = Step("the statement runs")
        let error = await cause.run(writer, isRunning) { db in
            try db.insert(1)
            isRunning.reach()
            try db.runForever()
        }
        if cause == .cancellation {
            #expect(error is CancellationError)
        } else {
            #expect((error as? DatabaseError)?.resultCode == .SQLITE_INTERRUPT)
        }
        try writer.add(2)
        #expect(try await received.value(2) == [0, 1])
        #expect(fetches.value == 2 && received.errors.isEmpty)
        cancellable.cancel()
    }

    /// SQLite rolls back a transaction whose INSERT it interrupts, before the closure can do anything.
    @Test(arguments: kinds) func anInsertion(_ kind: WriterKind) async throws {
        let writer = try Cause.timeout.writer(kind, folder)
        let (fetches, received) = (Recorded(0), Received<Int>())
        let cancellable = observe(writer, fetches, received)
        _ = try await received.value(1)
        #expect(throws: DatabaseError.self) {
            try writer.change { db in
                try db.insert(1)
                do { try db.insertForever() } catch {}
                try db.insert(2)
            }
        }
        try writer.add(3)
        #expect(try await received.value(2) == [0, 1])
        #expect(fetches.value == 2)
        cancellable.cancel()
    }

    /// Outside a transaction, the statements before the interrupted one are committed.
    @Test(arguments: kinds) func aWriteWithoutTransaction(_ kind: WriterKind) async throws {
        let writer = try Cause.timeout.writer(kind, folder)
        let (fetches, received) = (Recorded(0), Received<Int>())
        let cancellable = observe(writer, fetches, received)
        _ = try await received.value(1)
        _ = try await onOwnThread {
            #expect(throws: DatabaseError.self) {
                try writer.writeWithoutTransaction { db in
                    try db.insert(1)
                    try db.insertForever()
                }
            }
        }
        try await until("the value of the first statement") { received.values.last == 1 }
        #expect(try await writer.read { db in try db.values() } == [1])
        #expect(fetches.value == 2)
        cancellable.cancel()
    }

    /// An interrupted SELECT leaves its transaction as it is, which commits the rest.
    @Test(arguments: kinds) func aWriteThatGoesOn(_ kind: WriterKind) async throws {
        let writer = try Cause.timeout.writer(kind, folder)
        let (fetches, received) = (Recorded(0), Received<Int>())
        let cancellable = observe(writer, fetches, received)
        _ = try await received.value(1)
        try writer.change { db in
            try db.insert(1)
            #expect(throws: DatabaseError.self) { try db.runUntilTimeout() }
            try db.insert(2)
        }
        #expect(try await received.value(2) == [0, 2])
        #expect(fetches.value == 2)
        cancellable.cancel()
    }

    /// The fetch is repeated. The others of its batch have their values.
    @Test(arguments: [Cause.timeout, .interrupt], kinds) func aFetch(_ cause: Cause, _ kind: WriterKind) async throws {
        let writer = try cause.writer(kind, folder)
        let (received, other) = (Received<Int>(), Received<Int>())
        let (isRunning, hasFailed) = (Step("the fetch runs"), Step("the fetch was interrupted"))
        let cancellables = [
            ValueObservation.tracking(region: DatabaseRegion.t) { db in
                let count = try db.count()
                if count == 1, !hasFailed.isReached {
                    isRunning.reach()
                    do {
                        try db.runForever()
                    } catch {
                        hasFailed.reach()
                        throw error
                    }
                }
                return count
            }.start(in: writer, scheduling: .task, onError: received.onError, onChange: received.onChange),
            ValueObservationTests.counting().start(
                in: writer, scheduling: .task, onError: other.onError, onChange: other.onChange),
        ]
        _ = try await received.value(1)
        _ = try await other.value(1)
        try writer.add(1)
        try await isRunning.reached()
        if cause == .interrupt {
            try await until("the fetch was interrupted") {
                writer.interrupt()
                return hasFailed.isReached
            }
        }
        #expect(try await received.value(2) == [0, 1])
        #expect(try await other.value(2) == [0, 1])
        #expect(received.errors.isEmpty && other.errors.isEmpty)
        for cancellable in cancellables { cancellable.cancel() }
    }

    /// A fetch that is always interrupted ends the observation with that error.
    @Test(arguments: kinds) func aFetchThatIsAlwaysTooSlow(_ kind: WriterKind) async throws {
        let writer = try Cause.timeout.writer(kind, folder)
        let tries = Recorded(0)
        let received = Received<Int>()
        let cancellable = ValueObservation.tracking(region: DatabaseRegion.t) { db in
            let count = try db.count()
            if count == 1 {
                tries.update { $0 += 1 }
                try db.runForever()
            }
            return count
        }.start(in: writer, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try writer.add(1)
        let error = try #require(try await received.error() as? DatabaseError)
        #expect(error.resultCode == .SQLITE_INTERRUPT)
        #expect(tries.value == 1 + ObservationStateMachine.maximumRetryCount && received.values == [0])
        try writer.add(2)
        #expect(try await writer.read { db in try db.count() } == 2)
        cancellable.cancel()
    }
}

extension Database {
    /// Inserts rows into `t` until it is interrupted.
    fileprivate func insertForever() throws {
        try execute(
            sql: """
                INSERT INTO t
                WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers)
                SELECT n FROM numbers
                """)
    }
}
