import Quarry
import QuarryCaching
import QuarryCluster
import QuarryClusterTestSupport
import QuarryOutbox
import Synchronization
import Testing

/// Parts of the library that need to know about changes.
@Suite("Features on a cluster", .timeLimit(.minutes(2))) struct ClusterFeatureTests {
    @Test func erasingMigrators() throws {
        let fixture = try ClusterFixture(schema: "")
        var migrator = DatabaseMigrator()
        migrator.eraseDatabaseOnSchemaChange = true
        migrator.registerMigration("1") { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        try migrator.migrate(fixture.cluster)
        try fixture.cluster.write { db in try db.execute(sql: "INSERT INTO t VALUES (1)") }
        try migrator.migrate(fixture.cluster)
        try fixture.cluster.countChanges()
        try migrator.migrate(fixture.cluster)
        #expect(try fixture.cluster.read { db in rows(db, "SELECT * FROM t") } == "[a:1]")
        var changed = DatabaseMigrator()
        changed.eraseDatabaseOnSchemaChange = true
        changed.registerMigration("1") { db in try db.execute(sql: "CREATE TABLE t (a INTEGER, b INTEGER)") }
        let error = #expect(throws: DatabaseError.self) { try changed.migrate(fixture.cluster) }
        #expect(error?.message?.hasSuffix("not in a cluster") == true)
        #expect(try fixture.cluster.read { db in rows(db, "SELECT * FROM t") } == "[a:1]")
    }

    @Test func cachedTables() throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        let cache = CachedTable(cluster, of: Player.self)
        try cluster.write { db in try db.execute(sql: "INSERT INTO player (name, score) VALUES ('a', 1), ('b', 1)") }
        for score in 1...3 {
            try cluster.write { db in
                try db.execute(sql: "UPDATE player SET score = ? WHERE id = 1", arguments: [score])
            }
            #expect(try cache.fetchOne(key: 1)?.score == score)
            #expect(try cache.fetchOne(key: 1)?.score == score)
            let sql = "UPDATE player SET score = ? WHERE id = 2 RETURNING id"
            _ = try cluster.write { db in try Row.fetchAll(db, sql: sql, arguments: [score]) }
            #expect(try cache.fetchOne(key: 2)?.score == score)
        }
        try cluster.writeWithoutTransaction { db in _ = try Row.fetchAll(db, sql: "DELETE FROM player RETURNING id") }
        #expect(try cache.fetchOne(key: 1) == nil)
    }

    @Test func pages() throws {
        let fixture = try ClusterFixture()
        try fixture.cluster.write { db in
            try db.execute(sql: "INSERT INTO player (name, score) VALUES ('a', 3), ('b', 1), ('c', 1)")
        }
        let request = Table("player").order(Column("score").desc)
        let page = try fixture.cluster.read { db in try request.page(size: 2).fetch(db) }
        #expect(page.items.map { $0["name"] as String } == ["a", "c"])
        let rest = try fixture.cluster.writeWithoutTransaction { db in
            try request.page(size: 2, after: page.next).fetch(db).items.map { $0["name"] as String }
        }
        #expect(rest == ["b"])
        #expect(try fixture.cluster.read { db in try request.page(number: 2, size: 2).fetch(db).total } == 3)
    }

    /// A node doesn't tell of rows: the keys aren't known, rather than none.
    @Test func changedKeys() async throws {
        let fixture = try ClusterFixture()
        var commits = fixture.cluster.commits(keys: true).makeAsyncIterator()
        try await fixture.cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('a')") }
        let changes = try #require(await commits.next()).changes
        #expect(changes.containsChange(in: "player"))
        #expect(changes.changedKeys(in: "player") == nil)
    }

    @Test func regions() async throws {
        let schema = """
            \(ClusterFixture.schema); CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE log (a);
            CREATE TRIGGER t AFTER INSERT ON team BEGIN INSERT INTO log VALUES (new.id); END
            """
        let fixture = try ClusterFixture(schema: schema)
        let cluster = fixture.cluster
        let counts = Mutex<[String: Int]>([:])
        let observations = ["player", "team", "log"].map { table in
            DatabaseRegionObservation(tracking: Table<Row>(table)).start(in: cluster) { _ in
            } onChange: { _ in
                counts.withLock { $0[table, default: 0] += 1 }
            }
        }
        // A stream that begins during the accesses in which observations start reports them as an unknown commit.
        try await cluster.writeWithoutTransaction { _ in }
        var commits = cluster.commits.makeAsyncIterator()
        try await cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('a')") }
        #expect(counts.withLock { $0 } == ["player": 1])
        #expect(await commits.next()?.changes.containsChange(in: "player") == true)
        try await cluster.writeWithoutTransaction { db in
            _ = try Row.fetchAll(db, sql: "INSERT INTO team (name) VALUES ('x') RETURNING id")
        }
        #expect(counts.withLock { $0 } == ["player": 1, "team": 1, "log": 1])
        let commit = await commits.next()
        #expect(commit?.changes.containsChange(in: "log") == true)
        #expect(commit?.changes.containsChange(in: "player") == false)
        _ = try? await cluster.write { db in
            try db.execute(sql: "INSERT INTO player (name) VALUES ('b')")
            try db.execute(sql: "INSERT INTO player (name) VALUES ('b')")
        }
        try await cluster.read { db in _ = try Player.fetchAll(db) }
        #expect(counts.withLock { $0 } == ["player": 1, "team": 1, "log": 1])
        for observation in observations { observation.cancel() }
    }

    @Test func outboxes() async throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        let outbox = Outbox<String>("email")
        try await cluster.write { db in
            try outbox.createTables(db)
            _ = try outbox.append("hello", db)
        }
        let delivered = Mutex<[String]>([])
        _ = try await outbox.deliverNext(from: cluster) { messages in
            delivered.withLock { $0 += messages.map(\.payload) }
        }
        #expect(delivered.withLock { $0 } == ["hello"])
        #expect(try await cluster.read { db in try outbox.pendingCount(db) } == 0)
    }

    @Test func callbacksOfTransactions() throws {
        let fixture = try ClusterFixture()
        let events = Mutex<[String]>([])
        func note(_ db: Database) {
            db.afterNextTransaction { _ in
                events.withLock { $0.append("commit") }
            } onRollback: { _ in
                events.withLock { $0.append("rollback") }
            }
        }
        try fixture.cluster.write { db in
            note(db)
            try db.execute(sql: "INSERT INTO player (name) VALUES ('a')")
        }
        _ = try? fixture.cluster.write { db in
            note(db)
            try db.execute(sql: "INSERT INTO player (name) VALUES ('a')")
        }
        fixture.nodes.faults.once(.closeConnection, at: .received) { $0.sql?.hasPrefix("COMMIT") == true }
        _ = try? fixture.cluster.write { db in
            note(db)
            try db.execute(sql: "INSERT INTO player (name) VALUES ('b')")
        }
        #expect(events.withLock { $0 } == ["commit", "rollback", "rollback"])
        try fixture.cluster.write { db in try db.execute(sql: "DELETE FROM player") }
        #expect(events.withLock { $0 } == ["commit", "rollback", "rollback"])
    }
}
