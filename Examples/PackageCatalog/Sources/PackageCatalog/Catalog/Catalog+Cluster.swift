public import Quarry
internal import QuarryCluster

/// A database of a dqlite cluster.
public struct ClusterPlace: Sendable, Hashable, CustomStringConvertible {
    /// The addresses of some nodes, `host:port`.
    public var nodes: [String]
    /// The name of the database.
    public var name: String

    /// - parameter list: addresses, separated by commas.
    public init(_ list: String, name: String = "catalog") {
        nodes = list.split(separator: ",").map { $0.trimmingPrefix { $0 == " " } }.map(String.init)
        self.name = name
    }

    public var description: String { "\(name) at \(nodes.joined(separator: ", "))" }
}

extension Catalog {
    /// Opens or creates a catalogue in a database of a cluster. Everything else is as with a file, but for `close()`,
    /// which has no log to move.
    ///
    /// - parameter configure: changes the configuration before the database is opened.
    /// - throws: `CatalogError` for a database that is no catalogue, `DatabaseError` if no node leads.
    public static func open(
        cluster place: ClusterPlace, readers: Int = 2, configure: (inout Configuration) -> Void = { _ in }
    ) async throws -> Catalog {
        var configuration = ClusterConfiguration()
        configuration.database.label = "catalog"
        configuration.database.busyMode = .timeout(5)
        configuration.database.maximumReaderCount = max(readers, 1)
        // No closure of the catalogue has effects beside its result.
        configuration.retriesReads = true
        configuration.retriesWrites = true
        configure(&configuration.database)
        let cluster = try await DatabaseCluster.open(nodes: place.nodes, name: place.name, configuration: configuration)
        let catalog = try await Catalog(cluster, path: "\(place)")
        // The tables that `liveCounts` and `importProgress` read: other processes learn of their changes.
        try await cluster.countChanges(in: ["imports", "maintainers", "sections", "totals"])
        return catalog
    }

    var isOnCluster: Bool { database is DatabaseCluster }
}
