import Quarry
import Testing

@testable import QuarryAccess

/// Which observations share a batch.
@Suite struct FetchLineTests {
    @Test func aBatchTakesAllThatAreDue() {
        var line = FetchLine<Int>(maximumBatchCount: 2)
        #expect(line.add(1, isSlow: false) == true)
        #expect(line.add(2, isSlow: false) == false)
        #expect(line.take(isSame: ==) == [1, 2])
        #expect(line.startsBatch() == false)
        #expect(line.add(3, isSlow: false) == true)
        #expect(line.take(isSame: ==) == [3])
        #expect(line.add(4, isSlow: false) == false)
        line.batchDidEnd()
        #expect(line.startsBatch() == true)
        #expect(line.take(isSame: ==) == [4])
    }

    @Test func slowFetchesAreAlone() {
        var line = FetchLine<Int>(maximumBatchCount: 2)
        #expect(line.add(10, isSlow: true) == true)
        #expect(line.add(11, isSlow: true) == false)
        #expect(line.add(20, isSlow: true) == false)
        #expect(line.add(1, isSlow: false) == false)
        #expect(line.take { $0 / 10 == $1 / 10 } == [1])
        #expect(line.startsBatch() == true)
        #expect(line.take { $0 / 10 == $1 / 10 } == [10, 11])
        #expect(line.startsBatch() == false)
        line.batchDidEnd()
        #expect(line.startsBatch() == true)
        #expect(line.take { $0 / 10 == $1 / 10 } == [20])
    }

    @Test func aBatchWithoutConnectionTakesEverything() {
        var line = FetchLine<Int>(maximumBatchCount: 1)
        _ = line.add(1, isSlow: false)
        _ = line.add(2, isSlow: true)
        #expect(line.takeAll() == [1, 2])
        line.batchDidEnd()
        #expect(line.isEmpty && line.runningCount == 0)
        #expect(line.add(3, isSlow: false) == true)
    }

    @Test func oneBatchAtLeast() {
        var line = FetchLine<Int>(maximumBatchCount: 0)
        #expect(line.add(1, isSlow: false) == true)
    }
}
