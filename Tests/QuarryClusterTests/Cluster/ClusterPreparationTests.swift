import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import QuarryClusterWire
import QuarryTestSupport
import Synchronization
import Testing

/// The closures that prepare the connections of a cluster.
@Suite("Preparations of the connections of a cluster", .timeLimit(.minutes(5 * TestTime.factor)))
struct ClusterPreparationTests {
    /// Notes the calls of a preparation.
    private final class Calls: Sendable {
        let list = Mutex<[String]>([])
        func add(_ db: Database) throws {
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM player") ?? -1
            list.withLock { $0.append("\(count) \(db.isInsideTransaction)") }
        }
        func take() -> [String] {
            list.withLock { list in
                defer { list = [] }
                return list
            }
        }
    }

    @Test func eachConnectionIsPreparedOnce() async throws {
        let calls = Calls()
        let fixture = try ClusterFixture { $0.database.prepareDatabase { db in try calls.add(db) } }
        let cluster = fixture.cluster
        #expect(calls.take() == ["0 false"])
        for _ in 1...3 {
            try await cluster.write { db in try db.execute(sql: "UPDATE player SET score = 1") }
            _ = try await cluster.read { db in try Player.fetchCount(db) }
        }
        #expect(calls.take() == ["0 false"])
        // Two reads at a time have two connections.
        try await cluster.read { _ in
            _ = try onOtherThread { try cluster.read { db in try Player.fetchCount(db) } }
        }
        #expect(calls.take() == ["0 false"])
        let later = Calls()
        let preparation = cluster.prepareConnections { db in try later.add(db) }
        try await cluster.write { db in try db.execute(sql: "UPDATE player SET score = 1") }
        _ = try await cluster.read { db in try Player.fetchCount(db) }
        #expect(later.take().count == 2)
        _ = preparation
    }

    /// A preparation that fails is tried again by the next access.
    @Test func aFailingPreparation() async throws {
        struct Refusal: Error {}
        let refuses = Mutex(false)
        let fixture = try ClusterFixture { configuration in
            configuration.database.prepareDatabase { _ in if refuses.withLock({ $0 }) { throw Refusal() } }
        }
        let cluster = fixture.cluster
        refuses.withLock { $0 = true }
        // The connection that writes has been prepared.
        try await cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')") }
        for _ in 1...2 {
            await #expect(throws: Refusal.self) { try await cluster.read { db in try Player.fetchCount(db) } }
        }
        #expect(throws: Refusal.self) { _ = try fixture.other { $0.database = cluster.configuration } }
        refuses.withLock { $0 = false }
        #expect(try await cluster.read { db in try Player.fetchCount(db) } == 1)
    }

    /// A preparation waits for a node as the access does that it belongs to.
    @Test func cancellation() async throws {
        let fixture = try ClusterFixture {
            $0.database.prepareDatabase { db in _ = try Int.fetchOne(db, sql: "SELECT 7 FROM player") }
        }
        let cluster = fixture.cluster
        let gate = Gate("the preparation")
        fixture.nodes.faults.once(.delay(gate), at: .received) { $0.sql == "SELECT 7 FROM player" }
        let read = Task { try await cluster.read { db in try Player.fetchCount(db) } }
        try await gate.reached()
        read.cancel()
        let result = await read.result
        gate.open()
        #expect(throws: CancellationError.self) { try result.get() }
        #expect(try await cluster.read { db in try Player.fetchCount(db) } == 0)
    }

    /// A cluster without a leader is found to be one when it is opened, also if nothing has to be written then.
    @Test(arguments: [true, false]) func openingWithoutALeader(isReadonly: Bool) async throws {
        let nodes = try EmulatedCluster()
        nodes.killLeader(electing: nil)
        var configuration = ClusterConfiguration()
        let clock = ManualMonotonicClock()
        configuration.database.monotonicClock = clock.monotonicClock
        configuration.keepsCommitJournal = false
        configuration.database.readonly = isReadonly
        let opening = OwnThread { [configuration] in
            _ = try DatabaseCluster(nodes: nodes.addresses, name: "app", configuration: configuration)
        }
        try await clock.advance(until: opening)
        let error = await #expect(throws: DatabaseError.self) { try await opening.value }
        #expect(error?.isRetryableInCluster == true)
        #expect(error?.message?.hasPrefix("no leader was found in time") == true)
    }
}
