import Dispatch
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// Where values are received, and in which order.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct ObservationSchedulerTests {
    let folder: TemporaryFolder
    let pool: DatabasePool

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable()
    }

    @Test func aQueue() async throws {
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "values")
        queue.setSpecific(key: key, value: true)
        let received = Received<Bool>()
        let cancellable = ValueObservationTests.counting().start(
            in: pool, scheduling: .async(onQueue: queue), onError: received.onError,
            onChange: { _ in received.onChange(DispatchQueue.getSpecific(key: key) ?? false) })
        _ = try await received.value(1)
        try pool.add(1)
        #expect(try await received.value(2) == [true, true])
        cancellable.cancel()
    }

    /// On a concurrent queue, or in tasks, a value waits until the callback of the last one has returned.
    @Test(arguments: [true, false]) func neverTwoAtATime(_ isQueue: Bool) async throws {
        let running = Recorded((count: 0, maximum: 0))
        let values = Recorded<[Int]>([])
        let onChange: @Sendable (Int) -> Void = { value in
            running.update { running in
                running.count += 1
                running.maximum = max(running.maximum, running.count)
            }
            values.update { $0.append(value) }
            for _ in 0..<50 { SystemClock.pause() }
            running.update { $0.count -= 1 }
        }
        let observation = ValueObservationTests.counting()
        let cancellable =
            isQueue
            ? observation.start(
                in: pool, scheduling: .async(onQueue: .global()), onError: { _ in }, onChange: onChange)
            : observation.start(in: pool, scheduling: .task, onError: { _ in }, onChange: onChange)
        for value in 1...200 { try pool.add(value) }
        try await until("the last state is received") { values.value.last == 200 }
        #expect(running.value.maximum == 1)
        #expect(values.value == values.value.sorted())
        #expect(Set(values.value).count == values.value.count)
        cancellable.cancel()
    }

    @MainActor @Test func theMainActor() async throws {
        var values: [Int] = []
        let cancellable = ValueObservationTests.counting().start(in: pool) { _ in
            Issue.record("an error")
        } onChange: { value in
            MainActor.assertIsolated()
            values.append(value)
        }
        #expect(values.isEmpty)
        while values.count < 1 { await Task.yield() }
        try pool.add(1)
        while values.count < 2 { await Task.yield() }
        #expect(values == [0, 1])
        cancellable.cancel()
    }

    @MainActor @Test func immediate() async throws {
        var values: [Int] = []
        let cancellable = ValueObservationTests.counting().start(
            in: pool, scheduling: .immediate, onError: { _ in Issue.record("an error") },
            onChange: { values.append($0) })
        #expect(values == [0])
        try pool.add(1)
        while values.count < 2 { await Task.yield() }
        #expect(values == [0, 1])
        cancellable.cancel()
    }

    /// On any thread, with a scheduler that isn't of the main actor.
    @Test func immediateOnAnotherThread() async throws {
        let scheduler: any ValueObservationScheduler = ImmediateValueObservationScheduler()
        let received = Received<Int>()
        let cancellable = try await onOwnThread { [pool] in
            let cancellable = ValueObservationTests.counting().start(
                in: pool, scheduling: scheduler, onError: received.onError, onChange: received.onChange)
            #expect(received.values == [0])
            return cancellable
        }
        try pool.add(1)
        #expect(try await received.value(2) == [0, 1])
        cancellable.cancel()
    }

    /// A commit during the callback of the first value is received after it.
    @MainActor @Test func aChangeInTheImmediateCallback() async throws {
        var values: [Int] = []
        let pool = pool
        let cancellable = ValueObservationTests.counting().start(
            in: pool, scheduling: .immediate, onError: { _ in Issue.record("an error") },
            onChange: { value in
                values.append(value)
                if value == 0 { try! pool.add(1) }
            })
        while values.count < 2 { await Task.yield() }
        #expect(values == [0, 1])
        cancellable.cancel()
    }

    @Test func taskPriority() async throws {
        let received = Received<TaskPriority?>()
        let cancellable = ValueObservationTests.counting().start(
            in: pool, scheduling: .task(priority: .utility), onError: { _ in },
            onChange: { _ in received.onChange(withUnsafeCurrentTask { $0?.priority }) })
        #expect(try await received.value(1) == [.utility])
        cancellable.cancel()
    }
}
