import ArgumentParser
import ClusterNode
import ClusterTestSupport
import Foundation

/// Measures `DatabaseCluster` on three nodes of this machine, beside go-dqlite's client at the same nodes.
///
/// ```sh
/// cluster-bench --peer .build/go-client
/// ```
@main struct ClusterBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cluster-bench",
        abstract: "Measures DatabaseCluster on three nodes, beside go-dqlite's client.")

    @Option(help: "The program of go-dqlite's client. Without it, Quarry is measured alone.") var peer: String?
    @Option(help: "How often the clients take turns in each row.") var rounds = 5
    @Option(help: "How many leaders are killed for each client; 0 leaves the row out.") var kills = 5
    @Option(help: "The latency of the nodes in ms, which elections depend on.") var latency = 20
    @Option(help: "The rows to measure, such as lookup,write; without it, all.") var only: String?
    @Flag(help: "Leave out the count of round trips.") var skipTrips = false

    func validate() throws {
        if rounds < 1 { throw ValidationError("--rounds is 1 or more, not \(rounds).") }
        if kills < 0 { throw ValidationError("--kills is 0 or more, not \(kills).") }
        let names = Operation.allCases.map(\.rawValue) + ["writers", "failover"]
        if let unknown = only?.split(separator: ",").first(where: { !names.contains(String($0)) }) {
            throw ValidationError("there is no row \(unknown): \(names.joined(separator: ", ")).")
        }
    }

    func run() async throws {
        let nodes = try BenchNodes(latency: latency)
        defer { nodes.stop() }
        let quarry = try QuarryClient(nodes.addresses)
        try quarry.createTable()
        let peer = try peer.map { try PeerClient($0, nodes.addresses.map(\.description)) }
        var report = Report(hasPeer: peer != nil)
        let operations = Operation.allCases.filter { isWanted($0.rawValue) }
        let trips = skipTrips ? [:] : try countTrips(operations, nodes)
        for operation in operations {
            var clients: [any BenchClient] = [quarry]
            if let peer { clients.append(peer) }
            let samples = try measure(operation, clients)
            report.add(operation.title, samples, trips: trips[operation])
        }
        if isWanted("writers") { try await report.addWriters(quarry, peer, rounds: rounds) }
        if isWanted("failover"), kills > 0 { try await report.addFailover(quarry, peer, nodes, kills: kills) }
        print(report.text)
    }

    private func isWanted(_ name: String) -> Bool {
        only?.split(separator: ",").contains { $0 == name } ?? true
    }

    /// The nanoseconds of an operation with each client, in turns.
    private func measure(_ operation: Operation, _ clients: [any BenchClient]) throws -> [[UInt64]] {
        var samples = clients.map { _ in [UInt64]() }
        for client in clients { _ = try client.times(operation, 20) }
        for _ in 0..<rounds {
            for (index, client) in clients.enumerated() {
                samples[index] += try client.times(operation, operation.countPerRound)
            }
        }
        return samples
    }

    /// How often each client waits for a node in an operation: the time that relays add to it, divided by the time of
    /// a round trip by the relays.
    private func countTrips(_ operations: [Operation], _ nodes: BenchNodes) throws -> [Operation: [Int]] {
        let delay: UInt64 = 10_000_000
        let relays = try nodes.addresses.map { try DelayingRelay(to: $0, delay: delay) }
        defer { relays.forEach { $0.stop() } }
        let ports = relays.map(\.port)
        var clients: [any BenchClient] = [try QuarryClient(nodes.addresses, relayPorts: ports)]
        if let peer {
            clients.append(
                try PeerClient(peer, zip(nodes.addresses, ports).map { "\($0)=127.0.0.1:\($1)" }))
        }
        var trips: [Operation: [Int]] = [:]
        for operation in operations {
            trips[operation] = try clients.map { client in
                _ = try client.times(operation, 3)
                // The shortest time: a busy machine adds to the others.
                let shortest = try client.times(operation, 5).min() ?? 0
                return Int(shortest / (2 * delay))
            }
        }
        return trips
    }
}

/// An access that both clients know.
enum Operation: String, CaseIterable {
    case lookup, lookups, rows, statement, write, writes

    var title: String {
        switch self {
        case .lookup: "a lookup by key"
        case .lookups: "a transaction of ten lookups"
        case .rows: "a query of 1,000 rows"
        case .statement: "a change outside a transaction"
        case .write: "a transaction that changes one row"
        case .writes: "a transaction that changes ten rows"
        }
    }

    var countPerRound: Int {
        switch self {
        case .lookup: 1_000
        case .lookups: 200
        case .rows: 100
        case .statement, .write, .writes: 150
        }
    }
}

/// A client of the cluster, with one access at a time.
protocol BenchClient {
    /// Runs an operation some times.
    ///
    /// - returns: the nanoseconds of each.
    func times(_ operation: Operation, _ count: Int) throws -> [UInt64]
}
