import Testing

@testable import QuarryCore

/// When a commit runs a checkpoint.
@Suite struct AutomaticCheckpointsTests {
    /// SQLite waits for the disk twice at each checkpoint. As long as readers keep the log from beginning anew, not
    /// each commit runs one.
    @Test func automaticCheckpointsKeepADistance() {
        var checkpoints = AutomaticCheckpoints(pages: 100)
        let due = (1...200).filter { checkpoints.logDidGrow(toPages: $0) }
        #expect(due == [100, 125, 150, 175, 200])
        // The log begins anew.
        let dueAgain = [3, 99, 100, 110].filter { checkpoints.logDidGrow(toPages: $0) }
        #expect(dueAgain == [100])
    }

    @Test(arguments: [(0, []), (1, [1, 2, 3]), (2, [2, 3])]) func smallNumbers(pages: Int, due: [Int]) {
        var checkpoints = AutomaticCheckpoints(pages: pages)
        let isDue = (1...3).filter { checkpoints.logDidGrow(toPages: $0) }
        #expect(isDue == due)
    }
}
