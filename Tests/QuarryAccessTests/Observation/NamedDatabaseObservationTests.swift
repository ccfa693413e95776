import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// The queues of one named database in memory share their content, and what is observed.
@Suite struct NamedDatabaseObservationTests {
    @Test func aWriteOfAnotherQueueIsObserved() async throws {
        let name = "observed by two queues"
        let first = try DatabaseQueue(named: name)
        let second = try DatabaseQueue(named: name)
        try first.makeTable()
        let received = Received<Int>()
        let cancellable = ValueObservation.tracking { db in try db.count() }.start(
            in: first, scheduling: .task, onError: received.onError, onChange: received.onChange)
        #expect(try await received.value(1) == [0])
        try second.add(1)
        #expect(try await received.value(2) == [0, 1])
        try first.add(2)
        #expect(try await received.value(3) == [0, 1, 2])
        cancellable.cancel()
        #expect(received.errors.isEmpty)
    }

    @Test func anotherNameIsAnotherDatabase() async throws {
        let first = try DatabaseQueue(named: "observed")
        let second = try DatabaseQueue(named: "not observed")
        try first.makeTable()
        try second.makeTable()
        let fetches = Recorded(0)
        let received = Received<Int>()
        let cancellable = ValueObservation.tracking { db in
            fetches.update { $0 += 1 }
            return try db.count()
        }.start(in: first, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try second.add(1)
        try first.add(1)
        #expect(try await received.value(2) == [0, 1])
        #expect(fetches.value == 2)
        cancellable.cancel()
    }
}
