import Testing

@testable import QuarryCluster

@Suite("The bounds of searches without a leader") struct OutageTests {
    private var outage = Outage()

    /// The end of a search, in milliseconds.
    private mutating func end(at now: UInt64, until deadline: UInt64) -> UInt64 {
        outage.searchBegins(at: now * 1_000_000, until: deadline * 1_000_000) / 1_000_000
    }

    @Test mutating func laterSearchesCountFromTheFirst() {
        #expect(end(at: 1_000, until: 9_000) == 9_000)
        // Beside the first.
        #expect(end(at: 5_000, until: 13_000) == 9_000)
        outage.searchFailed(at: 9_000_000_000)
        // An eighth of the time is left to each.
        #expect(end(at: 9_000, until: 17_000) == 10_000)
        outage.searchFailed(at: 10_000_000_000)
        #expect(end(at: 10_000, until: 18_000) == 11_000)
        // A quarter of a second, unless the access itself has less.
        #expect(end(at: 11_000, until: 12_000) == 11_250)
        #expect(end(at: 11_000, until: 11_080) == 11_080)
        #expect(end(at: 11_000, until: 11_000) == 11_000)
    }

    @Test mutating func aLeaderEndsTheOutage() {
        #expect(end(at: 1_000, until: 9_000) == 9_000)
        outage.leaderFound()
        #expect(end(at: 9_000, until: 17_000) == 17_000)
    }

    @Test mutating func aSearchAfterAWhileIsTheFirst() {
        #expect(end(at: 1_000, until: 9_000) == 9_000)
        outage.searchFailed(at: 9_000_000_000)
        #expect(end(at: 14_000, until: 22_000) == 22_000)
    }
}
