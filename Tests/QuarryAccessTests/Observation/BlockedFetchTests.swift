import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// A fetch that doesn't return for long: what goes on meanwhile, and what waits.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct BlockedFetchTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    /// A pool that runs two batches at a time.
    private func pool() throws -> DatabasePool {
        var configuration = Configuration()
        configuration.maximumReaderCount = 4
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        try pool.makeTable()
        return pool
    }

    /// An observation whose first fetch is blocked.
    private struct Blocked: Sendable {
        let isFetching = Step("the fetch is blocked")
        let mayFetch = Step("the fetch may go on")
        let received = Received<Int>()

        func start(in reader: any DatabaseReader) -> AnyDatabaseCancellable {
            ValueObservation.tracking(region: DatabaseRegion.t) { db in
                let count = try db.count()
                isFetching.reach()
                try mayFetch.wait()
                return count
            }.start(in: reader, scheduling: .task, onError: received.onError, onChange: received.onChange)
        }
    }

    @Test func othersGoOn() async throws {
        let pool = try pool()
        let blocked = Blocked()
        var cancellables = [blocked.start(in: pool)]
        try await blocked.isFetching.reached()
        let others = (0..<3).map { _ in Received<Int>() }
        for received in others {
            cancellables.append(
                ValueObservationTests.counting().start(
                    in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange))
        }
        for count in 0...5 {
            for received in others { try await until("value \(count)") { received.values.last == count } }
            try pool.add(count)
        }
        #expect(try await pool.read { db in try db.count() } == 6)
        #expect(blocked.received.values.isEmpty)
        blocked.mayFetch.reach()
        // The commits during the fetch are followed by one more.
        #expect(try await blocked.received.value(2) == [0, 6])
        for cancellable in cancellables { cancellable.cancel() }
    }

    /// Blocked fetches take all batches: other observations wait, but no access of the program.
    @Test func allBatchesAreBlocked() async throws {
        let pool = try pool()
        let blocked = [Blocked(), Blocked()]
        var cancellables: [AnyDatabaseCancellable] = []
        for blocked in blocked {
            cancellables.append(blocked.start(in: pool))
            try await blocked.isFetching.reached()
        }
        let received = Received<Int>()
        cancellables.append(
            ValueObservationTests.counting().start(
                in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange))
        try pool.add(1)
        try await pool.write { db in try db.insert(2) }
        #expect(try await pool.read { db in try db.count() } == 2)
        #expect(received.values.isEmpty)
        blocked[0].mayFetch.reach()
        #expect(try await received.value(1) == [2])
        #expect(try await blocked[0].received.value(2) == [0, 2])
        #expect(blocked[1].received.values.isEmpty)
        blocked[1].mayFetch.reach()
        #expect(try await blocked[1].received.value(2) == [0, 2])
        for cancellable in cancellables { cancellable.cancel() }
    }

    /// Closing waits for the fetch. Then each observation ends with one error.
    @Test func thePoolCloses() async throws {
        let pool = try pool()
        let (blocked, current) = (Blocked(), Received<Int>())
        var cancellables = [
            ValueObservationTests.counting().start(
                in: pool, scheduling: .task, onError: current.onError, onChange: current.onChange)
        ]
        // Otherwise, one batch could have both.
        _ = try await current.value(1)
        cancellables.append(blocked.start(in: pool))
        try await blocked.isFetching.reached()
        let closer = OwnThread { try pool.close() }
        try await until("closing waits") { pool.readers.group.waiterCount == 1 }
        // An observation that is started now can't be fetched any more.
        let late = Received<Int>()
        let cancellable = ValueObservationTests.counting().start(
            in: pool, scheduling: .task, onError: late.onError, onChange: late.onChange)
        blocked.mayFetch.reach()
        try await closer.value
        for received in [blocked.received, current, late] {
            let error = try #require(try await received.error() as? DatabaseError)
            #expect(error.message == "Connection is closed" && received.errors.count == 1)
        }
        #expect(blocked.received.values == [0])
        #expect(current.values == [0])
        #expect(late.values.isEmpty)
        #expect(pool.broker.observationCount == 0)
        for cancellable in cancellables + [cancellable] { cancellable.cancel() }
    }

    /// A cancelled observation is gone at once. Its fetch ends when its closure returns, and its batch goes on.
    @Test func theObservationIsCancelled() async throws {
        let pool = try pool()
        let blocked = Blocked()
        let cancellable = blocked.start(in: pool)
        try await blocked.isFetching.reached()
        cancellable.cancel()
        #expect(pool.broker.observationCount == 0)
        let received = Received<Int>()
        let other = ValueObservationTests.counting().start(
            in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange)
        #expect(try await received.value(1) == [0])
        blocked.mayFetch.reach()
        try await until("the readers are idle") { pool.readers.group.waiterCount == 0 }
        try pool.add(1)
        #expect(try await received.value(2) == [0, 1])
        #expect(blocked.received.values.isEmpty && blocked.received.errors.isEmpty)
        other.cancel()
    }

    /// The connection of a queue is in use: its accesses wait for the fetch.
    @Test func aQueueWaits() async throws {
        let queue = try DatabaseQueue()
        try queue.makeTable()
        let blocked = Blocked()
        let cancellable = blocked.start(in: queue)
        try await blocked.isFetching.reached()
        let write = Task { try await queue.write { db in try db.insert(1) } }
        try await until("the write waits") { queue.runner.group.waiterCount == 1 }
        blocked.mayFetch.reach()
        try await write.value
        #expect(try await blocked.received.value(2) == [0, 1])
        cancellable.cancel()
    }
}
