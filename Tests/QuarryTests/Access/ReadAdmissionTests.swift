import QuarryTestSupport
import Testing

@testable import Quarry

@Suite struct ReadAdmissionTests {
    @Test func shortReadsRunInline() {
        var admission = ReadAdmission(maximumInlineCount: 1)
        for _ in 0..<100 { admission.record(2_000) }
        #expect(admission.estimate < ReadAdmission.shorterThanHop)
        // Shorter than a hop: any number of them.
        for _ in 0..<50 {
            let admits = admission.admitsInline()
            #expect(admits)
        }
        #expect(admission.inlineCount == 50)
    }

    @Test func halfOfTheThreadsAtMostRunReadsThatTakeAWhile() {
        var admission = ReadAdmission(estimate: 50_000, maximumInlineCount: 2)
        #expect(admission.admitsInline() == true)
        #expect(admission.admitsInline() == true)
        #expect(admission.admitsInline() == false)
        admission.inlineReadDidEnd(nil)
        #expect(admission.admitsInline() == true)
    }

    @Test func oneReadMayAlwaysRunInline() {
        var admission = ReadAdmission(maximumInlineCount: 0)
        #expect(admission.admitsInline() == true)
        #expect(admission.admitsInline() == false)
    }

    @Test func longReadsRunElsewhereAndAreForgotten() {
        var admission = ReadAdmission(maximumInlineCount: 4)
        var count = 0
        while admission.estimate <= ReadAdmission.longestInline {
            admission.record(5_000_000)
            count += 1
        }
        #expect(count == 9, "from 20 us to 100 us in steps of a fifth")
        #expect(admission.admitsInline() == false)
        #expect(admission.inlineCount == 0)
        count = 0
        while !admission.admitsInline() {
            admission.record(1_000)
            count += 1
        }
        #expect(count == 4, "from 103 us to 100 us in steps of a hundredth")
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
        for schedule in 0..<10_000 {
            let maximum = Int.random(in: 1...4, using: &generator)
            var admission = ReadAdmission(
                estimate: .random(in: 100...200_000, using: &generator), maximumInlineCount: maximum)
            var running = 0
            for _ in 0..<20 {
                switch Int.random(in: 0..<3, using: &generator) {
                case 0:
                    let estimate = admission.estimate
                    let mayRun =
                        estimate <= ReadAdmission.shorterThanHop
                        || (estimate <= ReadAdmission.longestInline && running < maximum)
                    let admits = admission.admitsInline()
                    if admits != mayRun { faults.append("schedule \(schedule): admitted: \(admits)") }
                    if admits { running += 1 }
                case 1 where running > 0:
                    admission.inlineReadDidEnd(nil)
                    running -= 1
                default:
                    let before = admission.estimate
                    let duration = UInt64.random(in: 0...300_000, using: &generator)
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
