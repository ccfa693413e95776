import Foundation
import FuzzProperties
import QuarryTestSupport
import Testing

/// The properties that libFuzzer tests (`make fuzz`), with random inputs.
@Suite struct FuzzPropertyTests {
    @Test(arguments: FuzzTarget.allCases) func seeds(_ target: FuzzTarget) throws {
        let seeds = target.seeds
        #expect(!seeds.isEmpty)
        for seed in seeds { try target.check(seed) }
    }

    /// The inputs that libFuzzer begins with, and its findings.
    @Test(arguments: FuzzTarget.allCases) func corpus(_ target: FuzzTarget) throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        let folder = tests.appendingPathComponent("Fuzzing/Corpus/\(target.rawValue)")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            do {
                try target.check([UInt8](Data(contentsOf: file)))
            } catch {
                Issue.record("\(file.lastPathComponent): \(error)")
            }
        }
    }

    @Test(arguments: FuzzTarget.allCases) func inputsOfChance(_ target: FuzzTarget) throws {
        let generator = SeededGenerator()
        var inputs = FuzzInputs(target, using: generator)
        let count =
            switch target {
            case .salvage: 150
            case .sessions: 100
            case .statements, .patterns: 1_000
            default: 4_000
            }
        for _ in 0..<count {
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
