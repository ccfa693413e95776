import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import QuarryClusterWire
import Synchronization
import Testing

/// Clients whose clocks are wrong.
@Suite("Clocks of a cluster's clients") struct ClusterClockTests {
    static let now: Int64 = 1_800_000_000_000_000
    static let hour: Int64 = 3_600_000_000
    static let year: Int64 = 365 * 24 * hour

    /// A clock that a test sets.
    private final class Clock: Sendable {
        private let value = Mutex(ClusterClockTests.now)

        func set(_ time: Int64) { value.withLock { $0 = time } }
        @Sendable func read() -> Int64 { value.withLock { $0 } }
    }

    private func fixture(_ clock: Clock) throws -> ClusterFixture {
        try ClusterFixture { $0.wallClock = clock.read }
    }

    private func insertPlayer(_ cluster: DatabaseCluster) throws {
        try cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES (hex(randomblob(16)))") }
    }

    /// Fills the journal with the rows of a busy day. Their ids have a byte more than those of clients.
    private func fillJournal(_ nodes: EmulatedCluster, count: Int) throws {
        try nodes.execute(
            """
            WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < \(count))
            INSERT INTO quarry_commit (id, time, isFence) SELECT randomblob(17), \(Self.now) - n * 1000, 0 FROM number
            """)
    }

    private func times(_ nodes: EmulatedCluster) throws -> [WireValue] {
        try nodes.query("SELECT time FROM quarry_commit ORDER BY time").map { $0[0] }
    }

    @Test func theJournalIsInTheOrderOfCommits() throws {
        let clock = Clock()
        let fixture = try fixture(clock)
        try fixture.nodes.execute("DELETE FROM quarry_commit")
        var expected: [WireValue] = []
        for (jump, time) in [
            (0, 0), (-10 * Self.hour, 1), (10 * Self.hour, 10 * Self.hour), (-Self.now, 10 * Self.hour + 1),
        ] {
            clock.set(Self.now + jump)
            try insertPlayer(fixture.cluster)
            expected.append(.integer(Self.now + time))
            #expect(try times(fixture.nodes) == expected)
        }
    }

    /// The clock jumps between the insertion of the identifier and the settlement.
    @Test(arguments: [-year, -hour, hour, year], [RequestInfo.Phase.received, .executed])
    func aLostCommitIsSettledAfterAJump(_ jump: Int64, _ phase: RequestInfo.Phase) throws {
        let clock = Clock()
        let fixture = try fixture(clock)
        fixture.nodes.faults.once(.killNode, at: phase) { request in
            guard request.sql == "COMMIT TRANSACTION" else { return false }
            clock.set(Self.now + jump)
            return true
        }
        let outcome = Result { try insertPlayer(fixture.cluster) }
        #expect(clock.read() == Self.now + jump)
        switch outcome {
        case .success: #expect(phase == .executed)
        case .failure(let error):
            #expect(phase == .received)
            #expect((error as? DatabaseError)?.isRetryableInCluster == true, "\(error)")
        }
        let expected: Int64 = phase == .executed ? 1 : 0
        #expect(try fixture.nodes.query("SELECT count(*) FROM player") == [[.integer(expected)]])
        #expect(
            try fixture.nodes.query("SELECT count(*) FROM quarry_commit WHERE isFence = 1") == [
                [.integer(1 - expected)]
            ])
        try insertPlayer(fixture.cluster)
    }

    /// Another client prunes the journal as often as it likes: the row of a client whose clock is far behind stays.
    @Test func theRowOfAClientThatIsBehindIsNotPruned() throws {
        let clock = Clock()
        let fixture = try fixture(clock)
        try fillJournal(fixture.nodes, count: 100_500)
        try fixture.nodes.execute("DELETE FROM quarry_commit WHERE length(id) = 16")
        let other = try fixture.other { $0.wallClock = { Self.now } }
        clock.set(Self.now - 10 * Self.year)
        try insertPlayer(fixture.cluster)
        let row = try fixture.nodes.query("SELECT id, time FROM quarry_commit WHERE length(id) = 16")
        #expect(row.count == 1)
        for _ in 0..<200 { try insertPlayer(other) }
        let rows = try fixture.nodes.query("SELECT id, time FROM quarry_commit WHERE length(id) = 16")
        #expect(rows.contains(row[0]))
    }

    /// A client whose clock was far ahead doesn't keep others from pruning.
    @Test func aClientThatWasAheadStopsNoPruning() throws {
        let clock = Clock()
        let fixture = try fixture(clock)
        try fillJournal(fixture.nodes, count: 101_000)
        clock.set(Self.now + 10 * Self.year)
        try insertPlayer(fixture.cluster)
        clock.set(Self.now)
        let last = try times(fixture.nodes).last
        #expect(last == .integer(Self.now + 10 * Self.year))
        for _ in 0..<400 { try insertPlayer(fixture.cluster) }
        let kept = try times(fixture.nodes)
        #expect(kept.count > 100_000)
        #expect(kept.count < 101_000)
        // The newest are kept: those of the client itself.
        #expect(kept.last == .integer(Self.now + 10 * Self.year + 400))
    }
}
