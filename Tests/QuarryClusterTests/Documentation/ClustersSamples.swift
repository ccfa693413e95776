import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import Testing

/// The code of the article about clusters, and of the root page.
@Suite(.timeLimit(.minutes(5))) struct ClustersSamples {
    struct Player: Codable, FetchableRecord, PersistableRecord {
        var name: String
        var score: Int
    }

    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("players") { db in
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.column("score", .integer).notNull()
            }
        }
        return migrator
    }()

    let emulation: EmulatedCluster
    var nodes: [String] { emulation.addresses }

    init() throws { emulation = try EmulatedCluster(interruptsRunningQueries: false) }

    /// The nodes keep their addresses as long as the emulation lives.
    func opened(_ config: ClusterConfiguration = ClusterConfiguration()) async throws -> DatabaseCluster {
        let cluster = try await DatabaseCluster.open(nodes: nodes, name: "app", configuration: config)
        try await Self.migrator.migrate(cluster) { _ in }
        return cluster
    }

    @Test func overview() async throws {
        let migrator = Self.migrator
        let cluster = try await DatabaseCluster.open(nodes: nodes, name: "app")
        let database: any DatabaseWriter = cluster
        try await migrator.migrate(database) { _ in }
        #expect(try await cluster.read { db in try db.tableExists("player") })
    }

    @Test func stepByStep() async throws {
        var config = ClusterConfiguration()
        config.database.label = "app"
        config.database.maximumReaderCount = 8
        let cluster = try await DatabaseCluster.open(nodes: nodes, name: "app", configuration: config)

        var migrator = DatabaseMigrator()
        migrator.registerMigration("players") { db in
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.column("score", .integer).notNull()
            }
        }
        try await migrator.migrate(cluster) { _ in }

        try await cluster.write { db in
            try Player(name: "Arthur", score: 10).insert(db)
        }
        let best = try await cluster.read { db in
            try Player.order(Column("score").desc).limit(10).fetchAll(db)
        }
        #expect(best.map(\.name) == ["Arthur"])
    }

    @Test func errors() async throws {
        let cluster = try await opened()
        do {
            try await cluster.write { db in try Player(name: "Barbara", score: 20).insert(db) }
        } catch let error as DatabaseError where error.isRetryableInCluster {
            // Nothing was written: once more, or 503.
        } catch let error as DatabaseError where error.isOutcomeUnknown {
            // It may have been written: tell the user so.
        }
        #expect(try await cluster.read { db in try Player.fetchCount(db) } == 1)
    }

    @Test func settings() async throws {
        var config = ClusterConfiguration()
        config.retriesReads = true
        config.retriesWrites = true
        config.keepsCommitJournal = false
        config.onScan = { scan in
            print("scans \(scan.tables): \(scan.sql)")
        }
        let cluster = try await opened(config)
        #expect(try await cluster.read { db in try db.tableExists("quarry_commit") } == false)
    }

    @Test func observation() async throws {
        var config = ClusterConfiguration()
        config.changePollingInterval = .milliseconds(5)
        let cluster = try await opened(config)
        let other = try await opened()
        let writing = Task {
            for number in 1...3 {
                try await other.write { db in try Player(name: "Player \(number)", score: number).insert(db) }
            }
        }
        try await cluster.countChanges(in: ["player"])
        for try await count in ValueObservation.tracking({ db in try Player.fetchCount(db) }).values(in: cluster) {
            print("\(count) players")
            if count > 2 { break }
        }
        try await writing.value
    }
}
