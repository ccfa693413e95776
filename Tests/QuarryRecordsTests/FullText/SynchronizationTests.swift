import Quarry
import QuarryTestSupport
import Testing

/// Full-text tables that follow other tables.
@Suite struct SynchronizationTests {
    @Test func fts4SQL() throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: #"CREATE TABLE "my src" ("my id" INTEGER PRIMARY KEY, title TEXT, body TEXT)"#)
            let sql = try emitted(db) {
                try db.create(virtualTable: "my fts", using: FTS4()) { t in
                    t.synchronize(withTable: "my src")
                    #expect(t.content == "my src")
                    t.column("title")
                    t.column("body")
                    t.tokenizer = .porter
                }
            }
            #expect(
                sql.filter { $0.contains("my fts") } == [
                    #"CREATE VIRTUAL TABLE "my fts" USING fts4(title, body, tokenize=porter, content="my src")"#,
                    """
                    CREATE TRIGGER "__my fts_bu" BEFORE UPDATE ON "my src" BEGIN
                        DELETE FROM "my fts" WHERE docid=old."my id";
                    END
                    """,
                    """
                    CREATE TRIGGER "__my fts_bd" BEFORE DELETE ON "my src" BEGIN
                        DELETE FROM "my fts" WHERE docid=old."my id";
                    END
                    """,
                    """
                    CREATE TRIGGER "__my fts_au" AFTER UPDATE ON "my src" BEGIN
                        INSERT INTO "my fts"("docid", "title", "body") VALUES(new."my id", new."title", new."body");
                    END
                    """,
                    """
                    CREATE TRIGGER "__my fts_ai" AFTER INSERT ON "my src" BEGIN
                        INSERT INTO "my fts"("docid", "title", "body") VALUES(new."my id", new."title", new."body");
                    END
                    """,
                    #"INSERT INTO "my fts"("my fts") VALUES('rebuild')"#,
                ])
            let drops = try emitted(db) { try db.dropFTS4SynchronizationTriggers(forTable: "my fts") }
            #expect(
                drops == [
                    #"DROP TRIGGER IF EXISTS "__my fts_bu""#, #"DROP TRIGGER IF EXISTS "__my fts_bd""#,
                    #"DROP TRIGGER IF EXISTS "__my fts_au""#, #"DROP TRIGGER IF EXISTS "__my fts_ai""#,
                ])
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger'") == 0)
        }
    }

    @Test func fts5SQL() throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: #"CREATE TABLE src (id TEXT PRIMARY KEY, title TEXT, body TEXT)"#)
            let sql = try emitted(db) {
                try db.create(virtualTable: "f", options: .ifNotExists, using: FTS5()) { t in
                    t.synchronize(withTable: "src")
                    t.column("title")
                    t.column("body")
                }
            }
            #expect(
                sql.filter { $0.contains(#""f"#) || $0.contains(#""__f"#) } == [
                    #"CREATE VIRTUAL TABLE IF NOT EXISTS "f" USING fts5(title, body, content='src')"#,
                    """
                    CREATE TRIGGER IF NOT EXISTS "__f_ai" AFTER INSERT ON "src" BEGIN
                        INSERT INTO "f"("rowid", "title", "body") VALUES (new."rowid", new."title", new."body");
                    END
                    """,
                    """
                    CREATE TRIGGER IF NOT EXISTS "__f_ad" AFTER DELETE ON "src" BEGIN
                        INSERT INTO "f"("f", "rowid", "title", "body") VALUES('delete', old."rowid", old."title", \
                    old."body");
                    END
                    """,
                    """
                    CREATE TRIGGER IF NOT EXISTS "__f_au" AFTER UPDATE ON "src" BEGIN
                        INSERT INTO "f"("f", "rowid", "title", "body") VALUES('delete', old."rowid", old."title", \
                    old."body");
                        INSERT INTO "f"("rowid", "title", "body") VALUES (new."rowid", new."title", new."body");
                    END
                    """,
                    #"INSERT INTO "f"("f") VALUES('rebuild')"#,
                ])
            let drops = try emitted(db) { try db.dropFTS5SynchronizationTriggers(forTable: "f") }
            #expect(
                drops == [
                    #"DROP TRIGGER IF EXISTS "__f_ai""#, #"DROP TRIGGER IF EXISTS "__f_ad""#,
                    #"DROP TRIGGER IF EXISTS "__f_au""#,
                ])
        }
    }

    @Test(arguments: [false, true]) func changesAreFollowed(isFTS5: Bool) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT);
                    INSERT INTO book VALUES (1, 'old before'), (2, 'kept');
                    """)
            if isFTS5 {
                try db.create(virtualTable: "ft", using: FTS5()) { t in
                    t.synchronize(withTable: "book")
                    t.column("title")
                }
            } else {
                try db.create(virtualTable: "ft", using: FTS4()) { t in
                    t.synchronize(withTable: "book")
                    t.column("title")
                }
            }
            func found(_ word: String) throws -> [Int] {
                try Int.fetchAll(db, sql: "SELECT rowid FROM ft WHERE ft MATCH ? ORDER BY rowid", arguments: [word])
            }
            #expect(try found("before") == [1])
            try db.execute(sql: "INSERT INTO book VALUES (3, 'old third')")
            #expect(try found("old") == [1, 3])
            try db.execute(sql: "UPDATE book SET title = 'new first' WHERE id = 1")
            #expect(try found("old") == [3])
            #expect(try found("new") == [1])
            try db.execute(sql: "DELETE FROM book WHERE id = 3")
            #expect(try found("old") == [])
            if isFTS5 { try db.execute(sql: "INSERT INTO ft(ft, rank) VALUES('integrity-check', 1)") }

            if isFTS5 {
                try db.dropFTS5SynchronizationTriggers(forTable: "ft")
            } else {
                try db.dropFTS4SynchronizationTriggers(forTable: "ft")
            }
            try db.drop(table: "ft")
            try db.execute(sql: "UPDATE book SET title = 'free'")
        }
    }

    @Test func inAnotherDatabase() throws {
        try DatabaseQueue().writeWithoutTransaction { db in
            try db.attach(":memory:", as: "other")
            try db.execute(sql: "CREATE TABLE other.book (id INTEGER PRIMARY KEY, title TEXT)")
            try db.create(virtualTable: "ft", in: "other", using: FTS5()) { t in
                t.synchronize(withTable: "book")
                t.column("title")
            }
            try db.create(virtualTable: "ft4", in: "other", using: FTS4()) { t in
                t.synchronize(withTable: "book")
                t.column("title")
            }
            try db.execute(sql: "INSERT INTO other.book VALUES (7, 'far away')")
            #expect(try Int.fetchOne(db, sql: "SELECT rowid FROM other.ft WHERE ft MATCH 'far'") == 7)
            #expect(try Int.fetchOne(db, sql: "SELECT docid FROM other.ft4 WHERE ft4 MATCH 'far'") == 7)
            try db.dropFTS5SynchronizationTriggers(forTable: "ft", in: "other")
            try db.dropFTS4SynchronizationTriggers(forTable: "ft4", in: "other")
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM other.sqlite_master WHERE type = 'trigger'") == 0)
        }
    }

    @Test func aColumnNamedRowID() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE book (rowid TEXT, title TEXT); INSERT INTO book VALUES ('x', 'before')")
            let sql = try emitted(db) {
                try db.create(virtualTable: "ft", using: FTS5()) { t in
                    t.synchronize(withTable: "book")
                    t.column("title")
                }
            }
            #expect(
                sql[1] == #"CREATE VIRTUAL TABLE "ft" USING fts5(title, content='book', content_rowid='_rowid_')"#)
            try db.execute(sql: "INSERT INTO book VALUES ('y', 'after')")
            #expect(try Int.fetchAll(db, sql: "SELECT rowid FROM ft('before OR after') ORDER BY rowid") == [1, 2])
            try db.execute(sql: "DELETE FROM book; INSERT INTO ft(ft, rank) VALUES('integrity-check', 1)")
            #expect(try Int.fetchAll(db, sql: "SELECT rowid FROM ft('before OR after')") == [])
        }
    }

    @Test func ownContent() throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE src (title TEXT)")
            // The last setting counts.
            let sql = try emitted(db) {
                try db.create(virtualTable: "f", using: FTS5()) { t in
                    t.synchronize(withTable: "src")
                    t.column("title")
                    t.content = "other"
                }
            }
            #expect(
                sql == [
                    "SAVEPOINT quarry", #"CREATE VIRTUAL TABLE "f" USING fts5(title, content='other')"#,
                    "RELEASE SAVEPOINT quarry",
                ])
        }
    }
}
