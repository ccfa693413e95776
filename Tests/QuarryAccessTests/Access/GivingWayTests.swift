import Quarry
import QuarryTestSupport
import Synchronization
import Testing

@testable import QuarryAccess

private final class Flag: Sendable {
    let isRaised = Atomic<Bool>(false)
}

/// Accesses that find their connection free, and run where their task is, never suspend by themselves.
@Suite struct GivingWayTests {
    /// More tasks than Swift's pool has threads read in loops, until another task has had a hundred turns.
    @Test(.timeLimit(.minutes(1 * TestTime.factor)), arguments: [AsyncExecution.automatic, .inline])
    func loopsOfReadsLetOthersRun(
        _ execution: AsyncExecution
    ) async throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.asyncExecution = execution
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        let end = Flag()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<(2 * CooperativePool.width) {
                group.addTask {
                    while !end.isRaised.load(ordering: .relaxed) { try await pool.read { _ in } }
                }
            }
            group.addTask {
                for _ in 0..<100 { await Task.yield() }
                end.isRaised.store(true, ordering: .relaxed)
            }
            try await group.waitForAll()
        }
        let hadItsTurns = end.isRaised.load(ordering: .relaxed)
        #expect(hadItsTurns)
    }
}
