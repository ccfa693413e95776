import Testing

@testable import Quarry

/// When tasks that wait for commits are woken.
@Suite struct WakePaceTests {
    @Test func theFirstWakeUpIsAtOnceAndTheNextWaitsForTheTasks() {
        var pace = WakePace()
        #expect(pace.wakeUpIsDue(of: 10, now: 1_000_000) == 0)
        #expect(pace.wakeUpIsDue(of: 10, now: 1_030_000) == 270_000)
        // The second has begun at 1,300,000.
        #expect(pace.wakeUpIsDue(of: 1, now: 1_550_000) == 50_000)
        #expect(pace.wakeUpIsDue(of: 1, now: 1_810_000) == 0)
    }

    @Test func thePauseIsBounded() {
        var pace = WakePace()
        #expect(pace.wakeUpIsDue(of: 1_000_000, now: 0) == 0)
        #expect(pace.wakeUpIsDue(of: 1, now: 0) == WakePace.longestPause)
        #expect(pace.wakeUpIsDue(of: 1, now: 10_000_000) == 0)
    }
}
