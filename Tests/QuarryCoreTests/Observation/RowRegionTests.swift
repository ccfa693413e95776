import QuarryCore
import QuarryTestSupport
import Testing

/// The rows in the regions of commits, for tables whose rows are asked for.
@Suite struct RowRegionTests {
    private func withTables(_ body: (Database) throws -> Void) throws {
        try withConnection { db in
            try db.makeUniquePlayers(["a": 1, "b": 2, "c": 3])
            try db.execute(
                sql: """
                    CREATE TABLE child (id INTEGER PRIMARY KEY, player REFERENCES player ON DELETE CASCADE);
                    INSERT INTO child VALUES (10, 1), (11, 2);
                    """)
            try body(db)
        }
    }

    private func expect(
        _ sql: String, _ regions: String..., in db: Database, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let found = try db.changes(rowTables: ["player", "child"]) { try db.execute(sql: sql) }
        #expect(found == regions, "\(sql)", sourceLocation: sourceLocation)
    }

    @Test func rows() throws {
        try withTables { (db) throws in
            try expect("UPDATE player SET score = 5 WHERE id = 2", "player(score)[2]", in: db)
            try expect("UPDATE player SET id = 9 WHERE id = 3", "player(id)[3,9]", in: db)
            try expect("INSERT INTO player VALUES (4, 'd', 1), (5, 'e', 1)", "player(*)[4,5]", in: db)
            try expect("DELETE FROM player WHERE id = 1", "child(*)[10],player(*)[1]", in: db)
            try expect("REPLACE INTO player VALUES (6, 'd', 1)", "player(*)[4,6]", in: db)
            try expect("UPDATE OR REPLACE player SET name = 'c' WHERE id = 6", "player(*)[6,9]", in: db)
            try expect(
                "BEGIN; UPDATE player SET score = 1 WHERE id = 5; UPDATE player SET score = 2 WHERE id = 6; COMMIT",
                "player(score)[5,6]", in: db)
            try expect(
                "BEGIN; UPDATE player SET score = 1 WHERE id = 5; SAVEPOINT a; UPDATE player SET score = 2 WHERE id = 6; ROLLBACK TO a; COMMIT",
                "player(score)[5]", in: db)
            try expect("DELETE FROM player", "child(*)[11],player(*)[2,5,6]", in: db)
            try expect("INSERT INTO player SELECT id + 100, NULL, 1 FROM child", in: db)
        }
    }

    @Test func deletionOfAllRowsThatWasPreparedBefore() throws {
        try withTables { (db) throws in
            let delete = try db.cachedStatement(sql: "DELETE FROM child")
            try db.execute(sql: "SAVEPOINT s")
            try delete.execute()
            try db.execute(sql: "ROLLBACK TO s; RELEASE s")
            #expect(try db.changes(rowTables: ["child"]) { try delete.execute() } == ["child(*)[10,11]"])
        }
    }

    @Test func manyRows() throws {
        try withTables { (db) throws in
            let sql =
                "WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < %) INSERT INTO player (id) SELECT i FROM n"
            let few = try db.changes(rowTables: ["player"]) { try db.execute(sql: sql.replacing("%", with: "1099")) }
            #expect(few.first?.hasPrefix("player(*)[100,101,") == true)
            let many = try db.changes(rowTables: ["player"]) {
                try db.execute(sql: "DELETE FROM child; UPDATE player SET id = id + 10000; UPDATE player SET score = 1")
            }
            #expect(many == ["child(*)", "player(id)", "player(score)"])
        }
    }

    @Test func definitionsChangeAllRows() throws {
        try withTables { (db) throws in
            try expect("ALTER TABLE child ADD COLUMN x DEFAULT 5", "child(*),sqlite_master(*)", in: db)
            try expect("DROP TABLE child", "child(*),sqlite_master(*)", in: db)
        }
    }

    /// The preupdate hook tells no rows of virtual tables, and no rowids of tables WITHOUT ROWID.
    @Test func tablesWithoutRows() throws {
        try withConnection { (db) throws in
            try db.execute(sql: "CREATE VIRTUAL TABLE ft USING fts5(a); CREATE TABLE w (k PRIMARY KEY) WITHOUT ROWID")
            #expect(
                try db.changes(rowTables: ["ft", "w"]) { try db.execute(sql: "INSERT INTO ft VALUES ('a')") } == [
                    "ft(*)"
                ])
            #expect(
                try db.changes(rowTables: ["ft", "w"]) { try db.execute(sql: "INSERT INTO w VALUES ('a')") } == ["w(*)"]
            )
        }
    }

    @Test func rowsThatAreAskedForInATransaction() throws {
        try withTables { (db) throws in
            let listener = RecordingListener()
            try db.listenToCommits(listener)
            try db.execute(sql: "BEGIN; UPDATE player SET score = 1 WHERE id = 1")
            try db.listenToCommits(listener, rowTables: [TableName(schema: "main", name: "player")])
            try db.execute(sql: "UPDATE player SET score = 1 WHERE id = 2; COMMIT")
            #expect(listener.takeChanges().map(\.description) == ["player(score)"])
            try db.execute(sql: "UPDATE player SET score = 1 WHERE id = 2")
            #expect(listener.takeChanges().map(\.description) == ["player(score)[2]"])
            try db.listenToCommits(nil)
        }
    }

    @Test func observersOfRegions() throws {
        try withTables { (db) throws in
            let player = TableName(schema: "main", name: "player")
            let calls = Recorded(0)
            let observer = RegionObserver(DatabaseRegion(player, columns: ["score"], rowIDs: [2])) { db in
                #expect(!db.isInsideTransaction)
                calls.update { $0 += 1 }
            }
            try db.add(regionObserver: observer)
            try db.execute(sql: "UPDATE player SET score = 5 WHERE id = 1; UPDATE player SET name = 'x' WHERE id = 2")
            #expect(calls.value == 0)
            try db.execute(sql: "UPDATE player SET score = 5 WHERE id < 3")
            #expect(calls.value == 1)
            try db.execute(sql: "BEGIN; DELETE FROM player; ROLLBACK; DELETE FROM player")
            #expect(calls.value == 2)
            observer.cancel()
            try db.execute(sql: "INSERT INTO player VALUES (2, 'z', 1)")
            #expect(calls.value == 2)
        }
    }
}
