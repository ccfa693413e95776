import QuarryTestSupport
import Testing

/// Opening a connection without file descriptors or memory: what is idle is given back once, and the opening tried
/// again. Limits and the allocator are the process's, so that these need one of their own.
@Suite(.timeLimit(.minutes(2))) struct ResourceShortageTests {
    @Test func fileDescriptors() async throws {
        let exit = try await onOwnThread(within: 100) {
            let folder = try TemporaryFolder()
            return try ChildProcess(["out-of-files", folder.path], deadline: 90).wait()
        }
        #expect(exit.errors == "")
        #expect(exit.status == .code(0))
        #expect(exit.lines.last?.hasPrefix("refused once") == true)
    }

    @Test func memory() async throws {
        let exit = try await onOwnThread(within: 100) {
            let folder = try TemporaryFolder()
            return try ChildProcess(["out-of-memory-while-opening", folder.path], deadline: 90).wait()
        }
        #expect(exit.errors == "")
        #expect(exit.status == .code(0))
        #expect((exit.lines.last?.split(separator: " ").first).flatMap { Int($0) } ?? 0 > 20)
    }
}
