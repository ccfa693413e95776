import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// A lock whose holders can sleep until another thread signals.
@Suite(.timeLimit(.minutes(1 * TestTime.factor))) struct ConditionLockTests {
    private struct State {
        var sleepingCount = 0
        var isOpen = false
    }

    /// A gate that threads pass once it is open.
    private final class Gate: Sendable {
        let state = ConditionLock(State())

        func pass() {
            let contents = state.contents
            state.lock()
            defer { state.unlock() }
            contents.pointee.sleepingCount += 1
            while !contents.pointee.isOpen { _ = state.wait() }
            contents.pointee.sleepingCount -= 1
        }
    }

    @Test func aSignalWakesOneThread() async throws {
        let gate = Gate()
        let thread = OwnThread { gate.pass() }
        try await until("the thread sleeps") { gate.state.withLock { $0.sleepingCount } == 1 }
        gate.state.withLock { state in
            state.isOpen = true
            gate.state.signal()
        }
        try await thread.value
        #expect(gate.state.withLock { $0.sleepingCount } == 0)
    }

    @Test func aBroadcastWakesAllThreads() async throws {
        let gate = Gate()
        let threads = (0..<3).map { _ in OwnThread { gate.pass() } }
        try await until("all threads sleep") { gate.state.withLock { $0.sleepingCount } == 3 }
        gate.state.withLock { state in
            state.isOpen = true
            gate.state.broadcast()
        }
        for thread in threads { try await thread.value }
        #expect(gate.state.withLock { $0.sleepingCount } == 0)
    }

    /// A wait may end without a signal, but not before its deadline.
    @Test func aWaitEndsAtItsDeadline() {
        let gate = Gate()
        gate.state.lock()
        defer { gate.state.unlock() }
        while gate.state.wait(until: 1) {}
        #expect(!gate.state.contents.pointee.isOpen)
    }
}
