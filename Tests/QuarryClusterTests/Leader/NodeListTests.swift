import QuarryClusterWire
import Testing

@testable import QuarryCluster

@Suite struct NodeListTests {
    private func hosts(_ list: NodeList) -> String { list.candidates.map(\.host).joined(separator: " ") }

    private func member(_ address: String, _ role: NodeRole = .voter) -> ClusterMember {
        ClusterMember(id: 1, address: address, role: role)
    }

    private func list(_ hosts: String...) throws -> NodeList {
        NodeList(configured: try hosts.map { try NodeAddress("\($0):1") })
    }

    @Test func theLastLeaderComesFirst() throws {
        var list = try list("a", "b", "a")
        #expect(hosts(list) == "a b")
        list.leaderFound(try NodeAddress("b:1"))
        #expect(hosts(list) == "b a")
        list.leaderFound(try NodeAddress("x:1"))
        #expect(hosts(list) == "x a b")
    }

    @Test func aNodeThatFailedComesLast() throws {
        var list = try list("a", "b", "c")
        list.nodeFailed(try NodeAddress("a:1"))
        #expect(hosts(list) == "b c a")
        list.leaderFound(try NodeAddress("c:1"))
        list.nodeFailed(try NodeAddress("c:1"))
        #expect(hosts(list) == "b a c")
        #expect(list.leader == nil)
        list.nodeFailed(try NodeAddress("x:1"))
        #expect(hosts(list) == "b a c")
    }

    @Test func membersReplaceEarlierMembers() throws {
        var list = try list("a", "b")
        list.nodeFailed(try NodeAddress("a:1"))
        list.learn([member("s:1", .spare), member("c:1"), member("a:1"), member("no address")])
        #expect(hosts(list) == "b a c s")
        list.learn([member("d:1", .standby)])
        #expect(hosts(list) == "b a d")
    }

    @Test func theNumberOfMembersIsBounded() throws {
        var list = try list("a")
        list.learn((0..<1_000).map { member("n\($0):1") })
        #expect(list.candidates.count == 101)
    }

    @Test func eachNewLeaderIsAskedForMembersOnce() throws {
        var list = try list("a")
        let (a, b) = (try NodeAddress("a:1"), try NodeAddress("b:1"))
        let answers = [a, a, b, b, a].map { list.mustAskForMembers($0) }
        #expect(answers == [true, false, true, false, true])
    }

    @Test func aTimeoutReplacesNoOtherReason() throws {
        var report = SearchReport()
        let (a, b) = (try NodeAddress("a:1"), try NodeAddress("b:1"))
        report.note(a, .refused(a))
        report.note(a, .timedOut(a, .connecting))
        report.note(b, .timedOut(b, .receiving))
        #expect(
            report.description == """
                Node a:1 refused the connection: no process listens there. Node b:1 didn't respond in time.
                """)
        report.note(b, .reset(b))
        #expect(report.description.hasSuffix("The connection to node b:1 was reset."))
    }

    @Test func reportsAreBounded() throws {
        var report = SearchReport()
        #expect(report.description == "No node was asked.")
        for number in 1...12 { report.note(try NodeAddress("n\(number):1"), "Reason \(number).") }
        report.note(try NodeAddress("n1:1"), String(repeating: "a", count: 9_999))
        #expect(
            report.description == """
                \(String(repeating: "a", count: 300))… Reason 2. Reason 3. Reason 4. Reason 5. Reason 6. Reason 7. \
                Reason 8. Reason 9. Reason 10. 2 attempts at other nodes failed, too.
                """)
    }
}
