import QuarryClusterWire
import QuarryCore
import QuarryTestSupport
import Testing

@testable import QuarryCluster

/// Deadlines of links by the system's clock, which the system's waits for sockets go by.
@Suite struct LinkRealClockTests {
    /// Linux delays an acknowledgement by 40 ms, and a node's second small response waits for that of the first.
    @Test func laterResponsesDoNotWaitForADelayedAcknowledgement() async throws {
        let times = try await withLink(
            to: { connection in
                while try connection.request() != nil {
                    for _ in 0..<4 { try connection.answer(.empty) }
                }
            },
            use: { link in
                try (0..<10).map { _ in
                    let start = SystemClock.monotonicNanoseconds()
                    try link.send([.leader], until: farDeadline())
                    for _ in 0..<4 { _ = try link.receive(until: farDeadline()) }
                    return (SystemClock.monotonicNanoseconds() - start) / 1_000
                }
            })
        // A busy machine may delay some, but not most of them.
        #expect(times.sorted()[2] < 20_000, "\(times) us")
    }

    @Test func theNodeNeverAnswers() async throws {
        let error = try await errorOfReceiving(from: { $0.untilClosed() }, until: { milliseconds(20) })
        #expect(error == "Node A didn't respond in time.")
    }

    @Test func theDeadlineEndsAResponseThatArrivesWithoutPause() async throws {
        let error = try await errorOfReceiving(
            from: { connection in
                // 256 MiB.
                try connection.send([0, 0, 0, 2, 7, 0, 0, 0])
                let zeros = [UInt8](repeating: 0, count: 1 << 20)
                while true { try connection.send(zeros) }
            }, maximumBodySize: 1 << 30, until: { milliseconds(20) })
        #expect(error == "Node A didn't respond in time.")
    }

    @Test func theDeadlineEndsConnecting() async throws {
        let listener = try FullListener()
        try await onOwnThread {
            let error = #expect(throws: LinkError.self) {
                _ = try NodeLink(to: listener.address, until: milliseconds(20), waker: Waker())
            }
            #expect(error == .timedOut(listener.address, .connecting))
            #expect(error?.description == "Node \(listener.address) didn't accept the connection in time.")
        }
    }

    @Test func theDeadlineEndsSendingToANodeThatDoesNotRead() async throws {
        let node = try ScriptedNode(receiveBufferSize: 4_096) { $0.untilClosed() }
        defer { node.stop() }
        try await onOwnThread {
            let link = try NodeLink(to: node.address, until: farDeadline(), waker: Waker())
            let error = #expect(throws: LinkError.self) { try link.send([Request.large], until: milliseconds(50)) }
            #expect(error == .timedOut(node.address, .sending))
            #expect(error?.description == "Node \(node.address) didn't read the request in time.")
            #expect(link.isDead)
        }
    }

    /// The memory for responses that arrive while requests are sent is bounded, at the cost of the deadline.
    @Test func responsesAreKeptUpToTheSizeOfOne() async throws {
        let sent = Recorded(0)
        let node = try ScriptedNode(receiveBufferSize: 4_096) { connection in
            var bytes: [UInt8] = []
            for _ in 0..<4_096 { try Response.welcome(heartbeatTimeout: 1).encode(into: &bytes) }
            while true {
                try connection.send(bytes)
                sent.update { $0 += bytes.count }
            }
        }
        defer { node.stop() }
        try await onOwnThread {
            let link = try NodeLink(
                to: node.address, until: farDeadline(), waker: Waker(), maximumBodySize: 100_000)
            #expect(throws: LinkError.timedOut(node.address, .sending)) {
                try link.send([Request.large], until: milliseconds(300))
            }
        }
        // The rest is in the system's buffers.
        #expect(sent.value < 16 << 20)
    }
}
