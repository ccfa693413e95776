import Foundation
import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import QuarryClusterWire
import Synchronization
import Testing

@Suite("The schema of a cluster") struct ClusterSchemaTests {
    @Test func migrations() throws {
        let fixture = try ClusterFixture(schema: "CREATE TABLE other (a)")
        var migrator = DatabaseMigrator()
        migrator.registerMigration("team") { db in
            try db.create(table: "team") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
            }
        }
        migrator.registerMigration("player") { db in
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull().unique()
                t.column("score", .integer)
                t.belongsTo("team", onDelete: .cascade)
            }
        }
        try migrator.migrate(fixture.cluster)
        try migrator.migrate(fixture.cluster)
        #expect(try fixture.cluster.read { db in try migrator.completedMigrations(db) } == ["team", "player"])
        let schema = try fixture.cluster.read { db in
            try (db.tableExists("player"), db.primaryKey("player").columns, db.foreignKeys(on: "player").count)
        }
        #expect(schema == (true, ["id"], 1))
        // Foreign keys are enforced.
        let error = #expect(throws: DatabaseError.self) {
            try fixture.cluster.write { db in
                try db.execute(sql: "INSERT INTO player (name, teamId) VALUES ('Arthur', 7)")
            }
        }
        #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
    }

    @Test func changesByOthers() throws {
        let fixture = try ClusterFixture()
        let (cluster, other) = (fixture.cluster, try fixture.other())
        let read = { (db: Database) in try Row.fetchAll(db, sql: "SELECT * FROM player").map { Array($0.columnNames) } }
        try cluster.write { db in try db.execute(sql: "INSERT INTO player (name, score) VALUES ('Arthur', 1)") }
        #expect(try cluster.read(read) == [["id", "name", "score", "photo"]])
        try other.write { db in
            try db.alter(table: "player") { t in t.add(column: "email", .text) }
            try db.create(table: "team") { t in t.primaryKey("id", .integer) }
        }
        // A name that the shadow doesn't know is looked for.
        #expect(try cluster.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM team") } == 0)
        #expect(try cluster.read(read) == [["id", "name", "score", "photo", "email"]])
        // A statement that another client's change has given other columns says so, once.
        try other.write { db in try db.alter(table: "player") { t in t.rename(column: "score", to: "points") } }
        let error = #expect(throws: DatabaseError.self) { try cluster.read(read) }
        #expect(error?.resultCode == .SQLITE_SCHEMA)
        #expect(try cluster.read(read) == [["id", "name", "points", "photo", "email"]])
        try other.write { db in try db.drop(table: "team") }
        let missing = #expect(throws: DatabaseError.self) {
            try cluster.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM team") }
        }
        #expect(missing?.message == "no such table: team")
    }

    @Test func changesAreRolledBack() throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try cluster.write { db in
                try db.create(table: "team") { t in t.primaryKey("id", .integer) }
                #expect(try db.tableExists("team"))
                try db.execute(sql: "INSERT INTO team VALUES (1)")
                throw Stop()
            }
        }
        #expect(try cluster.write { db in try db.tableExists("team") } == false)
        #expect(try cluster.read { db in try db.tableExists("team") } == false)
        try cluster.write { db in try db.create(table: "team") { t in t.primaryKey("id", .integer) } }
        #expect(try cluster.read { db in try db.tableExists("team") })
    }

    @Test(arguments: ["BOOLEAN", "date", "DATETIME", "Timestamp"])
    func declaredTypesThatNodesCannotCarry(_ type: String) throws {
        let fixture = try ClusterFixture()
        let error = #expect(throws: DatabaseError.self) {
            try fixture.cluster.write { db in try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a \(type))")
            }
        }
        #expect(error?.resultCode == .SQLITE_MISMATCH)
        #expect(error?.message?.contains("t.a \(type)") == true)
        #expect(try fixture.nodes.query("SELECT count(*) FROM sqlite_schema WHERE name = 't'") == [[.integer(0)]])
        // An existing table of this kind is refused, too.
        try fixture.nodes.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a \(type))")
        let opening = #expect(throws: DatabaseError.self) { _ = try fixture.other() }
        #expect(opening?.resultCode == .SQLITE_MISMATCH)
        // The SQL of the message mends it.
        let sql = try #require(
            opening?.message?.split(separator: ": ", maxSplits: 2).last?.split(separator: "table: ").last)
        try fixture.nodes.execute("INSERT INTO t VALUES (1, 1); \(sql)")
        #expect(try fixture.other().read { db in try Int.fetchOne(db, sql: "SELECT a FROM t") } == 1)
    }

    @Test func definitionsDeclareTypesThatNodesCanCarry() throws {
        let fixture = try ClusterFixture()
        struct Event: Codable, Equatable, FetchableRecord, PersistableRecord {
            var id: Int64
            var isPublic: Bool?
            var date: Date?
        }
        let event = Event(id: 1, isPublic: true, date: Date(timeIntervalSinceReferenceDate: 0))
        try fixture.cluster.write { db in
            try db.create(table: "event") { t in
                t.primaryKey("id", .integer)
                t.column("isPublic", .boolean)
                t.column("date", .datetime)
            }
            try event.insert(db)
            try Event(id: 2, isPublic: nil, date: nil).insert(db)
        }
        #expect(
            try fixture.nodes.query("SELECT sql FROM sqlite_schema WHERE name = 'event'") == [
                [.text(#"CREATE TABLE "event" ("id" INTEGER PRIMARY KEY, "isPublic" NUMERIC, "date" NUMERIC)"#)]
            ])
        let events = try fixture.cluster.read { db in try Event.order(Column("id")).fetchAll(db) }
        #expect(events == [event, Event(id: 2, isPublic: nil, date: nil)])
    }

    @Test func whatAClusterCannotDo() throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        func expectRefusal(_ name: String, _ body: (Database) throws -> Void) {
            let error = #expect(throws: DatabaseError.self) { try cluster.writeWithoutTransaction(body) }
            #expect(error?.resultCode == .SQLITE_MISUSE, "\(name)")
            #expect(error?.message?.hasSuffix("not in a cluster") == true, "\(name): \(String(describing: error))")
        }
        expectRefusal("function") { db in db.add(function: DatabaseFunction("f", argumentCount: 0) { _ in 1 }) }
        expectRefusal("collation") { db in db.add(collation: DatabaseCollation("c") { _, _ in .orderedSame }) }
        expectRefusal("blob") { db in _ = try db.openBlob(table: "player", column: "photo", rowID: 1) }
        expectRefusal("serialize") { db in _ = try db.serialize() }
        expectRefusal("trace") { db in db.trace { _ in } }
        expectRefusal("attach") { db in try db.execute(sql: "ATTACH ':memory:' AS other") }
        expectRefusal("vacuum") { db in try db.execute(sql: "VACUUM") }
        expectRefusal("temporary table") { db in try db.execute(sql: "CREATE TEMP TABLE t (a)") }
        for pragma in ["wal_checkpoint", "journal_mode = DELETE", "busy_timeout = 5", "optimize", "synchronous = OFF"] {
            expectRefusal(pragma) { db in try db.execute(sql: "PRAGMA \(pragma)") }
        }
        #expect(fixture.nodes.log.statements.filter { $0.contains("PRAGMA") && !$0.contains("schema_version") } == [])
        #expect(try cluster.read { db in try Player.fetchCount(db) } == 0)
    }

    @Test func pragmas() throws {
        let fixture = try ClusterFixture()
        try fixture.cluster.write { db in
            try db.execute(sql: "PRAGMA user_version = 7")
            #expect(try Int.fetchOne(db, sql: "PRAGMA user_version") == 7)
            try db.setApplicationID(8)
            #expect(try db.applicationID() == 8)
            #expect(try Int.fetchOne(db, sql: "PRAGMA foreign_keys") == 1)
            #expect(try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").isEmpty)
            #expect(try String.fetchOne(db, sql: "PRAGMA quick_check") == "ok")
            #expect(try Row.fetchAll(db, sql: "PRAGMA table_info(player)").count == 4)
            let plan = try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN SELECT * FROM player WHERE id = ?", arguments: [1])
            #expect(plan.count == 1)
        }
    }

    @Test func scansAreReported() throws {
        let scans = Scans()
        let fixture = try ClusterFixture { $0.onScan = { scan in scans.add(scan) } }
        scans.clear()
        try fixture.cluster.read { db in
            _ = try Player.fetchOne(db, key: 1)
            _ = try Player.filter(Player.Columns.score == 1).fetchAll(db)
        }
        #expect(scans.all.map(\.tables) == [["player"]])
        #expect(scans.all.first?.sql == "SELECT * FROM \"player\" WHERE \"score\" = ?")
    }
}

private final class Scans: Sendable {
    private let scans = Mutex<[ClusterScan]>([])
    var all: [ClusterScan] { scans.withLock { $0 } }
    func add(_ scan: ClusterScan) { scans.withLock { $0.append(scan) } }
    func clear() { scans.withLock { $0.removeAll() } }
}
