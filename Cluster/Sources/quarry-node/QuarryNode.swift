import ArgumentParser

/// A node of a cluster, and its administration.
@main struct QuarryNode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarry-node",
        abstract: "Runs a node of a dqlite cluster, and administers the cluster.",
        subcommands: [Run.self, Status.self, Assign.self, Transfer.self, Remove.self, Backup.self, Recover.self])
}
