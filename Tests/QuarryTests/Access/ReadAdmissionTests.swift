import QuarryTestSupport
import Testing

@testable import Quarry

@Suite struct ReadAdmissionTests {
    @Test func halfOfTheThreadsAtMostRunReads() {
        var admission = ReadAdmission(estimate: 5_000, maximumInlineCount: 2)
        #expect(admission.place() == .here)
        #expect(admission.place() == .here)
        #expect(admission.place() == .soon)
        admission.inlineReadDidEnd(nil)
        #expect(admission.place() == .here)
        #expect(admission.inlineCount == 2)
    }

    @Test func oneReadMayAlwaysRunInline() {
        var admission = ReadAdmission(maximumInlineCount: 0)
        #expect(admission.place() == .here)
        #expect(admission.place() == .soon)
    }

    /// Reads ask again until those that run turn out not to be short.
    @Test func readsBesideLongOnesRunElsewhere() {
        var admission = ReadAdmission(maximumInlineCount: 2)
        #expect(admission.place() == .here)
        for _ in 0..<10 {
            #expect(admission.place() == .here)
            for _ in 0..<32 { #expect(admission.place() == .soon) }
            #expect(admission.place() == .elsewhere)
            // The end of one read is hope for the others.
            admission.inlineReadDidEnd(3_000)
        }
        #expect(admission.inlineCount == 1)
    }

    @Test func longReadsRunElsewhereAndAreForgotten() {
        var admission = ReadAdmission(maximumInlineCount: 4)
        var count = 0
        while admission.estimate <= ReadAdmission.longestInline {
            admission.record(5_000_000)
            count += 1
        }
        #expect(count == 22, "from 20 us to 1 ms in steps of a fifth")
        #expect(admission.place() == .elsewhere)
        #expect(admission.inlineCount == 0)
        count = 0
        while admission.place() == .elsewhere {
            admission.record(1_000)
            count += 1
        }
        #expect(count == 10, "from 1.1 ms to 1 ms in steps of a hundredth")
    }

    @Test func theEstimateHasBounds() {
        var admission = ReadAdmission(estimate: 1, maximumInlineCount: 1)
        admission.record(0)
        #expect(admission.estimate == 100)
        for _ in 0..<1_000 { admission.record(.max) }
        #expect(admission.estimate <= 1e12)
    }

    /// The estimate stays at the duration that about one read in twenty exceeds.
    @Test func theEstimateIsTheNinetyFifthPercentile() {
        var generator = SeededGenerator()
        let seed = generator.seed
        for _ in 0..<20 {
            var admission = ReadAdmission(maximumInlineCount: 1)
            let longest = Double(Int.random(in: 10_000...10_000_000, using: &generator))
            var exceeding = 0
            for index in 0..<40_000 {
                let duration = UInt64(Double.random(in: 0..<longest, using: &generator))
                if index >= 20_000, Double(duration) > admission.estimate { exceeding += 1 }
                admission.record(duration)
            }
            #expect((600...1_500).contains(exceeding), "of 20,000; 1,000 are 5 %; seed \(seed)")
        }
    }

    @Test func randomSchedulesKeepCount() {
        var generator = SeededGenerator()
        let seed = generator.seed
        var faults: [String] = []
        for schedule in 0..<2_000 {
            let maximum = Int.random(in: 1...4, using: &generator)
            var admission = ReadAdmission(
                estimate: .random(in: 100...2_000_000, using: &generator), maximumInlineCount: maximum)
            var running = 0
            var postponed = 0
            for _ in 0..<100 {
                switch Int.random(in: 0..<3, using: &generator) {
                case 0:
                    let estimate = admission.estimate
                    let expected: ReadAdmission.Answer =
                        estimate > ReadAdmission.longestInline
                        ? .elsewhere : running < maximum ? .here : postponed < 16 * maximum ? .soon : .elsewhere
                    let answer = admission.place()
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
                    let before = admission.estimate
                    let duration = UInt64.random(in: 0...3_000_000, using: &generator)
                    admission.record(duration)
                    let hasRisen = admission.estimate > before
                    if hasRisen != (Double(duration) > before) { faults.append("schedule \(schedule): the estimate") }
                }
                if admission.inlineCount != running { faults.append("schedule \(schedule): the count") }
            }
        }
        #expect(faults.isEmpty, "seed \(seed)")
    }
}
