import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import QuarryClusterWire
import Synchronization
import Testing

/// A link is lost where no statement notices it: while rows are skipped that the program doesn't want, or behind a
/// change of the schema.
@Suite("Links of a cluster that are lost between statements", .timeLimit(.minutes(5)))
struct ClusterUnreadRowsTests {
    private static let manyRows = """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
        INSERT INTO player (id, name, score) SELECT i, 'Player ' || i, i FROM n
        """

    enum Loss: CaseIterable, Sendable {
        case unreadRows, interruptedRows, schemaChange

        var isOfRead: Bool { self != .schemaChange }
    }

    /// Loses the link, without an error of a statement.
    private func lose(_ loss: Loss, _ db: Database, _ fixture: ClusterFixture) throws {
        switch loss {
        case .unreadRows:
            fixture.nodes.faults.onPage = { _, _ in .closeConnection }
            let first = try Int.fetchOne(db, sql: "SELECT score FROM player ORDER BY id")
            #expect(first == 1)
        case .interruptedRows:
            let cluster = fixture.cluster
            fixture.nodes.faults.onPage = { [weak cluster] _, page in
                if page == 3 { cluster?.interrupt() }
                return .none
            }
            // The interruption meets this statement, or the rows that it skips.
            _ = try? Int.fetchOne(db, sql: "SELECT score FROM player ORDER BY id")
        case .schemaChange:
            // The node's prepared statements are released behind it.
            for _ in 1...3 { _ = try Int.fetchOne(db, sql: "SELECT max(score) FROM player") }
            fixture.nodes.faults.once(.closeConnection, at: .received) { $0.kind == .finalize }
            try db.execute(sql: "CREATE TABLE team (a)")
        // The end of the link arrives with the next answer at the latest.
        }
    }

    private func filled() throws -> ClusterFixture {
        let fixture = try ClusterFixture()
        try fixture.cluster.write { db in try db.execute(sql: Self.manyRows) }
        return fixture
    }

    private func expectLost(_ name: String, _ result: Result<Void, any Error>, _ fixture: ClusterFixture) throws {
        fixture.nodes.faults.clear()
        let count = try fixture.nodes.query("SELECT count(*) FROM player WHERE id > 1000").first
        switch result {
        case .success: #expect(count == [.integer(2)], "\(name)")
        case .failure(let error):
            #expect(count == [.integer(0)], "\(name): \(error)")
            // After an interruption, as on a file, statements say that the transaction was aborted.
            #expect((error as? DatabaseError)?.resultCode == .SQLITE_ABORT, "\(name): \(error)")
        }
        try fixture.cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('next')") }
        #expect(try fixture.cluster.read { db in try Player.fetchCount(db) } > 1000, "\(name)")
        #expect(fixture.nodes.aborts == [])
    }

    /// All changes of a write are kept, or none.
    @Test(arguments: Loss.allCases) func writes(_ loss: Loss) throws {
        for position in 0...3 {
            let fixture = try filled()
            let result = Result {
                try fixture.cluster.write { db in
                    for (index, name) in ["first", "second"].enumerated() {
                        if position == index { try lose(loss, db, fixture) }
                        try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: [name])
                    }
                    if position == 2 { try lose(loss, db, fixture) }
                    if position == 3 {
                        try db.inSavepoint {
                            try lose(loss, db, fixture)
                            return .commit
                        }
                    }
                }
            }
            try expectLost("\(loss) at \(position)", result, fixture)
        }
    }

    /// A read sees one state, or throws.
    @Test(arguments: Loss.allCases.filter(\.isOfRead)) func reads(_ loss: Loss) throws {
        let fixture = try filled()
        let other = try fixture.other()
        let result = Result {
            try fixture.cluster.read { db in
                let before = try Player.fetchCount(db)
                try lose(loss, db, fixture)
                fixture.nodes.faults.clear()
                try other.write { db in try db.execute(sql: "DELETE FROM player WHERE id > 500") }
                let after = try Player.fetchCount(db)
                #expect(before == after)
            }
        }
        if case .failure(let error) = result {
            #expect((error as? DatabaseError)?.resultCode == .SQLITE_ABORT, "\(error)")
        }
        #expect(try fixture.cluster.read { db in try Player.fetchCount(db) } == 500)
    }

    /// A lost transaction has run its handlers of a rollback.
    @Test func handlers() throws {
        let fixture = try filled()
        let events = Mutex<[String]>([])
        let result = Result {
            try fixture.cluster.write { db in
                db.afterNextTransaction { _ in
                    events.withLock { $0.append("commit") }
                } onRollback: { _ in
                    events.withLock { $0.append("rollback") }
                }
                try db.execute(sql: "INSERT INTO player (name) VALUES ('first'), ('second')")
                try lose(.unreadRows, db, fixture)
            }
        }
        let isKept = (try? result.get()) != nil
        #expect(events.withLock { $0 } == [isKept ? "commit" : "rollback"])
        try expectLost("handlers", result, fixture)
    }
}
