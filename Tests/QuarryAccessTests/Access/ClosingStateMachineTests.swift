import Quarry
import Testing

@testable import QuarryAccess

/// The steps of closing with a grace period, and the phases of a group, as values.
@Suite struct ClosingStateMachineTests {
    private typealias Machine = LeaseStateMachine<String>

    @Test func allAccessesEndInTime() {
        var machine = ClosingStateMachine(groupCount: 2, gracePeriod: 100, interruptionTimeout: 50, now: 10)
        #expect(machine.begin() == .wait(group: 0, isFirst: false, until: 110))
        #expect(machine.didWait(now: 20) == .wait(group: 1, isFirst: false, until: 110))
        #expect(machine.didWait(now: 30) == .close)
        #expect(machine.heldCount == 2)
    }

    @Test(arguments: [true, false]) func closingWithoutAGracePeriod(goesFirst: Bool) {
        var machine = ClosingStateMachine(groupCount: 2, goesFirst: goesFirst)
        #expect(machine.begin() == .wait(group: 0, isFirst: goesFirst, until: .max))
        #expect(machine.didWait(now: 0) == .wait(group: 1, isFirst: goesFirst, until: .max))
        #expect(machine.wasClosed() == .end, "the barrier of one group is given back")
        #expect(machine.heldCount == 1)
        #expect(machine.didWait(now: 0) == .close)
    }

    @Test func accessesAreInterruptedAgainAndAgain() {
        let interval = ClosingStateMachine.interruptionInterval
        var machine = ClosingStateMachine(
            groupCount: 2, gracePeriod: 100, interruptionTimeout: 3 * interval, now: 0)
        #expect(machine.didWait(now: 20) == .wait(group: 1, isFirst: false, until: 100))
        #expect(machine.didExpire(now: 100) == .interrupt)
        #expect(machine.didInterrupt(now: 101) == .wait(group: 1, isFirst: true, until: 101 + interval))
        #expect(machine.didExpire(now: 101 + interval) == .interrupt)
        let last = 100 + 3 * interval
        #expect(machine.didInterrupt(now: last - 5) == .wait(group: 1, isFirst: true, until: last), "no later")
        #expect(machine.didExpire(now: last) == .giveUp)
        #expect(machine.heldCount == 1)
    }

    @Test func interruptedAccessesEnd() {
        var machine = ClosingStateMachine(groupCount: 1, gracePeriod: 0, interruptionTimeout: .max, now: 7)
        #expect(machine.begin() == .wait(group: 0, isFirst: false, until: 7))
        #expect(machine.didExpire(now: 8) == .interrupt)
        #expect(
            machine.didInterrupt(now: 9)
                == .wait(group: 0, isFirst: true, until: 9 + ClosingStateMachine.interruptionInterval))
        #expect(machine.didWait(now: 10) == .close)
    }

    @Test func phases() {
        var phase = ClosingPhase.open
        func refusal(_ requester: ClosingPhase.Requester) -> Machine.Refusal? { phase.refusal(of: requester) }
        #expect(phase.isOpen && refusal(.newcomer) == nil)
        phase.beginClosing()
        phase.beginClosing()
        #expect(refusal(.newcomer) == .closing)
        #expect(refusal(.admitted) == nil)
        #expect(refusal(.closer) == nil)
        phase.abandonClosing()
        #expect(refusal(.newcomer) == .closing, "the other call goes on")
        phase.endGracePeriod()
        #expect(phase == .ending(closers: 1))
        #expect(refusal(.newcomer) == .closing)
        #expect(refusal(.admitted) == .gracePeriodEnded)
        #expect(refusal(.closer) == nil)
        phase.beginClosing()
        #expect(phase == .ending(closers: 2))
        phase.abandonClosing()
        phase.abandonClosing()
        #expect(phase.isOpen)
        phase = .closed
        phase.beginClosing()
        phase.abandonClosing()
        phase.endGracePeriod()
        #expect(phase == .closed)
        for requester in [ClosingPhase.Requester.newcomer, .admitted, .closer] {
            #expect(refusal(requester) == .closed)
        }
    }

    @Test func aDrainingGroupServesItsQueue() {
        var machine = Machine(capacity: 1, opened: 1)
        #expect(machine.acquire(.connection, "runs", .offloadedTask, now: 0) == .granted(.connection(0)))
        #expect(machine.acquire(.connection, "waits", .offloadedTask, now: 0) == .wait(id: 1))
        machine.phase.beginClosing()
        #expect(machine.isAwaitedByBarrier)
        #expect(machine.acquireIdle(.thread, now: { 0 }) == nil)
        #expect(machine.acquire(.connection, "late", .offloadedTask, now: 0) == .refused(.closing))
        #expect(machine.acquire(.barrier, "late", .offloadedTask, now: 0) == .refused(.closing))
        #expect(machine.acquire(.barrier, "close", .thread, .library, .closer, now: 0) == .wait(id: 2))
        #expect(machine.release(0) { 0 }.map(\.text) == ["waits: connection 0"])
        #expect(machine.release(0) { 5_000_000 }.map(\.text) == ["close: all"])
        #expect(machine.close().isEmpty)
        #expect(machine.acquire(.connection, "late", .thread, now: 0) == .refused(.closed))
    }

    @Test func theEndOfTheGracePeriodRefusesTheQueue() {
        var machine = Machine(capacity: 1, opened: 1)
        #expect(machine.acquire(.connection, "runs", .offloadedTask, now: 0) == .granted(.connection(0)))
        #expect(machine.acquire(.connection, "waits", .offloadedTask, now: 0) == .wait(id: 1))
        #expect(machine.acquire(.barrier, "barrier", .thread, now: 0) == .wait(id: 2))
        machine.phase.beginClosing()
        #expect(machine.acquire(.barrier, "close", .thread, .user, .closer, isFirst: true, now: 0) == .wait(id: 3))
        #expect(
            machine.endGracePeriod(now: 1).map(\.text) == [
                "refuse waits: grace period ended", "refuse barrier: grace period ended",
            ])
        #expect(machine.waiterCount == 1)
        #expect(machine.release(0) { 5_000_000 }.map(\.text) == ["close: all"])
        machine.phase.abandonClosing()
        #expect(machine.releaseBarrier(now: 6_000_000).isEmpty)
        #expect(machine.acquire(.connection, "again", .offloadedTask, now: 6_000_000) == .granted(.connection(0)))
    }
}
