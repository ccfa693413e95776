import QuarryClusterTestSupport
import QuarryClusterWire
import Testing

/// Nodes that die, start again, and take the leadership over.
@Suite(.timeLimit(.minutes(3)))
struct EmulatedLeadershipTests {
    typealias ConnectionEnded = WireClient.ConnectionEnded
    typealias Failure = WireClient.Failure

    static let notLeader = Failure(code: 10250, message: "not leader")

    let cluster: EmulatedCluster

    init() throws {
        cluster = try EmulatedCluster()
        try cluster.execute("CREATE TABLE t(a)")
    }

    private func client(_ node: Int) throws -> WireClient { try WireClient(cluster.addresses[node]) }

    /// The leader, as a node knows it.
    private func leader(askedAt node: Int) throws -> Response {
        try WireClient(cluster.addresses[node], opens: false).call(.leader)
    }

    @Test func aFollowerPreparesAndExecutesNothing() throws {
        let client = try client(1)
        #expect(
            try client.call(.prepare(database: 0, sql: "SELECT a FROM t"))
                == .statement(database: 0, id: 0, parameterCount: 0))
        #expect(throws: Self.notLeader) { try client.call(.query(database: 0, statement: 0, arguments: [])) }
        #expect(throws: Self.notLeader) { try client.execute("DELETE FROM t") }
        try client.call(.finalize(database: 0, statement: 0))
        // The connection is of use when its node leads.
        cluster.moveLeader(to: 1)
        #expect(try client.query("SELECT a FROM t") == [])
    }

    @Test func moveLeader() throws {
        let old = try client(0)
        try old.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")
        cluster.moveLeader(to: 2)
        #expect(cluster.leader == 2)
        #expect(try leader(askedAt: 1) == .server(id: 3, address: cluster.addresses[2]))
        // The transaction was rolled back.
        let new = try client(2)
        try new.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (2); COMMIT")
        #expect(throws: Self.notLeader) { try old.execute("COMMIT") }
        // An old session never continues without its transaction.
        cluster.moveLeader(to: 0)
        #expect(throws: Self.notLeader) { try old.execute("COMMIT") }
        #expect(try client(0).query("SELECT a FROM t") == [[.integer(2)]])
    }

    @Test func killLeaderRollsBack() throws {
        let old = try client(0)
        let idle = try client(0)
        let other = try client(1)
        try old.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")
        #expect(cluster.killLeader() == 0)
        #expect(cluster.leader == 1)
        try other.execute("INSERT INTO t VALUES (2)")
        #expect(old.receiveRest() == [])
        #expect(idle.receiveRest() == [])
        #expect(throws: SystemError.self) { try client(0) }
        #expect(cluster.connectionCount == 1)
        #expect(try cluster.query("SELECT a FROM t") == [[.integer(2)]])
    }

    @Test func anElectionTakesItsTime() throws {
        cluster.killLeader(electing: nil)
        #expect(cluster.leader == nil)
        #expect(try leader(askedAt: 1) == .server(id: 0, address: ""))
        #expect(throws: Self.notLeader) { try client(2).query("SELECT 1") }
        try cluster.restart(node: 0)
        #expect(cluster.leader == nil)
        cluster.elect(2)
        #expect(try leader(askedAt: 0) == .server(id: 3, address: cluster.addresses[2]))
        #expect(try client(2).query("SELECT 1") == [[.integer(1)]])
        #expect(cluster.killLeader(electing: 0) == 2)
        #expect(cluster.leader == 0)
    }

    @Test func withoutAMajorityNobodyLeads() throws {
        cluster.killLeader()
        cluster.killLeader()
        #expect(cluster.leader == nil)
        #expect(cluster.killLeader() == nil)
        try cluster.restart(node: 1)
        #expect(cluster.leader == 1)
        #expect(!cluster.isAlive(0))
        #expect(try client(1).query("SELECT count(*) FROM t") == [[.integer(0)]])
    }

    @Test func aNodeRestartsAtItsAddress() throws {
        let addresses = cluster.addresses
        for _ in 0..<20 {
            let client = try client(0)
            try client.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")
            cluster.kill(node: 0)
            #expect(throws: SystemError.self) { try self.client(0) }
            try cluster.restart(node: 0)
            cluster.moveLeader(to: 0)
        }
        #expect(cluster.addresses == addresses)
        #expect(try client(0).query("SELECT count(*) FROM t") == [[.integer(0)]])
    }

    // MARK: Nodes that abort

    @Test func aWriteWithRowsOutsideATransaction() throws {
        let client = try client(0)
        try client.execute("BEGIN")
        #expect(try client.query("INSERT INTO t VALUES (1) RETURNING a") == [[.integer(1)]])
        #expect(throws: Failure(code: 100, message: "another row available")) {
            try client.execute("INSERT INTO t VALUES (2) RETURNING a")
        }
        try client.execute("COMMIT")
        #expect(cluster.aborts == [])
        #expect(throws: ConnectionEnded.self) { try client.query("INSERT INTO t VALUES (3) RETURNING a") }
        #expect(
            cluster.aborts == [
                "node 0: a write that returns rows, outside a transaction: INSERT INTO t VALUES (3) RETURNING a"
            ])
        #expect(cluster.leader == 1)
        // EXEC has an answer.
        let next = try self.client(1)
        #expect(throws: Failure(code: 100, message: "another row available")) {
            try next.execute("DELETE FROM t RETURNING a")
        }
        #expect(next.receiveRest() == [])
        #expect(cluster.aborts.count == 2)
        #expect(try cluster.query("SELECT a FROM t") == [[.integer(1)], [.integer(2)]])
    }

    @Test(arguments: ["BOOLEAN", "DATETIME", "date", "TIMESTAMP"])
    func aRealInAColumnThatTheWireHasNoTypeFor(type: String) throws {
        try cluster.execute("CREATE TABLE u(b \(type)); INSERT INTO u VALUES (0.5)")
        let client = try client(0)
        #expect(try client.query("SELECT +b FROM u") == [[.float(0.5)]])
        #expect(throws: ConnectionEnded.self) { try client.query("SELECT b FROM u") }
        #expect(
            cluster.aborts == ["node 0: column 1, declared \(type), has a value of type REAL: SELECT b FROM u"])
        // The value ends one leader after the other.
        #expect(throws: ConnectionEnded.self) { try self.client(1).query("SELECT b FROM u") }
        #expect(cluster.leader == nil)
    }

    @Test func manyClientsWhileLeadersDie() async throws {
        let addresses = cluster.addresses
        let writes = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var written = 0
                    for attempt in 0..<50 {
                        guard let client = try? WireClient(addresses[attempt % 3]) else { continue }
                        if (try? client.execute("INSERT INTO t VALUES (1)")) != nil { written += 1 }
                        await Task.yield()
                    }
                    return written
                }
            }
            for round in 0..<10 {
                cluster.kill(node: round % 3)
                try cluster.restart(node: round % 3)
                await Task.yield()
            }
            return try await group.reduce(0, +)
        }
        // An answered write exists, and a write may be without an answer.
        guard case .integer(let count) = try cluster.query("SELECT count(*) FROM t")[0][0] else { return }
        #expect(count >= writes)
        #expect(cluster.aborts == [])
    }
}
