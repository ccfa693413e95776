import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// `map`, `removeDuplicates`, events, and the paces.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct ObservationOperatorTests {
    let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.makeTable()
    }

    @Test func map() async throws {
        let received = Received<String>()
        let cancellable = ValueObservationTests.counting().map { "\($0) rows" }.start(
            in: queue, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try queue.add(1)
        #expect(try await received.value(2) == ["0 rows", "1 rows"])
        cancellable.cancel()
    }

    /// The transformation has no connection: others use it meanwhile.
    @Test func mapRunsOutsideOfTheAccess() async throws {
        let received = Received<Int>()
        let queue = queue
        let cancellable = ValueObservationTests.counting().map { count in
            try queue.read { db in try db.count() } * 10 + count
        }.start(in: queue, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try queue.add(1)
        #expect(try await received.value(2).last == 11)
        cancellable.cancel()
    }

    @Test func anErrorOfMapEndsTheObservation() async throws {
        struct Failure: Error {}
        let received = Received<Int>()
        let cancellable = ValueObservationTests.counting().map { (count: Int) throws -> Int in
            if count == 1 { throw Failure() }
            return count
        }.start(in: queue, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try queue.add(1)
        #expect(try await received.error() is Failure)
        #expect(queue.broker.observationCount == 0)
        cancellable.cancel()
    }

    @Test func removeDuplicates() async throws {
        let (plain, received, parity) = (Received<Int>(), Received<Int>(), Received<Int>())
        let observation = ValueObservationTests.counting().map { $0 / 2 }
        let cancellables = [
            observation.start(in: queue, scheduling: .task, onError: plain.onError, onChange: plain.onChange),
            observation.removeDuplicates().start(
                in: queue, scheduling: .task, onError: received.onError, onChange: received.onChange),
            observation.removeDuplicates { $0 % 2 == $1 % 2 }.start(
                in: queue, scheduling: .task, onError: parity.onError, onChange: parity.onChange),
        ]
        for count in 1...6 {
            _ = try await plain.value(count)
            try queue.add(count)
        }
        #expect(try await plain.value(7) == [0, 0, 1, 1, 2, 2, 3])
        #expect(try await received.value(4) == [0, 1, 2, 3])
        #expect(try await parity.value(4) == [0, 1, 2, 3])
        for cancellable in cancellables { cancellable.cancel() }
    }

    /// Each start has its own memory of the value before.
    @Test func aSecondStartHasItsOwnReducer() async throws {
        let observation = ValueObservationTests.counting().removeDuplicates()
        for _ in 0..<2 {
            let received = Received<Int>()
            let cancellable = observation.start(
                in: queue, scheduling: .task, onError: received.onError, onChange: received.onChange)
            #expect(try await received.value(1) == [0])
            cancellable.cancel()
        }
    }

    @Test func events() async throws {
        let log = Recorded<[String]>([])
        let received = Received<Int>()
        let observation = ValueObservationTests.counting().handleEvents(
            willStart: { log.update { $0.append("start") } }, willFetch: { log.update { $0.append("fetch") } },
            willTrackRegion: { region in log.update { $0.append("region \(region)") } },
            databaseDidChange: { log.update { $0.append("change") } },
            didReceiveValue: { value in log.update { $0.append("value \(value)") } },
            didFail: { _ in log.update { $0.append("failure") } }, didCancel: { log.update { $0.append("cancel") } })
        let cancellable = observation.start(
            in: queue, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try queue.add(1)
        _ = try await received.value(2)
        cancellable.cancel()
        cancellable.cancel()
        #expect(
            log.value == ["start", "fetch", "region t(*)", "value 0", "change", "fetch", "value 1", "cancel"])
    }

    @Test func printing() async throws {
        struct Lines: TextOutputStream {
            let text: Recorded<[String]>
            func write(_ string: String) { text.update { $0.append(string) } }
        }
        let text = Recorded<[String]>([])
        let received = Received<Int>()
        let cancellable = ValueObservation.tracking(region: DatabaseRegion.t) { db -> Int in
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "broken")
        }.print("t", to: Lines(text: text)).start(
            in: queue, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.error()
        #expect(text.value == ["t: start", "t: fetch", "t: failure: SQLite error 11: broken"])
        cancellable.cancel()
    }

    // MARK: - Paces

    @Test func debounce() async throws {
        let clock = ManualClock()
        let received = Received<Int>()
        let cancellable = ValueObservationTests.counting().debounce(for: .seconds(1), clock: clock).start(
            in: queue, scheduling: .task, onError: received.onError, onChange: received.onChange)
        #expect(try await received.value(1) == [0])
        for value in 1...5 {
            try queue.add(value)
            try await until("the timer runs") { clock.sleeperCount == 1 }
            clock.advance(by: .milliseconds(600))
        }
        // Each change has begun the second again.
        #expect(received.values == [0])
        try await until("the timer runs") { clock.sleeperCount == 1 }
        clock.advance(by: .milliseconds(400))
        #expect(try await received.value(2) == [0, 5])
        cancellable.cancel()
    }

    @Test func throttle() async throws {
        let clock = ManualClock()
        let received = Received<Int>()
        let cancellable = ValueObservationTests.counting().throttle(for: .seconds(1), clock: clock).start(
            in: queue, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try await until("the timer runs") { clock.sleeperCount == 1 }
        for value in 1...5 { try queue.add(value) }
        clock.advance(by: .milliseconds(999))
        #expect(received.values == [0])
        clock.advance(by: .milliseconds(1))
        #expect(try await received.value(2) == [0, 5])
        try await until("the timer runs") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        try await until("the timer has ended") { clock.sleeperCount == 0 }
        cancellable.cancel()
    }

    @Test func throttleWithoutTheLatest() async throws {
        let clock = ManualClock()
        let received = Received<Int>()
        let observation = ValueObservationTests.counting().throttle(for: .seconds(1), clock: clock, latest: false)
        let cancellable = observation.start(
            in: queue, scheduling: .task, onError: received.onError, onChange: received.onChange)
        for count in [1, 2] {
            _ = try await received.value(count)
            try await until("the timer runs") { clock.sleeperCount == 1 }
            try queue.add(count)
            clock.advance(by: .seconds(1))
            // The timer's task ends the rest some time later: until then, a change is forgotten.
            var value = 100
            while received.values.count == count {
                try queue.add(value)
                value += 1
                await Task.yield()
            }
        }
        #expect(received.values.first == 0)
        cancellable.cancel()
    }

    @Test func cancellingEndsTheTimer() async throws {
        let clock = ManualClock()
        let received = Received<Int>()
        let cancellable = ValueObservationTests.counting().throttle(for: .seconds(1), clock: clock).start(
            in: queue, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try await until("the timer runs") { clock.sleeperCount == 1 }
        cancellable.cancel()
        try await until("the timer has ended") { clock.sleeperCount == 0 }
    }
}
