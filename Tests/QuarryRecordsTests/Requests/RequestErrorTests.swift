import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite("Requests that can't be written") struct RequestErrorTests {
    private typealias Player = Sport.Player

    @Test func changesThatCannotBeWrittenNameThePart() throws {
        try withSport { (db) throws in
            let table = CommonTableExpression<Row>(named: "t", sql: "SELECT 1 AS a")
            expectError(
                .SQLITE_MISUSE, "grouped rows of table player can't be changed: each of them represents several rows"
            ) {
                try Player.group(Column("teamId")).deleteAll(db)
            }
            expectError(.SQLITE_MISUSE, "noOverwrite is for upserts: column name keeps its value if it isn't assigned")
            {
                try Player.updateAll(db, Column("name").noOverwrite)
            }
            expectError(.SQLITE_MISUSE, "an update without assignments returns no rows") {
                try Player.all().updateAndFetchAll(db, [])
            }
            expectError(.SQLITE_MISUSE, "t isn't a table, and can't be changed") {
                try table.all().with(table).deleteAll(db)
            }
            expectError(
                .SQLITE_MISUSE, "table pair has a primary key of 2 columns (a, b): filter by a dictionary of them"
            ) { try Sport.Pair.filter(key: 1).fetchAll(db) }
            // The connection works, and nothing has changed.
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") == 5)
        }
    }

    @Test func valuesThatCannotBeStoredThrow() throws {
        try withSport { (db) throws in
            expectError(.SQLITE_MISMATCH) { try Player.filter(Column("score") == UInt64.max).fetchAll(db) }
        }
    }

    @Test func namesAreQuoted() throws {
        try withSport { (db) throws in
            try db.execute(sql: #"CREATE TABLE "a""b" ("c""d" TEXT, "select" INTEGER)"#)
            try db.execute(sql: #"INSERT INTO "a""b" VALUES ('x', 1), ('y', 2), ('z', 1)"#)
            try expectQuery(
                db,
                Table(#"a"b"#).select([Column(#"c"d"#).forKey(#"e"f"#)]).filter(Column("select") == 1)
                    .order([Column(#"c"d"#).desc]),
                sql: #"SELECT "c""d" AS "e""f" FROM "a""b" WHERE "select" = 1 ORDER BY "c""d" DESC"#, rows: ["z", "x"])
        }
    }
}
