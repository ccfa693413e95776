import ClusterNode
import ClusterTestSupport
import Foundation
import Quarry
import QuarryCluster
import QuarryClusterTLS
import Testing

/// The code of the article about clusters that needs SwiftNIO, on real nodes.
@Suite(.serialized, .timeLimit(.minutes(5))) struct TLSSamples {
    @Test func clientsWithCertificates() async throws {
        let folder = try NodeFolder()
        let files = try CertificateFiles(in: folder, "own")
        let (certificate, key, authority) = (files.certificate, files.key, files.authority)
        let nodes = try ClusterTests(folder: folder).threeNodes(
            options: files.options, connector: TLSConnector(try files.certificates()))

        let connector = TLSConnector(
            try Certificates(certificate: certificate, key: key, authority: authority))
        var config = ClusterConfiguration()
        config.connect = { node, milliseconds in
            try connector.connect(to: node.host, port: node.port, milliseconds: milliseconds)
        }

        let cluster = try await DatabaseCluster.open(
            nodes: nodes.map { "\($0.address)" }, name: "app", configuration: config)
        try await cluster.write { db in
            try db.execute(sql: "CREATE TABLE player (name TEXT); INSERT INTO player VALUES ('Arthur')")
        }
        #expect(try await cluster.read { db in try String.fetchAll(db, sql: "SELECT name FROM player") } == ["Arthur"])
        // A client without a certificate is refused.
        var plain = ClusterConfiguration()
        plain.connectTimeout = .seconds(1)
        let error = await #expect(throws: DatabaseError.self) {
            _ = try await DatabaseCluster.open(
                nodes: nodes.map { "\($0.address)" }, name: "app", configuration: plain)
        }
        #expect(error?.isRetryableInCluster == true, "\(String(describing: error))")
        try await cluster.closeAsync()
    }
}
