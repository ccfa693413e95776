import Quarry
import QuarryTestSupport
import Testing

@Suite("Foreign keys and their violations")
struct ForeignKeyTests {
    private static let setUp = """
        PRAGMA foreign_keys = OFF;
        CREATE TABLE p (id INTEGER PRIMARY KEY, a, b, UNIQUE (a, b));
        CREATE TABLE c (id INTEGER PRIMARY KEY, pid REFERENCES P ON DELETE CASCADE ON UPDATE SET NULL, x, y,
            FOREIGN KEY (x, y) REFERENCES p(a, b) ON DELETE SET DEFAULT ON UPDATE RESTRICT);
        CREATE TABLE w (k TEXT PRIMARY KEY, pid REFERENCES p(id)) WITHOUT ROWID;
        ATTACH ':memory:' AS aux;
        CREATE TABLE aux.p (id INTEGER PRIMARY KEY); CREATE TABLE aux.c (pid REFERENCES p, rowid TEXT);
        """

    @Test func whatTheyAreMadeOf() throws {
        try withConnection { db in
            try db.execute(sql: Self.setUp)
            let keys = try db.foreignKeys(on: "C").sorted { $0.originColumns.count < $1.originColumns.count }
            #expect(keys.map(\.originColumns) == [["pid"], ["x", "y"]])
            #expect(keys.map(\.destinationColumns) == [["id"], ["a", "b"]])
            #expect(keys.map(\.destinationTable) == ["P", "p"])
            #expect(keys.map(\.deleteAction) == [.cascade, .setDefault])
            #expect(keys.map(\.updateAction) == [.setNull, .restrict])
            #expect(try db.foreignKeys(on: "w").map(\.deleteAction) == [nil])
            #expect(try db.foreignKeys(on: "p").count == 0)
            #expect(try db.foreignKeys(on: "c", in: "aux").map(\.destinationColumns) == [["id"]])
            expectError(.SQLITE_ERROR, "no such table: nowhere") { try db.foreignKeys(on: "nowhere") }
            try db.execute(sql: "CREATE TABLE broken (a REFERENCES nowhere)")
            expectError(.SQLITE_ERROR, "no such table: main.nowhere") { try db.foreignKeys(on: "broken") }
        }
    }

    @Test func violationsAreNamed() throws {
        try withConnection { db in
            try db.execute(
                sql: Self.setUp + """
                    INSERT INTO c VALUES (1, 5, NULL, NULL), (2, NULL, 'a', 3); INSERT INTO w VALUES ('q', 9);
                    INSERT INTO aux.c VALUES (7, 'r');
                    """)
            var cursor = try db.foreignKeyViolations()
            var texts: [String] = []
            while let violation = try cursor.next() {
                texts.append("\(violation.schemaName): " + (try violation.failureDescription(db)))
            }
            #expect(
                texts.sorted() == [
                    "aux: FOREIGN KEY constraint violation - from c(pid) to p(id), in [pid:7 rowid:\"r\"]",
                    "main: FOREIGN KEY constraint violation - from c(pid) to P(id), in [id:1 pid:5 x:NULL y:NULL]",
                    "main: FOREIGN KEY constraint violation - from c(x, y) to p(a, b), in [id:2 pid:NULL x:\"a\" y:3]",
                    "main: FOREIGN KEY constraint violation - from w(pid) to p(id)",
                ])
            cursor = try db.foreignKeyViolations(in: "W")
            let violation = try #require(try cursor.next())
            #expect(violation.description == "FOREIGN KEY constraint violation - from w to p")
            #expect(violation.originRowID == nil)
            #expect(try cursor.next() == nil)
            // From SQL, as any record.
            let fetched = try ForeignKeyViolation.fetchAll(db, sql: "PRAGMA main.foreign_key_check(c)")
            #expect(fetched.map(\.originRowID) == [1, 2] && fetched.map(\.foreignKeyId) == [1, 0])
            #expect(fetched.allSatisfy { $0.originTable == "c" && $0.schemaName == "main" })
            for check in [
                { db in try db.checkForeignKeys(in: "w") }, { db in try db.checkForeignKeys(in: "W", in: "main") },
            ] as [(Database) throws -> Void] {
                expectError(.SQLITE_CONSTRAINT_FOREIGNKEY, "FOREIGN KEY constraint violation - from w(pid) to p(id)") {
                    try check(db)
                }
            }
            try db.execute(sql: "DELETE FROM c; DELETE FROM w")
            try db.checkForeignKeys(in: "c")
            expectError(
                .SQLITE_CONSTRAINT_FOREIGNKEY,
                "FOREIGN KEY constraint violation - from c(pid) to p(id), in [pid:7 rowid:TEXT]"
            ) { try db.checkForeignKeys() }
            try db.execute(sql: "DELETE FROM aux.c")
            try db.checkForeignKeys()
            expectError(.SQLITE_ERROR, "no such table: nowhere") { try db.checkForeignKeys(in: "nowhere") }
            expectError(.SQLITE_ERROR, "no such table: aux.w") { try db.foreignKeyViolations(in: "w", in: "aux") }
            try db.execute(sql: "CREATE TABLE m (a REFERENCES p(b)); INSERT INTO m VALUES (1)")
            expectError(.SQLITE_ERROR, #"foreign key mismatch - "m" referencing "p""#) { try db.checkForeignKeys() }
        }
    }

    @Test func inTemporaryTables() throws {
        try withConnection { db in
            try db.execute(
                sql: """
                    PRAGMA foreign_keys = OFF;
                    CREATE TEMP TABLE p (id INTEGER PRIMARY KEY); CREATE TEMP TABLE c (pid REFERENCES p);
                    INSERT INTO c VALUES (1);
                    """)
            expectError(
                .SQLITE_CONSTRAINT_FOREIGNKEY, "FOREIGN KEY constraint violation - from c(pid) to p(id), in [pid:1]"
            ) { try db.checkForeignKeys() }
        }
    }
}
