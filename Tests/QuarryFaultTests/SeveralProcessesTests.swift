import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// Processes that share a file: they set it up at the same moment, write, read, open and close, and the last that
/// closes deletes the log while others open it. None may meet SQLITE_BUSY, and none may lose what it has written.
@Suite("Several processes", .timeLimit(.minutes(3 * TestTime.factor)), .serialized) struct SeveralProcessesTests {
    /// The kinds of the processes in turn.
    @Test(arguments: [(2, 40, ["pool"]), (8, 12, ["pool"]), (8, 12, ["pool", "walQueue"]), (2, 20, ["queue"])])
    func counting(processes: Int, rounds: Int, kinds: [String]) async throws {
        let folder = try TemporaryFolder(isFast: true)
        let path = folder.file("db")
        let exits = try await onOwnThread(within: 170) {
            let children = try (0..<processes).map { index in
                try ChildProcess(["count", path, kinds[index % kinds.count], "process \(index)", "\(rounds)"])
            }
            for child in children { #expect(try child.readLine() == "ready") }
            for child in children { child.closeInput() }
            return try children.map { try $0.wait() }
        }
        for exit in exits {
            #expect(exit.errors == "")
            #expect(exit.status == .code(0))
            #expect(exit.lines == ["\(rounds * 5)"])
        }
        // Of processes that close at the same moment each may see the others, and leave the log. The last
        // process to close moves it into the database, and deletes it.
        let lastKinds = Set(kinds).sorted()
        for kind in lastKinds {
            let exit = try await onOwnThread(within: 60) {
                let child = try ChildProcess(["count", path, kind, "last \(kind)", "1"])
                #expect(try child.readLine() == "ready")
                child.closeInput()
                return try child.wait()
            }
            #expect(exit.status == .code(0))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["db"])
        }
        let queue = try DatabaseQueue(path: path)
        let counts = try await queue.read { db -> [Row] in
            try Row.fetchAll(db, sql: "SELECT name, n FROM counter ORDER BY name")
        }
        var expected: [Row] = [["name": "all", "n": (processes * rounds + lastKinds.count) * 5]]
        for kind in lastKinds { expected.append(["name": "last \(kind)", "n": 5]) }
        for index in 0..<processes { expected.append(["name": "process \(index)", "n": rounds * 5]) }
        #expect(counts == expected)
        #expect(try await queue.read { db in try String.fetchAll(db, sql: "PRAGMA integrity_check") } == ["ok"])
        try queue.close()
    }
}
