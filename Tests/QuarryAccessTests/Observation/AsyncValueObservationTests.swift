import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// The values of an observation as a sequence.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct AsyncValueObservationTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    @Test(arguments: WriterKind.allCases) func values(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try writer.makeTable()
        var counts: [Int] = []
        for try await count in ValueObservationTests.counting().values(in: writer) {
            counts.append(count)
            if count == 3 { break }
            try writer.change { db in try db.insert(count) }
        }
        #expect(counts == [0, 1, 2, 3])
    }

    /// A slow loop skips states: one value is kept.
    @Test func theNewestValueIsKept() async throws {
        let queue = try DatabaseQueue()
        try queue.makeTable()
        let delivered = Recorded(0)
        let observation = ValueObservationTests.counting().handleEvents(
            didReceiveValue: { value in delivered.update { $0 = value } })
        var iterator = observation.values(in: queue).makeAsyncIterator()
        #expect(try await iterator.next() == 0)
        for value in 1...20 {
            try queue.change { db in try db.insert(value) }
            try await until("the value is fetched") { delivered.value == value }
        }
        // The value is passed on right after its event.
        var last = 0
        while last < 20 { last = try #require(try await iterator.next()) }
        #expect(last == 20)
    }

    @Test func anUnboundedBufferOnRequest() async throws {
        let queue = try DatabaseQueue()
        try queue.makeTable()
        let delivered = Recorded(-1)
        let observation = ValueObservationTests.counting().handleEvents(
            didReceiveValue: { value in delivered.update { $0 = value } })
        var iterator = observation.values(in: queue, bufferingPolicy: .unbounded).makeAsyncIterator()
        for value in 0...5 {
            try await until("the value is fetched") { delivered.value == value }
            if value < 5 { try queue.change { db in try db.insert(value) } }
        }
        for value in 0...5 { #expect(try await iterator.next() == value) }
    }

    @Test func anErrorEndsTheLoop() async throws {
        let queue = try DatabaseQueue()
        let observation = ValueObservation.tracking { db in
            try Int.fetchOne(db, sql: "SELECT a FROM missing")
        }
        await #expect(throws: DatabaseError.self) {
            for try await _ in observation.values(in: queue) { Issue.record("a value") }
        }
        #expect(queue.broker.observationCount == 0)
    }

    @Test func closingEndsTheLoop() async throws {
        let queue = try DatabaseQueue()
        try queue.makeTable()
        await #expect(throws: DatabaseError.self) {
            for try await _ in ValueObservationTests.counting().values(in: queue) { try queue.close() }
        }
    }

    @Test func itsSchedulerMayBeChosen() async throws {
        let queue = try DatabaseQueue()
        try queue.makeTable()
        let scheduler = ManualScheduler()
        var iterator = ValueObservationTests.counting().values(in: queue, scheduling: scheduler).makeAsyncIterator()
        try await scheduler.runNext()
        #expect(try await iterator.next() == 0)
    }

    /// Each iteration is an observation of its own.
    @Test func twoIterations() async throws {
        let queue = try DatabaseQueue()
        try queue.makeTable()
        let values = ValueObservationTests.counting().values(in: queue)
        var first = values.makeAsyncIterator()
        var second = values.makeAsyncIterator()
        #expect(try await first.next() == 0)
        #expect(try await second.next() == 0)
        #expect(queue.broker.observationCount == 2)
    }

    @Test func operatorsOfSequences() async throws {
        let queue = try DatabaseQueue()
        try queue.makeTable()
        let first = try await ValueObservationTests.counting().values(in: queue).first { $0 == 0 }
        #expect(first == 0)
        try await until("the observation has ended") { queue.broker.observationCount == 0 }
    }
}
