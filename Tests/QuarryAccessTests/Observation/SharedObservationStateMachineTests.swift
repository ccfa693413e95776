import Quarry
import QuarryCore
import Testing

@testable import QuarryAccess

/// The subscribers of a shared observation, without threads.
@Suite struct SharedObservationStateMachineTests {
    typealias Machine = SharedObservationStateMachine<Int, String>

    @Test func theFirstSubscriberStartsIt() {
        var machine = Machine(.whileObserved)
        guard case (let first, .start(let number)) = machine.subscribe("a") else {
            Issue.record("not started")
            return
        }
        #expect(machine.join(first) == nil)
        #expect(machine.receive(1, from: number).subscribers == ["a"])
        guard case (let second, .running) = machine.subscribe("b") else {
            Issue.record("started twice")
            return
        }
        #expect(machine.receive(2, from: number).subscribers == ["a"])
        #expect(machine.join(second) == 2)
        #expect(Set(machine.receive(3, from: number).subscribers) == ["a", "b"])
        #expect(machine.unsubscribe(first).endsUpstream == false)
        #expect(machine.unsubscribe(second).endsUpstream == true)
        #expect(machine.lastValue == nil)
        #expect(machine.receive(4, from: number).subscribers == [])
        guard case (_, .start(number + 1)) = machine.subscribe("c") else {
            Issue.record("not started again")
            return
        }
    }

    @Test func itRunsOnForItsLifetime() {
        var machine = Machine(.observationLifetime)
        let (first, _) = machine.subscribe("a")
        _ = machine.join(first)
        _ = machine.receive(1, from: 1)
        #expect(machine.unsubscribe(first).endsUpstream == false)
        let (second, subscription) = machine.subscribe("b")
        guard case .running = subscription else {
            Issue.record("started twice")
            return
        }
        #expect(machine.join(second) == 1)
    }

    @Test func subscribersAreInTheOrderOfTheirSubscription() {
        var machine = SharedObservationStateMachine<Int, Int>(.whileObserved)
        for number in 0..<50 { _ = machine.join(machine.subscribe(number).id) }
        for id in [1, 20, 21, 50] { _ = machine.unsubscribe(id) }
        _ = machine.unsubscribe(20)
        let expected = (0..<50).filter { ![0, 19, 20, 49].contains($0) }
        #expect(machine.receive(1, from: 1).subscribers == expected)
        // A subscriber that has not joined receives no value, and the error.
        _ = machine.subscribe(50)
        #expect(machine.receive(2, from: 1).subscribers == expected)
        #expect(machine.subscriberCount == 47)
        let error = DatabaseError(resultCode: .SQLITE_ERROR)
        #expect(machine.fail(error, from: 1).subscribers == expected + [50])
    }

    @Test func errors() {
        let error = DatabaseError(resultCode: .SQLITE_ERROR)
        var machine = Machine(.whileObserved)
        _ = machine.subscribe("a")
        #expect(machine.fail(error, from: 1).subscribers == ["a"])
        guard case (_, .start(2)) = machine.subscribe("b") else {
            Issue.record("not started again")
            return
        }
        #expect(machine.fail(error, from: 1).subscribers == [])
        machine = Machine(.observationLifetime)
        _ = machine.subscribe("a")
        #expect(machine.fail(error, from: 1).subscribers == ["a"])
        guard case (_, .failed) = machine.subscribe("b") else {
            Issue.record("the error isn't received again")
            return
        }
    }
}
