import Foundation
import Quarry
import QuarryFixtures
import QuarrySQL
import QuarryTestSupport
import Testing

@Suite("Requests in SQL") struct RequestTests {
    private typealias Player = Sport.Player
    private typealias Pair = Sport.Pair
    private typealias NoKey = Sport.NoKey

    /// Some columns of a player.
    private struct Sel: TableRecord, FetchableRecord {
        static let databaseTableName = "player"
        static var databaseSelection: [any SQLSelectable] { [Column("id"), Column("name")] }

        init(row: Row) {}
    }

    /// A player with its rowid.
    private struct RowID: TableRecord, FetchableRecord {
        static let databaseTableName = "player"
        static var databaseSelection: [any SQLSelectable] { [.allColumns, .rowID] }

        init(row: Row) {}
    }

    private let id = Column("id"), name = Column("name"), score = Column("score")

    @Test func selections() throws {
        try withSport { (db) throws in
            try expectEmitted(db, #"SELECT * FROM "player" LIMIT 1"#) { _ = try Player.fetchOne(db) }
            try expectQuery(
                db, Sel.all(), sql: #"SELECT "id", "name" FROM "player""#,
                rows: ["1|Arthur", "2|Barbara", "3|Craig", "4|Dan", "5|Eve"])
            try expectQuery(
                db, RowID.all(), sql: #"SELECT *, "rowid" FROM "player""#,
                rows: ["1|Arthur|100|1|1", "2|Barbara|1000|1|2", "3|Craig|200|2|3", "4|Dan|5|NULL|4", "5|Eve|300|1|5"])
        }
    }

    @Test func filters() throws {
        try withSport { (db) throws in
            try expectQuery(
                db, Player.filter(key: 1), sql: #"SELECT * FROM "player" WHERE "id" = 1"#, rows: ["1|Arthur|100|1"])
            try expectEmitted(db, #"SELECT * FROM "player" WHERE "id" = 1"#) {
                _ = try Player.filter(key: 1).fetchOne(db)
            }
            try expectEmitted(db, #"SELECT * FROM "player" WHERE 0"#) {
                _ = try Player.filter(key: nil as Int?).fetchOne(db)
            }
            try expectQuery(
                db, Player.filter(keys: [1, 2]), sql: #"SELECT * FROM "player" WHERE "id" IN (1, 2)"#,
                rows: ["1|Arthur|100|1", "2|Barbara|1000|1"])
            try expectQuery(
                db, Player.filter(keys: [1]), sql: #"SELECT * FROM "player" WHERE "id" = 1"#, rows: ["1|Arthur|100|1"])
            try expectQuery(db, Player.filter(keys: [Int]()), sql: #"SELECT * FROM "player" WHERE 0"#, rows: [])
            try expectEmitted(db, #"SELECT * FROM "player" WHERE "name" = 'Arthur'"#) {
                _ = try Player.filter(key: ["name": "Arthur"]).fetchOne(db)
            }
            try expectEmitted(db, #"SELECT * FROM "player" WHERE ("id" = 1) AND ("name" IS NULL) AND ("score" = 2)"#) {
                _ = try Player.filter(key: ["Score": 2, "id": 1, "name": nil]).fetchOne(db)
            }
            try expectEmitted(db, #"SELECT * FROM "pair" WHERE ("a" = 1) AND ("b" = 'x')"#) {
                _ = try Pair.filter(key: ["a": 1, "b": "x"]).fetchOne(db)
            }
            try expectQuery(db, NoKey.filter(key: 1), sql: #"SELECT * FROM "noKey" WHERE "rowid" = 1"#, rows: [])
            try expectQuery(
                db, Player.filter(id: 1), sql: #"SELECT * FROM "player" WHERE "id" = 1"#, rows: ["1|Arthur|100|1"])
            try expectQuery(
                db, Player.filter(ids: [1, 2]), sql: #"SELECT * FROM "player" WHERE "id" IN (1, 2)"#,
                rows: ["1|Arthur|100|1", "2|Barbara|1000|1"])
            try expectEmitted(db, #"SELECT * FROM "player" WHERE "name" = 'Arthur'"#) {
                _ = try Player.filter(name == "Arthur").fetchOne(db)
            }
            try expectEmitted(db, #"SELECT * FROM "player" WHERE "id" = 1"#) {
                _ = try Player.filter(id == 1).fetchOne(db)
            }
            try expectEmitted(db, #"SELECT * FROM "player" WHERE ("id" = 1) AND ("score" > 2)"#) {
                _ = try Player.filter(id == 1 && score > 2).fetchOne(db)
            }
            try expectEmitted(db, #"SELECT * FROM "player" WHERE "id" = 1"#) {
                _ = try Player.filter([1].contains(id)).fetchOne(db)
            }
            try expectEmitted(db, #"SELECT * FROM "player" LIMIT 10"#) { _ = try Player.limit(10).fetchOne(db) }
            try expectEmitted(db, #"SELECT MAX("score") FROM "player""#) {
                _ = try Int.fetchOne(db, Player.select(max(score)))
            }
            try expectEmitted(db, #"SELECT MAX("score") FROM "player" GROUP BY "name" LIMIT 1"#) {
                _ = try Int.fetchOne(db, Player.select(max(score)).group(name))
            }
            try expectEmitted(db, #"SELECT * FROM "player" WHERE "id" IS NULL LIMIT 1"#) {
                _ = try Player.filter(id == nil).fetchOne(db)
            }
        }
    }

    @Test func counts() throws {
        try withSport { (db) throws in
            try expectEmitted(db, #"SELECT EXISTS (SELECT * FROM "player")"#) { _ = try Player.all().isEmpty(db) }
            try expectEmitted(db, #"SELECT EXISTS (SELECT * FROM "player" WHERE "score" > 1 ORDER BY "name")"#) {
                _ = try Player.filter(score > 1).order(name).isEmpty(db)
            }
            try expectEmitted(db, #"SELECT EXISTS (SELECT * FROM "player" LIMIT 2)"#) {
                _ = try Player.limit(2).isEmpty(db)
            }
            try expectEmitted(db, #"SELECT EXISTS (SELECT * FROM "player" GROUP BY "name")"#) {
                _ = try Player.all().group(name).isEmpty(db)
            }
        }
    }

    @Test func changes() throws {
        try withSport { (db) throws in
            try expectEmitted(db, #"DELETE FROM "player" WHERE "score" > 100000"#) {
                _ = try Player.filter(score > 100000).deleteAll(db)
            }
            // A limit of a change is native where SQLite was built with SQLITE_ENABLE_UPDATE_DELETE_LIMIT.
            let isNative = SQLiteAbilities.ofLibrary.limitsChanges
            try expectEmitted(
                db,
                isNative
                    ? #"DELETE FROM "player" WHERE "score" > 100000 ORDER BY "name" LIMIT 1"#
                    : #"DELETE FROM "player" WHERE "id" IN (SELECT "id" FROM "player" WHERE "score" > 100000 ORDER BY "name" LIMIT 1)"#
            ) {
                _ = try Player.filter(score > 100000).order(name).limit(1).deleteAll(db)
            }
            try expectEmitted(db, #"DELETE FROM "player" WHERE "score" > 100000"#) {
                _ = try Player.filter(score > 100000).order(name).deleteAll(db)
            }
            try expectEmitted(
                db,
                isNative
                    ? #"DELETE FROM "citizenship" WHERE "personId" > 1000 LIMIT 1"#
                    : #"DELETE FROM "citizenship" WHERE "rowid" IN (SELECT "rowid" FROM "citizenship" WHERE "personId" > 1000 LIMIT 1)"#
            ) {
                _ = try Sport.Citizenship.filter(Column("personId") > 1000).limit(1).deleteAll(db)
            }
            try expectEmitted(db, #"DELETE FROM "player" AS "p" WHERE "p"."score" > 100000"#) {
                _ = try Player.all().aliased(TableAlias(name: "p")).filter(score > 100000).deleteAll(db)
            }
            try expectEmitted(
                db,
                isNative
                    ? #"DELETE FROM "noKey" LIMIT 1"#
                    : #"DELETE FROM "noKey" WHERE "rowid" IN (SELECT "rowid" FROM "noKey" LIMIT 1)"#
            ) { _ = try NoKey.limit(1).deleteAll(db) }
            try expectEmitted(db, #"DELETE FROM "player" WHERE "score" > 100000"#) {
                _ = try Player.filter(score > 100000).distinct().deleteAll(db)
            }
            try expectEmitted(db, #"DELETE FROM "player" WHERE "score" > 100000 RETURNING *"#) {
                _ = try Player.filter(score > 100000).deleteAndFetchAll(db)
            }
            try expectEmitted(db, #"DELETE FROM "player" WHERE "score" > 100000 RETURNING "id""#) {
                _ = try Player.filter(score > 100000).deleteAndFetchIds(db)
            }
            try expectEmitted(db, #"DELETE FROM "player" WHERE "score" > 100000 RETURNING "name", "score""#) {
                _ = try Player.filter(score > 100000).deleteAndFetchStatement(db, selection: [name, score]).execute()
            }
            try expectEmitted(db, #"UPDATE "player" SET "name" = 'x', "score" = "score" + 1 WHERE "score" > 100000"#) {
                _ = try Player.filter(score > 100000).updateAll(db, name.set(to: "x"), score.set(to: score + 1))
            }
            try expectEmitted(
                db,
                #"UPDATE "player" SET "score" = "score" + 1, "score" = "score" - "id", "score" = "score" * 2, "score" = "score" / 2, "score" = "score" & 1, "score" = "score" | 2, "score" = "score" << 1, "score" = "score" >> 1 WHERE "score" > 100000"#
            ) {
                _ = try Player.filter(score > 100000).updateAll(
                    db, score += 1, score -= id, score *= 2, score /= 2, score &= 1, score |= 2, score <<= 1,
                    score >>= 1)
            }
            try expectEmitted(db, #"UPDATE "player" SET "name" = NULL WHERE "score" > 100000"#) {
                _ = try Player.filter(score > 100000).updateAll(db, name.set(to: nil))
            }
            try expectEmitted(db) { _ = try Player.filter(score > 100000).updateAll(db, [ColumnAssignment]()) }
            try expectEmitted(db, #"UPDATE OR IGNORE "player" SET "name" = 'x' WHERE "score" > 100000"#) {
                _ = try Player.filter(score > 100000).updateAll(db, onConflict: .ignore, name.set(to: "x"))
            }
            try expectEmitted(
                db,
                isNative
                    ? #"UPDATE "player" SET "score" = "score" + 1 WHERE "score" > 100000 ORDER BY "name" LIMIT 2"#
                    : #"UPDATE "player" SET "score" = "score" + 1 WHERE "id" IN (SELECT "id" FROM "player" WHERE "score" > 100000 ORDER BY "name" LIMIT 2)"#
            ) { _ = try Player.filter(score > 100000).order(name).limit(2).updateAll(db, score += 1) }
            try expectEmitted(db, #"UPDATE "player" SET "score" = "score""#) {
                _ = try Player.updateAll(db, score.set(to: score))
            }
            try expectEmitted(db, #"UPDATE "player" SET "score" = "score" + 1 WHERE "score" > 100000 RETURNING *"#) {
                _ = try Player.filter(score > 100000).updateAndFetchAll(db, [score += 1])
            }
            try expectEmitted(db, #"UPDATE "player" AS "p" SET "score" = "p"."score" + 1 WHERE "p"."score" > 100000"#) {
                let p = TableAlias(name: "p")
                try Player.all().aliased(p).filter(p[score] > 100000).updateAll(db, score += 1)
            }
        }
    }

    @Test func aliases() throws {
        try withSport { (db) throws in
            // Terms of types that are known at run time.
            let selectable: any SQLSelectable = name.forKey("n")
            let ordering: any SQLOrderingTerm = score.desc
            let expression: any SQLSelectable = score + 1
            try expectEmitted(
                db,
                #"SELECT "name" AS "n", "score" + 1 FROM player WHERE id IN (SELECT NULL WHERE NULL) ORDER BY "score" DESC"#
            ) {
                let request: SQLRequest<Row> =
                    "SELECT \(selectable), \(expression) FROM player WHERE id IN \([]) ORDER BY \(ordering)"
                _ = try request.fetchAll(db)
            }
            // A table without a type has rows, whatever alias it is given.
            let rows = Table("player").aliased(TableAlias(name: "p")).filter(sql: "p.score > 1")
            for request in [rows, Table<Row>("player").aliased(TableAlias(name: "p")).filter(sql: "p.score > 1")] {
                try expectQuery(
                    db, request, sql: #"SELECT "p".* FROM "player" "p" WHERE p.score > 1"#,
                    rows: ["1|Arthur|100|1", "2|Barbara|1000|1", "3|Craig|200|2", "4|Dan|5|NULL", "5|Eve|300|1"])
            }
        }
    }

    @Test func interpolation() throws {
        try withSport { (db) throws in
            try expectEmitted(db, #"SELECT * FROM player WHERE score = (SELECT MAX("score") FROM "player")"#) {
                _ = try SQLRequest<Row>("SELECT * FROM player WHERE score = (\(Player.select(max(score))))").fetchAll(
                    db)
            }
            try expectEmitted(
                db, #"SELECT * FROM (SELECT * FROM "player") WHERE id IN (1,2) AND "name" = 'x' ORDER BY "score" DESC"#
            ) {
                _ = try SQLRequest<Row>(
                    "SELECT * FROM \(Player.all()) WHERE id IN \([1,2]) AND \(name == "x") ORDER BY \(score.desc)"
                ).fetchAll(db)
            }
        }
    }
}
