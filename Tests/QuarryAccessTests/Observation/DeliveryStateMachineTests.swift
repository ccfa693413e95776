import Quarry
import Testing

@testable import QuarryAccess

/// The order of values, without threads.
@Suite struct DeliveryStateMachineTests {
    var machine = DeliveryStateMachine<Int>()

    @Test mutating func oneActionAtATime() {
        #expect(machine.receive(1).mustSchedule == true)
        #expect(machine.receive(2).mustSchedule == false)
        #expect(machine.begin() == 1)
        #expect(machine.begin() == nil)
        #expect(machine.receive(3).mustSchedule == false)
        #expect(machine.finish() == true)
        #expect(machine.begin() == 2)
        #expect(machine.finish() == true)
        #expect(machine.begin() == 3)
        #expect(machine.finish() == false)
        #expect(machine.phase == .idle)
    }

    @Test mutating func aWaitingValueIsReplaced() {
        #expect(machine.receive(1, replacesLast: true).mustSchedule == true)
        let (mustSchedule, released) = machine.receive(2, replacesLast: true)
        #expect(!mustSchedule && released == 1)
        #expect(machine.begin() == 2)
        #expect(machine.receive(3, replacesLast: true).released == nil)
        #expect(machine.waitingCount == 1)
    }

    @Test mutating func nothingBeginsAfterTheEnd() {
        _ = machine.receive(1)
        #expect(machine.end() == [1])
        #expect(machine.begin() == nil)
        #expect(machine.receive(2) == (false, 2))
        #expect(machine.finish() == false)
    }

    @Test mutating func anOwnerThatRunsTheFirstAction() {
        machine = DeliveryStateMachine(isScheduled: true)
        #expect(machine.receive(1).mustSchedule == false)
        #expect(machine.begin() == 1)
        #expect(machine.finish() == false)
        machine = DeliveryStateMachine(isScheduled: true)
        #expect(machine.begin() == nil)
        #expect(machine.receive(1).mustSchedule == true)
    }
}
