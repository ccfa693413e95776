import QuarryCore
import QuarryTestSupport
import Testing

@testable import Quarry

extension UnderLoad {
    /// While writes can't go on, Swift's threads are free: tasks run, and reads are served.
    @Suite struct HeartbeatTests {
        /// What writes wait for.
        enum Obstacle: String, CaseIterable, Sendable, CustomTestStringConvertible {
            /// The pool's writer, which another access has.
            case longTransaction
            /// The lock of the file, which another connection has.
            case lockedFile
            /// The disk.
            case slowDisk

            var testDescription: String { rawValue }
        }

        /// Databases, each with a write that waits: more of them than Swift has threads.
        private static let poolCount = 2 * CooperativePool.width + 2
        private static let beatsForEachWrite = 50

        @Test(arguments: Obstacle.allCases) func theHeartGoesOnBeating(_ obstacle: Obstacle) async throws {
            let end = StressLength.end(ofPart: 3)
            var beats = 0
            repeat {
                beats += try await round(obstacle)
            } while SystemClock.monotonicNanoseconds() < end
            print("HeartbeatTests.\(obstacle): \(beats) beats")
        }

        /// - returns: the number of heartbeats while all writes waited.
        private func round(_ obstacle: Obstacle) async throws -> Int {
            let folder = try TemporaryFolder()
            let disk = try obstacle == .slowDisk ? StallVFS() : nil
            let asked = Recorded<Set<Int>>([])
            let mayGoOn = Step("the heart has beaten")
            let pools = try (0..<Self.poolCount).map { index in
                var configuration = Configuration()
                configuration.maximumReaderCount = 2
                configuration.synchronous = .full
                configuration.vfs = disk?.name
                configuration.busyMode = .callback { _ in
                    _ = asked.update { $0.insert(index) }
                    try? mayGoOn.wait()
                    return true
                }
                return try DatabasePool(path: folder.file("\(index).sqlite"), configuration: configuration)
            }
            for pool in pools { try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") } }
            let holders = try await hold(obstacle, pools, disk, until: mayGoOn)

            let written = Recorded(0)
            let writes = pools.map { pool in
                Task {
                    try await pool.write { db in try db.execute(sql: "INSERT INTO t VALUES (1)") }
                    written.update { $0 += 1 }
                }
            }
            try await until("all writes wait") {
                switch obstacle {
                case .longTransaction: pools.allSatisfy { $0.writer.lane.waiterCount == 1 }
                case .lockedFile: asked.value.count == pools.count
                case .slowDisk: disk?.waitingCount == pools.count
                }
            }
            var beats = 0
            for _ in 0..<Self.beatsForEachWrite {
                for pool in pools {
                    // Another task, and a read of the database whose write waits.
                    beats += await Task.detached { 1 }.value
                    let count = try await pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
                    #expect(count == 0)
                }
            }
            #expect(written.value == 0, "all writes have waited all the time")
            #expect(beats == Self.beatsForEachWrite * pools.count)
            mayGoOn.reach()
            disk?.resume()
            for write in writes { try await write.value }
            for holder in holders { try await holder.value }
            for pool in pools {
                #expect(try await pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == 1)
            }
            return beats
        }

        /// Puts what writes wait for in their way.
        private func hold(
            _ obstacle: Obstacle, _ pools: [DatabasePool], _ disk: StallVFS?, until mayGoOn: Step
        ) async throws -> [OwnThread<Void>] {
            if let disk {
                disk.stall()
                return []
            }
            let holding = Recorded(0)
            let holders = pools.map { pool in
                OwnThread("who holds a database") {
                    let writer: any DatabaseWriter =
                        obstacle == .longTransaction ? pool : try DatabaseQueue(path: pool.path)
                    try writer.write { _ in
                        holding.update { $0 += 1 }
                        try mayGoOn.wait()
                    }
                }
            }
            try await until("all are held") { holding.value == pools.count }
            return holders
        }
    }
}
