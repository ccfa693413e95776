import Quarry
import Testing

@testable import QuarryAccess
@testable import QuarryOutbox

/// The decisions about an outbox's lease, as a value.
@Suite struct OutboxLeaseTests {
    private let held = OutboxLease(state: .held(OutboxLease.Holding(owner: "a", messages: 3...5, begin: 100, end: 130)))

    @Test func aFreeLeaseIsTaken() {
        #expect(OutboxLease().decide(at: 0) == .take)
        #expect(!OutboxLease().isHeld(by: "a"))
    }

    @Test func aHeldLeaseIsWaitedFor() {
        #expect(held.decide(at: 100) == .wait(30))
        #expect(held.decide(at: 129.5) == .wait(0.5))
        #expect(held.isHeld(by: "a") && !held.isHeld(by: "b"))
    }

    @Test func anExpiredLeaseIsTakenOver() {
        #expect(held.decide(at: 130) == .takeOver(3...5))
        #expect(held.isHeld(by: "a"))
    }

    /// A clock that is set back prolongs a lease to at most twice its length.
    @Test func aClockThatIsSetBack() {
        #expect(held.decide(at: 70) == .wait(60))
        #expect(held.decide(at: 69.9) == .takeOver(3...5))
        let paused = OutboxLease(pause: OutboxLease.Pause(begin: 100, end: 160))
        #expect(paused.decide(at: 99) == .take)
    }

    @Test func aPauseIsWaitedFor() {
        let paused = OutboxLease(pause: OutboxLease.Pause(begin: 100, end: 160))
        #expect(paused.decide(at: 100) == .wait(60))
        #expect(paused.decide(at: 160) == .take)
    }
}
