import QuarryTestSupport
import Testing

@testable import QuarryCluster

/// The decisions of a search, without nodes. Times are in milliseconds.
@Suite struct LeaderSearchTests {
    /// A search with a clock that the test moves.
    final class Schedule {
        var search: LeaderSearch
        var now: UInt64 = 0
        private var generator = SeededGenerator(seed: 1)

        init(deadline: UInt64) { search = LeaderSearch(deadline: deadline * 1_000_000) }

        func round(_ candidates: NodeAddress...) -> String {
            text(search.beginRound(candidates, at: now * 1_000_000, using: &generator))
        }

        func answered(_ leader: NodeAddress?) -> String {
            text(search.answered(leader: leader, at: now * 1_000_000, using: &generator))
        }

        func failed() -> String { text(search.failed(at: now * 1_000_000, using: &generator)) }

        /// The wait in milliseconds of a round whose only candidate fails.
        func waitOfFailedRound(_ candidate: NodeAddress) -> Double? {
            _ = search.beginRound([candidate], at: now * 1_000_000, using: &generator)
            guard case .wait(let nanoseconds) = search.failed(at: now * 1_000_000, using: &generator) else {
                return nil
            }
            return Double(nanoseconds) / 1e6
        }

        private func text(_ action: LeaderSearch.Action) -> String {
            switch action {
            case .ask(let address, let limit): "ask \(address.host) until \(limit / 1_000_000)"
            case .verify(let address, let limit): "verify \(address.host) until \(limit / 1_000_000)"
            case .open(let address, let limit): "open \(address.host) until \(limit / 1_000_000)"
            case .wait: "wait"
            case .giveUp: "give up"
            }
        }
    }

    private let a: NodeAddress
    private let b: NodeAddress
    private let c: NodeAddress

    init() throws {
        a = try NodeAddress("a:1")
        b = try NodeAddress("b:1")
        c = try NodeAddress("c:1")
    }

    @Test func aNodeThatNamesItselfIsOpened() {
        let schedule = Schedule(deadline: 10_000)
        #expect(schedule.round(a, b) == "ask a until 1000")
        schedule.now = 5
        #expect(schedule.answered(a) == "open a until 1005")
        schedule.search.connected()
        #expect(schedule.failed() == "give up")
    }

    @Test func aHintIsVerified() {
        let schedule = Schedule(deadline: 10_000)
        #expect(schedule.round(a, b, c) == "ask a until 1000")
        #expect(schedule.answered(c) == "verify c until 1000")
        #expect(schedule.answered(c) == "open c until 1000")
    }

    @Test func aDeadLeaderThatFollowersNameIsAskedOnceARound() {
        let schedule = Schedule(deadline: 10_000)
        #expect(schedule.round(a, b, c) == "ask a until 1000")
        #expect(schedule.answered(c) == "verify c until 1000")
        #expect(schedule.failed() == "ask b until 1000")
        #expect(schedule.answered(c) == "wait")
        #expect(schedule.round(b, a, c) == "ask b until 2000")
        #expect(schedule.answered(a) == "verify a until 2000")
        #expect(schedule.answered(a) == "open a until 2000")
    }

    @Test func aHintedNodeMayHintAtAnother() {
        let schedule = Schedule(deadline: 10_000)
        _ = schedule.round(a)
        #expect(schedule.answered(b) == "verify b until 1000")
        #expect(schedule.answered(c) == "verify c until 1000")
        #expect(schedule.answered(nil) == "wait")
    }

    @Test func aCycleOfHintsEnds() {
        let schedule = Schedule(deadline: 10_000)
        _ = schedule.round(a, b)
        #expect(schedule.answered(b) == "verify b until 1000")
        #expect(schedule.answered(c) == "verify c until 1000")
        #expect(schedule.answered(a) == "wait")
    }

    @Test func inventedHintsEnd() throws {
        let schedule = Schedule(deadline: 10_000)
        _ = schedule.round(a, b)
        for number in 1...8 {
            let invented = try NodeAddress("n\(number):1")
            #expect(schedule.answered(invented) == "verify n\(number) until 1000")
        }
        #expect(schedule.answered(c) == "ask b until 1000")
        // The next round follows hints again.
        #expect(schedule.answered(c) == "wait")
        #expect(schedule.round(a) == "ask a until 2000")
        #expect(schedule.answered(c) == "verify c until 2000")
    }

    @Test func aLeaderThatCannotBeOpenedIsNotAskedAgainInThisRound() {
        let schedule = Schedule(deadline: 10_000)
        _ = schedule.round(a, b)
        #expect(schedule.answered(a) == "open a until 1000")
        #expect(schedule.failed() == "ask b until 1000")
        #expect(schedule.answered(a) == "wait")
    }

    @Test func candidatesAreAskedOnce() {
        let schedule = Schedule(deadline: 10_000)
        #expect(schedule.round(a, a, b, a) == "ask a until 1000")
        #expect(schedule.failed() == "ask b until 1000")
        #expect(schedule.failed() == "wait")
    }

    @Test func eachNodeLeavesTimeForAnother() {
        let schedule = Schedule(deadline: 1_000)
        #expect(schedule.round(a, b, c) == "ask a until 500")
        schedule.now = 500
        #expect(schedule.failed() == "ask b until 750")
        schedule.now = 750
        #expect(schedule.failed() == "ask c until 875")
    }

    @Test func slowNodesHaveMoreTimeInLaterRounds() {
        let schedule = Schedule(deadline: 100_000)
        #expect(schedule.round(a) == "ask a until 1000")
        for limit in [2_000, 4_000, 8_000, 8_000] {
            #expect(schedule.failed() == "wait")
            #expect(schedule.round(a) == "ask a until \(limit)")
        }
    }

    @Test func waitsDoubleAndVary() throws {
        let schedule = Schedule(deadline: 100_000)
        var isHalf = true
        for longest in [10.0, 20, 40, 80, 160, 320, 500, 500, 500] {
            let wait = try #require(schedule.waitOfFailedRound(a))
            #expect((longest / 2...longest).contains(wait))
            isHalf = isHalf && wait == longest / 2
        }
        #expect(!isHalf)
    }

    @Test func theLastWaitLeavesTimeForARound() throws {
        let schedule = Schedule(deadline: 100)
        schedule.now = 98
        #expect(schedule.waitOfFailedRound(a) == 1)
        schedule.now = 99
        #expect(schedule.round(a) == "ask a until 99")
    }

    @Test func theSearchEndsAtTheDeadline() {
        let schedule = Schedule(deadline: 100)
        #expect(schedule.round(a, b) == "ask a until 50")
        schedule.now = 100
        #expect(schedule.failed() == "give up")
        #expect(schedule.round(a) == "give up")
        #expect(schedule.answered(a) == "give up")
    }

    @Test func anAnswerAtTheDeadlineIsTooLate() {
        let schedule = Schedule(deadline: 100)
        _ = schedule.round(a)
        schedule.now = 100
        #expect(schedule.answered(a) == "give up")
    }

    @Test func aPastDeadlineAsksNoNode() {
        let schedule = Schedule(deadline: 100)
        schedule.now = 1_000
        #expect(schedule.round(a) == "give up")
    }

    @Test func noCandidatesEndTheSearch() {
        let schedule = Schedule(deadline: 100)
        #expect(schedule.round() == "give up")
    }
}
