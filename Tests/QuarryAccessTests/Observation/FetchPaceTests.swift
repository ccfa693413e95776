import Quarry
import Testing

@testable import QuarryAccess
@testable import QuarryCore

@Suite struct FetchPaceTests {
    @Test func shortFetchesWithTimeBetweenThemNeverPause() {
        var pace = FetchPace()
        for start in stride(from: UInt64(1_000_000), to: 3_000_000, by: 20_000) {
            #expect(pace.pause(now: start) == 0)
            pace.batchDidEnd(from: start, to: start + 5_000)
        }
    }

    /// In the long run, batches that follow each other as soon as they may take a third of the time, long ones a fifth.
    @Test(arguments: [(time: UInt64(20_000), 0.32...0.34), (150_000, 0.20...0.22), (5_000_000, 0.19...0.21)])
    func theShareOfBatches(time: UInt64, share: ClosedRange<Double>) {
        var pace = FetchPace()
        var (now, busy): (UInt64, UInt64) = (1_000_000, 0)
        let start = now
        while now < start + 1_000_000_000 {
            now += pace.pause(now: now)
            pace.batchDidEnd(from: now, to: now + time)
            now += time
            busy += time
        }
        #expect(share.contains(Double(busy) / Double(now - start)))
    }

    @Test func theLongestPauseIsBounded() {
        var pace = FetchPace()
        pace.batchDidEnd(from: 1, to: 5_000_000_001)
        #expect(pace.pause(now: 5_000_000_001) <= FetchPace.longestPause)
    }
}

@Suite struct ListeningNeedsTests {
    @Test func needsChangeWithTheFirstAndTheLastObservation() {
        let player = TableName(schema: "main", name: "player")
        let row = DatabaseRegion(player, rowIDs: [1])
        var needs = ListeningNeeds()
        #expect(!needs.isNeeded && needs.rowTables.isEmpty)
        #expect(needs.add() && !needs.add())
        #expect(needs.add(row) && !needs.add(row) && !needs.add(DatabaseRegion(player)))
        #expect(needs.isNeeded && needs.rowTables == [player])
        #expect(!needs.remove(row) && needs.remove(row) && !needs.remove(DatabaseRegion.fullDatabase))
        #expect(!needs.remove() && needs.remove())
        #expect(!needs.isNeeded && needs.rowTables.isEmpty)
    }
}
