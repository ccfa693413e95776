import Foundation
import QuarryClusterWire
import Testing

@testable import ClusterNode

/// Nodes that talk with TLS, and accept only peers of their authority.
@Suite(.serialized, .timeLimit(.minutes(5))) struct TLSTests {
    let folder: NodeFolder

    init() throws { folder = try NodeFolder() }

    /// A folder with an authority and a certificate of its own: `--certificate`, `--key` and `--authority`.
    func authority(_ name: String) throws -> (certificate: String, key: String, authority: String) {
        let path = "\(folder.path)/\(name)"
        let script = Process()
        script.executableURL = URL(fileURLWithPath: "/bin/sh")
        script.arguments = [
            "-euc",
            """
            mkdir "$0" && cd "$0"
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -days 2 \
                -subj "/CN=authority" 2>/dev/null
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout node.key -out node.csr \
                -subj "/CN=node" 2>/dev/null
            openssl x509 -req -in node.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out node.pem -days 2 2>/dev/null
            """, path,
        ]
        try script.run()
        script.waitUntilExit()
        #expect(script.terminationStatus == 0)
        return ("\(path)/node.pem", "\(path)/node.key", "\(path)/ca.pem")
    }

    func options(_ files: (certificate: String, key: String, authority: String)) -> [String] {
        ["--certificate", files.certificate, "--key", files.key, "--authority", files.authority]
    }

    @Test func nodesWithCertificatesFormACluster() throws {
        let files = try authority("own")
        let connector = TLSConnector(
            try Certificates(certificate: files.certificate, key: files.key, authority: files.authority))
        let tests = ClusterTests(folder: folder)
        let nodes = try tests.threeNodes(options: options(files), connector: connector)
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
        let status = try NodeProcess.run(["status", "--node", "\(nodes[1].address)"] + options(files))
        #expect(status.output.split(separator: "\n").count == 3, "\(status.output)")
    }

    @Test func strangersAreRefused() throws {
        let files = try authority("own")
        let address = try NodeFolder.addresses(1)[0]
        let node = try NodeProcess(address, in: folder.path, options: options(files))
        // In the clear.
        #expect(throws: NodeError.self) { try NodeClient(address, SocketConnector(), seconds: 2).leader() }
        // With a certificate of another authority, which the node refuses, and whose owner refuses the node's.
        let other = try authority("other")
        let stranger = TLSConnector(
            try Certificates(certificate: other.certificate, key: other.key, authority: other.authority))
        #expect(throws: (any Error).self) { try NodeClient(address, stranger, seconds: 2).leader() }
        // The stranger trusts the node's authority; only its own certificate is wrong.
        let forger = TLSConnector(
            try Certificates(certificate: other.certificate, key: other.key, authority: files.authority))
        #expect(throws: (any Error).self) { try NodeClient(address, forger, seconds: 2).leader() }
        let own = TLSConnector(
            try Certificates(certificate: files.certificate, key: files.key, authority: files.authority))
        #expect(try NodeClient(address, own).leader()?.address == node.address)
    }

    @Test func badFilesAreNamed() throws {
        let files = try authority("own")
        let other = try authority("other")
        let missing = #expect(throws: NodeError.self) {
            try Certificates(certificate: "/nowhere.pem", key: files.key, authority: files.authority)
        }
        #expect(missing?.description.hasPrefix("/nowhere.pem can't be read:") == true)
        let mismatch = #expect(throws: NodeError.self) {
            try Certificates(certificate: files.certificate, key: other.key, authority: files.authority)
        }
        #expect(mismatch?.description.contains("aren't a certificate and its key") == true)
    }
}
