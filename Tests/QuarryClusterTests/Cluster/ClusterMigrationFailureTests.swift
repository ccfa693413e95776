import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import QuarryClusterWire
import Testing

/// A link is lost at each request of a migration.
@Suite("Failures of migrations on a cluster", .timeLimit(.minutes(5))) struct ClusterMigrationFailureTests {
    private static let schema = """
        \(ClusterFixture.schema); CREATE TABLE child (a REFERENCES player ON DELETE CASCADE);
        INSERT INTO player (id, name) VALUES (1, 'Arthur'); INSERT INTO child VALUES (1)
        """

    private var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("rebuild") { db in
            try db.rebuild(table: "player", filling: ["score": "7"]) { t in
                t.primaryKey("id", .integer)
                t.column("name", .text).notNull()
                t.column("score", .integer).notNull().defaults(to: 0)
            }
        }
        migrator.registerMigration("fill") { db in
            try db.execute(sql: "INSERT INTO player (id, name, score) VALUES (2, 'Barbara', 8)")
        }
        return migrator
    }

    @Test(arguments: [RequestInfo.Phase.received, .executed])
    func eachMigrationIsDoneOnceOrNotAtAll(_ phase: RequestInfo.Phase) throws {
        var (migrated, failed) = (0, 0)
        for number in 1...60 {
            let fixture = try ClusterFixture(schema: Self.schema)
            let cluster = fixture.cluster
            let counter = Counter()
            fixture.nodes.faults.onRequest = { request in
                request.phase == phase && counter.next() == number ? .closeConnection : .none
            }
            let result = Result { try migrator.migrate(cluster) }
            fixture.nodes.faults.clear()
            let name = "\(phase) at \(number)"
            let done = try cluster.read { db in try migrator.appliedIdentifiers(db) }
            switch result {
            case .success:
                migrated += 1
                #expect(done == ["rebuild", "fill"], "\(name)")
            case .failure(let error):
                failed += 1
                #expect(done.count < 2, "\(name): \(error)")
                #expect((error as? DatabaseError)?.isRetryableInCluster == true, "\(name): \(error)")
                try migrator.migrate(cluster)
            }
            let rows = try fixture.nodes.query("SELECT id, score FROM player ORDER BY id")
            #expect(rows == [[.integer(1), .integer(7)], [.integer(2), .integer(8)]], "\(name)")
            #expect(try fixture.nodes.query("SELECT a FROM child") == [[.integer(1)]], "\(name)")
            // Foreign keys are enforced again.
            let error = #expect(throws: DatabaseError.self, "\(name)") {
                try cluster.write { db in try db.execute(sql: "INSERT INTO child VALUES (77)") }
            }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY, "\(name)")
            #expect(fixture.nodes.aborts == [], "\(name)")
        }
        #expect(migrated > 0 && failed > 0, "\(migrated) migrated, \(failed) failed")
    }
}
