import Dispatch
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// The database is closed, or the task of a loop is cancelled, at each step of an observation: the end comes once, and
/// nothing follows it.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct ObservationClosingTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    private func pool() throws -> DatabasePool {
        var configuration = Configuration()
        configuration.maximumReaderCount = 1
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        try pool.makeTable()
        return pool
    }

    /// The steps at which the observation is ended.
    enum Moment: CaseIterable, Sendable {
        /// The fetch waits for a reader.
        case beforeTheFetch
        case inTheFetch
        /// The value waits for its scheduler.
        case beforeTheCallback
        case inTheCallback
    }

    /// An observation that can be stopped at its moment.
    private struct Stop: Sendable {
        let moment: Moment
        /// The first value, or the second.
        let number: Int
        let isThere = Step("the observation is at its moment")
        let mayGoOn = Step("it may go on")
        let released = Step("the closures are released")
        let received = Received<Int>()
        let scheduler = ManualScheduler()

        func start(in pool: DatabasePool) -> AnyDatabaseCancellable {
            let observer = ReleaseObserver { released.reach() }
            let fetches = Recorded(0)
            let observation = ValueObservation.tracking(region: DatabaseRegion.t) { [observer] db in
                let fetch = fetches.update { count in
                    count += 1
                    return count
                }
                return try withExtendedLifetime(observer) {
                    if moment == .inTheFetch, fetch == number {
                        isThere.reach()
                        try mayGoOn.wait()
                    }
                    return try db.count()
                }
            }
            let onChange: @Sendable (Int) -> Void = { [observer] value in
                withExtendedLifetime(observer) {
                    received.onChange(value)
                    guard moment == .inTheCallback, received.values.count == number else { return }
                    isThere.reach()
                    try? mayGoOn.wait()
                }
            }
            return moment == .beforeTheCallback
                ? observation.start(in: pool, scheduling: scheduler, onError: received.onError, onChange: onChange)
                : observation.start(
                    in: pool, scheduling: .async(onQueue: .global()), onError: received.onError, onChange: onChange)
        }

        /// Waits until the observation is at its moment.
        func reached(_ pool: DatabasePool) async throws {
            switch moment {
            case .beforeTheFetch: try await until("the fetch waits") { pool.readers.group.waiterCount == 1 }
            case .inTheFetch, .inTheCallback: try await isThere.reached()
            case .beforeTheCallback: try await until("the value waits") { scheduler.count == 1 }
            }
        }
    }

    @Test(arguments: Moment.allCases, [1, 2]) func closing(_ moment: Moment, _ number: Int) async throws {
        let pool = try pool()
        let stop = Stop(moment: moment, number: number)
        var holder: OwnThread<Void>?
        if moment == .beforeTheFetch, number == 1 { holder = try await hold(pool, stop.mayGoOn) }
        let cancellable = stop.start(in: pool)
        if number == 2 {
            if moment == .beforeTheCallback { try await stop.scheduler.runNext() }
            _ = try await stop.received.value(1)
            if moment == .beforeTheFetch { holder = try await hold(pool, stop.mayGoOn) }
            try pool.add(1)
        }
        try await stop.reached(pool)
        let closer = OwnThread { try pool.close() }
        switch moment {
        case .beforeTheFetch: try await until("closing waits") { pool.readers.group.waiterCount == 2 }
        case .inTheFetch: try await until("closing waits") { pool.readers.group.waiterCount == 1 }
        case .beforeTheCallback, .inTheCallback: try await closer.value
        }
        stop.mayGoOn.reach()
        try await closer.value
        try await holder?.value
        // A value that was fetched is received, and then the error.
        if moment == .beforeTheCallback {
            for _ in 0..<2 { try await stop.scheduler.runNext() }
        }
        let error = try #require(try await stop.received.error() as? DatabaseError)
        #expect(error.message == "Connection is closed")
        try await until("the observation has ended") { pool.broker.observationCount == 0 }
        // The error has released the callbacks: none can follow.
        try await stop.released.reached()
        let lastValue = moment == .beforeTheFetch ? number - 1 : number
        #expect(stop.received.errors.count == 1)
        #expect(stop.received.values == Array(0..<lastValue))
        cancellable.cancel()
    }

    /// Has the only reader until it may go on.
    private func hold(_ pool: DatabasePool, _ mayGoOn: Step) async throws -> OwnThread<Void> {
        let isHeld = Step("the reader is in use")
        let holder = OwnThread {
            try pool.read { _ in
                isHeld.reach()
                try mayGoOn.wait()
            }
        }
        try await isHeld.reached()
        return holder
    }

    @Test(arguments: Moment.allCases) func cancellingTheTask(_ moment: Moment) async throws {
        let pool = try pool()
        let stop = Stop(moment: moment, number: 1)
        let holder = moment == .beforeTheFetch ? try await hold(pool, stop.mayGoOn) : nil
        let task = loop(pool, stop)
        try await stop.reached(pool)
        task.cancel()
        // The end of the loop waits for no connection, and has no error.
        if moment != .inTheCallback { try await task.value }
        stop.mayGoOn.reach()
        try await task.value
        try await holder?.value
        try await until("the observation has ended") { pool.broker.observationCount == 0 }
        if moment == .beforeTheCallback { try await stop.scheduler.runNext() }
        #expect(stop.received.values == (moment == .inTheCallback ? [0] : []))
        try await stop.released.reached()
        try pool.add(1)
        #expect(try await pool.read { db in try db.count() } == 1)
        try await onOwnThread { try pool.close() }
    }

    /// A task that loops over the values of an observation.
    private func loop(_ pool: DatabasePool, _ stop: Stop) -> Task<Void, any Error> {
        let observer = ReleaseObserver { stop.released.reach() }
        let observation = ValueObservation.tracking(region: DatabaseRegion.t) { [observer] db in
            try withExtendedLifetime(observer) {
                if stop.moment == .inTheFetch {
                    stop.isThere.reach()
                    try stop.mayGoOn.wait()
                }
                return try db.count()
            }
        }
        return Task {
            let values =
                stop.moment == .beforeTheCallback
                ? observation.values(in: pool, scheduling: stop.scheduler) : observation.values(in: pool)
            for try await value in values {
                stop.received.onChange(value)
                stop.isThere.reach()
                try await stop.mayGoOn.reached()
            }
        }
    }
}
