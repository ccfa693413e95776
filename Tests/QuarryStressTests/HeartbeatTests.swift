import Quarry
import QuarryCore
import QuarryTestSupport
import Testing

@testable import QuarryAccess

extension UnderLoad {
    /// While writes can't go on, Swift's threads are free: tasks run, and reads are served.
    @Suite struct HeartbeatTests {
        /// The obstacle that writes wait for.
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
                case .longTransaction: pools.allSatisfy { $0.writer.group.waiterCount == 1 }
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

        // MARK: - Opening and closing

        /// A call that may wait or run for long, in its asynchronous form.
        enum Operation: String, CaseIterable, Sendable, CustomTestStringConvertible {
            case openPool, openQueue, makeSnapshot, makeSnapshotPool
            case close, releaseMemory, backup

            var testDescription: String { rawValue }

            /// Whether it opens connections.
            var opens: Bool {
                switch self {
                case .openPool, .openQueue, .makeSnapshot, .makeSnapshotPool: true
                case .close, .releaseMemory, .backup: false
                }
            }

            func run(_ pool: DatabasePool) async throws {
                switch self {
                case .openPool: _ = try await DatabasePool.open(path: pool.path, configuration: pool.configuration)
                case .openQueue: _ = try await DatabaseQueue.open(path: pool.path, configuration: pool.configuration)
                case .makeSnapshot: _ = try await pool.makeSnapshotAsync()
                case .makeSnapshotPool: _ = try await pool.makeSnapshotPoolAsync()
                case .close: try await pool.closeAsync()
                case .releaseMemory: await pool.releaseMemoryAsync()
                case .backup: try await DatabaseQueue().backupAsync(to: pool)
                }
            }
        }

        /// Calls that open connections wait in `prepareDatabase`, the others for a write.
        @Test(arguments: Operation.allCases) func theHeartBeatsBesideOpeningAndClosing(_ operation: Operation)
            async throws
        {
            let folder = try TemporaryFolder()
            let isGated = Recorded(false)
            let preparing = Recorded(0)
            let mayGoOn = Step("the heart has beaten")
            let pools = try (0..<Self.poolCount).map { index in
                var configuration = Configuration()
                configuration.maximumReaderCount = 2
                configuration.prepareDatabase { _ in
                    guard isGated.value else { return }
                    preparing.update { $0 += 1 }
                    try mayGoOn.wait()
                }
                return try DatabasePool(path: folder.file("\(index).sqlite"), configuration: configuration)
            }
            for pool in pools { try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") } }
            let holders = operation.opens ? [] : try await hold(.longTransaction, pools, nil, until: mayGoOn)
            isGated.update { $0 = operation.opens }
            let ended = Recorded(0)
            let tasks = pools.map { pool in
                Task {
                    try await operation.run(pool)
                    ended.update { $0 += 1 }
                }
            }
            try await until("all wait") {
                operation.opens
                    ? preparing.value == pools.count : pools.allSatisfy { $0.writer.group.waiterCount == 1 }
            }
            var beats = 0
            for _ in 0..<Self.beatsForEachWrite * pools.count { beats += await Task.detached { 1 }.value }
            #expect(ended.value == 0, "all have waited all the time")
            #expect(beats == Self.beatsForEachWrite * pools.count)
            mayGoOn.reach()
            for task in tasks { try await task.value }
            for holder in holders { try await holder.value }
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
