import Testing

@testable import Quarry

/// The numbers of commits.
@Suite struct CommitClockTests {
    @Test func commitsAreNumbered() {
        var clock = CommitClock()
        clock.commitWillHappen()
        #expect(clock.isCommitting && clock.number == 0)
        #expect(clock.commitDidHappen() == 1)
        #expect(!clock.isCommitting && clock.number == 1)
        clock.commitWillHappen()
        clock.commitDidNotHappen()
        #expect(!clock.isCommitting && clock.number == 1)
        clock.commitWillHappen()
        clock.emptyCommitDidHappen()
        #expect(!clock.isCommitting && clock.number == 1)
    }
}
