import ClusterTestSupport
import Foundation
import Quarry
import QuarryCluster
import Testing

/// Nodes whose clocks jump while they run, by libfaketime: <https://github.com/wolfcw/libfaketime>. Their monotonic clocks
/// go on.
@Suite("Clocks that jump", .serialized, .fakeClocks, .timeLimit(.minutes(60))) struct ClockTests {
    /// Sets the clocks of programs that it launches.
    final class FakeClock {
        private let file: String
        private var processes: String { file + ".processes" }

        init(in folder: NodeFolder, _ name: String) throws {
            file = "\(folder.path)/\(name).clock"
            try set("+0")
        }

        /// - parameter offset: as `+10h`, `-10h`.
        func set(_ offset: String) throws { try offset.write(toFile: file, atomically: true, encoding: .utf8) }

        /// The beginning of a command whose program has this clock.
        ///
        /// The library changes the environment of the first program, which is a shell for that reason: Swift finds its
        /// arguments by the environment's place in memory.
        var launcher: [String] {
            [
                "LD_PRELOAD=\(FakeClock.library ?? "")", "FAKETIME_TIMESTAMP_FILE=\(file)", "FAKETIME_NO_CACHE=1",
                "FAKETIME_DONT_FAKE_MONOTONIC=1", "/bin/sh", "-euc", "echo $$ >>'\(processes)'; exec \"$0\" \"$@\"",
            ]
        }

        /// The library leaves its shared memory behind when a process is killed.
        deinit {
            let text = (try? String(contentsOfFile: processes, encoding: .utf8)) ?? ""
            for process in text.split(separator: "\n") {
                unlink("/dev/shm/faketime_shm_\(process)")
                unlink("/dev/shm/sem.faketime_sem_\(process)")
            }
        }

        /// The path of the library for programs with threads; nil if it isn't installed.
        static let library: String? = {
            let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
            return folders.map { "/usr/lib/\($0)/faketime/libfaketimeMT.so.1" }.first {
                FileManager.default.fileExists(atPath: $0)
            }
        }()
    }

    /// No write notices that the clocks of the leader, and then of all nodes, are hours ahead or behind.
    @Test func theClocksOfNodesJump() async throws {
        let folder = try NodeFolder()
        let clocks = try (0..<3).map { try FakeClock(in: folder, "\($0)") }
        let nodes = try NodeGroup(latency: FailoverTests.latency, launcher: { clocks[$0].launcher })
        let cluster = try nodes.open("app")
        try await cluster.write { db in try db.execute(sql: WriteLog.schema) }
        let log = WriteLog()
        let leader = try nodes.leader()
        try await log.withWriters(16, cluster) {
            for offsets in [["+10h", "+0", "+0"], ["-10h", "+0", "+0"], ["+0", "+400d", "-400d"]] {
                log.noteFault()
                for index in 0..<3 { try clocks[(leader + index) % 3].set(offsets[index]) }
                await log.waitForWrites(200)
                // The node has the clock.
                let hours = try await cluster.read { db in
                    try Int.fetchOne(db, sql: "SELECT (strftime('%s', 'now') - ?) / 3600", arguments: [Int(time(nil))])
                }
                #expect(try #require(hours) / 9 == ["+10h": 1, "-10h": -1, "+0": 0][offsets[0]])
            }
            #expect(log.refusedCount == 0)
            #expect(try nodes.leader() == leader)
            // A leader is elected among nodes whose clocks differ by years.
            log.noteFault()
            nodes.kill(leader)
            await log.waitForWrites(100)
        }
        try await log.check(cluster)
        #expect(log.unknownWrites.map { "\($0.error)" } == [])
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips tests where libfaketime isn't installed.
    static var fakeClocks: ConditionTrait {
        .enabled(if: ClockTests.FakeClock.library != nil, "libfaketime, of the package faketime, isn't installed.")
    }
}
