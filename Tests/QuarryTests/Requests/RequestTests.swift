import Foundation
import Quarry
import QuarrySQL
import Testing

@Suite("Requests in SQL") struct RequestTests {
    private typealias Player = Query.Player
    private typealias Pair = Query.Pair
    private typealias NoKey = Query.NoKey
    private typealias Sel = Query.Sel
    private typealias RowID = Query.RowID

    private let id = Column("id"), name = Column("name"), score = Column("score")

    @Test func selections() throws {
        try withPlayers { (db) throws in
            try expectSQL(db, #"SELECT * FROM "player" LIMIT 1"#) { _ = try Player.fetchOne(db) }
            try expectSQL(db, #"SELECT "id", "name" FROM "player""#) { _ = try Sel.fetchAll(db) }
            try expectSQL(db, #"SELECT *, "rowid" FROM "player""#) { _ = try RowID.fetchAll(db) }
        }
    }

    @Test func filters() throws {
        try withPlayers { (db) throws in
            try expectSQL(db, #"SELECT * FROM "player" WHERE "id" = 1"#) { _ = try Player.filter(key: 1).fetchAll(db) }
            try expectSQL(db, #"SELECT * FROM "player" WHERE "id" = 1"#) { _ = try Player.filter(key: 1).fetchOne(db) }
            try expectSQL(db, #"SELECT * FROM "player" WHERE 0"#) {
                _ = try Player.filter(key: nil as Int?).fetchOne(db)
            }
            try expectSQL(db, #"SELECT * FROM "player" WHERE "id" IN (1, 2)"#) {
                _ = try Player.filter(keys: [1, 2]).fetchAll(db)
            }
            try expectSQL(db, #"SELECT * FROM "player" WHERE "id" = 1"#) {
                _ = try Player.filter(keys: [1]).fetchAll(db)
            }
            try expectSQL(db, #"SELECT * FROM "player" WHERE 0"#) { _ = try Player.filter(keys: [Int]()).fetchAll(db) }
            try expectSQL(db, #"SELECT * FROM "player" WHERE "name" = 'Arthur'"#) {
                _ = try Player.filter(key: ["name": "Arthur"]).fetchOne(db)
            }
            try expectSQL(db, #"SELECT * FROM "player" WHERE ("id" = 1) AND ("name" IS NULL) AND ("score" = 2)"#) {
                _ = try Player.filter(key: ["Score": 2, "id": 1, "name": nil]).fetchOne(db)
            }
            try expectSQL(db, #"SELECT * FROM "pair" WHERE ("a" = 1) AND ("b" = 'x')"#) {
                _ = try Pair.filter(key: ["a": 1, "b": "x"]).fetchOne(db)
            }
            try expectSQL(db, #"SELECT * FROM "noKey" WHERE "rowid" = 1"#) { _ = try NoKey.filter(key: 1).fetchAll(db) }
            try expectSQL(db, #"SELECT * FROM "player" WHERE "id" = 1"#) { _ = try Player.filter(id: 1).fetchAll(db) }
            try expectSQL(db, #"SELECT * FROM "player" WHERE "id" IN (1, 2)"#) {
                _ = try Player.filter(ids: [1, 2]).fetchAll(db)
            }
            try expectSQL(db, #"SELECT * FROM "player" WHERE "name" = 'Arthur'"#) {
                _ = try Player.filter(name == "Arthur").fetchOne(db)
            }
            try expectSQL(db, #"SELECT * FROM "player" WHERE "id" = 1"#) { _ = try Player.filter(id == 1).fetchOne(db) }
            try expectSQL(db, #"SELECT * FROM "player" WHERE ("id" = 1) AND ("score" > 2)"#) {
                _ = try Player.filter(id == 1 && score > 2).fetchOne(db)
            }
            try expectSQL(db, #"SELECT * FROM "player" WHERE "id" = 1"#) {
                _ = try Player.filter([1].contains(id)).fetchOne(db)
            }
            try expectSQL(db, #"SELECT * FROM "player" LIMIT 10"#) { _ = try Player.limit(10).fetchOne(db) }
            try expectSQL(db, #"SELECT MAX("score") FROM "player""#) {
                _ = try Int.fetchOne(db, Player.select(max(score)))
            }
            try expectSQL(db, #"SELECT MAX("score") FROM "player" GROUP BY "name" LIMIT 1"#) {
                _ = try Int.fetchOne(db, Player.select(max(score)).group(name))
            }
            try expectSQL(db, #"SELECT * FROM "player" WHERE "id" IS NULL LIMIT 1"#) {
                _ = try Player.filter(id == nil).fetchOne(db)
            }
        }
    }

    @Test func counts() throws {
        try withPlayers { (db) throws in
            try expectSQL(db, #"SELECT EXISTS (SELECT * FROM "player")"#) { _ = try Player.all().isEmpty(db) }
            try expectSQL(db, #"SELECT EXISTS (SELECT * FROM "player" WHERE "score" > 1 ORDER BY "name")"#) {
                _ = try Player.filter(score > 1).order(name).isEmpty(db)
            }
            try expectSQL(db, #"SELECT EXISTS (SELECT * FROM "player" LIMIT 2)"#) {
                _ = try Player.limit(2).isEmpty(db)
            }
            try expectSQL(db, #"SELECT EXISTS (SELECT * FROM "player" GROUP BY "name")"#) {
                _ = try Player.all().group(name).isEmpty(db)
            }
        }
    }

    @Test func changes() throws {
        try withPlayers { (db) throws in
            try expectSQL(db, #"DELETE FROM "player" WHERE "score" > 100000"#) {
                _ = try Player.filter(score > 100000).deleteAll(db)
            }
            // A limit of a change is native where SQLite was built with SQLITE_ENABLE_UPDATE_DELETE_LIMIT.
            let isNative = SQLiteAbilities.ofLibrary.limitsChanges
            try expectSQL(
                db,
                isNative
                    ? #"DELETE FROM "player" WHERE "score" > 100000 ORDER BY "name" LIMIT 1"#
                    : #"DELETE FROM "player" WHERE "id" IN (SELECT "id" FROM "player" WHERE "score" > 100000 ORDER BY "name" LIMIT 1)"#
            ) {
                _ = try Player.filter(score > 100000).order(name).limit(1).deleteAll(db)
            }
            try expectSQL(db, #"DELETE FROM "player" WHERE "score" > 100000"#) {
                _ = try Player.filter(score > 100000).order(name).deleteAll(db)
            }
            try expectSQL(
                db,
                isNative
                    ? #"DELETE FROM "pair" WHERE "a" > 1000 LIMIT 1"#
                    : #"DELETE FROM "pair" WHERE "rowid" IN (SELECT "rowid" FROM "pair" WHERE "a" > 1000 LIMIT 1)"#
            ) {
                _ = try Pair.filter(Column("a") > 1000).limit(1).deleteAll(db)
            }
            try expectSQL(db, #"DELETE FROM "player" AS "p" WHERE "p"."score" > 100000"#) {
                _ = try Player.all().aliased(TableAlias(name: "p")).filter(score > 100000).deleteAll(db)
            }
            try expectSQL(
                db,
                isNative
                    ? #"DELETE FROM "noKey" LIMIT 1"#
                    : #"DELETE FROM "noKey" WHERE "rowid" IN (SELECT "rowid" FROM "noKey" LIMIT 1)"#
            ) { _ = try NoKey.limit(1).deleteAll(db) }
            try expectSQL(db, #"DELETE FROM "player" WHERE "score" > 100000"#) {
                _ = try Player.filter(score > 100000).distinct().deleteAll(db)
            }
            try expectSQL(db, #"DELETE FROM "player" WHERE "score" > 100000 RETURNING *"#) {
                _ = try Player.filter(score > 100000).deleteAndFetchAll(db)
            }
            try expectSQL(db, #"DELETE FROM "player" WHERE "score" > 100000 RETURNING "id""#) {
                _ = try Player.filter(score > 100000).deleteAndFetchIds(db)
            }
            try expectSQL(db, #"DELETE FROM "player" WHERE "score" > 100000 RETURNING "name", "score""#) {
                _ = try Player.filter(score > 100000).deleteAndFetchStatement(db, selection: [name, score]).execute()
            }
            try expectSQL(db, #"UPDATE "player" SET "name" = 'x', "score" = "score" + 1 WHERE "score" > 100000"#) {
                _ = try Player.filter(score > 100000).updateAll(db, name.set(to: "x"), score.set(to: score + 1))
            }
            try expectSQL(
                db,
                #"UPDATE "player" SET "score" = "score" + 1, "score" = "score" - "id", "score" = "score" * 2, "score" = "score" / 2, "score" = "score" & 1, "score" = "score" | 2, "score" = "score" << 1, "score" = "score" >> 1 WHERE "score" > 100000"#
            ) {
                _ = try Player.filter(score > 100000).updateAll(
                    db, score += 1, score -= id, score *= 2, score /= 2, score &= 1, score |= 2, score <<= 1,
                    score >>= 1)
            }
            try expectSQL(db, #"UPDATE "player" SET "name" = NULL WHERE "score" > 100000"#) {
                _ = try Player.filter(score > 100000).updateAll(db, name.set(to: nil))
            }
            try expectSQL(db, ) { _ = try Player.filter(score > 100000).updateAll(db, [ColumnAssignment]()) }
            try expectSQL(db, #"UPDATE OR IGNORE "player" SET "name" = 'x' WHERE "score" > 100000"#) {
                _ = try Player.filter(score > 100000).updateAll(db, onConflict: .ignore, name.set(to: "x"))
            }
            try expectSQL(
                db,
                isNative
                    ? #"UPDATE "player" SET "score" = "score" + 1 WHERE "score" > 100000 ORDER BY "name" LIMIT 2"#
                    : #"UPDATE "player" SET "score" = "score" + 1 WHERE "id" IN (SELECT "id" FROM "player" WHERE "score" > 100000 ORDER BY "name" LIMIT 2)"#
            ) { _ = try Player.filter(score > 100000).order(name).limit(2).updateAll(db, score += 1) }
            try expectSQL(db, #"UPDATE "player" SET "score" = "score""#) {
                _ = try Player.updateAll(db, score.set(to: score))
            }
            try expectSQL(db, #"UPDATE "player" SET "score" = "score" + 1 WHERE "score" > 100000 RETURNING *"#) {
                _ = try Player.filter(score > 100000).updateAndFetchAll(db, [score += 1])
            }
            try expectSQL(db, #"UPDATE "player" AS "p" SET "score" = "p"."score" + 1 WHERE "p"."score" > 100000"#) {
                let p = TableAlias(name: "p")
                try Player.all().aliased(p).filter(p[score] > 100000).updateAll(db, score += 1)
            }
        }
    }

    @Test func aliases() throws {
        try withPlayers { (db) throws in
            // A table without a type has rows, whatever alias it is given.
            let rows = Table("player").aliased(TableAlias(name: "p")).filter(sql: "p.score > 1")
            for request in [rows, Table<Row>("player").aliased(TableAlias(name: "p")).filter(sql: "p.score > 1")] {
                try expectSQL(db, #"SELECT "p".* FROM "player" "p" WHERE p.score > 1"#) { _ = try request.fetchAll(db) }
            }
        }
    }

    @Test func interpolation() throws {
        try withPlayers { (db) throws in
            try expectSQL(db, #"SELECT * FROM player WHERE score = (SELECT MAX("score") FROM "player")"#) {
                _ = try SQLRequest<Row>("SELECT * FROM player WHERE score = (\(Player.select(max(score))))").fetchAll(
                    db)
            }
            try expectSQL(
                db, #"SELECT * FROM (SELECT * FROM "player") WHERE id IN (1,2) AND "name" = 'x' ORDER BY "score" DESC"#
            ) {
                _ = try SQLRequest<Row>(
                    "SELECT * FROM \(Player.all()) WHERE id IN \([1,2]) AND \(name == "x") ORDER BY \(score.desc)"
                ).fetchAll(db)
            }
        }
    }
}
