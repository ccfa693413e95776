import Foundation
import QuarryTestSupport
import Testing

/// Opening a connection without file descriptors or memory: what is idle is given back once, and the opening tried
/// again. Limits, the allocator and the user are the process's, so that these need one of their own.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct ResourceShortageTests {
    @Test func fileDescriptors() async throws {
        let exit = try await onOwnThread(within: 100) {
            let folder = try TemporaryFolder()
            return try ChildProcess(["out-of-files", folder.path], deadline: 90).wait()
        }
        #expect(exit.errors == "")
        #expect(exit.status == .code(0))
        #expect(exit.lines.last?.hasPrefix("refused once") == true)
    }

    /// A directory whose places would suffice closes idle databases for those that are opened.
    @Test func fileDescriptorsOfADirectory() async throws {
        let exit = try await onOwnThread(within: 100) {
            let folder = try TemporaryFolder(isFast: true)
            return try ChildProcess(["directory-out-of-files", folder.path], deadline: 90).wait()
        }
        #expect(exit.errors == "")
        #expect(exit.status == .code(0))
        #expect(exit.lines.last?.hasPrefix("closed ") == true)
    }

    /// The first statement of a new database needs descriptors, too: for the log and its index, or for a journal.
    @Test func fileDescriptorsOfNewDatabases() async throws {
        let exit = try await onOwnThread(within: 100) {
            let folder = try TemporaryFolder(isFast: true)
            return try ChildProcess(["new-databases-out-of-files", folder.path], deadline: 90).wait()
        }
        #expect(exit.errors == "")
        #expect(exit.status == .code(0))
        #expect(exit.lines.last == "made 88")
    }

    /// The folder of a directory that can't be listed, searched or written.
    @Test func permissionsOfADirectory() async throws {
        let exit = try await onOwnThread(within: 100) {
            let folder = try TemporaryFolder()
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
            return try ChildProcess(["lack-permission", folder.path], deadline: 90).wait()
        }
        #expect(exit.errors == "")
        #expect(exit.status == .code(0))
        #expect(exit.lines == ["done"])
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
