import Dispatch
import QuarryClusterTestSupport
import QuarryClusterWire
import Testing

/// Faults at exact requests.
@Suite(.timeLimit(.minutes(3)))
struct EmulatedFaultTests {
    typealias ConnectionEnded = WireClient.ConnectionEnded
    typealias Failure = WireClient.Failure

    let cluster: EmulatedCluster
    let client: WireClient

    init() throws {
        cluster = try EmulatedCluster()
        try cluster.execute("CREATE TABLE t(a)")
        client = try WireClient(cluster.addresses[0])
        try client.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")
    }

    private var rowCount: WireValue { get throws { try cluster.query("SELECT count(*) FROM t")[0][0] } }

    private func planAtCommit(_ action: FaultAction, _ phase: RequestInfo.Phase) {
        cluster.faults.once(action, at: phase) { $0.sql == "COMMIT" }
    }

    @Test(arguments: [RequestInfo.Phase.received: 0, .executed: 1])
    func aClosedConnection(phase: RequestInfo.Phase, count: Int64) async throws {
        planAtCommit(.closeConnection, phase)
        #expect(throws: ConnectionEnded.self) { try client.execute("COMMIT") }
        #expect(await cluster.connectionCountBecomes(0))
        #expect(try rowCount == .integer(count))
        #expect(cluster.faults.plannedCount == 0)
        #expect(cluster.leader == 0)
    }

    @Test(arguments: [RequestInfo.Phase.received: 0, .executed: 1])
    func aKilledNode(phase: RequestInfo.Phase, count: Int64) throws {
        planAtCommit(.killNode, phase)
        #expect(throws: ConnectionEnded.self) { try client.execute("COMMIT") }
        #expect(try rowCount == .integer(count))
        #expect(cluster.leader == 1)
        #expect(throws: SystemError.self) { try WireClient(cluster.addresses[0]) }
        try WireClient(cluster.addresses[1]).execute("INSERT INTO t VALUES (2)")
        #expect(cluster.aborts == [])
    }

    @Test(arguments: [RequestInfo.Phase.received: 0, .executed: 1])
    func aFailure(phase: RequestInfo.Phase, count: Int64) throws {
        planAtCommit(.fail(code: 266, message: "disk I/O error"), phase)
        #expect(throws: Failure(code: 266, message: "disk I/O error")) { try client.execute("COMMIT") }
        #expect(try rowCount == .integer(count))
        // The connection goes on.
        #expect(try client.query("SELECT count(*) FROM t") == [[.integer(1)]])
    }

    @Test(arguments: [RequestInfo.Phase.received: 0, .executed: 1])
    func aLostLeadership(phase: RequestInfo.Phase, count: Int64) throws {
        planAtCommit(.loseLeadership, phase)
        #expect(throws: Failure(code: 10250, message: "not leader")) { try client.execute("COMMIT") }
        #expect(throws: Failure(code: 10250, message: "not leader")) { try client.query("SELECT 1") }
        #expect(try rowCount == .integer(count))
        #expect(try client.call(.leader) == .server(id: 2, address: cluster.addresses[1]))
    }

    @Test(arguments: [RequestInfo.Phase.received, .executed])
    func aTruncatedAnswer(phase: RequestInfo.Phase) throws {
        planAtCommit(.truncateAnswer, phase)
        try client.send(.executeSQL(database: 0, sql: "COMMIT", arguments: []))
        // Half of a header and two words.
        #expect(client.receiveRest().count == 12)
        #expect(try rowCount == .integer(1))
    }

    @Test func aDelayedRequest() async throws {
        let received = Gate("COMMIT has arrived")
        let executed = Gate("COMMIT was executed")
        planAtCommit(.delay(received), .received)
        planAtCommit(.delay(executed), .executed)
        try client.send(.executeSQL(database: 0, sql: "COMMIT", arguments: []))
        try await received.reached()
        #expect(try rowCount == .integer(0))
        // Other sessions go on.
        #expect(throws: Failure(code: 5, message: "database is locked")) {
            try WireClient(cluster.addresses[0]).execute("BEGIN IMMEDIATE")
        }
        received.open()
        try await executed.reached()
        #expect(try rowCount == .integer(1))
        executed.open()
        #expect(try client.receive() == .result(lastInsertedRowID: 1, changesCount: 1))
    }

    @Test func aGateThatIsNeverReached() async {
        await #expect(throws: Gate.NeverReached.self) { try await Gate("COMMIT").reached(within: 0) }
        #expect(throws: Gate.NeverReached.self) { try Gate("COMMIT").waitUntilReached(within: 0) }
    }

    @Test func theEndOfANodeEndsTheWaitAtAGate() async throws {
        let gate = Gate("COMMIT has arrived")
        planAtCommit(.delay(gate), .received)
        try client.send(.executeSQL(database: 0, sql: "COMMIT", arguments: []))
        try await gate.reached()
        cluster.killLeader()
        #expect(throws: ConnectionEnded.self) { try client.receive() }
        #expect(try rowCount == .integer(0))
    }

    @Test func stopEndsTheWaitAtAGateAndForARequest() async throws {
        let gate = Gate("COMMIT has arrived")
        planAtCommit(.delay(gate), .received)
        cluster.faults.once(.awaitRequest, at: .received) { $0.kind == .leader }
        let second = try WireClient(cluster.addresses[2], opens: false)
        try second.send(.leader)
        try client.send(.executeSQL(database: 0, sql: "COMMIT", arguments: []))
        try await gate.reached()
        cluster.stop()
        #expect(throws: ConnectionEnded.self) { try client.receive() }
        #expect(throws: ConnectionEnded.self) { try second.receive() }
        #expect(throws: (any Error).self) { try rowCount }
    }

    @Test func aNodeCanWaitForPipelinedRequests() throws {
        cluster.faults.once(.awaitRequest, at: .executed) { $0.sql == "COMMIT" }
        try client.send(.executeSQL(database: 0, sql: "COMMIT", arguments: []), .leader)
        #expect(try client.receive() == .result(lastInsertedRowID: 1, changesCount: 1))
        #expect(try client.receive() == .server(id: 1, address: cluster.addresses[0]))
    }

    // MARK: Between pages

    private func beginQuery(_ action: FaultAction) throws {
        cluster.faults.onPage = { $0.kind == .querySQL && $1 == 2 ? action : .none }
        let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000) SELECT i FROM n"
        try client.send(.querySQL(database: 0, sql: sql, arguments: []))
        #expect(try client.receivePage().hasMore)
    }

    @Test func aFailureInPlaceOfAPage() throws {
        try beginQuery(.fail(code: 11, message: "database disk image is malformed"))
        #expect(try client.receive() == .failure(code: 11, message: "database disk image is malformed"))
        try client.execute("COMMIT")
    }

    @Test func aConnectionThatEndsBetweenPages() async throws {
        try beginQuery(.closeConnection)
        #expect(throws: ConnectionEnded.self) { try client.receive() }
        #expect(await cluster.connectionCountBecomes(0))
    }

    @Test func aTruncatedPage() throws {
        try beginQuery(.truncateAnswer)
        // The page has 16 bytes of names, 255 rows of 16 bytes, and a word at its end.
        #expect(client.receiveRest().count == (8 + 16 + 255 * 16 + 8) / 2)
    }

    @Test func aLeadershipThatEndsBetweenPages() async throws {
        let gate = Gate("page 2")
        try beginQuery(.delay(gate))
        try await gate.reached()
        cluster.moveLeader(to: 2)
        gate.open()
        #expect(try client.receive() == .failure(code: 10250, message: "not leader"))
        #expect(try rowCount == .integer(0))
    }

    // MARK: Closures

    @Test func aClosureSeesEachRequestTwice() throws {
        let seen = Shared<[String]>([])
        cluster.faults.onRequest = { info in
            seen.update { $0.append("\(info.number) \(info.phase) \(info.sql ?? "")") }
            return info.number == 7 ? .fail(code: 1, message: "the seventh") : .none
        }
        try client.call(.prepare(database: 0, sql: "SELECT a FROM t"))
        try client.send(.query(database: 0, statement: 0, arguments: []))
        #expect(try client.receiveRows() == [[.integer(1)]])
        try client.execute("SAVEPOINT s")
        #expect(throws: Failure(code: 1, message: "the seventh")) { try client.execute("RELEASE s") }
        #expect(
            seen.value == [
                "4 received SELECT a FROM t", "4 executed SELECT a FROM t", "5 received SELECT a FROM t",
                "5 executed SELECT a FROM t", "6 received SAVEPOINT s", "6 executed SAVEPOINT s",
                "7 received RELEASE s",
            ])
    }

    @Test func aClosureMayReleaseTheCluster() throws {
        let cluster = Shared<EmulatedCluster?>(try EmulatedCluster(nodeCount: 1))
        let client = try WireClient(try #require(cluster.value).addresses[0])
        cluster.value?.faults.onRequest = { _ in
            cluster.update { $0 = nil }
            return .none
        }
        #expect(throws: ConnectionEnded.self) { try client.execute("BEGIN") }
    }
}

/// A value that several threads use.
private final class Shared<Value: Sendable>: @unchecked Sendable {
    // `@unchecked`: the value is reached on the queue alone.
    private let queue = DispatchQueue(label: "shared value")
    private var current: Value

    init(_ value: Value) { current = value }

    var value: Value { queue.sync { current } }

    func update(_ body: (inout Value) -> Void) {
        // The old value ends behind the queue: its end may use the queue.
        _ = queue.sync {
            let old = current
            body(&current)
            return old
        }
    }
}
