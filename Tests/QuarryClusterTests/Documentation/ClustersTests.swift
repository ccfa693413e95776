import Quarry
import QuarryChangesets
import QuarryCluster
import QuarryClusterTestSupport
import QuarryClusterWire
import QuarryIncrementalWrites
import QuarryRecovery
import QuarryTestSupport
import Testing

/// The claims of the article about clusters.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct ClustersTests {
    @Test func operationsThatNeedTheDatabaseInThisProcess() throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        func expectRefusal(_ name: String, _ body: () throws -> Void) {
            let error = #expect(throws: DatabaseError.self, "\(name)") { try body() }
            #expect(error?.resultCode == .SQLITE_MISUSE, "\(name): \(String(describing: error))")
            #expect(error?.message?.hasSuffix("not in a cluster") == true, "\(name): \(String(describing: error))")
        }
        let copy = try DatabaseQueue()
        expectRefusal("backup") { try cluster.backup(to: copy) }
        expectRefusal("maintenance") { _ = try cluster.maintain() }
        expectRefusal("vacuum") { try cluster.vacuum() }
        let folder = try TemporaryFolder()
        let path = folder.file("copy.sqlite")
        expectRefusal("vacuum into") { try cluster.vacuum(into: path) }
        expectRefusal("backup to a file") { try cluster.backup(toFile: path) }
        try DatabaseQueue(path: path).write { db in try db.execute(sql: "CREATE TABLE team (id INTEGER PRIMARY KEY)") }
        expectRefusal("restoration") { try cluster.restore(from: path) }
        expectRefusal("checkpoint") { try cluster.writeWithoutTransaction { db in _ = try db.checkpoint() } }
        expectRefusal("changeset") { try cluster.write { db in _ = try db.recordChangeset {} } }
    }

    @Test func argumentsBeyondTheLimit() throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        let players = (1...300).map { (number: Int) in Player(id: nil, name: "Player \(number)", score: number) }
        try cluster.write { db in _ = try Player.insertAll(db, players) }
        #expect(try cluster.read { db in try Player.fetchCount(db) } == 300)
        let marks = Array(repeating: "?", count: 256).joined(separator: ", ")
        let error = #expect(throws: DatabaseError.self) {
            try cluster.read { db in
                try Int.fetchOne(
                    db, sql: "SELECT count(*) FROM player WHERE id IN (\(marks))",
                    arguments: StatementArguments(Array(1...256)))
            }
        }
        #expect(error?.message == "too many SQL variables")
        let count = try cluster.read { db in
            try Int.fetchOne(
                db, sql: "SELECT count(*) FROM player WHERE id IN (SELECT value FROM json_each(?))",
                arguments: ["[\((1...256).map(String.init).joined(separator: ","))]"])
        }
        #expect(count == 256)
    }

    @Test func commitsAreTold() async throws {
        let fixture = try ClusterFixture()
        var commits = fixture.cluster.commits.makeAsyncIterator()
        try await fixture.cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')") }
        let commit = try #require(await commits.next())
        #expect(commit.changes.containsChange(in: "player"))
        #expect(!commit.changes.containsChange(in: "team"))
    }

    @Test func flagsAndDates() throws {
        struct Visit: Codable, FetchableRecord, PersistableRecord, Equatable {
            var id: Int64
            var isPaid: Bool
            var tip: Bool?
        }
        let fixture = try ClusterFixture(
            schema: "CREATE TABLE visit (id INTEGER PRIMARY KEY, isPaid INTEGER, tip INTEGER)")
        let visit = Visit(id: 1, isPaid: true, tip: nil)
        try fixture.cluster.write { db in try visit.insert(db) }
        #expect(try fixture.cluster.read { db in try Visit.fetchAll(db) } == [visit])
    }

    @Test func tracersAndIncrementalWrites() async throws {
        final class Log: DatabaseTracer {
            let options = DatabaseTracing.Options(.statements)
            let sql = Counter()
            func receive(_ event: DatabaseTraceEvent) { if case .statement = event { _ = sql.next() } }
        }
        let fixture = try ClusterFixture()
        let log = Log()
        let registration = fixture.cluster.addTracer(log)
        try await fixture.cluster.writeIncrementally { step in
            try step.db.execute(sql: "INSERT INTO player (name) VALUES ('Player \(step.index)')")
            return step.index == 9 ? .done : .next
        }
        #expect(log.sql.next() > 10)
        #expect(try await fixture.cluster.read { db in try Player.fetchCount(db) } == 10)
        _ = registration
    }

    /// The code of Testing.md.
    @Test func aFault() throws {
        let fixture = try ClusterFixture()  // three nodes, a table of players, a DatabaseCluster
        fixture.nodes.faults.once(.closeConnection, at: .executed) { $0.sql == "COMMIT TRANSACTION" }
        try fixture.cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')") }
        #expect(try fixture.nodes.query("SELECT count(*) FROM player") == [[.integer(1)]])
    }
}
