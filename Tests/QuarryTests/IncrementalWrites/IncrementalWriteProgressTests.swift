import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryIncrementalWrites

/// When an incremental write commits, without a database.
@Suite struct IncrementalWriteProgressTests {
    /// Runs steps of one transaction that last some time each, until it is committed.
    ///
    /// - parameter awaited: the numbers of the steps after which others wait.
    /// - returns: the number of steps.
    private func steps(
        _ pace: IncrementalWritePace, length: UInt64, awaited: Set<Int> = [], last: Int = .max
    ) -> Int {
        var progress = IncrementalWriteProgress(pace)
        var now: UInt64 = 7
        progress.transactionDidBegin(now: now)
        #expect(progress.isNewTransaction)
        while true {
            now += length
            let step = progress.result.stepCount + 1
            let isCommitted = progress.stepDidEnd(
                step == last ? .done : .next, isAwaited: awaited.contains(step), now: now)
            #expect(!progress.isNewTransaction && progress.isDone == (step == last))
            if isCommitted { return step }
        }
    }

    @Test func commitsWhenSomebodyWaits() {
        #expect(steps(IncrementalWritePace(), length: 1_000, awaited: [3]) == 3)
        #expect(steps(IncrementalWritePace(), length: 1_000, last: 5) == 5)
        #expect(steps(IncrementalWritePace(), length: 1_000_000) == 100)
    }

    @Test func holdsForTheShortestTime() {
        let pace = IncrementalWritePace(minimumHold: .microseconds(10), maximumHold: .microseconds(20))
        #expect(steps(pace, length: 1_000, awaited: [3, 12]) == 12)
        #expect(steps(pace, length: 1_000, awaited: [3]) == 20)
        #expect(steps(pace, length: 50_000) == 1)
        // The longest time is the limit of the shortest.
        let contradicting = IncrementalWritePace(minimumHold: .seconds(1), maximumHold: .zero)
        #expect(steps(contradicting, length: 0) == 1)
    }

    @Test func countsTransactions() {
        var progress = IncrementalWriteProgress(IncrementalWritePace())
        for number in 1...3 {
            progress.transactionDidBegin(now: 0)
            let isCommitted = progress.stepDidEnd(.next, isAwaited: true, now: 1)
            #expect(isCommitted)
            progress.transactionDidCommit()
            #expect(progress.result.transactionCount == number && progress.result.stepCount == number)
        }
        #expect(!progress.isDone)
    }
}
