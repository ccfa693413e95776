import ClusterTestSupport
import Quarry
import QuarryCluster
import Testing

/// Nodes whose links are cut under writers. Packets vanish: no node and no client is told.
///
/// `QUARRY_CLUSTER_CUTS` is the number of cuts of each test.
@Suite("Cut links", .serialized, .networkNamespaces, .timeLimit(.minutes(60))) struct LinkTests {
    static let writerCount = 16
    static let cutCount = environmentNumber("QUARRY_CLUSTER_CUTS", default: 1)

    /// Nodes in namespaces, with a database that has the tables of `WriteLog`.
    private struct Fixture {
        let network: NodeNetwork
        let nodes: NodeGroup
        let cluster: DatabaseCluster
        let log = WriteLog()

        init(settlementTimeout: Duration = .seconds(60)) throws {
            let network = try NodeNetwork(3)
            self.network = network
            nodes = try NodeGroup(
                latency: FailoverTests.latency, addresses: network.addresses, launcher: network.launcher)
            cluster = try nodes.open("app") { configuration in
                configuration.connectTimeout = .seconds(2)
                configuration.statementTimeout = .seconds(2)
                configuration.settlementTimeout = settlementTimeout
            }
            try cluster.write { db in try db.execute(sql: WriteLog.schema) }
        }
    }

    /// The others elect a leader, and the client finds it.
    @Test func theLeaderIsCutOff() async throws {
        let fixture = try Fixture()
        let (nodes, log) = (fixture.nodes, fixture.log)
        try await log.withWriters(Self.writerCount, fixture.cluster) {
            for _ in 0..<Self.cutCount {
                await log.waitForWrites(100)
                let leader = try nodes.leader()
                log.noteFault()
                let start = ContinuousClock.now
                try fixture.network.cutOff([leader])
                await log.waitForWrites(1)
                print("leader cut off: first write after \(ContinuousClock.now - start)")
                try fixture.network.heal()
                try nodes.waitUntilFollowing(leader)
            }
            await log.waitForWrites(100)
        }
        try await log.check(fixture.cluster)
        #expect(log.unknownWrites.map { "\($0.error)" } == [])
        #expect(nodes.logsOfEnded == [])
    }

    /// The client reaches the old leader alone: it can't commit, and nothing is acknowledged until the links are back.
    ///
    /// - parameter heals: whether the links are back within the settlement timeout, so that all outcomes are known.
    @Test(arguments: [true, false]) func theLeaderIsCutOffWithTheClient(_ heals: Bool) async throws {
        let fixture = try Fixture(settlementTimeout: heals ? .seconds(60) : .seconds(1))
        let (nodes, log) = (fixture.nodes, fixture.log)
        try await log.withWriters(Self.writerCount, fixture.cluster) {
            for _ in 0..<Self.cutCount {
                await log.waitForWrites(100)
                let leader = try nodes.leader()
                try fixture.network.cutOff((0..<3).filter { $0 != leader })
                // A write that begins now can't be acknowledged.
                log.noteFault()
                try nodes.waitUntilLeaderless(leader)
                if !heals { await log.waitForFailures(1) }
                #expect(log.acknowledgedSinceFault == 0)
                let start = ContinuousClock.now
                try fixture.network.heal()
                await log.waitForWrites(1)
                print("links to the majority are back: first write after \(ContinuousClock.now - start)")
            }
            await log.waitForWrites(100)
        }
        try await log.check(fixture.cluster)
        if heals { #expect(log.unknownWrites.map { "\($0.error)" } == []) }
        #expect(nodes.logsOfEnded == [])
    }

    /// A follower's link costs nothing.
    @Test func aFollowerIsCutOff() async throws {
        let fixture = try Fixture()
        let (nodes, log) = (fixture.nodes, fixture.log)
        try await log.withWriters(Self.writerCount, fixture.cluster) {
            for _ in 0..<Self.cutCount {
                await log.waitForWrites(50)
                let follower = try (nodes.leader() + 1) % 3
                log.noteFault()
                try fixture.network.cutOff([follower])
                await log.waitForWrites(300)
                try fixture.network.heal()
                try nodes.waitUntilFollowing(follower)
            }
            await log.waitForWrites(500)
        }
        try await log.check(fixture.cluster)
        #expect(log.refusedCount == 0)
        #expect(log.unknownWrites.count == 0)
        #expect(nodes.logsOfEnded == [])
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips tests where this process can't make network namespaces.
    static var networkNamespaces: ConditionTrait {
        .enabled(
            if: NodeNetwork.obstacle == nil,
            "This process can't make network namespaces: \(NodeNetwork.obstacle ?? "")")
    }
}
