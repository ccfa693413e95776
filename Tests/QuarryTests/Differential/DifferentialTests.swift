import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// The library does what the C API does: random statements run in a database of each, and all results that a caller can
/// see are compared, by bits.
@Suite("The library against the C API") struct DifferentialTests {
    /// `QUARRY_DIFFERENTIAL_SEED` runs a seed again; `QUARRY_DIFFERENTIAL_STATEMENTS` says for how long.
    @Test func sameAsTheCAPI() async throws {
        let environment = ProcessInfo.processInfo.environment
        let random =
            environment["QUARRY_DIFFERENTIAL_SEED"].flatMap(UInt64.init).map(SeededGenerator.init(seed:))
            ?? SeededGenerator()
        let count = environment["QUARRY_DIFFERENTIAL_STATEMENTS"].flatMap(Int.init) ?? 20_000
        print("DifferentialTests.sameAsTheCAPI seed: \(random.seed)")
        let run = try await onOwnThread(within: 600) {
            var run = DifferentialRun(random)
            try run.run(statements: count)
            return run
        }
        for difference in run.differences { Issue.record("seed \(random.seed), \(difference)") }
        // Programs of errors alone would agree on nothing.
        #expect(run.succeeded > count / 2)
        #expect(run.rows > count / 4)
    }
}
