import Testing

@testable import Quarry
@testable import QuarryCore

/// Which commits a fetch may have missed.
@Suite struct CommitClockTests {
    var clock = CommitClock()

    @Test mutating func commitsAreNumbered() {
        clock.commitWillHappen()
        #expect(clock.isCommitting && clock.number == 0)
        clock.commitDidHappen(.t)
        #expect(!clock.isCommitting && clock.number == 1)
        clock.commitWillHappen()
        clock.commitDidNotHappen()
        #expect(!clock.isCommitting && clock.number == 1)
    }

    @Test mutating func aFetchMissesLaterCommitsOfItsRegion() {
        clock.commitDidHappen(.t)
        let snapshot = clock.fetchWillBegin()
        #expect(!clock.mayHaveChanged(.t, since: snapshot))
        clock.commitDidHappen(.other)
        #expect(!clock.mayHaveChanged(.t, since: snapshot))
        clock.commitDidHappen(.t)
        #expect(clock.mayHaveChanged(.t, since: snapshot))
        #expect(!clock.mayHaveChanged(.t, since: clock.number))
    }

    @Test mutating func nothingIsKeptWithoutFetches() {
        clock.commitDidHappen(.t)
        #expect(clock.logCount == 0)
        let first = clock.fetchWillBegin()
        clock.commitDidHappen(.t)
        let second = clock.fetchWillBegin()
        clock.commitDidHappen(.t)
        #expect(clock.logCount == 2)
        clock.fetchDidEnd(begunAt: first)
        #expect(clock.logCount == 1)
        clock.fetchDidEnd(begunAt: second)
        #expect(clock.logCount == 0)
    }

    @Test mutating func theLogIsBoundedAndMissesNothing() {
        let snapshot = clock.fetchWillBegin()
        clock.commitDidHappen(.other)
        for _ in 0..<1_000 { clock.commitDidHappen(.t) }
        #expect(clock.logCount <= CommitClock.capacity)
        #expect(clock.mayHaveChanged(.other, since: snapshot))
        #expect(clock.mayHaveChanged(.t, since: 999))
        #expect(!clock.mayHaveChanged(.t, since: 1_001))
    }

    @Test mutating func commitsWithoutChangesAreNotKept() {
        let snapshot = clock.fetchWillBegin()
        clock.commitDidHappen(DatabaseRegion())
        #expect(clock.logCount == 0 && clock.number == 1)
        #expect(!clock.mayHaveChanged(.fullDatabase, since: snapshot))
    }
}
