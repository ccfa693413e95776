import QuarryClusterWire
import QuarryTestSupport
import Testing

@testable import QuarryCluster

/// Connecting, sending to nodes that don't read, and the waker.
@Suite struct NodeLinkSendingTests {
    @Test func connectionsAreRefused() async throws {
        let port = try DeadPort()
        try await onOwnThread {
            let error = #expect(throws: LinkError.self) {
                _ = try NodeLink(to: port.address, until: farDeadline(), waker: Waker())
            }
            #expect(error == .refused(port.address))
            #expect(
                error?.description == "Node \(port.address) refused the connection: no process listens there.")
        }
    }

    @Test func namesThatDoNotExistAreNotResolved() async throws {
        // <https://www.rfc-editor.org/rfc/rfc6761>: names of "invalid" never exist.
        let address = try NodeAddress("node.invalid:9000")
        try await onOwnThread {
            let error = try #require(throws: LinkError.self) {
                _ = try NodeLink(to: address, until: farDeadline(), waker: Waker())
            }
            #expect(error.description.hasPrefix("The host of node node.invalid:9000 can't be resolved: "), "\(error)")
        }
    }

    @Test func namesAreResolved() async throws {
        let node = try ScriptedNode { connection in
            _ = try connection.request()
            try connection.answer(.empty)
        }
        defer { node.stop() }
        let address = try NodeAddress("localhost:\(node.address.port)")
        let response = try await onOwnThread {
            let link = try NodeLink(to: address, until: farDeadline(), waker: Waker())
            try link.send([.leader], until: farDeadline())
            return try link.receive(until: farDeadline())
        }
        #expect(response == .empty)
    }

    @Test func aPastDeadlineConnectsToNothing() async throws {
        let node = try ScriptedNode { $0.untilClosed() }
        defer { node.stop() }
        try await onOwnThread {
            _ = #expect(throws: LinkError.timedOut(node.address, .connecting)) {
                _ = try NodeLink(to: node.address, until: 0, waker: Waker())
            }
        }
        #expect(node.connectionCount == 0)
    }

    @Test func aNodeThatClosesEndsSending() async throws {
        let node = try ScriptedNode(receiveBufferSize: 4_096) { _ = try $0.request() }
        defer { node.stop() }
        try await onOwnThread {
            let link = try NodeLink(to: node.address, until: farDeadline(), waker: Waker())
            try link.send([.leader], until: farDeadline())
            let error = #expect(throws: LinkError.self) { try link.send([Request.large], until: farDeadline()) }
            #expect(error == .reset(node.address) || error == .closedByNode(node.address))
        }
    }

    /// The node sends its whole response before it reads the rest of the requests, as a node that waits for its client
    /// to read does. Neither side's buffers hold the other's bytes.
    @Test func twoFullBuffersAreNoDeadlock() async throws {
        let contents = [UInt8](repeating: 9, count: 16 << 20)
        let files = Response.files([DumpedFile(name: "app", contents: contents[...])])
        let node = try ScriptedNode { connection in
            #expect(try connection.request() == .dump(name: "app"))
            try connection.answer(files)
            #expect(try connection.request() == Request.large)
            try connection.answer(.result(lastInsertedRowID: 1, changesCount: 1))
        }
        defer { node.stop() }
        let responses = try await onOwnThread {
            let link = try NodeLink(to: node.address, until: farDeadline(), waker: Waker())
            try link.send([.dump(name: "app"), Request.large], until: farDeadline())
            return [try link.receive(until: farDeadline()), try link.receive(until: farDeadline())]
        }
        #expect(responses == [files, .result(lastInsertedRowID: 1, changesCount: 1)])
    }

    @Test func theWakerEndsConnecting() async throws {
        let listener = try FullListener()
        let waker = try Waker()
        let thread = OwnThread {
            _ = try NodeLink(to: listener.address, until: farDeadline(), waker: waker)
        }
        waker.wake()
        await #expect(throws: LinkError.interrupted) { try await thread.value }
    }

    @Test func theWakerEndsReceiving() async throws {
        let waker = try Waker()
        let node = try ScriptedNode { connection in
            _ = try connection.request()
            waker.wake()
            connection.untilClosed()
        }
        defer { node.stop() }
        try await onOwnThread {
            let link = try NodeLink(to: node.address, until: farDeadline(), waker: waker)
            try link.send([.leader], until: farDeadline())
            #expect(throws: LinkError.interrupted) { try link.receive(until: farDeadline()) }
            #expect(link.isDead)
            // Another link of the same session can be used once the waker is cleared.
            waker.clear()
            let second = try NodeLink(to: node.address, until: farDeadline(), waker: waker)
            #expect(throws: LinkError.timedOut(node.address, .receiving)) { try second.receive(until: 0) }
        }
    }

    @Test func theWakerEndsSending() async throws {
        let waker = try Waker()
        let node = try ScriptedNode(receiveBufferSize: 4_096) { connection in
            _ = try connection.request()
            waker.wake()
            connection.untilClosed()
        }
        defer { node.stop() }
        try await onOwnThread {
            let link = try NodeLink(to: node.address, until: farDeadline(), waker: waker)
            #expect(throws: LinkError.interrupted) { try link.send([.leader, Request.large], until: farDeadline()) }
            #expect(link.isDead)
        }
    }

    @Test func aWakerStaysWokenUntilItIsCleared() async throws {
        try await onOwnThread {
            let waker = try Waker()
            #expect(waker.wait(until: 0) == .timedOut)
            // More than the pair of sockets holds.
            for _ in 0..<100_000 { waker.wake() }
            #expect(waker.wait(until: farDeadline()) == .woken)
            #expect(waker.wait(until: 0) == .woken)
            waker.clear()
            #expect(waker.wait(until: 0) == .timedOut)
            waker.clear()
            waker.wake()
            #expect(waker.wait(until: .max) == .woken)
        }
    }

    @Test func aForeignSocketIsTakenOver() async throws {
        let node = try ScriptedNode { connection in
            while try connection.request() != nil { try connection.answer(.empty) }
        }
        defer { node.stop() }
        let response = try await onOwnThread {
            let waker = try Waker()
            let address = try NodeAddress("behind.a.proxy:9000")
            let socket = try ScriptedNode.connected(to: node.address)
            let link = try NodeLink(takingOver: socket, to: address, until: farDeadline(), waker: waker)
            try link.send([.leader], until: farDeadline())
            return try link.receive(until: farDeadline())
        }
        #expect(response == .empty)
    }
}
