import QuarryTestSupport
import Testing

@testable import QuarryCore

@Suite("The state of a statement")
struct StatementActivityTests {
    @Test func randomExecutionsHaveUniqueNumbers() {
        var random = SeededGenerator()
        print("StatementActivityTests.randomExecutions seed: \(random.seed)")
        var activity = StatementActivity()
        var numbers: Set<Int> = []
        for _ in 0..<10_000 {
            #expect(activity.phase == .idle, "seed \(random.seed)")
            #expect(!activity.isExecuting && !activity.isStepping, "seed \(random.seed)")
            #expect(!activity.isExecuting(activity.executionID), "seed \(random.seed)")

            let extent = Bool.random(using: &random) ? StatementActivity.Extent.call : .cursor
            activity.begin(extent)
            let number = activity.executionID
            #expect(numbers.insert(number).inserted, "seed \(random.seed)")
            // Numbers below 0 are states of a cursor's execution.
            #expect(number > 0, "seed \(random.seed)")

            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                activity.willStep(extent)
                #expect(activity.phase == .stepping(extent), "seed \(random.seed)")
                #expect(activity.isStepping && activity.isExecuting(number), "seed \(random.seed)")
                activity.didStep(extent)
                #expect(activity.phase == .running(extent), "seed \(random.seed)")
                #expect(!activity.isStepping && activity.isExecuting(number), "seed \(random.seed)")
                #expect(!activity.isExecuting(number - 1), "seed \(random.seed)")
            }
            #expect(activity.end() == (extent == .cursor), "seed \(random.seed)")
            #expect(!activity.isExecuting(number), "seed \(random.seed)")
            // A cursor compares numbers alone.
            #expect(activity.executionID != number, "seed \(random.seed)")
        }
        let wasOfCursor = activity.end()
        #expect(!wasOfCursor)
    }

    @Test func activityIsNoLargerThanANumberAndAByte() {
        #expect(MemoryLayout<StatementActivity>.stride <= 2 * MemoryLayout<Int>.size)
        #expect(MemoryLayout<StatementActivity.Phase>.size == 1)
    }

    @Test func executionStatesDifferFromEachOtherAndFromNumbers() {
        let states: [Execution.State] = [.ended, .unbegun, .failed, .buffered]
        for (index, state) in states.enumerated() {
            #expect(states.firstIndex(of: state) == index)
            for number in [0, 1, 2, Int.max] { #expect(state != .stepping(number)) }
        }
        #expect(Execution.State.stepping(1) == .stepping(1))
        #expect(Execution.State.stepping(1) != .stepping(2))
    }
}
