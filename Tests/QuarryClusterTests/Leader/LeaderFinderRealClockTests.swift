import QuarryClusterWire
import QuarryTestSupport
import Testing

@testable import QuarryCluster

/// Searches that end at a deadline of the system's clock, which the system's waits for sockets go by.
@Suite struct LeaderFinderRealClockTests {
    private let connections = Connections()

    /// Expects that no leader is found. A busy machine may need more time than the first deadline leaves.
    private func expectNoLeader(_ nodes: [NodeAddress], _ report: String) async throws {
        var error: LinkError?
        for time in [50, 500, 5_000, 50_000] as [UInt64] where error != .noLeader(report) {
            error = try await errorOfOpening(connections.finder(nodes)) { milliseconds(time) }
        }
        #expect(error == .noLeader(report))
    }

    @Test func allNodesAreDown() async throws {
        let ports = try [DeadPort(), DeadPort()]
        try await expectNoLeader(
            ports.map(\.address),
            """
            Node \(ports[0].address) refused the connection: no process listens there. \
            Node \(ports[1].address) refused the connection: no process listens there.
            """)
        // Without waits, there would be thousands of attempts.
        #expect(connections.take().count < 200)
    }

    @Test func aCycleOfHintsEndsAtTheDeadline() async throws {
        let cluster = try FakeCluster(count: 2)
        defer { cluster.stop() }
        let (a, b) = (cluster.addresses[0], cluster.addresses[1])
        cluster.name(b, at: 0)
        cluster.name(a, at: 1)
        try await expectNoLeader(
            cluster.addresses,
            "Node \(a) names \(b) as the leader. Node \(b) names \(a) as the leader.")
    }

    @Test func nodesThatAnswerNonsenseAreReported() async throws {
        let cluster = try FakeCluster(count: 3)
        defer { cluster.stop() }
        cluster.answer { index, _ in
            switch index {
            case 0: .empty
            case 1: .server(id: 1, address: "@1")
            default: .failure(code: 1, message: "starting")
            }
        }
        try await expectNoLeader(
            cluster.addresses,
            """
            Node \(cluster.addresses[0]) violated the protocol: it responded to LEADER with EMPTY. \
            Node \(cluster.addresses[1]) violated the protocol: it names a leader whose address is invalid: \
            "@1" is no address of a node, such as 10.0.0.1:9000: the port is missing. \
            Node \(cluster.addresses[2]) responded with error 1: starting
            """)
    }

    @Test func aDeadNodeThatIsListedFirstCostsOneSearch() async throws {
        let dead = try FullListener()
        let cluster = try FakeCluster(count: 2)
        defer { cluster.stop() }
        cluster.elect(0)
        let finder = connections.finder([dead.address] + cluster.addresses)
        // The dead node takes half of the time at most, and a second.
        #expect(try await openLeader(finder).leader == cluster.addresses[0])
        #expect(connections.take() == [dead.address, cluster.addresses[0]])
        finder.leaderFailed(cluster.addresses[0])
        #expect(try await openLeader(finder).leader == cluster.addresses[0])
        #expect(connections.take() == [cluster.addresses[1], cluster.addresses[0]])
    }
}
