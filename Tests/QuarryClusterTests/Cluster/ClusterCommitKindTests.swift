import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import QuarryClusterWire
import Testing

/// The end of a transaction loses its answer, whatever the transaction has changed, and however it was begun.
@Suite("Commits of all kinds on a cluster", .timeLimit(.minutes(5))) struct ClusterCommitKindTests {
    /// A change, and a query whose answer tells whether it was kept.
    private static let changes = [
        ["PRAGMA user_version = 7", "SELECT user_version = 7 FROM pragma_user_version"],
        ["ANALYZE", "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'"],
        ["CREATE TABLE t (a)", "SELECT count(*) FROM sqlite_schema WHERE name = 't'"],
        ["CREATE TABLE t AS SELECT 1 AS a", "SELECT count(*) FROM sqlite_schema WHERE name = 't'"],
        ["CREATE VIEW t AS SELECT 1", "SELECT count(*) FROM sqlite_schema WHERE name = 't'"],
        ["CREATE INDEX t ON player (score)", "SELECT count(*) FROM sqlite_schema WHERE name = 't'"],
        ["CREATE VIRTUAL TABLE t USING fts5(a)", "SELECT count(*) FROM sqlite_schema WHERE name = 't'"],
        [
            "CREATE TRIGGER t AFTER INSERT ON player BEGIN SELECT 1; END",
            "SELECT count(*) FROM sqlite_schema WHERE name = 't'",
        ],
        ["ALTER TABLE player ADD COLUMN t", "SELECT count(*) FROM pragma_table_info('player') WHERE name = 't'"],
        ["DROP TABLE other", "SELECT count(*) = 0 FROM sqlite_schema WHERE name = 'other'"],
        ["INSERT INTO player (name) VALUES ('t')", "SELECT count(*) FROM player WHERE name = 't'"],
        ["REPLACE INTO player (name) VALUES ('t')", "SELECT count(*) FROM player WHERE name = 't'"],
        ["INSERT INTO player (name) VALUES ('t') RETURNING id", "SELECT count(*) FROM player WHERE name = 't'"],
        [
            "WITH n(a) AS (VALUES ('t')) INSERT INTO player (name) SELECT a FROM n",
            "SELECT count(*) FROM player WHERE name = 't'",
        ],
        ["UPDATE player SET name = 't' WHERE id = 1", "SELECT count(*) FROM player WHERE name = 't'"],
        ["DELETE FROM player WHERE id = 1", "SELECT count(*) = 0 FROM player WHERE id = 1"],
    ]

    enum Form: CaseIterable, Sendable {
        case write, alone, sql, savepoint, nested

        func run(_ cluster: DatabaseCluster, _ sql: String) throws {
            @Sendable func change(_ db: Database) throws { _ = try db.makeStatement(sql: sql).run(db) }
            switch self {
            case .write: try cluster.write(change)
            case .alone: try cluster.writeWithoutTransaction(change)
            case .sql:
                try cluster.writeWithoutTransaction { db in
                    try db.execute(sql: "BEGIN")
                    try change(db)
                    try db.execute(sql: "END")
                }
            case .savepoint:
                try cluster.writeWithoutTransaction { db in
                    try db.execute(sql: "SAVEPOINT x")
                    try change(db)
                    try db.execute(sql: "RELEASE x")
                }
            case .nested:
                try cluster.write { db in
                    try db.inSavepoint {
                        try change(db)
                        return .commit
                    }
                }
            }
        }
    }

    @Test(arguments: changes, Form.allCases) func aLostAnswer(_ change: [String], _ form: Form) throws {
        for phase in [RequestInfo.Phase.received, .executed] {
            let name = "\(change[0]), \(form), the end was \(phase)"
            let fixture = try ClusterFixture(
                schema: "\(ClusterFixture.schema); CREATE TABLE other (a); INSERT INTO player (name) VALUES ('first')")
            let cluster = fixture.cluster
            fixture.nodes.faults.once(.closeConnection, at: phase) { request in
                ["COMMIT", "END", "RELEASE x"].contains { request.sql?.hasPrefix($0) == true }
            }
            let result = Result { try form.run(cluster, change[0]) }
            #expect(fixture.nodes.faults.plannedCount == 0, "\(name): the transaction has no end")
            let isKept = try fixture.nodes.query(change[1]) == [[.integer(1)]]
            #expect(isKept == (phase == .executed), "\(name)")
            switch result {
            case .success: #expect(isKept, "\(name)")
            case .failure(let error):
                #expect(!isKept, "\(name)")
                #expect((error as? DatabaseError)?.isRetryableInCluster == true, "\(name): \(error)")
            }
            // The shadow knows what was kept.
            if !isKept { try form.run(cluster, change[0]) }
            #expect(try fixture.nodes.query(change[1]) == [[.integer(1)]], "\(name)")
            #expect(try cluster.read { db in try Int.fetchOne(db, sql: change[1]) } == 1, "\(name)")
            #expect(fixture.nodes.aborts == [], "\(name)")
        }
    }
}

extension Statement {
    /// Runs the statement, and reads its rows.
    fileprivate func run(_ db: Database) throws -> Int { try Row.fetchAll(self).count }
}
