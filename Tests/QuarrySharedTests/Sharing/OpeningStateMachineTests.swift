import Quarry
import Testing

@testable import QuarryAccess
@testable import QuarryShared

@Suite("Which thread opens a shared database")
struct OpeningStateMachineTests {
    /// One thread opens, others wait, and the same one is refused.
    @Test
    func threads() {
        var machine = OpeningStateMachine.idle
        let answer1 = machine.begin(thread: 2)
        #expect(answer1 == .open)
        let answer2 = machine.begin(thread: 4)
        #expect(answer2 == .wait)
        let answer3 = machine.begin(thread: 2)
        #expect(answer3 == .refuse)
        machine.end()
        #expect(machine == .idle)
        let answer4 = machine.begin(thread: 4)
        #expect(answer4 == .open)
        let answer5 = machine.begin(thread: 2)
        #expect(answer5 == .wait)
    }

    /// A slot adopts a connection unless it is in use or closed. A barrier keeps it.
    @Test
    func adoption() {
        var machine = LeaseStateMachine<Int>(capacity: 1)
        let adoptions = [machine.adopt(0), machine.adopt(0)]
        #expect(adoptions == [true, false])
        #expect(machine.isIdle(0))
        let isForgottenWithoutBarrier = machine.forget(0)
        #expect(!isForgottenWithoutBarrier)
        guard case .granted(.all) = machine.acquire(.barrier, 1, .thread, .user, .newcomer, now: 0) else {
            Issue.record("the barrier isn't granted")
            return
        }
        let isForgotten = machine.forget(0)
        let adoptionsBehindBarrier = [machine.adopt(0), machine.adopt(0)]
        #expect(isForgotten && adoptionsBehindBarrier == [true, false])
        #expect(!machine.isIdle(0))
        _ = machine.releaseBarrier(now: 0)
        #expect(machine.isIdle(0))
        machine.beginBarrier()
        let isForgottenAgain = machine.forget(0)
        #expect(isForgottenAgain)
        _ = machine.close()
        let isAdoptedByClosed = machine.adopt(0)
        #expect(!isAdoptedByClosed)
    }
}
