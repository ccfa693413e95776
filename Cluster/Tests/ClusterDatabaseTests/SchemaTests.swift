import Quarry
import QuarryCluster
import Testing

/// Changes of the schema on nodes.
@Suite("The schema on nodes", .serialized, .threeNodes, .timeLimit(.minutes(10))) struct SchemaTests {
    let nodes: NodeGroup

    init() throws { nodes = try #require(NodeGroup.current) }

    @Test func changesByOthers() throws {
        let cluster = try nodes.open("changes")
        let other = try nodes.open("changes")
        try cluster.write { db in
            try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score INTEGER) STRICT")
            try db.execute(sql: "INSERT INTO player VALUES (1, 'Arthur', 5)")
        }
        func read() throws -> String? {
            try cluster.read { db in
                try Row.fetchOne(db, sql: "SELECT * FROM player").map { row in
                    row.map { "\($0)=\(DatabaseValue.fromDatabaseValue($1) ?? .null)" }.joined(separator: " ")
                }
            }
        }
        // Often enough that the node has prepared the statement.
        for _ in 1...4 { #expect(try read() == "id=1 name=\"Arthur\" score=5") }
        try other.write { db in try db.execute(sql: "ALTER TABLE player ADD COLUMN email TEXT DEFAULT 'a@b'") }
        // The names were promised before, so the first row may leave the new column out.
        let first = try read()
        #expect(["id=1 name=\"Arthur\" score=5", "id=1 name=\"Arthur\" score=5 email=\"a@b\""].contains(first))
        for _ in 1...3 { #expect(try read() == "id=1 name=\"Arthur\" score=5 email=\"a@b\"") }
        try other.write { db in try db.execute(sql: "ALTER TABLE player DROP COLUMN name") }
        // Never the values of one column by the name of another.
        let error = #expect(throws: DatabaseError.self) { try read() }
        #expect(error?.resultCode == .SQLITE_SCHEMA, "\(String(describing: error))")
        for _ in 1...3 { #expect(try read() == "id=1 score=5 email=\"a@b\"") }
        try other.write { db in try db.execute(sql: "DROP TABLE player") }
        let missing = #expect(throws: DatabaseError.self) { try read() }
        #expect(missing?.message == "no such table: player")
        try other.write { db in
            try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, x TEXT) STRICT")
            try db.execute(sql: "INSERT INTO player VALUES (2, 'y')")
        }
        #expect(try read() == "id=2 x=\"y\"")
        // A change by the other one between two of this one's writes.
        for number in 1...5 {
            try other.write { db in try db.execute(sql: "ALTER TABLE player ADD COLUMN n\(number) INTEGER") }
            try cluster.write { db in
                try db.execute(sql: "INSERT INTO player (id, x) VALUES (?, 'z')", arguments: [number + 2])
                #expect(try db.columns(in: "player").count == number + 2)
            }
        }
    }

    @Test func aChangeWhileATransactionReads() throws {
        let cluster = try nodes.open("snapshot")
        let other = try nodes.open("snapshot")
        try cluster.write { db in
            try db.execute(sql: "CREATE TABLE t (a INTEGER) STRICT; INSERT INTO t VALUES (1)")
        }
        try cluster.read { db in
            #expect(try Int.fetchOne(db, sql: "SELECT a FROM t") == 1)
            try other.write { db in
                try db.execute(sql: "ALTER TABLE t RENAME COLUMN a TO b; UPDATE t SET b = 2; CREATE TABLE u (a)")
            }
            // The transaction sees what it saw.
            #expect(try Int.fetchOne(db, sql: "SELECT a FROM t") == 1)
            #expect(try !db.tableExists("u"))
        }
        #expect(try cluster.read { db in try Int.fetchOne(db, sql: "SELECT b FROM t") } == 2)
    }

    @Test func foreignKeysInMigrations() throws {
        let cluster = try nodes.open("keys")
        try DatabaseMigrator.teams.migrate(cluster)
        try cluster.write { db in
            _ = try Team(id: 1, name: "A").inserted(db)
            _ = try Player(id: 1, teamId: 1, name: "P", score: 1).inserted(db)
        }
        var migrator = DatabaseMigrator.teams
        // Without the suspension of foreign keys, the table's replacement would delete the players.
        migrator.registerMigration("replaced") { db in
            try db.execute(
                sql: """
                    CREATE TABLE new_team (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, city TEXT);
                    INSERT INTO new_team (id, name) SELECT id, name FROM team;
                    DROP TABLE team;
                    ALTER TABLE new_team RENAME TO team
                    """)
        }
        try migrator.migrate(cluster)
        #expect(try cluster.read { db in try Player.fetchCount(db) } == 1)
        migrator.registerMigration("violating") { db in try db.execute(sql: "DELETE FROM team") }
        let violation = #expect(throws: (any Error).self) { try migrator.migrate(cluster) }
        #expect("\(violation!)".contains("FOREIGN KEY"), "\(violation!)")
        #expect(try cluster.read { db in try Team.fetchCount(db) } == 1)
        #expect(try cluster.read { db in try migrator.completedMigrations(db) } == ["team", "player", "replaced"])
        // Afterwards they are enforced.
        let error = #expect(throws: DatabaseError.self) {
            try cluster.write { db in _ = try Player(id: 2, teamId: 9, name: "Q", score: 1).inserted(db) }
        }
        #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
    }

    @Test func deferredForeignKeys() throws {
        let cluster = try nodes.open("deferred")
        try cluster.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE parent (id INTEGER PRIMARY KEY) STRICT;
                    CREATE TABLE child (parentId INTEGER REFERENCES parent(id) DEFERRABLE INITIALLY DEFERRED) STRICT
                    """)
        }
        let error = #expect(throws: DatabaseError.self) {
            try cluster.write { db in try db.execute(sql: "INSERT INTO child VALUES (1)") }
        }
        #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
        #expect(error?.message == "FOREIGN KEY constraint failed")
        try cluster.write { db in
            try db.execute(sql: "INSERT INTO child VALUES (1)")
            try db.execute(sql: "INSERT INTO parent VALUES (1)")
        }
        #expect(try cluster.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM child") } == 1)
    }

    @Test func refusedTypes() throws {
        let cluster = try nodes.open("types")
        let error = #expect(throws: DatabaseError.self) {
            try cluster.write { db in try db.execute(sql: "CREATE TABLE t (a DATETIME)") }
        }
        #expect(error?.resultCode == .SQLITE_MISMATCH)
        #expect(try cluster.read { db in try !db.tableExists("t") })
    }
}
