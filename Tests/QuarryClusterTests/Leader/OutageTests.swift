import Testing

@testable import QuarryCluster

@Suite("The bounds of searches without a leader") struct OutageTests {
    @Test func laterSearchesCountFromTheFirst() {
        var outage = Outage()
        #expect(outage.searchBegins(at: 1_000, until: 1_800) == 1_800)
        // Beside the first.
        #expect(outage.searchBegins(at: 1_200, until: 2_000) == 1_800)
        outage.searchFailed(at: 1_800)
        // An eighth of the time is left to each.
        #expect(outage.searchBegins(at: 1_800, until: 2_600) == 1_900)
        outage.searchFailed(at: 1_900)
        #expect(outage.searchBegins(at: 1_900, until: 2_700) == 2_000)
        // The access itself has less time.
        #expect(outage.searchBegins(at: 2_000, until: 2_080) == 2_010)
        #expect(outage.searchBegins(at: 2_100, until: 2_100) == 2_100)
    }

    @Test func aLeaderEndsTheOutage() {
        var outage = Outage()
        #expect(outage.searchBegins(at: 1_000, until: 1_800) == 1_800)
        outage.leaderFound()
        #expect(outage.searchBegins(at: 1_900, until: 2_700) == 2_700)
    }

    @Test func aSearchAfterAWhileIsTheFirst() {
        var outage = Outage()
        #expect(outage.searchBegins(at: 1_000, until: 1_800) == 1_800)
        outage.searchFailed(at: 1_800)
        #expect(outage.searchBegins(at: 5_000_001_800, until: 5_000_002_600) == 5_000_002_600)
    }
}
