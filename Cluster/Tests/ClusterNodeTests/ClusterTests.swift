import ClusterTestSupport
import Foundation
import QuarryClusterWire
import Testing

@testable import ClusterNode

/// Nodes in processes. They block their threads, so they run one after the other.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ClusterTests {
    let folder: NodeFolder
    let connector = SocketConnector()

    init() throws { folder = try NodeFolder() }

    init(folder: NodeFolder) { self.folder = folder }

    /// Three voters, the first one leading.
    func threeNodes(options: [String] = [], connector: (any Connector)? = nil) throws -> [NodeProcess] {
        let addresses = try NodeFolder.addresses(3)
        let first = try NodeProcess(addresses[0], in: folder.path, options: options)
        let others = try addresses[1...].map {
            try NodeProcess($0, in: folder.path, join: [addresses[0]], options: options)
        }
        try NodeFolder.waitForVoters(3, addresses, connector ?? self.connector)
        return [first] + others
    }

    /// A connection to the leader that has the database open.
    func open(_ nodes: [NodeProcess], _ connector: (any Connector)? = nil) throws -> NodeClient {
        let client = try NodeClient.leader(of: nodes.map(\.address), connector ?? self.connector)
        _ = try client.call(.client(id: 1))
        _ = try client.call(.open(name: "app"))
        return client
    }

    func execute(_ client: NodeClient, _ sql: String) throws {
        _ = try client.call(.executeSQL(database: 0, sql: sql, arguments: []))
    }

    func count(_ client: NodeClient) throws -> Int64 {
        guard
            case .rows(let page) = try client.call(.querySQL(database: 0, sql: "SELECT count(*) FROM t", arguments: []))
        else { return -1 }
        var reader = page.makeReader()
        return try reader.next() ? reader.cells[0].integer : -1
    }

    @Test func threeNodesBecomeVoters() throws {
        let nodes = try threeNodes()
        let status = try NodeProcess.run(["status", "--node", "\(nodes[2].address)"])
        #expect(status.code == 0)
        let lines = status.output.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.allSatisfy { $0.contains(" voter") })
        #expect(lines.filter { $0.hasSuffix(" leader") }.count == 1)
        for node in nodes { #expect(node.memory > 0) }
        print("memory of an empty node: \(nodes.map { $0.memory / 1024 }) KiB")
    }

    @Test func aKilledLeaderIsReplacedAndNoCommitIsLost() throws {
        let nodes = try threeNodes()
        let client = try open(nodes)
        try execute(client, "CREATE TABLE t (a INTEGER PRIMARY KEY) STRICT")
        for _ in 0..<20 { try execute(client, "INSERT INTO t DEFAULT VALUES") }
        let leader = try #require(nodes.first { $0.address == client.address })
        let rest = nodes.filter { $0 !== leader }
        leader.kill()
        let start = NodeClient.now()
        let next = try NodeFolder.wait("a write at a new leader") {
            let next = try open(rest)
            try execute(next, "INSERT INTO t DEFAULT VALUES")
            return next
        }
        print("gap after kill -9 of the leader: \(NodeClient.now() - start) s")
        #expect(try count(next) == 21)
        // The folder of the killed node is as good as before.
        let again = try NodeProcess(leader.address, in: folder.path)
        try NodeFolder.wait("the killed node follows again") {
            try NodeClient(again.address, connector).leader() != nil ? () : nil
        }
    }

    @Test func terminatedLeadersHandOver() throws {
        let nodes = try threeNodes()
        let client = try open(nodes)
        try execute(client, "CREATE TABLE t (a INTEGER PRIMARY KEY) STRICT")
        let leader = try #require(nodes.first { $0.address == client.address })
        #expect(leader.terminate() == 0)
        #expect(leader.log.contains("is handed over to node"))
        let next = try open(nodes.filter { $0 !== leader })
        #expect(next.address != leader.address)
        try execute(next, "INSERT INTO t DEFAULT VALUES")
        #expect(try count(next) == 1)
    }

    @Test func aMemberIsRemoved() throws {
        let nodes = try threeNodes()
        let leader = try NodeClient.leader(of: nodes.map(\.address), connector)
        let target = try #require(nodes.first { $0.address != leader.address })
        #expect(target.terminate() == 0)
        let removal = try NodeProcess.run(["remove", "\(target.address)", "--node", "\(leader.address)"])
        #expect(removal.code == 0, "\(removal.output)")
        #expect(try leader.members().count == 2)
        let again = try NodeProcess.run(["remove", "\(target.address)", "--node", "\(leader.address)"])
        #expect(again.code == 64)
        #expect(again.output.contains("The cluster has no member \(target.address)."))
    }

    @Test func theLeadershipIsTransferred() throws {
        let nodes = try threeNodes()
        let leader = try NodeClient.leader(of: nodes.map(\.address), connector)
        let target = try #require(nodes.first { $0.address != leader.address })
        let transfer = try NodeProcess.run(["transfer", "\(target.address)", "--node", "\(leader.address)"])
        #expect(transfer.code == 0, "\(transfer.output)")
        try NodeFolder.wait("the new leader") {
            try NodeClient.leader(of: [target.address], connector).address == target.address ? () : nil
        }
    }

    @Test func aBackupIsADatabase() throws {
        let address = try NodeFolder.addresses(1)[0]
        let node = try NodeProcess(address, in: folder.path)
        let client = try open([node])
        try execute(client, "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT) STRICT")
        for _ in 0..<50 { try execute(client, "INSERT INTO t (b) VALUES (hex(randomblob(500)))") }
        let file = folder.path + "/backup.sqlite"
        let backup = try NodeProcess.run(["backup", "app", file, "--node", "\(address)"])
        #expect(backup.code == 0, "\(backup.output)")
        let sqlite = try #require(
            ["/usr/bin/python3", "/usr/local/bin/python3", "/root/.pyenv/shims/python3"]
                .first { FileManager.default.isExecutableFile(atPath: $0) })
        let check = Process()
        let output = Pipe()
        check.executableURL = URL(fileURLWithPath: sqlite)
        check.arguments = [
            "-c",
            """
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1])
            integrity, = db.execute('PRAGMA integrity_check').fetchone()
            count, = db.execute('SELECT count(*) FROM t').fetchone()
            print(integrity, count)
            """, file,
        ]
        check.standardOutput = output
        try check.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(text == "ok 50\n")
        let again = try NodeProcess.run(["backup", "app", file, "--node", "\(address)"])
        #expect(again.code != 0)
        #expect(again.output.contains("a backup overwrites nothing"))
        let unknown = try NodeProcess.run(["backup", "nope", file + "2", "--node", "\(address)"])
        #expect(unknown.output.contains("The cluster has no database \"nope\"."))
        #expect(!FileManager.default.fileExists(atPath: file + "2"))
    }

    @Test func aSurvivorRecoversAlone() throws {
        let nodes = try threeNodes()
        let client = try open(nodes)
        try execute(client, "CREATE TABLE t (a INTEGER PRIMARY KEY) STRICT")
        try execute(client, "INSERT INTO t DEFAULT VALUES")
        let survivor = try #require(nodes.first { $0.address == client.address })
        nodes.forEach { $0.kill() }
        let recovery = try NodeProcess.run(["recover", "--directory", survivor.directory])
        #expect(recovery.code == 0, "\(recovery.output)")
        let node = try NodeProcess(survivor.address, in: folder.path)
        let again = try open([node])
        #expect(try count(again) == 1)
        #expect(try again.members().count == 1)
    }
}
