import Quarry
import QuarryTestSupport
import QuarryUntrustedSQL
import Testing

@testable import QuarryAccess

/// The regions of joins that SQLite doesn't report, on connections other than the one that has made the schema.
@Suite struct HiddenReadTests {
    let folder: TemporaryFolder
    let pool: DatabasePool

    init() throws {
        folder = try TemporaryFolder()
        pool = try DatabasePool(path: folder.file("db"))
        try pool.write { db in
            try db.makePlayers("Arthur")
            try db.execute(
                sql: """
                    CREATE TABLE captain (id INTEGER PRIMARY KEY, name TEXT);
                    INSERT INTO captain VALUES (1, 'Arthur');
                    """)
        }
    }

    private func createView() throws {
        try pool.write { db in
            try db.execute(sql: "CREATE VIEW members AS SELECT player.name FROM player NATURAL JOIN captain")
        }
    }

    private func region(of sql: String) throws -> DatabaseRegion {
        try pool.read { db in try db.recordingRegion { _ = try Row.fetchAll(db, sql: sql) }.region }
    }

    /// A reader connection hasn't changed its schema.
    @Test func viewsOfOtherConnections() throws {
        try createView()
        let region = try region(of: "SELECT name FROM members")
        #expect(region.isModified(byEventsOfKind: .insert(tableName: "captain")))
        #expect(region.isModified(byEventsOfKind: .update(tableName: "captain", columnNames: ["id"])))
        #expect(region.isModified(byEventsOfKind: .update(tableName: "player", columnNames: ["id"])))
    }

    /// A view that comes after the connection has looked for views.
    @Test func viewsThatComeLater() throws {
        #expect(try region(of: "SELECT name FROM player").description == "player(name)")
        try createView()
        let region = try region(of: "SELECT name FROM members")
        #expect(region.isModified(byEventsOfKind: .update(tableName: "captain", columnNames: ["id"])))
        try pool.write { db in try db.execute(sql: "DROP VIEW members") }
        #expect(try self.region(of: "SELECT name FROM player WHERE name > ''").description == "player(name)")
    }

    /// A change of the schema that is rolled back, and another one: SQLite numbers both alike.
    @Test func changesThatAreRolledBack() throws {
        try createView()
        try pool.writeWithoutTransaction { db in
            try db.inTransaction {
                try db.execute(sql: "DROP VIEW members")
                let (_, region) = try db.recordingRegion { _ = try Row.fetchAll(db, sql: "SELECT name FROM player") }
                #expect(region.description == "player(name)")
                return .rollback
            }
            try db.execute(sql: "CREATE TABLE later (a)")
            let (_, region) = try db.recordingRegion { _ = try Row.fetchAll(db, sql: "SELECT name FROM members") }
            #expect(region.isModified(byEventsOfKind: .update(tableName: "captain", columnNames: ["id"])))
        }
    }

    /// Statements that read no such view keep their columns and their tables.
    @Test func otherStatements() throws {
        try createView()
        try pool.write { db in
            try db.execute(
                sql: #"""
                    CREATE VIEW outer_members AS SELECT name FROM members;
                    CREATE VIEW "a ""1""" AS SELECT name FROM main."OUTER_members";
                    CREATE VIEW captains AS SELECT name FROM captain;
                    CREATE VIRTUAL TABLE search USING fts5(body);
                    """#)
        }
        #expect(try region(of: "SELECT name FROM player").description == "player(name)")
        #expect(try region(of: "SELECT name FROM captains").description == "captain(name),captains(name)")
        #expect(try !region(of: "SELECT body FROM search").isFullDatabase)
        for view in ["Members", "outer_members", #""a ""1""""#] {
            let region = try region(of: "SELECT COUNT(*) FROM \(view)")
            #expect(region.isModified(byEventsOfKind: .update(tableName: "captain", columnNames: ["id"])), "\(view)")
            #expect(!region.isFullDatabase)
        }
    }

    /// A name without a letter may be written in any statement.
    @Test func namesWithoutWords() throws {
        try pool.write { db in
            try db.execute(sql: "CREATE VIEW \"1\" AS SELECT player.name FROM player JOIN captain USING (id)")
        }
        let region = try region(of: "SELECT name FROM \"1\"")
        #expect(region.isModified(byEventsOfKind: .update(tableName: "captain", columnNames: ["id"])))
    }

    /// A policy decides on the statements of its user, not on those that find out what these read.
    @Test func untrustedSQL() throws {
        try createView()
        var policy = UntrustedSQLPolicy()
        policy.allowTable("player")
        policy.allowTable("captain")
        policy.allowTable("members")
        try pool.read { db in
            let (names, region) = try db.recordingRegion {
                try db.withUntrustedSQL(policy) {
                    let names = try String.fetchAll(db, sql: "SELECT name FROM members")
                    // The error is that of the statement.
                    expectError(.SQLITE_TOOBIG) {
                        try Row.fetchAll(db, sql: "SELECT name, zeroblob(2000000) FROM members")
                    }
                    return names
                }
            }
            #expect(names == ["Arthur"])
            #expect(region.isModified(byEventsOfKind: .update(tableName: "captain", columnNames: ["id"])))
            let read = ["player", "captain", "members"].map { TableName(schema: "main", name: $0) }
            #expect(Set(region.tableNames ?? []) == Set(read))
        }
    }
}
