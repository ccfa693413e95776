import QuarryClusterWire
import QuarryTestSupport
import Testing

@testable import QuarryCluster

/// Requests and responses, and the ways in which a node ends them.
@Suite struct NodeLinkTests {
    @Test func requestsOfOneWriteAreAnsweredInOrder() async throws {
        let responses = try await withLink(
            to: { connection in
                while let request = try connection.request() {
                    switch request {
                    case .client(let id): try connection.answer(.welcome(heartbeatTimeout: id))
                    case .open: try connection.answer(.database(id: 7))
                    default: try connection.answer(.failure(code: 1, message: "no such table: t"))
                    }
                }
            },
            use: { link in
                try link.send(
                    [.client(id: 3), .open(name: "app"), .prepare(database: 7, sql: "SELECT * FROM t")],
                    until: farDeadline())
                return try (0..<3).map { _ in try link.receive(until: farDeadline()) }
            })
        #expect(
            responses == [
                .welcome(heartbeatTimeout: 3), .database(id: 7), .failure(code: 1, message: "no such table: t"),
            ])
    }

    @Test func responsesMayArriveByteByByte() async throws {
        let members = [ClusterMember(id: 1, address: "10.0.0.1:9000", role: .voter)]
        let response = try await withLink(
            to: { connection in
                _ = try connection.request()
                var bytes: [UInt8] = []
                try Response.servers(members).encode(into: &bytes)
                for byte in bytes { try connection.send([byte]) }
            },
            use: { link in
                try link.send([.cluster], until: farDeadline())
                return try link.receive(until: farDeadline())
            })
        #expect(response == .servers(members))
    }

    @Test func noRequestsSendNothing() async throws {
        try await withLink(to: { $0.untilClosed() }, use: { link in try link.send([], until: 0) })
    }

    @Test func aRequestThatCannotBeSentLeavesTheLinkUsable() async throws {
        let response = try await withLink(
            to: { connection in
                while let request = try connection.request() {
                    #expect(request == .leader)
                    try connection.answer(.server(id: 0, address: ""))
                }
            },
            use: { link in
                let error = try #require(throws: LinkError.self) {
                    try link.send([.leader, .open(name: "a\0b")], until: farDeadline())
                }
                #expect(error.description.hasPrefix("The request can't be sent: OPEN: "), "\(error)")
                #expect(!link.isDead)
                try link.send([.leader], until: farDeadline())
                return try link.receive(until: farDeadline())
            })
        #expect(response == .server(id: 0, address: ""))
    }

    @Test func theNodeClosesBeforeAResponse() async throws {
        let error = try await errorOfReceiving { _ = try $0.request() }
        #expect(error == "Node A closed the connection.")
    }

    @Test func theNodeClosesWithinAResponse() async throws {
        let error = try await errorOfReceiving { connection in
            _ = try connection.request()
            var bytes: [UInt8] = []
            try Response.server(id: 1, address: "10.0.0.1:9000").encode(into: &bytes)
            try connection.send([UInt8](bytes.dropLast()))
        }
        #expect(error == "Node A closed the connection.")
    }

    @Test func aResponseIsReadThatTheNodeClosesBehind() async throws {
        let response = try await withLink(
            to: { connection in
                _ = try connection.request()
                try connection.answer(.server(id: 0, address: ""))
            },
            use: { link in
                try link.send([.leader], until: farDeadline())
                return try link.receive(until: farDeadline())
            })
        #expect(response == .server(id: 0, address: ""))
    }

    @Test func theNodeResetsTheConnection() async throws {
        let error = try await errorOfReceiving { connection in
            _ = try connection.request()
            connection.resetAtEnd()
        }
        #expect(error == "The connection to node A was reset.")
    }

    @Test func theNodeAnswersGarbage() async throws {
        let error = try await errorOfReceiving { connection in
            _ = try connection.request()
            try connection.send([1, 0, 0, 0, 0xAB, 0, 0, 0] + [UInt8](repeating: 0xCD, count: 8))
            connection.untilClosed()
        }
        #expect(error == "Node A violated the protocol: 171 is the type of no response.")
    }

    @Test func theNodeAnnouncesAnOversizedFrame() async throws {
        let error = try await errorOfReceiving(
            from: { connection in
                _ = try connection.request()
                try connection.send([0xFF, 0xFF, 0xFF, 0xFF, 7, 0, 0, 0])
                connection.untilClosed()
            }, maximumBodySize: 1_000)
        #expect(
            error == """
                Node A violated the protocol: A frame of type 7 announces 34359738360 bytes; at most 1000 are accepted.
                """)
    }

    @Test func aPastDeadlineLeavesAnArrivedResponse() async throws {
        try await withLink(
            to: { connection in
                _ = try connection.request()
                _ = try connection.request()
                try connection.answer(.welcome(heartbeatTimeout: 1), .database(id: 2))
                connection.untilClosed()
            },
            use: { link in
                try link.send([.client(id: 1), .open(name: "app")], until: farDeadline())
                #expect(try link.receive(until: farDeadline()) == .welcome(heartbeatTimeout: 1))
                #expect(try link.receive(until: 0) == .database(id: 2))
                #expect(throws: LinkError.timedOut(link.address, .receiving)) { try link.receive(until: 0) }
            })
    }

    @Test func violationsThatTheCallerFindsEndTheLink() async throws {
        try await withLink(
            to: { $0.untilClosed() },
            use: { link in
                let error = link.violation("a reason.")
                #expect(error.description == "Node \(link.address) violated the protocol: a reason.")
                #expect(throws: error) { try link.send([.leader], until: farDeadline()) }
            })
    }

    @Test func aClosedLinkRefusesUse() async throws {
        try await withLink(
            to: { $0.untilClosed() },
            use: { link in
                link.close()
                link.close()
                #expect(link.isDead)
                let error = #expect(throws: LinkError.self) { try link.receive(until: farDeadline()) }
                #expect(error == .closed(link.address))
            })
    }

    @Test func closingIsSeenByTheNode() async throws {
        let isClosed = Step("the node sees the end")
        try await withLink(
            to: { connection in
                while try connection.request() != nil {}
                isClosed.reach()
            },
            use: { link in
                try link.send([.leader], until: farDeadline())
                // The node doesn't answer. The link's owner still holds it when the connection ends.
                #expect(throws: LinkError.timedOut(link.address, .receiving)) {
                    try link.receive(until: 0)
                }
                try isClosed.wait()
            })
    }
}
