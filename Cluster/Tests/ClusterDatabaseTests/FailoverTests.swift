import ClusterTestSupport
import Foundation
import Quarry
import QuarryCluster
import Testing

/// Nodes and clients that are killed under writers.
///
/// `QUARRY_CLUSTER_KILLS` is the number of leaders that are killed, `QUARRY_CLUSTER_LATENCY` that of `quarry-node`.
@Suite("Killed nodes", .serialized, .timeLimit(.minutes(60))) struct FailoverTests {
    static let writerCount = 16
    static let latency = environmentNumber("QUARRY_CLUSTER_LATENCY", default: 100)

    /// A database with the tables of `WriteLog`.
    private func open(
        _ nodes: NodeGroup, _ change: (inout ClusterConfiguration) -> Void = { _ in }
    ) throws -> DatabaseCluster {
        let cluster = try nodes.open("app", change)
        try cluster.write { db in try db.execute(sql: WriteLog.schema) }
        return cluster
    }

    @Test(arguments: [false, true]) func killedLeaders(_ retries: Bool) async throws {
        let nodes = try NodeGroup(latency: Self.latency)
        let cluster = try open(nodes) { $0.retriesWrites = retries }
        let log = WriteLog()
        var gaps: [Duration] = []
        try await log.withWriters(Self.writerCount, cluster) {
            for _ in 0..<environmentNumber("QUARRY_CLUSTER_KILLS", default: 3) {
                await log.waitForWrites(100)
                let leader = try nodes.leader()
                log.noteFault()
                let start = ContinuousClock.now
                nodes.kill(leader)
                await log.waitForWrites(1)
                gaps.append(ContinuousClock.now - start)
                try nodes.restart(leader)
                try nodes.waitUntilFollowing(leader)
            }
            await log.waitForWrites(100)
        }
        try await log.check(cluster)
        #expect(log.unknownWrites.map { "\($0.error)" } == [])
        if retries { #expect(log.refusedCount == 0) }
        let sorted = gaps.sorted()
        print(
            """
            \(gaps.count) leaders killed, writes \(retries ? "with" : "without") retries: gap p50 \
            \(sorted[sorted.count / 2]), p99 \(sorted[sorted.count * 99 / 100])
            """)
    }

    @Test func aKilledFollowerIsNotNoticed() async throws {
        let nodes = try NodeGroup(latency: Self.latency)
        let cluster = try open(nodes)
        let log = WriteLog()
        try await log.withWriters(Self.writerCount, cluster) {
            await log.waitForWrites(50)
            let leader = try nodes.leader()
            let follower = (leader + 1) % 3
            log.noteFault()
            nodes.kill(follower)
            await log.waitForWrites(200)
            try nodes.restart(follower)
            try nodes.waitUntilFollowing(follower)
            await log.waitForWrites(300)
        }
        try await log.check(cluster)
        #expect(log.refusedCount == 0)
        #expect(log.unknownWrites.count == 0)
    }

    /// A leader that hangs costs the statement timeout.
    @Test func hangingLeaders() async throws {
        let nodes = try NodeGroup(latency: Self.latency)
        let cluster = try open(nodes) { $0.statementTimeout = .seconds(2) }
        let log = WriteLog()
        try await log.withWriters(Self.writerCount, cluster) {
            for _ in 0..<3 {
                await log.waitForWrites(50)
                let leader = try nodes.leader()
                log.noteFault()
                let start = ContinuousClock.now
                nodes.pause(leader)
                await log.waitForWrites(1)
                print("first write \(ContinuousClock.now - start) after the leader hung")
                nodes.resume(leader)
                try nodes.waitUntilFollowing(leader)
            }
            await log.waitForWrites(50)
        }
        try await log.check(cluster)
        #expect(log.unknownWrites.map { "\($0.error)" } == [])
    }

    /// Without a majority, writes fail. The cluster heals when one node returns.
    @Test(arguments: [true, false]) func twoOfThreeAreKilled(_ killsLeader: Bool) async throws {
        let nodes = try NodeGroup(latency: Self.latency)
        let cluster = try open(nodes) { configuration in
            configuration.connectTimeout = .seconds(2)
            configuration.settlementTimeout = .seconds(3)
        }
        let log = WriteLog()
        var victims: [Int] = []
        try await log.withWriters(Self.writerCount, cluster) {
            await log.waitForWrites(50)
            let leader = try nodes.leader()
            victims = killsLeader ? [leader, (leader + 1) % 3] : [(leader + 1) % 3, (leader + 2) % 3]
            log.noteFault()
            for victim in victims { nodes.kill(victim) }
        }
        // Nothing is acknowledged.
        let acknowledgedCount = log.acknowledgedCount
        for number in 0..<3 { await log.write("late \(number)", cluster) }
        #expect(log.acknowledgedCount == acknowledgedCount)
        #expect(log.refusedCount + log.unknownWrites.count > 0)
        try nodes.restart(victims[0])
        let healed = try nodes.open("app")
        await log.write("healed", healed)
        #expect(log.acknowledgedCount == acknowledgedCount + 1)
        try await log.check(healed)
        try nodes.restart(victims[1])
        try nodes.waitUntilFollowing(victims[1])
    }

    /// Five nodes survive two deaths. Without a majority, writes fail. The cluster heals when one node returns.
    @Test func fiveNodesLoseThree() async throws {
        let nodes = try NodeGroup(5, latency: Self.latency)
        let cluster = try open(nodes) { configuration in
            configuration.connectTimeout = .seconds(2)
            configuration.settlementTimeout = .seconds(10)
        }
        let log = WriteLog()
        var victims: [Int] = []
        try await log.withWriters(Self.writerCount, cluster) {
            for _ in 0..<2 {
                await log.waitForWrites(100)
                let leader = try nodes.leader()
                log.noteFault()
                let start = ContinuousClock.now
                nodes.kill(leader)
                victims.append(leader)
                await log.waitForWrites(1)
                print("\(victims.count) of five nodes killed: first write after \(ContinuousClock.now - start)")
            }
            await log.waitForWrites(100)
            #expect(log.unknownWrites.map { "\($0.error)" } == [])
            let leader = try nodes.leader()
            nodes.kill(leader)
            victims.append(leader)
            // A write that begins now can't be acknowledged.
            log.noteFault()
            await log.waitForFailures(Self.writerCount)
            #expect(log.acknowledgedSinceFault == 0)
            try nodes.restart(victims[0])
            await log.waitForWrites(100)
        }
        try await log.check(cluster)
        for victim in victims[1...] {
            try nodes.restart(victim)
            try nodes.waitUntilFollowing(victim)
        }
        #expect(nodes.logsOfEnded == [])
    }

    /// A restart of each node in turn, after a hand-over, costs time and no errors.
    @Test func rollingRestart() async throws {
        let nodes = try NodeGroup(latency: Self.latency)
        let cluster = try open(nodes) { configuration in
            configuration.retriesReads = true
            configuration.retriesWrites = true
        }
        let log = WriteLog()
        let rounds = environmentNumber("QUARRY_CLUSTER_RESTARTS", default: 1)
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    var last = 0
                    while !log.isEnding {
                        let (count, kept) = try await cluster.read { db in
                            (
                                try Int.fetchOne(db, sql: "SELECT count FROM counter") ?? 0,
                                try Int.fetchOne(db, sql: "SELECT count(*) FROM item") ?? 0
                            )
                        }
                        #expect(count == kept)
                        #expect(count >= last)
                        last = count
                    }
                }
            }
            try await log.withWriters(8, cluster) {
                for index in 0..<(3 * rounds) {
                    await log.waitForWrites(50)
                    log.noteFault()
                    let start = ContinuousClock.now
                    try nodes.terminate(index % 3)
                    await log.waitForWrites(1)
                    print("node \(index % 3) has stopped; first write after \(ContinuousClock.now - start)")
                    try nodes.restart(index % 3)
                    try nodes.waitUntilFollowing(index % 3)
                }
                await log.waitForWrites(50)
            }
            try await group.waitForAll()
        }
        try await log.check(cluster)
        #expect(log.refusedCount == 0)
        #expect(log.unknownWrites.count == 0)
    }

    /// Cancelled writes are not kept, and cost the writes that share their transaction no more than another run.
    @Test func cancelledWrites() async throws {
        let nodes = try NodeGroup(latency: Self.latency)
        let cluster = try open(nodes) { $0.retriesWrites = true }
        let log = WriteLog()
        for round in 0..<60 {
            log.noteFault()
            let tasks = (0..<16).map { number in
                Task { await log.write("\(round)-\(number)", cluster) }
            }
            // Each round cancels at another moment.
            if round.isMultiple(of: 2) { await log.waitForWrites(1 + round % 4) }
            for _ in 0..<(round * 5) { await Task.yield() }
            for index in stride(from: 0, to: 16, by: 3) { tasks[index].cancel() }
            for task in tasks { await task.value }
        }
        try await log.check(cluster)
        #expect(log.refusedCount == 0)
        #expect(log.unknownWrites.count == 0)
        #expect(log.cancelledCount > 0)
        #expect(log.acknowledgedCount >= 600)
    }

    @Test func aClientIsKilledInItsTransaction() throws {
        let nodes = try NodeGroup(latency: Self.latency)
        let cluster = try nodes.open("app")
        try cluster.write { db in
            try db.execute(sql: "CREATE TABLE item (name TEXT) STRICT; INSERT INTO item VALUES ('whole')")
        }
        for _ in 0..<3 {
            let client = Process()
            let (input, output) = (Pipe(), Pipe())
            client.executableURL = NodeProcess.program("ClusterTestClient")
            client.arguments = ["app"] + nodes.addresses.map(\.description)
            client.standardInput = input
            client.standardOutput = output
            try client.run()
            #expect(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) == "wrote\n")
            // Nothing of it is seen.
            #expect(try cluster.read { db in try String.fetchAll(db, sql: "SELECT name FROM item") } == ["whole"])
            kill(client.processIdentifier, SIGKILL)
            client.waitUntilExit()
            // The lock is free, and nothing half is left.
            try cluster.write { db in
                #expect(try String.fetchAll(db, sql: "SELECT name FROM item") == ["whole"])
                try db.execute(sql: "UPDATE item SET name = name")
            }
        }
    }
}
