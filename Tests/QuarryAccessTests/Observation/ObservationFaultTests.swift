import Dispatch
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Synchronization
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// A disk that fails, and readers that can't be opened: the observation goes on, or ends with that error once. The pool
/// works afterwards.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct ObservationFaultTests {
    let folder: TemporaryFolder
    let faults: FaultVFS

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        faults = try FaultVFS()
    }

    private func pool() throws -> DatabasePool {
        var configuration = Configuration()
        configuration.vfs = faults.name
        // One batch at a time: a fault is met by the fetch that asks for it.
        configuration.maximumReaderCount = 1
        // A look for others' commits would meet the fault instead.
        configuration.otherProcesses = .ignored
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        try pool.makeTable()
        try pool.write { db in try db.execute(sql: "CREATE TABLE other (a)") }
        // A stuck clock would delay fetches without end.
        pool.broker.journal.settlingTime.store(.max / 4, ordering: .relaxed)
        return pool
    }

    /// The pool can be written, read, and observed anew.
    private func expectHealthy(_ pool: DatabasePool) async throws {
        let count = try await pool.read { db in try db.count() }
        let received = Received<Int>()
        let cancellable = ValueObservationTests.counting().start(
            in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange)
        #expect(try await received.value(1) == [count])
        try pool.add(1)
        #expect(try await received.value(2) == [count, count + 1])
        cancellable.cancel()
        #expect(received.errors.isEmpty && pool.broker.observationCount == 0)
        try pool.close()
    }

    /// The fetches before the one whose disk fails.
    @Test(arguments: 0..<3) func theDiskFailsInAFetch(_ successes: Int) async throws {
        let pool = try pool()
        let (received, other) = (Received<Int>(), Received<Int>())
        let faults = faults
        let fetches = Recorded(0)
        let failing = ValueObservation.tracking(region: DatabaseRegion.t) { db in
            let number = fetches.update { count in
                count += 1
                return count
            }
            guard number > successes else { return try db.count() }
            faults.arm(.read, nth: 1, andAllAfter: true)
            defer { faults.disarm() }
            // No page of this table is in the cache.
            return try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t\(number)") ?? -1
        }
        try await pool.write { db in
            for number in 1...3 {
                try db.execute(sql: "CREATE TABLE t\(number) (a); INSERT INTO t\(number) VALUES (1)")
            }
        }
        let cancellables = [
            failing.start(in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange),
            ValueObservationTests.counting().start(
                in: pool, scheduling: .task, onError: other.onError, onChange: other.onChange),
        ]
        for count in 0..<successes {
            _ = try await received.value(count + 1)
            _ = try await other.value(count + 1)
            try pool.add(count)
        }
        let error = try #require(try await received.error() as? DatabaseError)
        #expect(error.resultCode == .SQLITE_IOERR)
        // The error ends the transaction of the batch. The other observation is fetched in another one.
        try await until("the other observation is current") {
            other.values.last == successes || !other.errors.isEmpty
        }
        try #require(other.errors.isEmpty)
        try pool.add(successes)
        try await until("the other observation goes on") { other.values.last == successes + 1 }
        #expect(received.values == Array(0..<successes) && received.errors.count == 1 && other.errors.isEmpty)
        #expect(pool.broker.observationCount == 1)
        for cancellable in cancellables { cancellable.cancel() }
        try await expectHealthy(pool)
    }

    /// Each write and each sync of a transaction fails once. The transaction then has an error and no value, or has
    /// none and a value.
    @Test(arguments: [ResultCode.SQLITE_FULL, .SQLITE_IOERR]) func theDiskFailsInACommit(_ code: ResultCode)
        async throws
    {
        let pool = try pool()
        let received = Received<Int>()
        let cancellable = ValueObservationTests.counting().start(
            in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        var (committed, failures) = (0, 0)
        for nth in 1...100 {
            faults.arm([.write, .sync, .truncate], nth: nth, code: code)
            do {
                try pool.add(nth)
                committed += 1
            } catch let error as DatabaseError {
                #expect(error.resultCode == code)
                failures += 1
            }
            let hasFailed = faults.failures > 0
            faults.disarm()
            // A new observation doesn't wait for a commit that has failed.
            let first = Received<Int>()
            let new = ValueObservationTests.counting().start(
                in: pool, scheduling: .task, onError: first.onError, onChange: first.onChange)
            #expect(try await first.value(1).first == committed)
            new.cancel()
            try await until("the value after commit \(committed)") { received.values.last == committed }
            if !hasFailed { break }
        }
        #expect(failures > 0 && received.values == Array(0...committed) && received.errors.isEmpty)
        cancellable.cancel()
        try await expectHealthy(pool)
    }

    @Test func noReaderCanBeOpened() async throws {
        let pool = try pool()
        try pool.close()
        let reopened = try DatabasePool(path: pool.path, configuration: pool.configuration)
        let received = [Received<Int>(), Received<Int>()]
        faults.arm(.open, nth: 1, andAllAfter: true)
        let cancellables = received.map { received in
            ValueObservationTests.counting().start(
                in: reopened, scheduling: .task, onError: received.onError, onChange: received.onChange)
        }
        for received in received {
            let error = try #require(try await received.error() as? DatabaseError)
            #expect(error.resultCode == .SQLITE_CANTOPEN)
        }
        faults.disarm()
        try reopened.add(1)
        #expect(received.allSatisfy { $0.values.isEmpty && $0.errors.count == 1 })
        #expect(reopened.broker.observationCount == 0)
        for cancellable in cancellables { cancellable.cancel() }
        try await expectHealthy(reopened)
    }

    /// The readers are gone when a commit causes the next fetch.
    @Test func noReaderCanBeOpenedAgain() async throws {
        let pool = try pool()
        let received = Received<Int>()
        let cancellable = ValueObservationTests.counting().start(
            in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        pool.invalidateReadOnlyConnections()
        faults.arm(.open, nth: 1, andAllAfter: true)
        try pool.add(1)
        let error = try #require(try await received.error() as? DatabaseError)
        #expect(error.resultCode == .SQLITE_CANTOPEN)
        faults.disarm()
        #expect(received.values == [0] && received.errors.count == 1)
        cancellable.cancel()
        try await expectHealthy(pool)
    }

    /// A reader that is busy when it is opened is asked for again.
    @Test func aReaderIsBusyWhenItIsOpened() async throws {
        let pool = try pool()
        let received = Received<Int>()
        let cancellable = ValueObservationTests.counting().start(
            in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        pool.invalidateReadOnlyConnections()
        faults.arm(.open, nth: 1, code: .SQLITE_BUSY)
        try pool.add(1)
        #expect(try await received.value(2) == [0, 1])
        #expect(received.errors.isEmpty && faults.failures == 1)
        faults.disarm()
        cancellable.cancel()
        try await expectHealthy(pool)
    }

    /// The transaction of a batch can't begin.
    @Test func theDiskFailsBeforeTheFetch() async throws {
        let pool = try pool()
        let received = Received<Int>()
        let fetches = Recorded(0)
        let cancellable = ValueObservation.tracking(region: DatabaseRegion.t) { db in
            fetches.update { $0 += 1 }
            return try db.count()
        }.start(in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        faults.arm(.sharedMemory, nth: 1, code: .SQLITE_IOERR, andAllAfter: true)
        #expect(throws: DatabaseError.self) { try pool.add(2) }
        // No commit, so no fetch.
        #expect(fetches.value == 1)
        pool.broker.journal.commitDidHappen(DatabaseChanges(.t, [:]))
        let error = try #require(try await received.error() as? DatabaseError)
        #expect(error.resultCode == .SQLITE_IOERR)
        faults.disarm()
        #expect(received.values == [0] && received.errors.count == 1 && fetches.value == 1)
        cancellable.cancel()
        try await expectHealthy(pool)
    }
}
