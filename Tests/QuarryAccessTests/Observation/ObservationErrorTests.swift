import Dispatch
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// Errors of fetches, closing, and accesses inside of callbacks.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct ObservationErrorTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    @Test(arguments: WriterKind.allCases) func anErrorEndsTheObservation(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try writer.makeTable()
        let received = Received<Int>()
        let cancellable = ValueObservation.tracking(region: DatabaseRegion.t) { db in
            let count = try db.count()
            if count == 1 { try db.execute(sql: "SELECT * FROM missing") }
            return count
        }.start(in: writer, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try writer.add(1)
        let error = try #require(try await received.error() as? DatabaseError)
        #expect(error.resultCode == .SQLITE_ERROR && error.sql == "SELECT * FROM missing")
        try writer.add(2)
        try await until("it has ended") { writer.broker.observationCount == 0 }
        #expect(received.values == [0] && received.errors.count == 1)
        cancellable.cancel()
    }

    /// The others of the batch get their values.
    @Test func anErrorIsItsOwnObservationsAlone() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable()
        let (received, failed) = (Received<Int>(), Received<Int>())
        let cancellables = [
            ValueObservation.tracking(region: DatabaseRegion.t) { db -> Int in
                throw DatabaseError(resultCode: .SQLITE_CORRUPT)
            }.start(in: pool, scheduling: .task, onError: failed.onError, onChange: failed.onChange),
            ValueObservationTests.counting().start(
                in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange),
        ]
        _ = try await failed.error()
        #expect(try await received.value(1) == [0])
        for cancellable in cancellables { cancellable.cancel() }
    }

    @Test(arguments: [ResultCode.SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_INTERRUPT, .SQLITE_SCHEMA])
    func transientErrorsAreRetried(_ code: ResultCode) async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable()
        let tries = Recorded(0)
        let received = Received<Int>()
        let cancellable = ValueObservation.tracking(region: DatabaseRegion.t) { db in
            let number = tries.update { tries in
                tries += 1
                return tries
            }
            if number <= 3 { throw DatabaseError(resultCode: code) }
            return number
        }.start(in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange)
        #expect(try await received.value(1) == [4])
        #expect(received.errors.isEmpty)
        cancellable.cancel()
    }

    @Test func aTransientErrorThatLastsEndsIt() async throws {
        let queue = try DatabaseQueue()
        let tries = Recorded(0)
        let received = Received<Int>()
        let cancellable = ValueObservation.tracking { db -> Int in
            tries.update { $0 += 1 }
            throw DatabaseError(resultCode: .SQLITE_BUSY)
        }.start(in: queue, scheduling: .task, onError: received.onError, onChange: received.onChange)
        #expect((try await received.error() as? DatabaseError)?.resultCode == .SQLITE_BUSY)
        #expect(tries.value == 1 + ObservationStateMachine.maximumRetryCount)
        cancellable.cancel()
    }

    @Test(arguments: WriterKind.allCases) func closingEndsIdleObservations(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try writer.makeTable()
        let received = Received<Int>()
        let cancellable = ValueObservationTests.counting().start(
            in: writer, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try writer.close()
        let error = try #require(try await received.error() as? DatabaseError)
        #expect(error.resultCode == .SQLITE_MISUSE && error.message == "Connection is closed")
        #expect(writer.broker.observationCount == 0)
        cancellable.cancel()
    }

    @Test(arguments: WriterKind.allCases) func aClosedDatabaseIsNotObserved(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try writer.close()
        let received = Received<Int>()
        let cancellable = ValueObservationTests.counting().start(
            in: writer, scheduling: .task, onError: received.onError, onChange: received.onChange)
        #expect((try await received.error() as? DatabaseError)?.message == "Connection is closed")
        cancellable.cancel()
    }

    @Test func closingASnapshotEndsItsObservationsAlone() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable()
        let snapshot = try pool.makeSnapshot()
        let (ofPool, ofSnapshot) = (Received<Int>(), Received<Int>())
        let cancellables = [
            ValueObservationTests.counting().start(
                in: pool, scheduling: .task, onError: ofPool.onError, onChange: ofPool.onChange),
            ValueObservationTests.counting().start(
                in: snapshot, scheduling: .task, onError: ofSnapshot.onError, onChange: ofSnapshot.onChange),
        ]
        _ = try await ofPool.value(1)
        _ = try await ofSnapshot.value(1)
        try snapshot.close()
        _ = try await ofSnapshot.error()
        try pool.add(1)
        #expect(try await ofPool.value(2) == [0, 1])
        #expect(ofPool.errors.isEmpty)
        for cancellable in cancellables { cancellable.cancel() }
    }

    @Test(arguments: WriterKind.allCases) func callbacksMayUseTheDatabase(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try writer.makeTable()
        let values = Recorded<[Int]>([])
        let inner = Received<Int>()
        let kept = Recorded<[AnyDatabaseCancellable]>([])
        let cancellable = ValueObservationTests.counting().start(
            in: writer, scheduling: .async(onQueue: .global()), onError: { _ in },
            onChange: { value in
                values.update { $0.append(value) }
                if value < 3 { try? writer.add(value) }
                if value == 1 {
                    let other = ValueObservationTests.counting().start(
                        in: writer, scheduling: .task, onError: inner.onError, onChange: inner.onChange)
                    kept.update { $0.append(other) }
                }
            })
        try await until("its own writes are received") { values.value.last == 3 }
        #expect(values.value == [0, 1, 2, 3])
        try await until("the other observation is current") { inner.values.last == 3 }
        kept.update { $0 = [] }
        cancellable.cancel()
    }

    @Test(arguments: WriterKind.allCases) func aCallbackMayCloseTheDatabase(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try writer.makeTable()
        let received = Received<Int>()
        let cancellable = ValueObservationTests.counting().start(
            in: writer, scheduling: .async(onQueue: .global()), onError: received.onError,
            onChange: { value in
                received.onChange(value)
                do { try writer.close() } catch { received.onError(error) }
            })
        #expect((try await received.error() as? DatabaseError)?.message == "Connection is closed")
        #expect(received.values == [0] && received.errors.count == 1)
        cancellable.cancel()
    }

    /// Inside an access of the queue, the first value can't be fetched on this thread.
    @MainActor @Test func immediateInsideAnAccess() throws {
        let queue = try DatabaseQueue()
        try queue.makeTable()
        var errors: [any Error] = []
        let cancellable = try queue.write { _ in
            ValueObservationTests.counting().start(
                in: queue, scheduling: .immediate, onError: { errors.append($0) },
                onChange: { _ in Issue.record("uncommitted data must not be seen") })
        }
        #expect((errors.first as? DatabaseError)?.resultCode == .SQLITE_MISUSE)
        #expect(errors.count == 1 && queue.broker.observationCount == 0)
        cancellable.cancel()
    }
}
