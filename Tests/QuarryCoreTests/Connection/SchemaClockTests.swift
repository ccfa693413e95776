import QuarryTestSupport
import Testing

@testable import QuarryCore

@Suite("The clock of schema changes")
struct SchemaClockTests {
    /// Whether each statement, run alone, counts.
    private func counts(_ sql: String, setUp: String = "CREATE TABLE t (a); CREATE INDEX i ON t(a)") throws -> Bool {
        try withConnection { db in
            try db.execute(sql: setUp)
            let before = db.schemaChangeCount
            try db.execute(sql: sql)
            return db.schemaChangeCount != before
        }
    }

    @Test(arguments: [
        "CREATE TABLE u (a)", "DROP TABLE t", "ALTER TABLE t ADD COLUMN b", "CREATE VIEW v AS SELECT 1", "DROP INDEX i",
        "CREATE TEMP TABLE u (a)", "ATTACH ':memory:' AS aux", "CREATE VIRTUAL TABLE f USING fts5(a)",
        "PRAGMA schema_version = 77", "/* a comment */ create table u (a)",
        "BEGIN; CREATE TABLE u (a); ROLLBACK", "SAVEPOINT s; DROP TABLE t; ROLLBACK TO s; RELEASE s",
    ])
    func whatMayChangeTheSchemaCounts(sql: String) throws {
        #expect(try counts(sql))
    }

    @Test(arguments: [
        "SELECT * FROM t", "INSERT INTO t VALUES (1)", "DELETE FROM t", "BEGIN; INSERT INTO t VALUES (1); COMMIT",
        "BEGIN; INSERT INTO t VALUES (1); ROLLBACK", "SAVEPOINT s; ROLLBACK TO s; RELEASE s",
        "PRAGMA schema_version", "PRAGMA main.table_xinfo(t)", "PRAGMA index_list(t)", "PRAGMA index_xinfo(i)",
        "PRAGMA foreign_key_list(t)", "PRAGMA foreign_key_check", "PRAGMA table_list(t)", "PRAGMA database_list",
    ])
    func whatCantDoesNot(sql: String) throws {
        #expect(try !counts(sql))
    }

    @Test func aRollbackOfAChangeCountsOnceMore() throws {
        try withConnection { (db) throws in
            func changes(_ sql: String) throws -> Int {
                let before = db.schemaChangeCount
                try db.execute(sql: sql)
                return db.schemaChangeCount - before
            }
            #expect(try changes("BEGIN; CREATE TABLE t (a PRIMARY KEY)") == 1)
            #expect(try changes("ROLLBACK") == 1)
            #expect(try changes("BEGIN; CREATE TABLE t (a PRIMARY KEY)") == 1)
            #expect(try changes("COMMIT") == 0)
            #expect(try changes("BEGIN; INSERT INTO t VALUES (1); ROLLBACK") == 0)
            #expect(try changes("SAVEPOINT s; CREATE TABLE u (a)") == 1)
            #expect(try changes("ROLLBACK TO s") == 1)
            #expect(try changes("RELEASE s") == 0)
            // SQLite itself rolls back.
            #expect(try changes("INSERT INTO t VALUES (1); BEGIN; CREATE TABLE v (a)") == 1)
            let before = db.schemaChangeCount
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT OR ROLLBACK INTO t VALUES (1)") }
            #expect(!db.isInsideTransaction)
            #expect(db.schemaChangeCount == before + 1)
        }
    }

    @Test func replacingADatabaseCounts() throws {
        try withConnection { other in
            try other.execute(sql: "CREATE TABLE t (a)")
            let bytes = try other.serialize()
            try withConnection { db in
                let before = db.schemaChangeCount
                try db.deserialize(bytes)
                #expect(db.schemaChangeCount == before + 1)
                try other.backup(to: db)
                #expect(db.schemaChangeCount == before + 2)
            }
        }
    }
}
