import QuarryCore
import QuarryTestSupport
import Testing

/// The names of savepoints in SQL, seen through what a rollback takes back.
@Suite struct SavepointNameTests {
    @Test(arguments: [
        ("SAVEPOINT a", "RELEASE A"), ("SAVEPOINT \"a\"", "RELEASE SAVEPOINT a;"), ("savepoint [a]", "release `a`"),
        ("SAVEPOINT 'a'", "RELEASE /* b */ a -- c"), ("SAVEPOINT \"a\"\"b\"", "RELEASE 'a\"b'"),
        ("SAVEPOINT \"release\"", "RELEASE SAVEPOINT release"), ("SAVEPOINT é$1", "RELEASE \"é$1\""),
        ("SAVEPOINT \"a b\" -- x", "RELEASE [a b]"), ("SAVEPOINT/**/a/* x", "RELEASE a"),
        ("\u{FEFF}SAVEPOINT \u{FEFF}a", "RELEASE a"), ("SAVEPOINT a\u{FEFF}", "RELEASE \"a\u{FEFF}\" \u{FEFF}"),
    ])
    func namesInSQL(begin: String, release: String) throws {
        try withConnection { (db) throws in
            try db.execute(sql: "CREATE TABLE kept (x); CREATE TABLE undone (x); CREATE TABLE inner (x)")
            let regions = try db.changes {
                try db.execute(sql: "BEGIN")
                try db.makeStatement(sql: begin).execute()
                try db.execute(sql: "INSERT INTO kept VALUES (1); SAVEPOINT other; INSERT INTO \"inner\" VALUES (1)")
                try db.makeStatement(sql: release).execute()
                // Now no savepoint is open, so this is the outermost one.
                try db.execute(sql: "SAVEPOINT z; INSERT INTO undone VALUES (1)")
                try db.execute(sql: "ROLLBACK TRANSACTION TO SAVEPOINT z; COMMIT")
            }
            #expect(regions == ["inner(*),kept(*)"])
        }
    }
}
