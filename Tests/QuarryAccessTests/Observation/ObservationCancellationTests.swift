import Dispatch
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// No callback begins after `cancel`, and everything is released, at each step.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct ObservationCancellationTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    private func pool() throws -> DatabasePool {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable()
        return pool
    }

    /// An observation whose closures keep an object that reports its release.
    private func start(
        in reader: any DatabaseReader, _ scheduler: some ValueObservationScheduler, _ received: Received<Int>,
        released: Step, fetch: @escaping @Sendable () throws -> Void = {}
    ) -> AnyDatabaseCancellable {
        let observer = ReleaseObserver { released.reach() }
        return ValueObservation.tracking(region: DatabaseRegion.t) { db in
            try withExtendedLifetime(observer) { try fetch() }
            return try db.count()
        }.start(
            in: reader, scheduling: scheduler, onError: received.onError,
            onChange: { value in withExtendedLifetime(observer) { received.onChange(value) } })
    }

    @Test func beforeTheFetch() async throws {
        let queue = try DatabaseQueue()
        try queue.makeTable()
        let (received, released) = (Received<Int>(), Step("the closures are released"))
        let (isBusy, mayEnd) = (Step("the connection is in use"), Step("the access may end"))
        let access = OwnThread {
            try queue.read { _ in
                isBusy.reach()
                try mayEnd.wait()
            }
        }
        try await isBusy.reached()
        let cancellable = start(in: queue, .task, received, released: released)
        cancellable.cancel()
        // The closures don't wait for the connection.
        try await released.reached()
        mayEnd.reach()
        try await access.value
        try await until("the line is empty") { queue.runner.group.waiterCount == 0 }
        #expect(received.values.isEmpty && received.errors.isEmpty)
        #expect(queue.broker.observationCount == 0)
    }

    @Test func inTheFetch() async throws {
        let pool = try pool()
        let (received, released) = (Received<Int>(), Step("the closures are released"))
        let (isFetching, mayFetch) = (Step("it fetches"), Step("the fetch may go on"))
        let scheduler = ManualScheduler()
        let cancellable = start(in: pool, scheduler, received, released: released) {
            isFetching.reach()
            try mayFetch.wait()
        }
        try await isFetching.reached()
        cancellable.cancel()
        mayFetch.reach()
        try await released.reached()
        #expect(received.values.isEmpty && scheduler.count == 0)
    }

    @Test func betweenFetchAndCallback() async throws {
        let pool = try pool()
        let (received, released) = (Received<Int>(), Step("the closures are released"))
        let scheduler = ManualScheduler()
        let cancellable = start(in: pool, scheduler, received, released: released)
        try await until("a value waits") { scheduler.count == 1 }
        cancellable.cancel()
        try await released.reached()
        try await scheduler.runNext()
        #expect(received.values.isEmpty)
    }

    @Test func inTheCallback() async throws {
        let pool = try pool()
        let (isCalled, mayReturn) = (Step("the callback runs"), Step("the callback may return"))
        let (returned, released) = (Step("the callback has returned"), Step("the closures are released"))
        let values = Recorded<[Int]>([])
        let observer = ReleaseObserver { released.reach() }
        let cancellable = ValueObservationTests.counting().start(
            in: pool, scheduling: .async(onQueue: .global()), onError: { _ in },
            onChange: { [observer] value in
                withExtendedLifetime(observer) {
                    values.update { $0.append(value) }
                    isCalled.reach()
                    try? mayReturn.wait()
                    returned.reach()
                }
            })
        try await isCalled.reached()
        try pool.add(1)
        cancellable.cancel()
        try pool.add(2)
        mayReturn.reach()
        try await returned.reached()
        #expect(values.value == [0])
        _ = consume observer
        try await released.reached()
    }

    @Test func byTheCallbackItself() async throws {
        let pool = try pool()
        let box = Recorded<AnyDatabaseCancellable?>(nil)
        let values = Recorded<[Int]>([])
        let scheduler = ManualScheduler()
        let cancellable = ValueObservationTests.counting().start(
            in: pool, scheduling: scheduler, onError: { _ in },
            onChange: { value in
                values.update { $0.append(value) }
                box.value?.cancel()
            })
        box.update { $0 = cancellable }
        try await scheduler.runNext()
        try pool.add(1)
        #expect(values.value == [0] && scheduler.count == 0)
        #expect(pool.broker.observationCount == 0)
    }

    @Test func byReleasingTheCancellable() async throws {
        let pool = try pool()
        let (received, released) = (Received<Int>(), Step("the closures are released"))
        var cancellable: AnyDatabaseCancellable? = start(in: pool, .task, received, released: released)
        _ = try await received.value(1)
        withExtendedLifetime(cancellable) {}
        cancellable = nil
        try await released.reached()
        #expect(pool.broker.observationCount == 0)
    }

    @Test func byBreakingOutOfALoop() async throws {
        let pool = try pool()
        for try await value in ValueObservationTests.counting().values(in: pool) {
            #expect(value == 0)
            break
        }
        try await until("the observation has ended") { pool.broker.observationCount == 0 }
    }

    @Test func byCancellingTheTaskOfALoop() async throws {
        let pool = try pool()
        let hasValue = Step("the loop has a value")
        let task = Task {
            for try await _ in ValueObservationTests.counting().values(in: pool) { hasValue.reach() }
        }
        try await hasValue.reached()
        task.cancel()
        try await task.value
        #expect(pool.broker.observationCount == 0)
    }

    @Test func byDroppingTheIterator() async throws {
        let pool = try pool()
        do {
            var iterator = ValueObservationTests.counting().values(in: pool).makeAsyncIterator()
            #expect(try await iterator.next() == 0)
            #expect(pool.broker.observationCount == 1)
        }
        try await until("the observation has ended") { pool.broker.observationCount == 0 }
    }

    @Test func tenThousandLeaveNothing() async throws {
        let pool = try pool()
        let released = Recorded(0)
        for _ in 0..<10_000 {
            let observer = ReleaseObserver { released.update { $0 += 1 } }
            let cancellable = ValueObservation.tracking(region: DatabaseRegion.t) { db in
                withExtendedLifetime(observer) { 1 }
            }.start(in: pool, scheduling: .task, onError: { _ in }, onChange: { _ in })
            cancellable.cancel()
        }
        try await until("all closures are released") { released.value == 10_000 }
        #expect(pool.broker.observationCount == 0)
    }
}
