import Foundation
import QuarryTestSupport
import Testing

/// Whatever is done in the midst of whatever, an error comes out or none, and the connection goes on.
///
/// A run takes some hundred cases by its seed: `QUARRY_REENTRANCY_SEED` takes the same again, and
/// `QUARRY_REENTRANCY_CASES=all` takes each, and says which it begins.
@Suite("In the midst of work", .timeLimit(.minutes(10))) struct ReentrancyMatrixTests {
    @Test func errorsAndNothingElse() async throws {
        let environment = ProcessInfo.processInfo.environment
        var random =
            environment["QUARRY_REENTRANCY_SEED"].flatMap(UInt64.init).map(SeededGenerator.init(seed:))
            ?? SeededGenerator()
        let takesAll = environment["QUARRY_REENTRANCY_CASES"] == "all"
        let cases = takesAll ? ReentrancyCase.all : Array(ReentrancyCase.all.shuffled(using: &random).prefix(1200))
        print("ReentrancyMatrixTests.errorsAndNothingElse seed: \(random.seed)")
        let (problems, reached) = try await onOwnThread(within: 590) {
            var (problems, reached): ([String], Set<String>) = ([], [])
            for one in cases {
                if takesAll { print("ReentrancyMatrixTests: \(one)") }
                let result = one.run(path: ":memory:")
                if let problem = result.problem { problems.append("\(one): \(problem)") }
                if result.wasReached { reached.insert(one.place.name) }
            }
            return (problems, reached)
        }
        for problem in problems { Issue.record("seed \(random.seed), \(problem)") }
        #expect(Set(ReentrancyPlace.all.map(\.name)).subtracting(reached) == [])
    }
}
