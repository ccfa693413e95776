import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

@Suite struct ReadAdmissionTests {
    @Test func halfOfTheThreadsAtMostRunReads() {
        var admission = ReadAdmission(average: 5_000, maximumInlineCount: 2)
        #expect(admission.place { 0 } == .here)
        #expect(admission.place { 0 } == .here)
        #expect(admission.place { 0 } == .soon)
        admission.inlineReadDidEnd(nil)
        #expect(admission.place { 0 } == .here)
        #expect(admission.inlineCount == 2)
    }

    @Test func oneReadMayAlwaysRunInline() {
        var admission = ReadAdmission(maximumInlineCount: 0)
        #expect(admission.place { 0 } == .here)
        #expect(admission.place { 0 } == .soon)
    }

    /// Reads ask again until those that run turn out not to be short.
    @Test func readsBesideLongOnesRunElsewhere() {
        var admission = ReadAdmission(maximumInlineCount: 2)
        #expect(admission.place { 0 } == .here)
        for _ in 0..<10 {
            #expect(admission.place { 0 } == .here)
            #expect(admission.place { 0 } == .soon)
            for _ in 1..<32 { #expect(admission.askAgain { 0 } == .soon) }
            #expect(admission.askAgain { 0 } == .elsewhere)
            #expect(admission.place(mayAsk: false) { 0 } == .elsewhere)
            // The end of one read is hope for the others.
            admission.inlineReadDidEnd(3_000)
        }
        #expect(admission.inlineCount == 1)
        #expect(admission.askingCount == 0)
        #expect(admission.traffic == .light)
    }

    /// Many short reads run on the library's threads until few are left.
    @Test func aCrowdRunsElsewhere() {
        var admission = ReadAdmission(average: 5_000, maximumInlineCount: 1)
        #expect(admission.place { 0 } == .here)
        for _ in 0..<8 { #expect(admission.place { 1 } == .soon) }
        #expect(admission.place { 1 } == .elsewhere)
        #expect(admission.traffic == .crowded(calmCount: 0))
        for _ in 0..<8 { #expect(admission.askAgain { 5 } == .elsewhere) }
        admission.inlineReadDidEnd(5_000)
        #expect(admission.askingCount == 0)
        // Some reads that find no others aren't the end of it.
        for _ in 0..<15 { #expect(admission.place { 0 } == .elsewhere) }
        #expect(admission.place { 1 } == .elsewhere)
        for _ in 0..<15 { #expect(!admission.expectsInlineRead { 0 }) }
        #expect(admission.place { 0 } == .here)
        #expect(admission.traffic == .light)
    }

    /// With places for several reads, one other isn't a crowd.
    @Test(arguments: [(maximum: 1, few: 0), (maximum: 2, few: 1), (maximum: 8, few: 1)])
    func aCrowdHasGone(_ maximum: Int, few: Int) {
        var admission = ReadAdmission(average: 150_000, maximumInlineCount: maximum)
        #expect(admission.place { maximum } == .elsewhere)
        #expect(admission.traffic == .crowded(calmCount: 0))
        for _ in 0..<15 { #expect(admission.place { few } == .elsewhere) }
        #expect(admission.place { few + 1 } == .elsewhere)
        for _ in 0..<15 { #expect(admission.place { few } == .elsewhere) }
        #expect(admission.place { few } == .here)
    }

    @Test func longReadsRunElsewhereAndAreForgotten() {
        var admission = ReadAdmission(maximumInlineCount: 4)
        var count = 0
        while admission.average <= ReadAdmission.longestInline {
            admission.record(5_000_000)
            count += 1
        }
        #expect(count == 28)
        #expect(admission.place { 0 } == .elsewhere)
        #expect(admission.inlineCount == 0)
        admission.record(1_000_000_000)
        count = 0
        while admission.place(accessCount: { 0 }) == .elsewhere {
            admission.record(1_000)
            count += 1
        }
        #expect(count == 18, "one read says little, though it took a second")
    }

    @Test func readsThatTakeAWhileRunElsewhereInACrowd() {
        var admission = ReadAdmission(average: 150_000, maximumInlineCount: 2)
        #expect(admission.place { 1 } == .here)
        #expect(admission.place { 2 } == .elsewhere)
        // Their average changes around the bound, which alone doesn't end the crowd.
        for _ in 0..<100 { admission.record(5_000) }
        #expect(admission.average < ReadAdmission.longestInCrowd)
        #expect(admission.place { 4 } == .elsewhere)
        for _ in 0..<15 { #expect(admission.place { 0 } == .elsewhere) }
        #expect(admission.place { 0 } == .here)
        admission = ReadAdmission(average: 90_000, maximumInlineCount: 2)
        #expect(admission.place { 4 } == .here)
    }

    /// One read in thirty that loses its processor for a millisecond doesn't count much.
    @Test func someReadsThatLoseTheirProcessor() {
        var admission = ReadAdmission(maximumInlineCount: 1)
        for index in 0..<10_000 {
            admission.record(index % 30 == 0 ? 1_000_000 : 100_000)
            #expect(admission.expectsShortReads)
        }
        #expect((100_000...200_000).contains(admission.average))
    }

    /// Random reads on a model of the rules, which keeps its own counts.
    @Test func randomSchedulesKeepCount() {
        var generator = SeededGenerator()
        let seed = generator.seed
        var faults: [String] = []
        var answers: [ReadAdmission.Answer: Int] = [:]
        for schedule in 0..<2_000 {
            var model = ModelOfAdmission(maximum: .random(in: 1...4, using: &generator))
            var admission = ReadAdmission(
                average: .random(in: 100...2_000_000, using: &generator), maximumInlineCount: model.maximum)
            let rush = Int.random(in: 2...12, using: &generator)
            for _ in 0..<200 {
                switch Int.random(in: 0..<rush, using: &generator) {
                case 0 where model.running > 0:
                    admission.inlineReadDidEnd(nil)
                    (model.running, model.postponed) = (model.running - 1, 0)
                case 1:
                    let before = admission.average
                    let duration = UInt64.random(in: 0...3_000_000, using: &generator)
                    admission.record(duration)
                    let hasRisen = admission.average > before
                    if hasRisen != (Double(duration) > before) { faults.append("schedule \(schedule): the average") }
                default:
                    let asksAgain = model.asking > 0 && Bool.random(using: &generator)
                    let accessCount = Int.random(in: 0...9, using: &generator)
                    let expected = model.answer(
                        average: admission.average, asksAgain: asksAgain, accessCount: accessCount)
                    let answer = asksAgain ? admission.askAgain { accessCount } : admission.place { accessCount }
                    if answer != expected { faults.append("schedule \(schedule): \(answer), not \(expected)") }
                    answers[answer, default: 0] += 1
                }
                if admission.inlineCount != model.running { faults.append("schedule \(schedule): the count") }
                if admission.askingCount != model.asking { faults.append("schedule \(schedule): those that ask") }
            }
        }
        #expect(faults.isEmpty, "seed \(seed)")
        #expect(answers.count == 3, "seed \(seed)")
    }
}

/// The rules of `ReadAdmission`, with a count for each.
private struct ModelOfAdmission {
    let maximum: Int
    var running = 0
    var postponed = 0
    var asking = 0
    /// The reads in a row that have found few others; nil without a crowd.
    var calm: Int?

    mutating func answer(average: Double, asksAgain: Bool, accessCount: Int) -> ReadAdmission.Answer {
        if asksAgain { asking -= 1 }
        if average > 1_000_000 { return .elsewhere }
        if let found = calm {
            calm = accessCount < min(2, maximum) ? found + 1 : 0
            if calm == 16 { calm = nil }
        } else if asking >= 8 || (average > 100_000 && accessCount >= maximum) {
            calm = 0
        }
        if calm != nil { return .elsewhere }
        if running < maximum {
            (running, postponed) = (running + 1, 0)
            return .here
        }
        if postponed >= 16 * maximum { return .elsewhere }
        (postponed, asking) = (postponed + 1, asking + 1)
        return .soon
    }
}
