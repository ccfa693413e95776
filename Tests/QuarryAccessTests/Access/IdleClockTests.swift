import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

@Suite("The clock of connections that nobody uses", .timeLimit(.minutes(2 * TestTime.factor)))
struct IdleClockTests {
    private final class Listener: Sendable {
        let ticks = Recorded<Int>(0)
    }

    @Test func listenerIsToldUntilItLeavesAndAgainWhenItReturns() async throws {
        let clock = IdleClock(seconds: 0.001)
        let group = Listener()
        let other = Listener()
        func add(_ listener: Listener, times: Int) {
            clock.add(ObjectIdentifier(listener)) {
                listener.ticks.update { $0 += 1 }
                return listener.ticks.value < times
            }
        }
        add(group, times: 3)
        add(other, times: 5)
        try await until("both have had their ticks") { group.ticks.value == 3 && other.ticks.value == 5 }
        add(group, times: 4)
        try await until("one has had another") { group.ticks.value == 4 }
        #expect(other.ticks.value == 5)
    }

    @Test func removedListenerIsReleasedAtOnce() async throws {
        let clock = IdleClock(seconds: 0.001)
        let group = Listener()
        clock.add(ObjectIdentifier(group)) {
            group.ticks.update { $0 += 1 }
            return true
        }
        weak var held: Listener?
        do {
            let other = Listener()
            held = other
            // A clock that doesn't tick within the test: what it holds is what `remove` leaves.
            let still = IdleClock(seconds: 1000)
            still.add(ObjectIdentifier(other)) { other.ticks.value == 0 }
            still.remove(ObjectIdentifier(other))
        }
        #expect(held == nil)
        let count = group.ticks.value
        try await until("the clock has gone on") { group.ticks.value > count + 2 }
        clock.remove(ObjectIdentifier(group))
    }
}
