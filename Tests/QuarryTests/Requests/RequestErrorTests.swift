import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite("Requests that can't be written") struct RequestErrorTests {
    private typealias Player = Sport.Player

    /// The message of the error of `body`, after which the connection works.
    private func message<T>(_ db: Database, _ body: () throws -> T) throws -> String? {
        let error = expectError(DatabaseError.self) { try body() }
        #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") == 5)
        return error?.message
    }

    @Test func eachNamesThePart() throws {
        try withSport { (db) throws in
            let nothing = try message(db) { try Row.fetchAll(db, Player.select([any SQLSelectable]())) }
            #expect(nothing == "a request selects nothing")
            let reversed = try message(db) { try Player.order(sql: "name DESC").reversed().fetchAll(db) }
            #expect(
                reversed == "an order that is written as SQL can't be reversed: order by SQL(…).sqlExpression, or by "
                    + "SQL that is the reverse")
            let unknown = TableAlias<Player>()
            let alias = try message(db) { try Player.filter(unknown[Column("score")] > 1).fetchAll(db) }
            #expect(
                alias == "column score belongs to an alias that the request doesn't use: call aliased(_:) with it")
            let twice = try message(db) {
                try Player.all().aliased(TableAlias(name: "a")).aliased(TableAlias(name: "b")).fetchAll(db)
            }
            #expect(twice == "table player has two names in one request: a, b")
            let key = try message(db) { try Sport.Pair.filter(key: 1).fetchAll(db) }
            #expect(
                key == "table pair has a primary key of 2 columns (a, b): filter by a dictionary of them")
            let columns = try message(db) { try Player.filter(key: ["score": 1, "teamId": 2]).fetchAll(db) }
            #expect(columns == #"table player has no unique key on "score", "teamId""#)
            let unknownColumn = try message(db) { try Player.filter(key: ["id": 1, "nope": 2]).fetchAll(db) }
            #expect(unknownColumn == #"table player has no unique key on "id", "nope""#)
            let empty = try message(db) { try Player.filter(key: [:]).fetchAll(db) }
            #expect(empty == "table player has no unique key on no column")
            let grouped = try message(db) { try Player.group(Column("teamId")).deleteAll(db) }
            #expect(
                grouped == "rows of table player that are grouped can't be changed: they are several rows each")
            let overwritten = try message(db) { try Player.updateAll(db, Column("name").noOverwrite) }
            #expect(
                overwritten == "noOverwrite is for upserts: column name is left alone if it isn't assigned")
            let returned = try message(db) { try Player.all().updateAndFetchAll(db, []) }
            #expect(returned == "an update without assignments returns no rows")
            let table = CommonTableExpression<Row>(named: "t", sql: "SELECT 1 AS a")
            let excluded = try message(db) {
                try table.all().select(.allColumns(excluding: ["a"])).with(table).fetchAll(db)
            }
            #expect(excluded == "the columns of t aren't known: name those to select")
            let deleted = try message(db) { try table.all().with(table).deleteAll(db) }
            #expect(deleted == "t is no table, and can't be changed")
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
            try expectQuery(
                db,
                Table(#"a"b"#).select([Column(#"c"d"#).forKey(#"e"f"#)]).filter(Column("select") == 1)
                    .order([Column(#"c"d"#).desc]),
                sql: #"SELECT "c""d" AS "e""f" FROM "a""b" WHERE "select" = 1 ORDER BY "c""d" DESC"#, rows: [])
        }
    }
}
