import ClusterNode
import ClusterTestSupport
import Quarry
import QuarryCluster
import QuarryClusterTLS
import Testing

/// `DatabaseCluster` on nodes that accept only peers with a certificate of their authority.
@Suite("A database on nodes with TLS", .serialized, .timeLimit(.minutes(10))) struct EncryptedTests {
    @Test func databasesByTLS() throws {
        let folder = try NodeFolder()
        let files = try CertificateFiles(in: folder, "own")
        let connector = TLSConnector(try files.certificates())
        let nodes = try NodeGroup(options: files.options, connector: connector)
        let cluster = try nodes.open("app") { configuration in
            configuration.connect = { address, milliseconds in
                try connector.connect(to: address.host, port: address.port, milliseconds: milliseconds)
            }
        }
        try DatabaseMigrator.teams.migrate(cluster)
        let long = String(repeating: "long", count: 500_000)
        try cluster.write { db in
            _ = try Team(id: 1, name: long).inserted(db)
            for number in 1...500 { _ = try Player(id: nil, teamId: 1, name: "P\(number)", score: number).inserted(db) }
        }
        let teams = try cluster.read { db in
            try Team.including(all: Team.players).asRequest(of: TeamInfo.self).fetchAll(db)
        }
        #expect(teams.map(\.team.name) == [long])
        #expect(teams.first?.players.count == 500)
        // A killed leader is replaced.
        let leader = try nodes.leader()
        nodes.kill(leader)
        #expect(try cluster.write { db in try Player.deleteAll(db) } == 500)
        // Without TLS there is no leader.
        let error = #expect(throws: DatabaseError.self) {
            try nodes.open("app") { $0.connectTimeout = .seconds(1) }
        }
        #expect(error?.isRetryableInCluster == true)
    }
}
