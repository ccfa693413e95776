import QuarryCore
import QuarryTestSupport
import Testing

@Suite struct DatabaseRegionTests {
    private static let player = TableName(schema: "main", name: "player")
    private static let team = TableName(schema: "main", name: "team")

    private func region(_ sql: String, _ db: Database) throws -> DatabaseRegion {
        try db.makeStatement(sql: sql).databaseRegion
    }

    private func withTables(_ body: (Database) throws -> Void) throws {
        try withConnection { db in
            try db.makeScoredPlayers()
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE VIEW names AS SELECT name FROM player;
                    CREATE VIEW counts AS SELECT COUNT(*) FROM team;
                    """)
            try body(db)
        }
    }

    @Test func regionsOfStatements() throws {
        try withTables { (db) throws in
            let regions = [
                ("SELECT * FROM player", "player(id,name,score)"), ("SELECT NAME FROM Player", "player(name)"),
                ("SELECT rowid FROM player", "player(id)"), ("SELECT 1", "empty"),
                ("SELECT COUNT(*) FROM player", "player()"), ("SELECT COUNT(*) FROM main.player", "player()"),
                ("SELECT 1 WHERE EXISTS (SELECT 1 FROM player)", "player()"),
                ("SELECT p.name FROM player p, team", "player(name),team()"),
                ("SELECT * FROM counts", "counts(count(*)),team()"),
                ("WITH player AS (SELECT name FROM team) SELECT name FROM player", "team(name)"),
                ("SELECT name FROM player ORDER BY score", "player(name,score)"),
                ("INSERT INTO team SELECT id, name FROM player", "player(id,name)"),
                ("UPDATE player SET name = 'a' WHERE score = 1", "player(score)"),
                ("SELECT value FROM json_each('[]')", "json_each(value)"), ("PRAGMA user_version", "empty"),
                ("EXPLAIN SELECT name FROM player", "player(name)"),
                ("SELECT name FROM sqlite_master", "sqlite_master(name)"),
                ("SELECT COUNT(*) FROM sqlite_schema", "sqlite_master()"),
            ]
            for (sql, expected) in regions {
                let found = try region(sql, db).description.replacing("\"", with: "")
                #expect(found == expected, "\(sql)")
            }
            // A view's tables, and not the view's name alone.
            #expect(try region("SELECT name FROM names", db).tableNames?.map(\.description).contains("player") == true)
        }
    }

    @Test func schemasOfTablesWithoutColumns() throws {
        try withTables { (db) throws in
            try db.execute(
                sql: """
                    ATTACH ':memory:' AS archive; CREATE TABLE archive.player (id); CREATE TABLE archive.old (id);
                    CREATE TEMP TABLE scratch (a); CREATE TEMP TABLE team (a)
                    """)
            #expect(try region("SELECT COUNT(*) FROM player", db).description == "player()")
            #expect(try region("SELECT COUNT(*) FROM archive.player", db).description == "archive.player()")
            #expect(try region("SELECT COUNT(*) FROM old", db).description == "archive.old()")
            #expect(try region("SELECT COUNT(*) FROM scratch", db).description == "temp.scratch()")
            #expect(try region("SELECT COUNT(*) FROM team", db).description == "temp.team()")
            // In a view, the view's schema decides, which isn't told: all of them.
            let team = try region("SELECT * FROM counts", db)
            #expect(team.isModified(by: DatabaseRegion(Self.team)))
        }
    }

    @Test func presenceOfRows() throws {
        try withTables { (db) throws in
            let count = try region("SELECT COUNT(*) FROM player", db)
            let all = try region("SELECT * FROM player", db)
            #expect(!count.isModified(by: DatabaseRegion(Self.player, columns: ["name"])))
            #expect(count.isModified(by: DatabaseRegion(Self.player)))
            #expect(!count.isModified(byEventsOfKind: .update(tableName: "player", columnNames: ["name"])))
            #expect(count.isModified(byEventsOfKind: .insert(tableName: "PLAYER")))
            #expect(count.isModified(byEventsOfKind: .delete(tableName: "player")))
            #expect(!count.isModified(byEventsOfKind: .delete(tableName: "team")))
            #expect(all.isModified(byEventsOfKind: .update(tableName: "player", columnNames: ["SCORE"])))
            #expect(all.isModified(by: DatabaseRegion(Self.player, columns: ["name"])))
        }
    }

    @Test func unionsAndIntersections() {
        let names = DatabaseRegion(Self.player, columns: ["name"], rowIDs: [1, 2])
        let scores = DatabaseRegion(Self.player, columns: ["score"], rowIDs: [2, 3])
        let team = DatabaseRegion(Self.team)
        #expect(names.union(scores).description == "player(name,score)[1,2,3]")
        #expect(names.union(DatabaseRegion(Self.player)).description == "player(*)")
        #expect(names.union(team).description == "player(name)[1,2],team(*)")
        #expect(names.union(.fullDatabase) == .fullDatabase)
        #expect(names.union(DatabaseRegion()) == names)
        #expect(DatabaseRegion().union(names) == names)
        #expect(names.intersection(scores).isEmpty)
        #expect(names.intersection(team) == DatabaseRegion())
        #expect(names.intersection(.fullDatabase) == names)
        #expect(DatabaseRegion.fullDatabase.intersection(names) == names)
        #expect(
            names.intersection(DatabaseRegion(Self.player, columns: nil, rowIDs: [2, 9])).description
                == "player(name)[2]")
        #expect(DatabaseRegion(Self.player, rowIDs: []) == DatabaseRegion())
        #expect(names.withWholeTables.description == "player(*)")
        #expect(names.union(team).restricted(toRows: [2], of: Self.player).description == "player(name)[2],team(*)")
        #expect(names.union(team).restricted(toRows: [], of: Self.player).description == "team(*)")
        #expect(names.restricted(toRows: [1], of: Self.team) == names)
        #expect(team.restricted(toRows: [], of: Self.team).isEmpty)
    }

    @Test func descriptions() {
        #expect(DatabaseRegion().description == "empty")
        #expect(DatabaseRegion.fullDatabase.description == "full database")
        #expect(DatabaseRegion(TableName(schema: "temp", name: "t")).description == "temp.t(*)")
        #expect(DatabaseRegion.fullDatabase.isFullDatabase && !DatabaseRegion.fullDatabase.isEmpty)
        #expect(DatabaseRegion().isEmpty && !DatabaseRegion().isFullDatabase)
    }

    @Test func changesOfRegions() {
        let row = DatabaseRegion(Self.player, columns: ["name"], rowIDs: [1])
        #expect(row.isModified(by: DatabaseRegion(Self.player, columns: ["name"], rowIDs: [1, 2])))
        #expect(!row.isModified(by: DatabaseRegion(Self.player, columns: ["name"], rowIDs: [2])))
        #expect(!row.isModified(by: DatabaseRegion(Self.player, columns: ["score"], rowIDs: [1])))
        #expect(row.isModified(by: .fullDatabase))
        #expect(!row.isModified(by: DatabaseRegion()))
        #expect(!DatabaseRegion().isModified(by: .fullDatabase))
        #expect(DatabaseRegion.fullDatabase.isModified(by: row))
        #expect(!DatabaseRegion.fullDatabase.isModified(by: DatabaseRegion()))
        #expect(!row.isModified(by: DatabaseRegion(TableName(schema: "archive", name: "player"))))
        #expect(row.isModified(by: DatabaseRegion(TableName(schema: "MAIN", name: "PLAYER"))))
    }

    @Test func changesByEvents() {
        func event(_ table: String, _ row: Int64, schema: String = "main") -> DatabaseEvent {
            DatabaseEvent(kind: .update, databaseName: schema, tableName: table, rowID: row)
        }
        let row = DatabaseRegion(Self.player, columns: ["name"], rowIDs: [1])
        #expect(row.isModified(by: event("Player", 1)))
        #expect(!row.isModified(by: event("player", 2)))
        #expect(!row.isModified(by: event("player", 1, schema: "temp")))
        #expect(!row.isModified(by: event("team", 1)))
        #expect(DatabaseRegion.fullDatabase.isModified(by: event("team", 1)))
        // The tables that store a full text.
        #expect(row.isModified(by: event("player_content", 7)))
        #expect(!row.isModified(by: event("players_content", 7)))
        #expect(event("player", 1).copy() == event("player", 1))
    }

    @Test func namesThatLookAlike() {
        let first = TableName(schema: "a", name: "b.c")
        #expect(first != TableName(schema: "a.b", name: "c"))
        #expect(first == TableName(schema: "A", name: "B.C"))
        #expect(first.hashValue == TableName(schema: "A", name: "B.C").hashValue)
    }
}
