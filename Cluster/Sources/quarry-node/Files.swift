import ArgumentParser
import ClusterNode

struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Copies a database of the cluster into a file of SQLite.")

    @Argument(help: "The name of the database in the cluster.") var name: String
    @Argument(help: "The file; it mustn't exist. A log may be next to it, which SQLite reads, too.") var file: String
    @OptionGroup var cluster: ClusterOptions

    func run() throws {
        try ClusterNode.Backup.write(cluster.leader().dump(name), of: name, to: file)
    }
}

struct Recover: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes a stopped node the only member, if a majority is lost for good.",
        discussion: "Choose the survivor with the latest data. The others join again with empty folders.")

    @Option(help: "The folder of the stopped node.") var directory: String

    func run() throws {
        let folder = try NodeDirectory(directory)
        guard let (id, address) = try folder.identity() else {
            throw ValidationError("The folder \(directory) has no node that was a member.")
        }
        let node = try DqliteNode(
            id: id, address: address, directory: directory, bind: address.description, settings: .init(),
            connector: SocketConnector())
        try node.recover(members: [(id, address)])
        print("\(id) \(address) voter")
    }
}
