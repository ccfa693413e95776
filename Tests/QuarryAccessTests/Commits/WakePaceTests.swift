import Quarry
import Testing

@testable import QuarryAccess

/// When tasks that wait for commits are woken.
@Suite struct WakePaceTests {
    var pace = WakePace()
    var now: UInt64 = 1_000_000_000
    var number = 0

    /// Wake-ups that are each due as soon as the last has happened, and the pauses before them in microseconds.
    private mutating func pauses(_ count: Int, commitCount: Int, limit: Int = .max) -> [UInt64] {
        (0..<count).map { _ in
            number += commitCount
            let pause = pace.wakeUpIsDue(of: 1, number: number, limit: limit, now: now)
            now += pause
            return pause / 1_000
        }
    }

    @Test mutating func theFirstWakeUpIsAtOnceAndTheNextWaitsForTheTasks() {
        #expect(pace.wakeUpIsDue(of: 10, number: 1, limit: 100, now: 1_000_000) == 0)
        #expect(pace.wakeUpIsDue(of: 10, number: 2, limit: 100, now: 1_030_000) == 270_000)
        // The second has begun at 1,300,000.
        #expect(pace.wakeUpIsDue(of: 1, number: 3, limit: 100, now: 1_550_000) == 50_000)
        #expect(pace.wakeUpIsDue(of: 1, number: 4, limit: 100, now: 1_810_000) == 0)
    }

    @Test mutating func thePauseIsBounded() {
        #expect(pace.wakeUpIsDue(of: 1_000_000, number: 1, limit: 100, now: 0) == 0)
        #expect(pace.wakeUpIsDue(of: 1, number: 2, limit: 100, now: 0) == WakePace.longestPause)
        #expect(pace.wakeUpIsDue(of: 1, number: 3, limit: 100, now: 10_000_000) == 0)
    }

    @Test mutating func thePausesGrowWhileManyCommitsFollowOneAnother() {
        #expect(pauses(7, commitCount: 20) == [0, 400, 800, 1_600, 3_200, 5_000, 5_000])
    }

    @Test mutating func thePausesStayShortForAnAnswerToEachCommit() {
        #expect(pauses(4, commitCount: 1) == [0, 210, 210, 210])
        #expect(pauses(4, commitCount: WakePace.burst - 1) == [210, 210, 210, 210])
    }

    @Test mutating func thePausesShrinkAfterABurst() {
        _ = pauses(6, commitCount: 20)
        #expect(pauses(3, commitCount: 1) == [5_000, 210, 210])
    }

    /// Readers for which few commits are kept would miss some.
    @Test mutating func thePausesShrinkWhereFewCommitsAreKept() {
        #expect(pauses(4, commitCount: 20, limit: 160) == [0, 400, 800, 1_600])
        // Between an eighth and a quarter of the limit, the pause stays.
        #expect(pauses(3, commitCount: 20, limit: 100) == [3_200, 3_200, 3_200])
        #expect(pauses(5, commitCount: 20, limit: 79) == [3_200, 1_600, 800, 400, 210])
    }
}
