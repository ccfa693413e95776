import ArgumentParser
import ClusterNode
import Foundation
import Logging

struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs a node until SIGTERM or SIGINT, then hands its leadership over.")

    @Option(help: "The node's folder; it is created.") var directory: String
    @Option(help: "The address for clients and nodes, as host:port.") var address: NodeAddress
    @Option(parsing: .upToNextOption, help: "Members of a cluster to join, as host:port. Without them: a new cluster.")
    var join: [NodeAddress] = []
    @Option(help: "The latency between nodes in ms, which elections depend on: 1 to 3600000.") var latency: UInt32 = 20
    @Option(help: "The wanted number of voters: 1, 3, 5 or 7.") var voters = 3
    @Option(help: "Log entries between two snapshots; with --snapshot-trailing.") var snapshotThreshold: UInt32?
    @Option(help: "Log entries kept behind a snapshot; with --snapshot-threshold.") var snapshotTrailing: UInt32?
    @Option(help: "A number that tells in which rack or zone the node is.") var failureDomain: UInt64 = 0
    @OptionGroup var tls: TLSOptions

    func validate() throws {
        if !(1...3_600_000).contains(latency) { throw ValidationError("--latency is 1 to 3600000, not \(latency).") }
        if ![1, 3, 5, 7].contains(voters) { throw ValidationError("--voters is 1, 3, 5 or 7, not \(voters).") }
        if (snapshotThreshold == nil) != (snapshotTrailing == nil) {
            throw ValidationError("--snapshot-threshold and --snapshot-trailing are given together.")
        }
    }

    func run() throws {
        // Before any thread starts: all threads leave the signals to `sigtimedwait`.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        signal(SIGPIPE, SIG_IGN)

        var configuration = NodeService.Configuration(directory: directory, address: address)
        configuration.join = join
        configuration.node.latency = latency
        configuration.node.failureDomain = failureDomain
        if let snapshotThreshold, let snapshotTrailing {
            configuration.node.snapshots = (snapshotThreshold, snapshotTrailing)
        }
        configuration.voterCount = voters
        configuration.certificates = try tls.certificates()
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        let service = try NodeService(configuration, logger: Logger(label: "quarry-node"))
        print("ready \(address)")
        fflush(nil)
        var second = timespec(tv_sec: 1, tv_nsec: 0)
        while sigtimedwait(&signals, nil, &second) < 0 { try service.look() }
        try service.stop()
    }
}
