import Testing

@testable import Quarry

@Suite("Which thread opens a shared database")
struct OpeningStateMachineTests {
    /// One thread opens, others wait, and the same one is refused.
    @Test
    func threads() {
        var machine = OpeningStateMachine.idle
        #expect(machine.begin(thread: 2) == .open)
        #expect(machine.begin(thread: 4) == .wait)
        #expect(machine.begin(thread: 2) == .refuse)
        machine.end()
        #expect(machine == .idle)
        #expect(machine.begin(thread: 4) == .open)
        #expect(machine.begin(thread: 2) == .wait)
    }

    /// A slot adopts a connection unless it is in use, barred or closed.
    @Test
    func adoption() {
        var machine = LeaseStateMachine<Int>(capacity: 1)
        #expect(machine.adopt(0))
        #expect(!machine.adopt(0))
        #expect(machine.isIdle(0))
        machine.forget(0)
        guard case .granted(.all) = machine.acquire(.barrier, 1, .thread, .user, .newcomer, now: 0) else {
            Issue.record("the barrier isn't granted")
            return
        }
        #expect(!machine.adopt(0))
        _ = machine.releaseBarrier(now: 0)
        #expect(machine.adopt(0))
    }
}
