import Foundation
import Quarry
import QuarrySQL
import Testing

@Suite("Requests in SQL") struct RequestTests {
    private typealias Player = Query.Player
    private typealias Team = Query.Team
    private typealias Pair = Query.Pair
    private typealias NoKey = Query.NoKey
    private typealias Award = Query.Award
    private typealias Sel = Query.Sel
    private typealias RowID = Query.RowID

    private let cte = CommonTableExpression(
        named: "top", request: Query.Player.order(Column("score").desc).limit(2))
    private let p = TableAlias<Query.Player>(name: "p")
    private let id = Column("id"), name = Column("name"), score = Column("score"), teamId = Column("teamId")

    @Test func selections() throws {
        try withPlayers { (db) throws in
            try expectSQL(db, #"SELECT * FROM "player" LIMIT 1"#) { _ = try Player.fetchOne(db) }
            try expectSQL(db, #"SELECT "name", "score" FROM "player""#) {
                _ = try Row.fetchAll(db, Player.select(name, score))
            }
            try expectSQL(db, #"SELECT "name" FROM "player""#) {
                _ = try String.fetchAll(db, Player.select(name, as: String.self))
            }
            try expectSQL(db, #"SELECT "name" FROM "player""#) {
                _ = try String.fetchAll(db, Player.select(\.name, as: String.self))
            }
            try expectSQL(db, #"SELECT name, 1 AS x FROM "player""#) {
                _ = try Row.fetchAll(db, Player.select(sql: "name, ? AS x", arguments: [1]))
            }
            try expectSQL(db, #"SELECT name, 1 AS x FROM "player""#) {
                _ = try Row.fetchAll(db, Player.select(literal: "name, \(1) AS x"))
            }
            try expectSQL(db, #"SELECT *, "score" + 1 AS "bonus" FROM "player""#) {
                _ = try Row.fetchAll(db, Player.annotated(with: (score + 1).forKey("bonus")))
            }
            try expectSQL(db, #"SELECT "name", "score", "id" FROM "player""#) {
                _ = try Row.fetchAll(db, Player.select(name).annotated(with: score).annotated(with: id))
            }
            try expectSQL(db, #"SELECT DISTINCT "name" FROM "player""#) {
                _ = try Row.fetchAll(db, Player.select(name).distinct())
            }
            try expectSQL(db, #"SELECT *, "rowid" FROM "player""#) {
                _ = try Row.fetchAll(db, Player.select(.allColumns, .rowID))
            }
            try expectSQL(db, #"SELECT "id", "score", "teamId" FROM "player""#) {
                _ = try Row.fetchAll(db, Player.select(.allColumns(excluding: ["name"])))
            }
            try expectSQL(db, #"SELECT * FROM "player""#) {
                _ = try Row.fetchAll(db, Player.select(.allColumns(excluding: ["foo"])))
            }
            try expectSQL(db, #"SELECT "id", "name" FROM "player""#) { _ = try Sel.fetchAll(db) }
            try expectSQL(db, #"SELECT *, "rowid" FROM "player""#) { _ = try RowID.fetchAll(db) }
            try expectSQL(db, #"SELECT "id" FROM "player""#) {
                _ = try Int64.fetchAll(db, Player.selectPrimaryKey(as: Int64.self))
            }
            try expectSQL(db, #"SELECT "a", "b" FROM "pair""#) {
                _ = try Row.fetchAll(db, Pair.selectPrimaryKey(as: Row.self))
            }
            try expectSQL(db, #"SELECT "rowid" FROM "noKey""#) {
                _ = try Row.fetchAll(db, NoKey.selectPrimaryKey(as: Row.self))
            }
            try expectSQL(db, #"SELECT "id" FROM "player""#) { _ = try Player.selectID().fetchAll(db) }
        }
    }

    @Test func filters() throws {
        try withPlayers { (db) throws in
            try expectSQL(db, #"SELECT * FROM "player" WHERE 0"#) { _ = try Player.none().fetchAll(db) }
            try expectSQL(db, #"SELECT * FROM "player" WHERE ("score" > 1) AND ("name" = 'a')"#) {
                _ = try Player.filter(score > 1).filter(name == "a").fetchAll(db)
            }
            try expectSQL(db, #"SELECT * FROM "player" WHERE (("score" > 1) OR ("id" = 1)) AND ("name" = 'a')"#) {
                _ = try Player.filter(score > 1 || id == 1).filter(name == "a").fetchAll(db)
            }
            try expectSQL(db, #"SELECT * FROM "player" WHERE (score > 1) AND ("name" = 'a')"#) {
                _ = try Player.filter(sql: "score > ?", arguments: [1]).filter(name == "a").fetchAll(db)
            }
            try expectSQL(db, #"SELECT * FROM "player" WHERE score > 1 OR 0"#) {
                _ = try Player.filter(sql: "score > 1 OR 0").fetchAll(db)
            }
            try expectSQL(db, #"SELECT * FROM "player" WHERE score > 1"#) {
                _ = try Player.filter(literal: "score > \(1)").fetchAll(db)
            }
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
            try expectSQL(db, #"SELECT * FROM "pair" WHERE (("a" = 1) AND ("b" = 'x')) OR (("a" = 2) AND ("b" = 'y'))"#)
            { _ = try Pair.filter(keys: [["a": 1, "b": "x"], ["a": 2, "b": "y"]]).fetchAll(db) }
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

    @Test func ordersAndGroups() throws {
        try withPlayers { (db) throws in
            try expectSQL(db, #"SELECT * FROM "pair" ORDER BY "a", "b""#) {
                _ = try Pair.orderByPrimaryKey().fetchAll(db)
            }
            try expectSQL(db, #"SELECT * FROM "noKey" ORDER BY "rowid""#) {
                _ = try NoKey.orderByPrimaryKey().fetchAll(db)
            }
            try expectSQL(db, #"SELECT "name", MAX("score") FROM "player" GROUP BY "name" HAVING MAX("score") > 10"#) {
                _ = try Row.fetchAll(db, Player.select(name, max(score)).group(name).having(max(score) > 10))
            }
            try expectSQL(db, #"SELECT * FROM "player" GROUP BY "name", "teamId""#) {
                _ = try Row.fetchAll(db, Player.all().group(name, teamId))
            }
            try expectSQL(db, #"SELECT * FROM "player" GROUP BY name HAVING max(score) > 1"#) {
                _ = try Row.fetchAll(db, Player.all().group(sql: "name").having(sql: "max(score) > ?", arguments: [1]))
            }
            try expectSQL(
                db, #"SELECT * FROM "player" GROUP BY "name" HAVING (MAX("score") > 1) AND (MIN("score") < 3)"#
            ) { _ = try Row.fetchAll(db, Player.all().group(name).having(max(score) > 1).having(min(score) < 3)) }
            try expectSQL(db, #"SELECT * FROM "player" GROUP BY "id""#) {
                _ = try Row.fetchAll(db, Player.all().groupByPrimaryKey())
            }
            try expectSQL(db, #"SELECT * FROM "pair" GROUP BY "rowid""#) {
                _ = try Row.fetchAll(db, Pair.all().groupByPrimaryKey())
            }
            try expectSQL(db, #"SELECT * FROM "player" LIMIT 10 OFFSET 20"#) {
                _ = try Player.limit(10, offset: 20).fetchAll(db)
            }
            try expectSQL(
                db,
                #"SELECT DISTINCT "name", MAX("score") AS "m" FROM "player" WHERE "score" > 1 GROUP BY "name" HAVING MAX("score") > 5 ORDER BY "name" DESC LIMIT 3 OFFSET 1"#
            ) {
                _ = try Row.fetchAll(
                    db,
                    Player.select(name, max(score).forKey("m")).distinct().filter(score > 1).group(name).having(
                        max(score) > 5
                    ).order(name.desc).limit(3, offset: 1))
            }
        }
    }

    @Test func counts() throws {
        try withPlayers { (db) throws in
            try expectSQL(db, #"SELECT COUNT(*) FROM "player""#) { _ = try Player.fetchCount(db) }
            try expectSQL(db, #"SELECT COUNT(*) FROM "player""#) { _ = try Player.all().fetchCount(db) }
            try expectSQL(db, #"SELECT COUNT(*) FROM "player" WHERE "score" > 1"#) {
                _ = try Player.filter(score > 1).fetchCount(db)
            }
            try expectSQL(db, #"SELECT COUNT(*) FROM "player""#) { _ = try Player.order(name).fetchCount(db) }
            try expectSQL(db, #"SELECT COUNT(*) FROM (SELECT * FROM "player" LIMIT 2)"#) {
                _ = try Player.limit(2).fetchCount(db)
            }
            try expectSQL(db, #"SELECT COUNT(*) FROM "player""#) { _ = try Player.select(name).fetchCount(db) }
            try expectSQL(db, #"SELECT COUNT(*) FROM (SELECT DISTINCT "name" FROM "player")"#) {
                _ = try Player.select(name).distinct().fetchCount(db)
            }
            try expectSQL(db, #"SELECT COUNT(*) FROM (SELECT DISTINCT "name", "score" FROM "player")"#) {
                _ = try Player.select(name, score).distinct().fetchCount(db)
            }
            try expectSQL(db, #"SELECT COUNT(*) FROM "player""#) { _ = try Player.select(name, score).fetchCount(db) }
            try expectSQL(db, #"SELECT COUNT(*) FROM (SELECT DISTINCT * FROM "player")"#) {
                _ = try Player.all().distinct().fetchCount(db)
            }
            try expectSQL(db, #"SELECT COUNT(*) FROM "player""#) { _ = try Player.select(score + 1).fetchCount(db) }
            try expectSQL(db, #"SELECT COUNT(*) FROM (SELECT DISTINCT "score" + 1 FROM "player")"#) {
                _ = try Player.select(score + 1).distinct().fetchCount(db)
            }
            try expectSQL(db, #"SELECT COUNT(*) FROM (SELECT DISTINCT "score" + 1 AS "x" FROM "player")"#) {
                _ = try Player.select((score + 1).forKey("x")).distinct().fetchCount(db)
            }
            try expectSQL(db, #"SELECT COUNT(*) FROM (SELECT * FROM "player" GROUP BY "name")"#) {
                _ = try Player.all().group(name).fetchCount(db)
            }
            try expectSQL(db, #"SELECT COUNT(*) FROM (SELECT name FROM "player")"#) {
                _ = try Player.select(sql: "name").fetchCount(db)
            }
            try expectSQL(db, #"SELECT COUNT(*) FROM (SELECT MAX("score") FROM "player")"#) {
                _ = try Player.select(max(score)).fetchCount(db)
            }
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

    @Test func commonTables() throws {
        try withPlayers { (db) throws in
            try expectSQL(
                db, #"WITH "top" AS (SELECT * FROM "player" ORDER BY "score" DESC LIMIT 2) SELECT * FROM "top""#
            ) { _ = try Row.fetchAll(db, cte.all().with(cte)) }
            try expectSQL(
                db,
                #"WITH "ids" AS (SELECT "id" FROM "player" WHERE "score" > 1) SELECT * FROM "player" WHERE "id" IN "ids""#
            ) {
                _ = try Player.with(CommonTableExpression(named: "ids", request: Player.select(id).filter(score > 1)))
                    .filter(
                        CommonTableExpression(named: "ids", request: Player.select(id).filter(score > 1)).contains(id)
                    ).fetchAll(db)
            }
            try expectSQL(db, #"WITH "a"("x", "y") AS (SELECT 1, 2) SELECT * FROM "a" WHERE "x" = 1"#) {
                let t = CommonTableExpression<Row>(named: "a", columns: ["x", "y"], sql: "SELECT 1, ?", arguments: [2])
                _ = try Row.fetchAll(db, t.all().filter(Column("x") == 1).with(t))
            }
            try expectSQL(
                db,
                #"WITH RECURSIVE "counter"("x") AS (VALUES(1) UNION ALL SELECT x+1 FROM counter WHERE x < 3) SELECT * FROM "counter""#
            ) {
                let t = CommonTableExpression<Int>(
                    recursive: true, named: "counter", columns: ["x"],
                    literal: "VALUES(1) UNION ALL SELECT x+1 FROM counter WHERE x < \(3)")
                _ = try Int.fetchAll(db, t.all().with(t))
            }
            try expectSQL(
                db,
                #"SELECT COUNT(*) FROM (WITH "m" AS (SELECT MAX("score") FROM "player") SELECT * FROM "player" WHERE "score" = (SELECT * FROM "m"))"#
            ) {
                let t = CommonTableExpression(named: "m", request: Player.select(max(score)))
                _ = try Player.filter(score == t.all()).with(t).fetchCount(db)
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
            try expectSQL(db, #"SELECT "p".* FROM "player" "p" WHERE "p"."score" > 1 ORDER BY "p"."name""#) {
                _ = try Player.all().aliased(p).filter(p[score] > 1).order(p[name]).fetchAll(db)
            }
            // A table without a type has rows, whatever alias it is given.
            let rows = Table("player").aliased(TableAlias(name: "p")).filter(sql: "p.score > 1")
            for request in [rows, Table<Row>("player").aliased(TableAlias(name: "p")).filter(sql: "p.score > 1")] {
                try expectSQL(db, #"SELECT "p".* FROM "player" "p" WHERE p.score > 1"#) { _ = try request.fetchAll(db) }
            }
            try expectSQL(db, #"SELECT * FROM "player" WHERE "score" > 1"#) {
                let a = TableAlias<Player>()
                _ = try Player.all().aliased(a).filter(a[score] > 1).fetchAll(db)
            }
            try expectSQL(db, #"SELECT * FROM "player" WHERE "score" > 1 ORDER BY "name" DESC"#) {
                let a = TableAlias<Player>()
                _ = try Player.all().aliased(a).filter(a.score > 1).order(a.name.desc).fetchAll(db)
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
