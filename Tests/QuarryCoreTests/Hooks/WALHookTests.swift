import QuarryCore
import QuarryTestSupport
import Testing

@Suite struct WALHookTests {
    private func withWAL(_ body: (Database) throws -> Void) throws {
        try withTemporaryFolder { folder in
            try withConnection(path: folder + "/db") { db in
                try db.execute(sql: "PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
                try body(db)
            }
        }
    }

    /// Whether a commit of some pages has moved all of the log into the database.
    private func isCheckpointed(_ db: Database) throws -> Bool {
        try db.execute(
            sql: """
                INSERT INTO t WITH c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c WHERE n < 20)
                SELECT randomblob(4000) FROM c
                """)
        // NOOP would say it without doing it, but is newer: after a checkpoint, the next commit begins the log anew.
        var pages = 0
        let client = db.hooks.onWAL { _, count in pages = count }
        defer { db.hooks.remove(client) }
        try db.execute(sql: "UPDATE t SET a = 1 WHERE rowid = 1")
        return pages < 10
    }

    @Test func clients() throws {
        try withWAL { (db) throws in
            var calls: [String] = []
            let first = db.hooks.onWAL { schema, pages in calls.append("first \(String(cString: schema)) \(pages > 0)")
            }
            let second = db.hooks.onWAL { _, _ in calls.append("second") }
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            #expect(calls == ["first main true", "second"])
            db.hooks.remove(first)
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            #expect(calls == ["first main true", "second", "second"])
            db.hooks.remove(second)
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            #expect(calls.count == 3)
        }
    }

    /// SQLite's own hook, which ours replaces, checkpoints after `PRAGMA wal_autocheckpoint` pages.
    @Test(arguments: [true, false]) func keepsAutomaticCheckpoints(_ hasClient: Bool) throws {
        try withWAL { (db) throws in
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 10")
            if hasClient { _ = db.hooks.onWAL { _, _ in } }
            #expect(try isCheckpointed(db))
        }
    }

    @Test(arguments: [true, false]) func keepsThemOff(_ hasClient: Bool) throws {
        try withWAL { (db) throws in
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            if hasClient { _ = db.hooks.onWAL { _, _ in } }
            #expect(try !isCheckpointed(db))
        }
    }

    @Test func removalGivesTheSlotBack() throws {
        try withWAL { (db) throws in
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 10")
            db.hooks.remove(db.hooks.onWAL { _, _ in })
            #expect(try Int.fetchOne(db, sql: "PRAGMA wal_autocheckpoint") == 10)
            #expect(try isCheckpointed(db))
        }
    }

    /// The pragma takes the slot; the clients stay all the same, and the new number counts.
    @Test func pragmaWhileThereAreClients() throws {
        try withWAL { (db) throws in
            var calls = 0
            let client = db.hooks.onWAL { _, _ in calls += 1 }
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 10")
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            #expect(calls == 1)
            #expect(try isCheckpointed(db))
            db.hooks.remove(client)
            #expect(try Int.fetchOne(db, sql: "PRAGMA wal_autocheckpoint") == 10)
        }
    }
}
