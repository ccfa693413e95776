import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import QuarryClusterWire

/// A player, as in the examples of the documentation.
struct Player: Codable, Equatable, FetchableRecord, MutablePersistableRecord, Identifiable {
    var id: Int64?
    var name: String
    var score: Int?
    var photo: [UInt8]?

    enum Columns {
        static let id = Column("id")
        static let name = Column("name")
        static let score = Column("score")
    }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// A cluster in this process, with a table of players.
struct ClusterFixture {
    let nodes: EmulatedCluster
    let cluster: DatabaseCluster

    static let schema =
        "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, score INTEGER, photo BLOB)"

    init(
        nodeCount: Int = 3, schema: String = ClusterFixture.schema,
        _ change: (inout ClusterConfiguration) -> Void = { _ in }
    ) throws {
        nodes = try EmulatedCluster(nodeCount: nodeCount, interruptsRunningQueries: false)
        try nodes.execute(schema)
        var configuration = ClusterConfiguration()
        configuration.database.maximumReaderCount = 3
        // A busy machine must not change what a test sees.
        configuration.statementTimeout = .seconds(60)
        configuration.connectTimeout = .seconds(60)
        change(&configuration)
        cluster = try DatabaseCluster(nodes: nodes.addresses, name: "app", configuration: configuration)
        nodes.log.clear()
    }

    /// The number of committed writes that the journal has.
    func identifierCount() throws -> Int64 {
        guard
            case .integer(let count)? = try nodes.query("SELECT count(*) FROM quarry_commit WHERE isFence = 0").first?[
                0]
        else { return 0 }
        return count
    }

    /// A second client of the same nodes.
    func other(_ change: (inout ClusterConfiguration) -> Void = { _ in }) throws -> DatabaseCluster {
        var configuration = cluster.optionsForTests
        change(&configuration)
        return try DatabaseCluster(nodes: nodes.addresses, name: "app", configuration: configuration)
    }
}

extension DatabaseCluster {
    fileprivate var optionsForTests: ClusterConfiguration {
        var configuration = ClusterConfiguration()
        configuration.statementTimeout = .seconds(60)
        configuration.connectTimeout = .seconds(60)
        return configuration
    }
}
