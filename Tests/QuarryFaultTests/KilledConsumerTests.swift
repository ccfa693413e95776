import Foundation
import Quarry
import QuarryOutbox
import QuarryTestSupport
import Testing

/// Processes that deliver the messages of an outbox are killed at random: each message is delivered, and the first
/// deliveries are in order.
@Suite(.timeLimit(.minutes(3 * TestTime.factor)), .serialized) struct KilledConsumerTests {
    private static let count = 120

    @Test(arguments: ["queue", "pool"]) func consumersAreKilled(_ kind: String) async throws {
        let folder = try TemporaryFolder(isFast: true)
        let path = folder.file("db")
        let seed = UInt64.random(in: 0 ... .max)
        let (firsts, kills, count) = try await onOwnThread(within: 170) {
            var generator = SeededGenerator(seed: seed)
            let writer: any DatabaseWriter =
                kind == "pool" ? try DatabasePool(path: path) : try DatabaseQueue(path: path)
            let outbox = Outbox<Int>("message")
            try writer.write { db in
                try outbox.createTables(db)
                for number in 1...Self.count { try outbox.append(number, db) }
            }
            var (firsts, kills): ([Int], Int) = ([], 0)
            func note(_ line: String) { if let number = Int(line), number > firsts.last ?? 0 { firsts.append(number) } }
            var count = Self.count
            while try writer.read({ db in try outbox.pendingCount(db) }) > 0 {
                let child = try ChildProcess(["deliver", path, kind])
                for _ in 0..<Int.random(in: 0...12, using: &generator) {
                    guard firsts.last != count, let line = try child.readLine() else { break }
                    note(line)
                }
                if firsts.last == count {
                    try spin(until: "the last message is deleted") {
                        try writer.read { db in try outbox.pendingCount(db) } == 0
                    }
                }
                child.kill()
                let exit = try child.wait()
                #expect(exit.errors == "")
                exit.lines.forEach(note)
                kills += 1
                // A busy machine reads many lines between two kills.
                if kills < 6, firsts.last == count {
                    try writer.write { db in for number in count + 1...count + 20 { try outbox.append(number, db) } }
                    count += 20
                }
            }
            try writer.close()
            return (firsts, kills, count)
        }
        #expect(firsts == Array(1...count), "seed \(seed)")
        #expect(kills > 5, "seed \(seed)")
    }
}
