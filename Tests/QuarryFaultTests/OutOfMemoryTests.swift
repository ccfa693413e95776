import Foundation
import QuarryTestSupport
import Testing

/// SQLite's memory runs out at an allocation of a small workload, another one in each run: opening, writing, reading,
/// functions, a rollback, a copy, closing. The allocator is the process's, so that this needs one of its own.
@Suite("Out of memory", .timeLimit(.minutes(5 * TestTime.factor)), .serialized) struct OutOfMemoryTests {
    @Test(arguments: ["UTF-8", "UTF-16le"], ["once", "sticky"])
    func failingAllocations(encoding: String, failing: String) async throws {
        let exit = try await onOwnThread(within: 280) {
            let folder = try TemporaryFolder(isFast: true)
            let numbers = ["\(FaultedOperations().nth)", "\(FaultedOperations.stride)"]
            let exit = try ChildProcess(["out-of-memory", folder.path, encoding, failing] + numbers, deadline: 240)
                .wait()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
            return exit
        }
        #expect(exit.errors == "")
        #expect(exit.status == .code(0))
        let words = try #require(exit.lines.last?.split(separator: " "))
        let allocations = try #require(Int(words[0]))
        let errors = try #require(Int(words[2]))
        // An opening that fails once gives memory back, tries again, and succeeds.
        let reopened = try #require(Int(words[4]))
        #expect(allocations > 1000 && errors + reopened > allocations / FaultedOperations.stride / 2, "\(exit.lines)")
        #expect((reopened > 0) == (failing == "once"), "\(exit.lines)")
    }
}
