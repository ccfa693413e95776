import QuarryClusterWire
import QuarryTestSupport
import Testing

@testable import QuarryCluster

/// Searches by TCP.
@Suite struct LeaderFinderTests {
    private let connections = Connections()

    @Test func theLeaderIsFoundByAHint() async throws {
        let cluster = try FakeCluster(count: 3)
        defer { cluster.stop() }
        cluster.elect(2)
        let finder = connections.finder(cluster.addresses)
        let (leader, database) = try await openLeader(finder)
        #expect(leader == cluster.addresses[2])
        #expect(database == 12)
        #expect(cluster.takeRequests(0) == [.leader])
        #expect(cluster.takeRequests(1) == [])
        #expect(cluster.takeRequests(2) == [.leader, .client(id: 5), .open(name: "app"), .cluster])
        #expect(finder.lastLeader == cluster.addresses[2])

        // The second session asks the leader only, and not for the members.
        _ = connections.take()
        try await openLeader(finder)
        #expect(connections.take() == [cluster.addresses[2]])
        #expect(cluster.takeRequests(2) == [.leader, .client(id: 5), .open(name: "app")])
    }

    @Test func theRequestsToOpenAreSentAtOnce() async throws {
        // Answers nothing before it has received both.
        let node = try ScriptedNode { connection in
            _ = try connection.request()
            try connection.answer(.server(id: 1, address: "127.0.0.1:\(connection.port)"))
            #expect(try connection.request() == .client(id: 5))
            #expect(try connection.request() == .open(name: "app"))
            #expect(try connection.request() == .cluster)
            try connection.answer(.welcome(heartbeatTimeout: 1), .database(id: 3), .servers([]))
            connection.untilClosed()
        }
        defer { node.stop() }
        #expect(try await openLeader(LeaderFinder([node.address])).database == 3)
    }

    @Test func twoLeadersInTurn() async throws {
        let cluster = try FakeCluster(count: 3)
        defer { cluster.stop() }
        cluster.elect(0)
        let finder = LeaderFinder(cluster.addresses)
        #expect(try await openLeader(finder).leader == cluster.addresses[0])
        cluster.stop(0)
        // Followers name the dead leader until they elect another one.
        cluster.answer { _, request in
            guard request == .leader else { return nil }
            cluster.answer { _, _ in nil }
            cluster.elect(1)
            return .server(id: 1, address: cluster.addresses[0].description)
        }
        _ = cluster.takeRequests(1)
        #expect(try await openLeader(finder).leader == cluster.addresses[1])
        #expect(cluster.takeRequests(1).contains(.cluster))
        #expect(finder.candidates.last == cluster.addresses[0])
    }

    @Test func membersAreLearned() async throws {
        let cluster = try FakeCluster(count: 3)
        defer { cluster.stop() }
        cluster.elect(0)
        cluster.setMembers(cluster.addresses)
        let finder = LeaderFinder([cluster.addresses[0]])
        try await openLeader(finder)
        #expect(finder.candidates == cluster.addresses)
        cluster.stop(0)
        cluster.elect(2)
        #expect(try await openLeader(finder).leader == cluster.addresses[2])
    }

    @Test func aFailedQuestionForMembersIsIgnored() async throws {
        let cluster = try FakeCluster(count: 1)
        defer { cluster.stop() }
        cluster.elect(0)
        cluster.answer { _, request in request == .cluster ? .failure(code: 1, message: "unknown format") : nil }
        let finder = LeaderFinder(cluster.addresses)
        try await openLeader(finder)
        #expect(finder.candidates == cluster.addresses)
    }

    @Test func aQuestionForMembersThatBreaksTheLinkIsIgnored() async throws {
        let node = try ScriptedNode { connection in
            while let request = try connection.request() {
                switch request {
                case .leader: try connection.answer(.server(id: 1, address: "127.0.0.1:\(connection.port)"))
                case .client: try connection.answer(.welcome(heartbeatTimeout: 1))
                case .open: try connection.answer(.database(id: 3))
                default: return
                }
            }
        }
        defer { node.stop() }
        let finder = connections.finder([node.address])
        #expect(try await openLeader(finder).database == 3)
        #expect(connections.take() == [node.address, node.address])
        try await openLeader(finder)
        #expect(connections.take() == [node.address])
    }

    @Test func noNodesAtAll() async throws {
        let error = try await errorOfOpening(LeaderFinder([]), until: farDeadline)
        #expect(error == .noLeader("No node was asked."))
    }

    @Test func followersThatKnowNoLeaderAreAskedAgain() async throws {
        let cluster = try FakeCluster(count: 2)
        defer { cluster.stop() }
        let count = Recorded(0)
        cluster.answer { _, request in
            if request == .leader, count.increment() == 5 { cluster.elect(1) }
            return nil
        }
        #expect(try await openLeader(LeaderFinder(cluster.addresses)).leader == cluster.addresses[1])
    }

    /// A leader that lost its majority names itself until it notices.
    @Test(arguments: [10_250, 10_506] as [UInt64])
    func aNodeThatNamesItselfAndIsNotTheLeader(_ code: UInt64) async throws {
        let cluster = try FakeCluster(count: 2)
        defer { cluster.stop() }
        let (a, b) = (cluster.addresses[0], cluster.addresses[1])
        cluster.name(a, at: 0)
        cluster.name(b, at: 1)
        cluster.answer { index, request in
            index == 0 && request == .open(name: "app") ? .failure(code: code, message: "not leader") : nil
        }
        let finder = LeaderFinder(cluster.addresses)
        #expect(try await openLeader(finder).leader == b)
        #expect(finder.candidates == [b, a])
    }

    @Test func aLeaderThatFailsLaterIsAskedLast() async throws {
        let cluster = try FakeCluster(count: 2)
        defer { cluster.stop() }
        let (a, b) = (cluster.addresses[0], cluster.addresses[1])
        cluster.elect(0)
        let finder = LeaderFinder(cluster.addresses)
        try await openLeader(finder)
        finder.leaderFailed(a)
        #expect(finder.lastLeader == nil)
        cluster.name(b, at: 1)
        #expect(try await openLeader(finder).leader == b)
    }

    @Test func theLeaderRefusesTheDatabase() async throws {
        let cluster = try FakeCluster(count: 2)
        defer { cluster.stop() }
        cluster.elect(0)
        cluster.answer { _, request in
            request == .open(name: "app") ? .failure(code: 14, message: "unable to open database file") : nil
        }
        let error = try await errorOfOpening(LeaderFinder(cluster.addresses), until: farDeadline)
        #expect(
            error.description
                == "Node \(cluster.addresses[0]) responded with error 14: unable to open database file")
        #expect(cluster.takeRequests(1) == [])
    }

    @Test func aNameWithANULIsNotRetried() async throws {
        let cluster = try FakeCluster(count: 1)
        defer { cluster.stop() }
        cluster.elect(0)
        let finder = LeaderFinder(cluster.addresses)
        let error = try await #require(throws: LinkError.self) {
            try await onOwnThread {
                _ = try finder.openLeader(database: "a\0b", clientID: 5, until: farDeadline(), waker: Waker())
            }
        }
        #expect(error.description.hasPrefix("The request can't be sent: OPEN: "))
    }

    @Test func theWakerEndsASearch() async throws {
        let cluster = try FakeCluster(count: 1)
        defer { cluster.stop() }
        let waker = try Waker()
        let count = Recorded(0)
        cluster.answer { _, _ in
            // The first answers lead to waits.
            if count.increment() == 3 { waker.wake() }
            return nil
        }
        let finder = LeaderFinder(cluster.addresses)
        #expect(try await errorOfOpening(finder, until: farDeadline, waker: waker) == .interrupted)
        // An interruption is no failure of the node.
        #expect(try await errorOfOpening(finder, until: farDeadline, waker: waker) == .interrupted)
    }

    @Test func sessionsSearchAtTheSameTime() async throws {
        let cluster = try FakeCluster(count: 3)
        defer { cluster.stop() }
        cluster.elect(1)
        let finder = LeaderFinder(cluster.addresses)
        let threads = (0..<10).map { number in
            OwnThread {
                try finder.openLeader(
                    database: "app", clientID: UInt64(number), until: farDeadline(), waker: Waker()
                ).link.address
            }
        }
        for thread in threads { #expect(try await thread.value == cluster.addresses[1]) }
        #expect(cluster.takeRequests(1).count { $0 == .cluster } == 1)
    }
}

extension Recorded<Int> {
    /// Adds 1, and returns the sum.
    fileprivate func increment() -> Int {
        update { count in
            count += 1
            return count
        }
    }
}
