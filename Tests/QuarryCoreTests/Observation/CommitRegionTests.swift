import QuarryCore
import QuarryTestSupport
import Testing

/// The regions of commits, as their listener is told them.
@Suite struct CommitRegionTests {
    private func expect(
        _ sql: String, _ regions: String..., in db: Database, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let found = try db.changes { try db.execute(sql: sql) }
        #expect(found == regions, "\(sql)", sourceLocation: sourceLocation)
    }

    @Test func statementsThatChangeRows() throws {
        try withObservedTables { (db) throws in
            try expect("INSERT INTO player VALUES (3, 'c', 3)", "player(*)", in: db)
            try expect("UPDATE player SET name = 'x' WHERE id = 1", "player(name)", in: db)
            try expect("UPDATE player SET NAME = 'x', score = score + 1", "player(name,score)", in: db)
            try expect("DELETE FROM player WHERE id = 3", "player(*)", in: db)
            try expect("REPLACE INTO player VALUES (2, 'd', 3)", "player(*)", in: db)
            try expect(
                "INSERT INTO player VALUES (2, 'd', 3) ON CONFLICT DO UPDATE SET score = 5", "player(*)", in: db)
            try expect("INSERT INTO player SELECT id + 10, name, score FROM player", "player(*)", in: db)
            try expect(
                "WITH x AS (SELECT 1 AS id) DELETE FROM player WHERE id IN (SELECT id FROM x)", "player(*)", in: db)
            try expect("DELETE FROM player", "player(*)", in: db)
        }
    }

    @Test func statementsThatChangeNothing() throws {
        try withObservedTables { (db) throws in
            try expect("UPDATE player SET name = 'x' WHERE id = 99", in: db)
            try expect("INSERT OR IGNORE INTO team VALUES (3, 'red')", in: db)
            try expect("INSERT INTO team VALUES (3, 'red') ON CONFLICT DO NOTHING", in: db)
            try expect("DELETE FROM player WHERE id = 99", in: db)
            try expect("SELECT * FROM player", in: db)
            try expect("BEGIN; SELECT * FROM player; COMMIT", in: db)
            try expect("BEGIN IMMEDIATE; COMMIT", in: db)
            try expect("BEGIN; INSERT INTO player VALUES (9, 'z', 9); ROLLBACK", in: db)
            try expect("PRAGMA user_version = 5; REINDEX", in: db)
            try expect("EXPLAIN DELETE FROM player", in: db)
        }
    }

    /// SQLite skips a byte order mark, and accepts a name after TRANSACTION.
    @Test func textsThatEndTransactionsInUnusualWays() throws {
        let insert = "INSERT INTO team VALUES (3, 'x')"
        try withObservedTables { (db) throws in
            try expect("BEGIN; \(insert); \u{FEFF}COMMIT", "team(*)", in: db)
            try expect("BEGIN; DELETE FROM team WHERE id = 3; \u{FEFF}ROLLBACK", in: db)
            try expect(
                "\u{FEFF}BEGIN; UPDATE player SET score = 1; SAVEPOINT s; DELETE FROM team; ROLLBACK TRANSACTION x TO s;"
                    + "END TRANSACTION x", "player(score)", in: db)
            try expect("\u{FEFF}SAVEPOINT s; DELETE FROM team; \u{FEFF}RELEASE s", "team(*)", in: db)
        }
    }

    /// Statements of any kind may end a transaction.
    @Test func functionsThatEndTransactions() throws {
        try withObservedTables { (db) throws in
            RawSQL.addFunctions(db)
            let update = "BEGIN; UPDATE player SET score = 1"
            for needsWillCommit in [true, false] {
                func expect(_ sql: String, _ regions: [String]) throws {
                    let found = try db.changes(needsWillCommit: needsWillCommit) { try? db.execute(sql: sql) }
                    #expect(found == regions && !db.isInsideTransaction, "\(sql)")
                }
                try expect("\(update); SELECT run('COMMIT')", ["player(score)"])
                try expect("\(update); SELECT run('COMMIT'), fail()", ["player(score)"])
                try expect("\(update); SELECT run('ROLLBACK')", [])
                try expect("\(update); SELECT run('ROLLBACK'), fail()", [])
                try expect("\(update); INSERT OR ROLLBACK INTO team VALUES (1, 'x')", [])
            }
        }
    }

    /// A name may mean another table, or none.
    @Test func attachedDatabases() throws {
        try withObservedTables { (db) throws in
            try expect("ATTACH ':memory:' AS other", "full database", in: db)
            try expect("DETACH other", "full database", in: db)
            try expect(
                "BEGIN; ATTACH ':memory:' AS other; INSERT INTO player VALUES (3, 'c', 3); COMMIT", "full database",
                in: db)
            #expect(try db.changes { expectError(.SQLITE_ERROR) { try db.execute(sql: "DETACH missing") } } == [])
            // A statement is writing: its commit follows.
            let regions = try db.changes {
                let cursor = try Row.fetchCursor(db, sql: "INSERT INTO team VALUES (3, 'a'), (4, 'b') RETURNING id")
                _ = try cursor.next()
                try db.execute(sql: "ATTACH ':memory:' AS another")
                while try cursor.next() != nil {}
            }
            #expect(regions == ["full database"])
        }
    }

    @Test func theCommitHasTheChangesOfItsTransaction() throws {
        try withObservedTables { (db) throws in
            try expect(
                "BEGIN; INSERT INTO team VALUES (5, 'g'); UPDATE player SET score = 1; UPDATE player SET name = 'x'; COMMIT",
                "player(name,score),team(*)", in: db)
            try expect(
                """
                BEGIN; UPDATE player SET score = 1; SAVEPOINT a; DELETE FROM team WHERE id = 5; ROLLBACK TO a;
                UPDATE player SET name = 'q'; RELEASE a; SAVEPOINT b; SAVEPOINT c; DELETE FROM team WHERE id = 5;
                RELEASE c; ROLLBACK TO B; COMMIT
                """, "player(name,score)", in: db)
            try expect("SAVEPOINT a; UPDATE player SET score = 1; RELEASE a", "player(score)", in: db)
            try expect("SAVEPOINT a; UPDATE player SET score = 1; ROLLBACK TO a; RELEASE a", in: db)
            // Twenty different statements.
            let sql = (0..<20).map { "UPDATE player SET score = \($0)" }.joined(separator: ";")
            try expect("BEGIN; \(sql); COMMIT", "player(score)", in: db)
        }
    }

    @Test func triggersBelongToTheirStatement() throws {
        try withObservedTables { (db) throws in
            try db.execute(sql: "CREATE TABLE log (a); CREATE VIEW names AS SELECT name FROM player")
            let update = try db.cachedStatement(sql: "UPDATE player SET score = 7 WHERE id = 1")
            #expect(try db.changes { try update.execute() } == ["player(score)"])
            try db.execute(
                sql: """
                    CREATE TRIGGER a AFTER UPDATE ON player BEGIN INSERT INTO log VALUES (new.id); END;
                    CREATE TRIGGER b INSTEAD OF INSERT ON names BEGIN INSERT INTO team VALUES (NULL, new.name); END;
                    """)
            #expect(try db.changes { try update.execute() } == ["log(*),player(score)"])
            try expect("INSERT INTO names VALUES ('n')", "names(*),team(*)", in: db)
            #expect(
                try db.changes {
                    try update.execute()
                    try db.execute(sql: "DROP TRIGGER a")
                    try update.execute()
                } == ["log(*),player(score)", "sqlite_master(*)", "player(score)"])
        }
    }

    /// SQLite notices the trigger when the statement runs, after Quarry has looked at the statement.
    @Test func triggerThatAnotherConnectionHasAdded() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/db.sqlite"
            let (first, second) = (try TestConnection(path: path), try TestConnection(path: path))
            try first.access {
                try $0.execute(
                    sql: "CREATE TABLE t (a); CREATE TABLE log (a); CREATE TABLE other (a); INSERT INTO t VALUES (1)")
            }
            let listener = RecordingListener()
            let observer = RecordingObserver { $0.tableName == "log" }
            try first.access { db in
                try db.listenToCommits(listener)
                db.add(transactionObserver: observer)
                try db.execute(sql: "UPDATE t SET a = 1")
                _ = try db.recordingRegion { try Int.fetchAll(db, sql: "SELECT * FROM t") }
            }
            try second.access {
                try $0.execute(sql: "CREATE TRIGGER x AFTER UPDATE ON t BEGIN INSERT INTO log VALUES (1); END")
            }
            try first.access { db in
                try db.execute(sql: "UPDATE t SET a = 1")
                try db.execute(sql: "UPDATE t SET a = 1")
            }
            #expect(listener.takeChanges().map(\.description) == ["t(a)", "log(*),t(a)", "log(*),t(a)"])
            #expect(observer.takeLog().filter { $0.hasPrefix("insert") } == ["insert main.log 1", "insert main.log 2"])
        }
    }

    @Test func foreignKeyActions() throws {
        try withObservedTables { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE child (id INTEGER PRIMARY KEY, a REFERENCES team ON DELETE CASCADE,
                        b REFERENCES team ON DELETE SET NULL ON UPDATE CASCADE);
                    CREATE TABLE grandchild (a REFERENCES child ON DELETE CASCADE);
                    INSERT INTO child VALUES (1, 1, 2);
                    """)
            try expect("DELETE FROM team WHERE id = 2", "child(*),grandchild(*),team(*)", in: db)
            try expect("UPDATE team SET id = 10 WHERE id = 11", in: db)
            try db.execute(sql: "INSERT INTO team VALUES (2, 'c'); UPDATE child SET b = 2")
            try expect("UPDATE team SET id = 10 WHERE id = 2", "child(b),team(id)", in: db)
            // The rows that REPLACE deletes have foreign keys, too.
            try expect("REPLACE INTO team VALUES (1, 'w')", "child(*),grandchild(*),team(*)", in: db)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM child") == 0)
        }
    }

    @Test func updatesThatChangeMoreThanTheirColumns() throws {
        try withObservedTables { (db) throws in
            try expect("UPDATE OR REPLACE team SET name = 'red' WHERE id = 2", "team(*)", in: db)
            try db.execute(
                sql: """
                    CREATE TABLE r (a UNIQUE ON CONFLICT REPLACE, b); INSERT INTO r VALUES (1, 1), (2, 2);
                    CREATE TABLE g (a, b AS (a + 1)); INSERT INTO g (a) VALUES (1);
                    CREATE TABLE w (k TEXT PRIMARY KEY, a, b) WITHOUT ROWID; INSERT INTO w VALUES ('a', 1, 1);
                    CREATE TABLE n (a, b); INSERT INTO n VALUES (1, 1);
                    CREATE VIRTUAL TABLE ft USING fts5(a, b); INSERT INTO ft VALUES ('x', 'y');
                    """)
            try expect("UPDATE r SET a = 1 WHERE a = 2", "r(*)", in: db)
            try expect("UPDATE g SET a = 1", "g(*)", in: db)
            try expect("UPDATE w SET a = 2", "w(a)", in: db)
            try expect("UPDATE w SET k = 'b'", "w(k)", in: db)
            try expect("INSERT INTO w VALUES ('c', 1, 1)", "w(*)", in: db)
            try expect("UPDATE n SET rowid = 5", "n(*)", in: db)
            try expect("UPDATE ft SET a = 'z'", "ft(*)", in: db)
            let match = try db.makeStatement(sql: "SELECT b FROM ft WHERE ft MATCH 'x'").databaseRegion
            let changed = try db.changes { try db.execute(sql: "UPDATE ft SET a = 'x'") }
            #expect(changed == ["ft(*)"] && match.tableNames?.map(\.name).contains("ft") == true)
        }
    }

    @Test func definitions() throws {
        try withObservedTables { (db) throws in
            try expect("CREATE TABLE new (a)", "new(*),sqlite_master(*)", in: db)
            try expect("ALTER TABLE new ADD COLUMN b DEFAULT 1", "new(*),sqlite_master(*)", in: db)
            let renamed = try db.changes { try db.execute(sql: "ALTER TABLE new RENAME TO newer") }
            #expect(renamed.count == 1 && renamed[0].contains("new(*)"))
            try expect("CREATE INDEX i ON player (name)", "sqlite_master(*)", in: db)
            try expect("DROP INDEX i", "sqlite_master(*)", in: db)
            try expect("CREATE TABLE copy AS SELECT * FROM player", "copy(*),sqlite_master(*)", in: db)
            try expect("DROP TABLE copy", "copy(*),sqlite_master(*)", in: db)
            try expect("CREATE VIEW v AS SELECT name FROM player", "sqlite_master(*),v(*)", in: db)
            try expect("DROP VIEW v", "sqlite_master(*),v(*)", in: db)
            try expect("VACUUM", "full database", in: db)
        }
    }

    @Test func otherSchemas() throws {
        try withObservedTables { (db) throws in
            try expect("ATTACH ':memory:' AS archive", "full database", in: db)
            try expect("CREATE TABLE archive.player (id, name)", "archive.player(*),archive.sqlite_master(*)", in: db)
            try expect("INSERT INTO archive.player VALUES (1, 'a')", "archive.player(*)", in: db)
            try expect("UPDATE Archive.Player SET name = 'b'", "archive.player(name)", in: db)
            try expect(
                "CREATE TEMP TABLE player (id); INSERT INTO player VALUES (1)",
                "archive.player(*),player(*),temp.player(*),temp.sqlite_temp_master(*)",
                "temp.player(*)", in: db)
            try expect("INSERT INTO main.player VALUES (50, 'a', 1)", "player(*)", in: db)
            try expect(
                "DROP TABLE temp.player; DETACH archive",
                "archive.player(*),player(*),temp.player(*),temp.sqlite_temp_master(*)", "full database", in: db)
        }
    }

    @Test func blobs() throws {
        try withObservedTables { (db) throws in
            try db.execute(
                sql: "CREATE TABLE file (id INTEGER PRIMARY KEY, a, b); INSERT INTO file VALUES (7, x'0102', x'00')")
            var regions: [String] = []
            regions = try db.changes {
                let blob = try db.openBlob(table: "file", column: "a", rowID: 7, readOnly: false)
                try blob.write([1])
                try blob.close()
            }
            #expect(regions == ["file(a)[7]"])
            // Opened and not written.
            regions = try db.changes {
                try db.openBlob(table: "file", column: "a", rowID: 7, readOnly: false).close()
            }
            #expect(regions == [])
            regions = try db.changes {
                try db.inTransaction {
                    let blob = try db.openBlob(table: "file", column: "A", rowID: 7, readOnly: false)
                    try blob.write([1])
                    try blob.close()
                    return .commit
                }
            }
            #expect(regions == ["file(a)[7]"])
            // The blob holds the commit of the statement back.
            let listener = RecordingListener()
            try db.listenToCommits(listener)
            let blob = try db.openBlob(table: "file", column: "a", rowID: 7, readOnly: false)
            try db.execute(sql: "UPDATE player SET score = 5")
            #expect(listener.takeChanges().isEmpty)
            try blob.close()
            #expect(listener.takeChanges().map(\.description) == ["player(score)"])
            // The row is changed while the blob is open: the blob is invalid, and its end is not its close.
            let other = try db.openBlob(table: "file", column: "a", rowID: 7, readOnly: false)
            try other.write([5])
            try db.execute(sql: "UPDATE file SET b = 1 WHERE id = 7")
            #expect(throws: (any Error).self) { try other.write([6]) }
            try other.close()
            #expect(listener.takeChanges().map(\.description) == ["file(a,b)"])
            let missing = try db.openBlob(table: "file", column: "a", rowID: 7, readOnly: false)
            try missing.write([7])
            #expect(throws: (any Error).self) { try missing.reopen(rowID: 99) }
            try missing.close()
            #expect(listener.takeChanges().map(\.description) == ["file(a)[7]"])
            #expect(listener.problems == [])
            try db.listenToCommits(nil)
        }
    }

    @Test func replacedContent() throws {
        try withObservedTables { (db) throws in
            let bytes = try db.serialize()
            #expect(try db.changes { try db.deserialize(bytes) } == ["full database"])
            #expect(try db.changes { try withConnection { try $0.backup(to: db) } } == ["full database"])
        }
    }

    @Test func statementsInFunctions() throws {
        try withObservedTables { (connection) throws in
            // Used on this thread alone, during the access.
            nonisolated(unsafe) unowned let db = connection
            db.add(
                function: DatabaseFunction("add", argumentCount: 1) { values in
                    try db.execute(sql: "INSERT INTO team (name) VALUES (?)", arguments: [values[0]])
                    return 1
                })
            try expect("SELECT \"add\"('s')", "team(*)", in: db)
            // The statement inside is committed together with the outer one.
            try expect("UPDATE player SET score = \"add\"('u') WHERE id = 1", "player(score),team(*)", in: db)
            try expect("UPDATE player SET score = 1 WHERE \"add\"('v') = 2 AND id = 1", "team(*)", in: db)
            try expect(
                "BEGIN; UPDATE player SET score = \"add\"('w') WHERE id = 1; COMMIT", "player(score),team(*)", in: db)
            // The statement inside fails, the outer one doesn't.
            db.add(
                function: DatabaseFunction("tryAdd", argumentCount: 1) { values in
                    do {
                        try db.execute(sql: "INSERT INTO team (name) VALUES (?)", arguments: [values[0]])
                        return 1
                    } catch { return 0 }
                })
            try expect(
                "UPDATE player SET score = tryAdd('x') + tryAdd('x') WHERE id = 1", "player(score),team(*)", in: db)
            // The outer one fails, and takes the changes of the inner one with it.
            #expect(throws: DatabaseError.self) {
                try expect("UPDATE team SET name = 'red' WHERE \"add\"('y') = 1", in: db)
            }
            try expect("SELECT 1", in: db)
        }
    }

    @Test func returning() throws {
        try withObservedTables { (db) throws in
            let sql = "UPDATE player SET score = score + 1 RETURNING id"
            #expect(try db.changes { _ = try Int.fetchAll(db, sql: sql) } == ["player(score)"])
            #expect(try db.changes { _ = try Int.fetchOne(db, sql: sql) } == ["player(score)"])
            #expect(try db.changes { _ = try Int.fetchCursor(db, sql: sql) } == [])
            #expect(
                try db.changes {
                    let cursor = try Int.fetchCursor(db, sql: sql)
                    _ = try cursor.next()
                    // Committed together with the cursor's statement.
                    try db.execute(sql: "DELETE FROM team WHERE id = 2")
                    _ = try cursor.next()
                    _ = try cursor.next()
                } == ["player(score),team(*)"])
            #expect(
                try db.changes {
                    try db.inTransaction {
                        _ = try Int.fetchOne(db, sql: sql)
                        return .commit
                    }
                } == ["player(score)"])
            // The change of a cursor that is open at a rollback to a savepoint is undone.
            #expect(
                try db.changes {
                    try db.execute(sql: "BEGIN; SAVEPOINT a")
                    do {
                        let cursor = try Int.fetchCursor(db, sql: sql)
                        _ = try cursor.next()
                        try db.execute(sql: "ROLLBACK TO a")
                        withExtendedLifetime(cursor) {}
                    }
                    try db.execute(sql: "DELETE FROM team; COMMIT")
                } == ["team(*)"])
        }
    }

    @Test func notifiedChanges() throws {
        try withObservedTables { (db) throws in
            #expect(try db.changes { try db.notifyChanges(in: DatabaseRegion.fullDatabase) } == ["full database"])
            let region = try db.makeStatement(sql: "SELECT name FROM player").databaseRegion
            // Rows may have come or gone.
            #expect(try db.changes { try db.notifyChanges(in: region) } == ["player(*)"])
            #expect(
                try db.changes {
                    try db.inTransaction(.deferred) {
                        try db.notifyChanges(in: region)
                        return .commit
                    }
                    try db.inTransaction(.deferred) {
                        try db.notifyChanges(in: region)
                        return .rollback
                    }
                    try db.readOnly { try db.notifyChanges(in: region) }
                } == ["player(*)"])
        }
    }

    /// A temporary table or view takes the name of one in the file.
    @Test func definitionsThatHideOthers() throws {
        try withObservedTables { (db) throws in
            try db.execute(sql: "CREATE VIEW v AS SELECT * FROM player")
            let changes = try db.changes {
                try db.execute(sql: "CREATE TEMP TABLE player (a)")
                try db.execute(sql: "CREATE TEMP VIEW v AS SELECT 1")
                try db.execute(sql: "CREATE TEMP TABLE other (a)")
                try db.execute(sql: "DROP TABLE temp.player")
            }
            #expect(
                changes == [
                    "player(*),temp.player(*),temp.sqlite_temp_master(*)", "temp.sqlite_temp_master(*),temp.v(*),v(*)",
                    "temp.other(*),temp.sqlite_temp_master(*)", "player(*),temp.player(*),temp.sqlite_temp_master(*)",
                ])
            try db.execute(sql: "ATTACH ':memory:' AS one; ATTACH ':memory:' AS two; CREATE TABLE two.team2 (a)")
            #expect(
                try db.changes { try db.execute(sql: "CREATE TABLE one.team2 (a)") } == [
                    "one.sqlite_master(*),one.team2(*),two.team2(*)"
                ])
        }
    }

    @Test func statementsThatWerePreparedBefore() throws {
        try withObservedTables { (db) throws in
            let delete = try db.cachedStatement(sql: "DELETE FROM player")
            let insert = try db.cachedStatement(sql: "INSERT INTO player (name) VALUES ('p')")
            #expect(
                try db.changes {
                    try insert.execute()
                    try delete.execute()
                } == ["player(*)", "player(*)"])
            // A statement that began before the listener came.
            let cursor = try Int.fetchCursor(db, sql: "INSERT INTO team (name) VALUES ('l'), ('m') RETURNING id")
            _ = try cursor.next()
            #expect(try db.changes { while try cursor.next() != nil {} } == ["team(*)"])
        }
    }

    /// A listener that doesn't need the changes of a statement isn't told of them again, until its needs change.
    @Test func changesThatTheListenerDoesNotNeed() throws {
        try withObservedTables { (db) throws in
            let listener = RecordingListener(needsWillCommit: false)
            try db.listenToCommits(listener)
            func told(_ sql: String) throws -> [String] {
                for statement in sql.split(separator: "; ") {
                    try db.cachedStatement(sql: String(statement)).execute()
                }
                return listener.takeChanges().map(\.description)
            }
            let sql = "UPDATE player SET score = score + 1"
            #expect(try told(sql) == ["player(score)"])
            listener.setUnneeded(true)
            #expect(try told(sql) == ["player(score)"])
            #expect(try told(sql) == [])
            #expect(try told("BEGIN; \(sql); COMMIT") == [])
            #expect(try told("BEGIN; \(sql); DELETE FROM team; COMMIT") == ["player(score),team(*)"])
            #expect(
                try told("BEGIN; SAVEPOINT a; DELETE FROM team; INSERT INTO player VALUES (7, 'z', 7); COMMIT") != [])
            #expect(try told(sql) == [])
            listener.setUnneeded(false)
            #expect(try told(sql) == ["player(score)"])
            #expect(try told(sql) == ["player(score)"])
            listener.setUnneeded(true)
            #expect(try told(sql) == ["player(score)"])
            // Rows are asked for: all changes are told.
            try db.listenToCommits(listener, rowTables: [TableName(schema: "main", name: "player")])
            #expect(try told(sql) == ["player(score)[1,2,7]"])
            #expect(try told(sql) == ["player(score)[1,2,7]"])
            try db.listenToCommits(nil)
        }
    }
}
