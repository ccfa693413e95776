import QuarryTestSupport
import Testing

@testable import Quarry

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
            for _ in 0..<32 { #expect(admission.place { 0 } == .soon) }
            #expect(admission.place { 0 } == .elsewhere)
            // The end of one read is hope for the others.
            admission.inlineReadDidEnd(3_000)
        }
        #expect(admission.inlineCount == 1)
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
        #expect(admission.place { 4 } == .elsewhere)
        #expect(admission.place { 3 } == .here)
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

    @Test func randomSchedulesKeepCount() {
        var generator = SeededGenerator()
        let seed = generator.seed
        var faults: [String] = []
        for schedule in 0..<2_000 {
            let maximum = Int.random(in: 1...4, using: &generator)
            var admission = ReadAdmission(
                average: .random(in: 100...2_000_000, using: &generator), maximumInlineCount: maximum)
            var running = 0
            var postponed = 0
            for _ in 0..<100 {
                switch Int.random(in: 0..<3, using: &generator) {
                case 0:
                    let average = admission.average
                    let accessCount = Int.random(in: 0...9, using: &generator)
                    let isCrowded = average > ReadAdmission.longestInCrowd && accessCount >= 2 * maximum
                    let expected: ReadAdmission.Answer =
                        average > ReadAdmission.longestInline || isCrowded
                        ? .elsewhere : running < maximum ? .here : postponed < 16 * maximum ? .soon : .elsewhere
                    let answer = admission.place { accessCount }
                    if answer != expected { faults.append("schedule \(schedule): \(answer), not \(expected)") }
                    switch answer {
                    case .here: (running, postponed) = (running + 1, 0)
                    case .soon: postponed += 1
                    case .elsewhere: break
                    }
                case 1 where running > 0:
                    admission.inlineReadDidEnd(nil)
                    (running, postponed) = (running - 1, 0)
                default:
                    let before = admission.average
                    let duration = UInt64.random(in: 0...3_000_000, using: &generator)
                    admission.record(duration)
                    let hasRisen = admission.average > before
                    if hasRisen != (Double(duration) > before) { faults.append("schedule \(schedule): the average") }
                }
                if admission.inlineCount != running { faults.append("schedule \(schedule): the count") }
            }
        }
        #expect(faults.isEmpty, "seed \(seed)")
    }
}
