import ClusterTestSupport
import Foundation
import QuarryClusterTLS
import QuarryClusterWire
import Testing

@testable import ClusterNode

/// Nodes that talk with TLS, and accept only peers of their authority.
@Suite(.serialized, .timeLimit(.minutes(5))) struct TLSTests {
    let folder: NodeFolder

    init() throws { folder = try NodeFolder() }

    @Test func nodesWithCertificatesFormACluster() throws {
        let files = try CertificateFiles(in: folder, "own")
        let connector = TLSConnector(
            try files.certificates())
        let tests = ClusterTests(folder: folder)
        let nodes = try tests.threeNodes(options: files.options, connector: connector)
        let client = try tests.open(nodes, connector)
        try tests.execute(client, "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT) STRICT")
        // More bytes than the sockets' buffers hold, in both directions.
        let long = String(repeating: "long", count: 500_000)
        _ = try client.call(
            .executeSQL(database: 0, sql: "INSERT INTO t (b) VALUES (?)", arguments: [.text(long)]))
        guard case .rows(let page) = try client.call(.querySQL(database: 0, sql: "SELECT b FROM t", arguments: []))
        else {
            Issue.record("no rows")
            return
        }
        var reader = page.makeReader()
        #expect(try reader.next())
        #expect(try page.value(of: reader.cells[0]) == .text(long))
        let status = try NodeProcess.run(["status", "--node", "\(nodes[1].address)"] + files.options)
        #expect(status.output.split(separator: "\n").count == 3, "\(status.output)")
    }

    @Test func strangersAreRefused() throws {
        let files = try CertificateFiles(in: folder, "own")
        let address = try NodeFolder.addresses(1)[0]
        let node = try NodeProcess(address, in: folder.path, options: files.options)
        // In the clear.
        #expect(throws: NodeError.self) { try NodeClient(address, SocketConnector(), seconds: 2).leader() }
        // With a certificate of another authority, which the node refuses, and whose owner refuses the node's.
        let other = try CertificateFiles(in: folder, "other")
        let stranger = TLSConnector(
            try other.certificates())
        #expect(throws: (any Error).self) { try NodeClient(address, stranger, seconds: 2).leader() }
        // The stranger trusts the node's authority; only its own certificate is wrong.
        let forger = TLSConnector(
            try Certificates(certificate: other.certificate, key: other.key, authority: files.authority))
        #expect(throws: (any Error).self) { try NodeClient(address, forger, seconds: 2).leader() }
        let own = TLSConnector(
            try files.certificates())
        #expect(try NodeClient(address, own).leader()?.address == node.address)
    }
}
