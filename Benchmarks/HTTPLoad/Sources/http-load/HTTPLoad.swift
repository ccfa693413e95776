import ArgumentParser
import Foundation

@main
struct HTTPLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "http-load", abstract: "Load HTTP servers with wrk, and print tables of rates and times.",
        subcommands: [PeersCommand.self, CatalogCommand.self])

    /// A folder for the databases of a run; its disk is measured, too.
    static func withFolder<Value>(_ work: (String) async throws -> Value) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.path + "/http-load-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try await work(folder)
    }
}

/// The same handlers on Quarry and on GRDB.
struct PeersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peers", abstract: "Load the same handlers on Quarry and on GRDB.",
        discussion: """
            Rows: plain (no database), lookup (a record by key), insert and insert-full (a record, synchronous NORMAL \
            and FULL), short and long (a read that sums a recursive common table expression).
            """)

    @Option(help: ArgumentHelp("The rows, separated by commas.", valueName: "names"))
    var rows = "plain,lookup,insert,insert-full"

    @Option(help: ArgumentHelp("The numbers of connections, separated by commas.", valueName: "n"))
    var connections = "1,2,16,64,256"

    @Option(help: ArgumentHelp("Quarry's threads: automatic, inline, offloaded.", valueName: "names"))
    var modes = "automatic"

    @Option(help: ArgumentHelp("Seconds of each load.", valueName: "n"))
    var seconds = 2

    @Option(help: ArgumentHelp("The numbers that a short read sums: 150 µs on the machine at hand.", valueName: "n"))
    var short = 1_500

    @Option(help: ArgumentHelp("The numbers that a long read sums: 3 ms.", valueName: "n"))
    var long = 30_000

    func run() async throws {
        let counts = try connections.split(separator: ",").map { text in
            guard let count = Int(text), count > 0 else {
                throw ValidationError("--connections must be numbers of at least 1, not \(text).")
            }
            return count
        }
        let loads = try rows.split(separator: ",").map { name in
            guard let load = PeerLoad(named: String(name), short: short, long: long) else {
                throw ValidationError("--rows has no row \(name).")
            }
            return load
        }
        let peers =
            modes.split(separator: ",").map { Peer(name: "Quarry \($0)", program: "quarry-server", mode: String($0)) }
            + [Peer(name: "GRDB", program: "grdb-server", mode: nil)]
        var table = MarkdownTable(["row", "connections"] + peers.map { "\($0.name): requests/s, p50, p99" })
        try await HTTPLoad.withFolder { folder in
            for load in loads {
                // In turns, so that a slow moment of the machine affects all peers alike.
                var cells = [[Figures]](repeating: [], count: counts.count)
                for peer in peers {
                    let database = "\(folder)/\(load.name)-\(peer.name.filter(\.isLetter)).sqlite"
                    let figures = try await peer.serving(database: database, synchronous: load.synchronous) { url in
                        var figures: [Figures] = []
                        for count in counts {
                            figures.append(
                                try await Wrk(url: url, script: load.script).run(connections: count, seconds: seconds))
                        }
                        return figures
                    }
                    for (index, figure) in figures.enumerated() { cells[index].append(figure) }
                }
                for (count, figures) in zip(counts, cells) {
                    table.add([load.name, "\(count)"] + figures.map(\.description))
                }
            }
        }
        print(table)
    }
}

/// A server of `SharedServer`.
struct Peer {
    let name: String
    let program: String
    let mode: String?

    func serving<Value: Sendable>(
        database: String, synchronous: String, _ work: (String) async throws -> Value
    ) async throws -> Value {
        let path = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/" + program
        let mode = mode.map { ["--mode", $0] } ?? []
        return try await Server(
            path: path, arguments: ["--database", database, "--synchronous", synchronous] + mode
        ).running(work)
    }
}

struct PeerLoad {
    let name: String
    let script: String
    var synchronous = "NORMAL"

    init?(named name: String, short: Int, long: Int) {
        self.name = name
        switch name {
        case "plain": script = Wrk.get(#""/plain""#)
        case "lookup": script = Wrk.get(#""/item/" .. math.random(1, 10000)"#)
        case "short": script = Wrk.get(#""/sum/\#(short)""#)
        case "long": script = Wrk.get(#""/sum/\#(long)""#)
        case "insert", "insert-full":
            script = #"wrk.method = "POST" wrk.path = "/item""#
            if name == "insert-full" { synchronous = "FULL" }
        default: return nil
        }
    }
}
