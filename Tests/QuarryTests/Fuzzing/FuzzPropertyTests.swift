import FuzzProperties
import QuarryTestSupport
import Testing

/// The properties that libFuzzer tests (`make fuzz`), with random inputs.
@Suite struct FuzzPropertyTests {
    @Test(arguments: FuzzTarget.allCases) func seeds(_ target: FuzzTarget) throws {
        for seed in target.seeds { try target.check(Array(seed.utf8)) }
    }

    @Test(arguments: FuzzTarget.allCases) func inputsOfChance(_ target: FuzzTarget) throws {
        let generator = SeededGenerator()
        var inputs = FuzzInputs(target, using: generator)
        for _ in 0..<([.statements, .patterns].contains(target) ? 1_000 : 4_000) {
            let input = inputs.next()
            do {
                try target.check(input)
            } catch {
                Issue.record("seed \(generator.seed), input \(input): \(error)")
                return
            }
        }
    }
}
