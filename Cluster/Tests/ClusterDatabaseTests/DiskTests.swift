import ClusterTestSupport
import Quarry
import QuarryCluster
import Testing

/// Nodes whose disks are full: in memory, of 160 MB.
@Suite("Full disks", .serialized, .mounts, .timeLimit(.minutes(60))) struct DiskTests {
    static let writerCount = 16

    private final class Fixture {
        let nodes: NodeGroup
        let cluster: DatabaseCluster
        let disks: [SmallDisk]
        /// Four thousand rows fill the files that a node has allocated ahead.
        let log = WriteLog(padding: 8_000)

        init() throws {
            var disks: [SmallDisk] = []
            nodes = try NodeGroup(
                latency: FailoverTests.latency,
                prepare: { _, folder in disks.append(try SmallDisk(at: folder, megabytes: 160)) })
            self.disks = disks
            cluster = try nodes.open("app") { configuration in
                configuration.connectTimeout = .seconds(2)
                configuration.statementTimeout = .seconds(10)
            }
            try cluster.write { db in try db.execute(sql: WriteLog.schema) }
        }

        /// The folder can be deleted only if nothing is mounted in it.
        deinit {
            nodes.stop()
            disks.forEach { $0.unmount() }
        }

        /// Lets the node with a full disk run again, and makes a majority need its votes.
        func needVote(of full: Int) async throws {
            try nodes.restart(full)
            try nodes.waitUntilFollowing(full)
            await log.waitForWrites(100)
            log.noteFault()
            nodes.kill(try #require((0..<3).first { $0 != full }))
            await log.waitForWrites(100)
        }
    }

    /// The cluster goes on without the follower. Once there is space, it ends. After a new start, it votes again.
    @Test func aFollowersDiskIsFull() async throws {
        let fixture = try Fixture()
        let (nodes, log) = (fixture.nodes, fixture.log)
        try await log.withWriters(Self.writerCount, fixture.cluster) {
            await log.waitForWrites(50)
            let full = try (nodes.leader() + 1) % 3
            log.noteFault()
            try fixture.disks[full].fill()
            // More than the files that the node has allocated.
            await log.waitForWrites(4_000)
            #expect(log.refusedCount == 0)
            try fixture.disks[full].empty()
            #expect(try nodes.waitUntilEnded(full) == 1)
            #expect(nodes.logsOfEnded.first?.contains("was full, which may have ended the log") == true)
            try await fixture.needVote(of: full)
        }
        try await log.check(fixture.cluster)
        #expect(log.unknownWrites.map { "\($0.error)" } == [])
    }

    /// The leader hands its leadership over. If the disk fills faster than that, dqlite ends the process, and the
    /// others elect a leader.
    @Test func theLeadersDiskIsFull() async throws {
        let fixture = try Fixture()
        let (nodes, log) = (fixture.nodes, fixture.log)
        try await log.withWriters(Self.writerCount, fixture.cluster) {
            await log.waitForWrites(50)
            let full = try nodes.leader()
            log.noteFault()
            try fixture.disks[full].fill()
            await log.waitForWrites(4_000)
            try fixture.disks[full].empty()
            let code = try nodes.waitUntilEnded(full)
            print("the full leader has ended with \(code); \(log.refusedCount) writes refused")
            #expect(try nodes.leader() != full)
            try await fixture.needVote(of: full)
        }
        try await log.check(fixture.cluster)
        #expect(log.unknownWrites.map { "\($0.error)" } == [])
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips tests where this process can't mount file systems.
    static var mounts: ConditionTrait {
        .enabled(if: SmallDisk.obstacle == nil, "This process can't mount file systems: \(SmallDisk.obstacle ?? "")")
    }
}
