import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// One observation for several subscribers.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct SharedValueObservationTests {
    let queue: DatabaseQueue
    let fetches = Recorded(0)

    init() throws {
        queue = try DatabaseQueue()
        try queue.makeTable()
    }

    private func counting() -> ValueObservation<ValueReducers.Fetch<Int>> {
        .tracking(region: DatabaseRegion.t) { [fetches] db in
            fetches.update { $0 += 1 }
            return try db.count()
        }
    }

    @Test(arguments: [SharedValueObservationExtent.whileObserved, .observationLifetime])
    func subscribersShareFetches(_ extent: SharedValueObservationExtent) async throws {
        let shared = counting().shared(in: queue, scheduling: .task, extent: extent)
        #expect(queue.broker.observationCount == 0)
        let (first, second) = (Received<Int>(), Received<Int>())
        let firstCancellable = shared.start(onError: first.onError, onChange: first.onChange)
        _ = try await first.value(1)
        // A later subscriber receives the last value.
        let secondCancellable = shared.start(onError: second.onError, onChange: second.onChange)
        _ = try await second.value(1)
        #expect(fetches.value == 1)
        try queue.add(1)
        #expect(try await first.value(2) == [0, 1])
        #expect(try await second.value(2) == [0, 1])
        #expect(fetches.value == 2 && queue.broker.observationCount == 1)
        firstCancellable.cancel()
        try queue.add(2)
        #expect(try await second.value(3) == [0, 1, 2])
        #expect(first.values == [0, 1])
        secondCancellable.cancel()
    }

    @Test func itRunsWhileObserved() async throws {
        let shared = counting().shared(in: queue, scheduling: .task)
        for round in 1...3 {
            let received = Received<Int>()
            let cancellable = shared.start(onError: received.onError, onChange: received.onChange)
            #expect(try await received.value(1) == [round - 1])
            cancellable.cancel()
            #expect(queue.broker.observationCount == 0)
            try queue.add(round)
        }
        #expect(fetches.value == 3)
    }

    @Test func itRunsForItsLifetime() async throws {
        var shared: SharedValueObservation<Int>? = counting().shared(
            in: queue, scheduling: .task, extent: .observationLifetime)
        for _ in 1...3 {
            let received = Received<Int>()
            let cancellable = shared?.start(onError: received.onError, onChange: received.onChange)
            _ = try await received.value(1)
            cancellable?.cancel()
            #expect(queue.broker.observationCount == 1)
        }
        #expect(fetches.value == 1)
        shared = nil
        #expect(queue.broker.observationCount == 0)
    }

    @Test func aSubscriberKeepsItAlive() async throws {
        let received = Received<Int>()
        let cancellable = counting().shared(in: queue, scheduling: .task, extent: .observationLifetime)
            .start(onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try queue.add(1)
        #expect(try await received.value(2) == [0, 1])
        cancellable.cancel()
        #expect(queue.broker.observationCount == 0)
    }

    @Test func anErrorStartsItAgainWhileObserved() async throws {
        let shared = failingOnce().shared(in: queue, scheduling: .task)
        let (first, second) = (Received<Int>(), Received<Int>())
        let firstCancellable = shared.start(onError: first.onError, onChange: first.onChange)
        _ = try await first.error()
        let secondCancellable = shared.start(onError: second.onError, onChange: second.onChange)
        #expect(try await second.value(1) == [2])
        #expect(first.values.isEmpty && first.errors.count == 1)
        firstCancellable.cancel()
        secondCancellable.cancel()
    }

    @Test func anErrorIsReceivedAgainInItsLifetime() async throws {
        let shared = failingOnce().shared(in: queue, scheduling: .task, extent: .observationLifetime)
        for _ in 1...2 {
            let received = Received<Int>()
            let cancellable = shared.start(onError: received.onError, onChange: received.onChange)
            _ = try await received.error()
            #expect(received.values.isEmpty)
            cancellable.cancel()
        }
        #expect(fetches.value == 1)
    }

    private func failingOnce() -> ValueObservation<ValueReducers.Fetch<Int>> {
        .tracking(region: DatabaseRegion.t) { [fetches] _ in
            let number = fetches.update { fetches in
                fetches += 1
                return fetches
            }
            if number == 1 { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
            return number
        }
    }

    /// A callback subscribes.
    @Test func subscribingInACallback() async throws {
        let shared = counting().shared(in: queue, scheduling: .task)
        let inner = Received<Int>()
        let kept = Recorded<AnyDatabaseCancellable?>(nil)
        let outer = shared.start(
            onError: { _ in },
            onChange: { _ in
                let cancellable = shared.start(onError: inner.onError, onChange: inner.onChange)
                kept.update { $0 = cancellable }
            })
        #expect(try await inner.value(1) == [0])
        #expect(fetches.value == 1)
        outer.cancel()
        kept.update { $0 = nil }
    }

    /// A slow subscriber has one waiting value; the other receives all.
    @Test func aSlowSubscriberSkipsValues() async throws {
        let scheduler = ManualScheduler()
        let shared = counting().shared(in: queue, scheduling: scheduler)
        let slow = Received<Int>()
        let cancellable = shared.start(onError: slow.onError, onChange: slow.onChange)
        let values = shared.values(bufferingPolicy: .unbounded)
        var iterator = values.makeAsyncIterator()
        #expect(try await iterator.next() == 0)
        for value in 1...5 {
            try queue.change { db in try db.insert(value) }
            #expect(try await iterator.next() == value)
        }
        try await scheduler.runNext()
        #expect(slow.values == [5] && scheduler.count == 0)
        cancellable.cancel()
    }

    @Test func immediate() async throws {
        let shared = counting().shared(in: queue, scheduling: .immediate)
        try await onOwnThread { [fetches] in
            let (first, second) = (Received<Int>(), Received<Int>())
            let cancellables = [
                shared.start(onError: first.onError, onChange: first.onChange),
                shared.start(onError: second.onError, onChange: second.onChange),
            ]
            #expect(first.values == [0] && second.values == [0] && fetches.value == 1)
            for cancellable in cancellables { cancellable.cancel() }
        }
    }

    @Test func aSequence() async throws {
        let shared = counting().shared(in: queue, scheduling: .task)
        for try await value in shared.values() {
            if value == 2 { break }
            try queue.change { db in try db.insert(value) }
        }
        try await until("the observation has ended") { queue.broker.observationCount == 0 }
    }
}
