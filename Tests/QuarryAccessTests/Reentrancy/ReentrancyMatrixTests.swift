import Foundation
import QuarryTestSupport
import Testing

/// Whatever is done in the midst of whatever, an error comes out or none, and the connection goes on.
///
/// A run takes some hundred cases by its seed: `QUARRY_REENTRANCY_SEED` takes the same again, and
/// `QUARRY_REENTRANCY_CASES=all` takes each, and says which it begins.
@Suite("In the midst of work", .timeLimit(.minutes(10 * TestTime.factor))) struct ReentrancyMatrixTests {
    @Test(arguments: ReentrancyStage.Kind.allCases)
    func errorsAndNothingElse(_ kind: ReentrancyStage.Kind) async throws {
        let environment = ProcessInfo.processInfo.environment
        var random =
            environment["QUARRY_REENTRANCY_SEED"].flatMap(UInt64.init).map(SeededGenerator.init(seed:))
            ?? SeededGenerator()
        let takesAll = environment["QUARRY_REENTRANCY_CASES"] == "all"
        // Files take longer.
        let count = kind == .memory ? 1200 : 400
        let cases = takesAll ? ReentrancyCase.all : ReentrancyCase.some(count, using: &random)
        print("ReentrancyMatrixTests.errorsAndNothingElse \(kind) seed: \(random.seed)")
        let folder = try TemporaryFolder(isFast: true)
        let (problems, reached) = try await onOwnThread(within: 590 * Double(TestTime.factor)) {
            var (problems, reached): ([String], Set<String>) = ([], [])
            for (index, one) in cases.enumerated() {
                if takesAll { print("ReentrancyMatrixTests: \(kind), \(one)") }
                let result = one.run(kind, path: folder.file("\(index).sqlite"))
                if let problem = result.problem { problems.append("\(one): \(problem)") }
                if result.wasReached { reached.insert(one.place.name) }
            }
            return (problems, reached)
        }
        for problem in problems { Issue.record("seed \(random.seed), \(problem)") }
        #expect(Set(ReentrancyPlace.all.map(\.name)).subtracting(reached) == [])
    }
}
