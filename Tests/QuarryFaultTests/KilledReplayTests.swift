import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// Processes that write, and copy the changes of commits to another file, are killed at random.
@Suite(.timeLimit(.minutes(3 * TestTime.factor)), .serialized) struct KilledReplayTests {
    /// A state that a stable reader has seen is never lost, and the next process follows on.
    @Test func writersAndCopiesAreKilled() async throws {
        let folder = try TemporaryFolder(isFast: true)
        let (path, copy) = (folder.file("db"), folder.file("copy"))
        let seed = UInt64.random(in: 0 ... .max)
        try await onOwnThread(within: 170) {
            var generator = SeededGenerator(seed: seed)
            var seen = 0
            for _ in 0..<6 {
                let child = try ChildProcess(["replay", path, copy])
                for _ in 0..<Int.random(in: 1...12, using: &generator) {
                    guard let line = try child.readLine() else { break }
                    seen = max(seen, Int(line) ?? 0)
                }
                child.kill()
                let exit = try child.wait()
                #expect(exit.errors == "" && exit.status == .signal(SIGKILL), "seed \(seed)")
                for line in exit.lines { seen = max(seen, Int(line) ?? 0) }
                for file in [path, copy] {
                    let queue = try DatabaseQueue(path: file)
                    #expect(
                        try queue.read { db in try String.fetchAll(db, sql: "PRAGMA integrity_check") } == ["ok"],
                        "seed \(seed)")
                    let number = try queue.read { db in try Int.fetchOne(db, sql: "SELECT n FROM clock") }
                    if file == path { #expect(try #require(number) >= seen, "seed \(seed)") }
                }
            }
            let child = try ChildProcess(["replay", path, copy, "10"])
            let exit = try child.wait()
            #expect(exit.errors == "" && exit.lines.last == "same", "seed \(seed)")
        }
    }
}
