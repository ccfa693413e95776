import Quarry
import Testing

@testable import QuarryAccess

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

    @Test func theProgramIsToldTheNumbersOfTheFile() {
        var clock = CommitClock()
        clock.storeNumbers(from: 7)
        #expect(clock.commitNumber.rawValue == 7)
        #expect(clock.commitDidHappen(stored: 8) == 1 && clock.commitNumber.rawValue == 8)
        // A commit without a number of its own.
        #expect(clock.commitDidHappen(stored: 8) == 2 && clock.commitNumber.rawValue == 8)
        #expect(clock.otherCommitDidHappen(stored: 12) == 3 && clock.commitNumber.rawValue == 12)
        // A number never falls.
        #expect(clock.otherCommitDidHappen(stored: 5) == 4 && clock.commitNumber.rawValue == 12)
        #expect(clock.otherCommitDidHappen() == 5 && clock.commitNumber.rawValue == 12)
    }

    @Test func numbersOfAFileThatKeepsNoneAreIgnored() {
        var clock = CommitClock()
        #expect(clock.commitDidHappen(stored: 8) == 1 && clock.commitNumber.rawValue == 1)
    }
}
