import QuarryClusterWire
import QuarryTestSupport
import Testing

@testable import QuarryCluster

/// A link to a node that runs a script.
func withLink<T: Sendable>(
    to script: @escaping ScriptedNode.Script, maximumBodySize: Int = NodeLink.maximumBodySize,
    use body: @escaping @Sendable (NodeLink) throws -> T
) async throws -> T {
    let node = try ScriptedNode(script: script)
    defer { node.stop() }
    return try await onOwnThread {
        let link = try NodeLink(
            to: node.address, until: farDeadline(), waker: Waker(), maximumBodySize: maximumBodySize)
        return try body(link)
    }
}

/// The error of the first response, which each later use of the link throws, too.
func errorOfReceiving(
    from script: @escaping ScriptedNode.Script, maximumBodySize: Int = NodeLink.maximumBodySize,
    until deadline: @escaping @Sendable () -> UInt64 = farDeadline
) async throws -> String {
    try await withLink(
        to: script, maximumBodySize: maximumBodySize,
        use: { link in
            try link.send([.leader], until: farDeadline())
            #expect(!link.isDead)
            let error = try #require(throws: LinkError.self) { try link.receive(until: deadline()) }
            #expect(link.isDead)
            #expect(throws: error) { try link.receive(until: farDeadline()) }
            #expect(throws: error) { try link.send([.leader], until: farDeadline()) }
            link.close()
            #expect(throws: error) { try link.send([.leader], until: farDeadline()) }
            return error.description.replacing(link.address.description, with: "A")
        })
}

extension Request {
    /// More than the buffers of a connection hold. A stored value would be a leak to the address sanitizer.
    static var large: Request {
        .executeSQL(
            database: 1, sql: "INSERT INTO t VALUES (?)",
            arguments: [.blob([UInt8](repeating: 7, count: 16 << 20))])
    }
}
