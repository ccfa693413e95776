import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import QuarryRecovery
import QuarryTestSupport
import QuarryUntrustedSQL
import Testing

@Suite("Refusals of a cluster") struct ClusterRefusalTests {
    /// SQLite carries out some of them when they are prepared, even behind EXPLAIN.
    @Test(arguments: [
        "foreign_keys = OFF", "foreign_keys(0)", "main.'foreign_keys' = 0", "query_only = ON",
        "recursive_triggers = ON",
        "encoding = 'UTF-16'", "legacy_alter_table = ON", "page_size = 512", "schema_version = 3",
        "journal_mode = DELETE",
    ]) func settings(_ setting: String) throws {
        let fixture = try ClusterFixture()
        try fixture.cluster.writeWithoutTransaction { db in
            let settings = ["foreign_keys", "query_only", "recursive_triggers", "legacy_alter_table", "encoding"]
            let before = settings.map { rows(db, "PRAGMA \($0)") }
            for prefix in ["", "EXPLAIN ", "EXPLAIN QUERY PLAN ", "/* x */ explain /* query */ ", "SELECT 1; "] {
                let error = #expect(throws: DatabaseError.self) { try db.execute(sql: "\(prefix)PRAGMA \(setting)") }
                #expect(error?.message?.hasSuffix("with a value: not in a cluster") == true, "\(prefix)")
            }
            #expect(settings.map { rows(db, "PRAGMA \($0)") } == before)
            try db.execute(sql: "INSERT INTO player (name) VALUES ('a')")
        }
        let pragmas = fixture.nodes.log.statements.filter { $0.contains("PRAGMA") }
        #expect(Set(pragmas).isSubset(of: ["PRAGMA schema_version"]))
    }

    @Test(arguments: ["TABLE temp.x (a)", "TEMPORARY VIEW x AS SELECT 1", "VIEW \"temp\" . x AS SELECT 1"])
    func temporaryObjects(_ object: String) throws {
        let fixture = try ClusterFixture()
        try fixture.cluster.writeWithoutTransaction { db in
            let error = #expect(throws: DatabaseError.self) { try db.execute(sql: "CREATE \(object)") }
            #expect(error?.message?.hasSuffix("not in a cluster") == true)
            #expect(rows(db, "SELECT * FROM sqlite_temp_schema") == "")
        }
        #expect(!fixture.nodes.log.statements.contains { $0.hasPrefix("CREATE") })
    }

    @Test func copies() async throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        let queue = try DatabaseQueue()
        let folder = try TemporaryFolder()
        func expectRefusal(_ operation: String, _ body: () async throws -> Void) async {
            let error = await #expect(throws: DatabaseError.self) { try await body() }
            #expect(error?.resultCode == .SQLITE_MISUSE, "\(operation)")
            #expect(error?.message == "\(operation): not in a cluster")
        }
        await expectRefusal("a backup of a connection") { try cluster.backup(to: queue) }
        await expectRefusal("a backup of a connection") { try await cluster.backupAsync(to: queue) }
        await expectRefusal("a copy over the database") { try queue.backup(to: cluster) }
        await expectRefusal("a copy over the database") { try await cluster.erase() }
        await expectRefusal("a backup, which quarry-node makes") {
            _ = try await cluster.backup(toFile: folder.path + "/copy")
        }
        try await queue.vacuum(into: folder.path + "/other")
        await expectRefusal("restoring a backup") { try cluster.restore(from: folder.path + "/other") }
        await expectRefusal("restoring a backup") { try await cluster.restore(from: folder.path + "/other") }
        #expect(cluster.filePaths == [])
        #expect(try await cluster.read { db in try Player.fetchCount(db) } == 0)
    }

    @Test func rebuildingATableNeedsAMigration() throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        @Sendable func rebuild(_ db: Database) throws {
            try db.rebuild(table: "player") { t in
                t.primaryKey("id", .integer)
                t.column("name", .text).notNull()
            }
        }
        try cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')") }
        for inTransaction in [true, false] {
            let error = #expect(throws: DatabaseError.self) {
                inTransaction ? try cluster.write(rebuild) : try cluster.writeWithoutTransaction(rebuild)
            }
            #expect(error?.message?.hasSuffix("a DatabaseMigrator turns them off before its transactions") == true)
        }
        var migrator = DatabaseMigrator()
        migrator.registerMigration("rebuild", migrate: rebuild)
        try migrator.migrate(cluster)
        #expect(try cluster.read { db in rows(db, "SELECT * FROM player") } == "[id:1 name:\"Arthur\"]")
        #expect(try cluster.writeWithoutTransaction { db in rows(db, "PRAGMA foreign_keys") } == "[foreign_keys:1]")
    }

    /// A node doesn't stop a statement, whatever memory and time it takes.
    @Test func untrustedSQL() async throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        var policy = UntrustedSQLPolicy()
        policy.allowTable("player")
        let sql = "SELECT name FROM player"
        let message = "SQL from users, whose limits a node doesn't keep: not in a cluster"
        let error = await #expect(throws: DatabaseError.self) {
            _ = try await cluster.fetchUntrusted(sql, policy: policy)
        }
        #expect(error?.message == message)
        let inside = #expect(throws: DatabaseError.self) {
            try cluster.read { db in try db.withUntrustedSQL(policy) { _ = try Row.fetchAll(db, sql: sql) } }
        }
        #expect(inside?.message == message)
        #expect(!fixture.nodes.log.statements.contains(sql))
        #expect(try await cluster.read { db in try Player.fetchCount(db) } == 0)
    }
}
