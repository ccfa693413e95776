import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// A test that blocks Swift's threads must say so, since another may block the rest of them.
struct SwiftThreadsTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func mostTestsMustNotBlock() async throws {
        #expect(!SwiftThreads.mayBlock)
        #expect(await Task.detached { !SwiftThreads.mayBlock }.value)
        #expect(try await onOwnThread { SwiftThreads.mayBlock })
        let pool = try folder.offloadedPool()
        #expect(try await pool.read { _ in SwiftThreads.mayBlock }, "the library's threads")
    }

    /// Together the cases would block all threads.
    @Test(.blocksSwiftThreads, arguments: 0..<2 * CooperativePool.width) func casesDoNotMeet(_: Int) async throws {
        #expect(SwiftThreads.mayBlock)
        guard CooperativePool.width > 1 else { return }
        let hasRun = Step("a task has run")
        Task.detached { hasRun.reach() }
        func block() throws { try hasRun.wait() }
        try block()
    }
}
