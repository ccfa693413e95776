import QuarryCore
import Testing

@testable import QuarrySQL

@Suite("Requests in SQL") struct RequestTests {
    private struct Player: TableRecord, Identifiable {
        var id: Int64

        enum Columns {
            static let id = Column("id")
            static let name = Column("name")
            static let score = Column("score")
        }
    }
    private struct Pair: TableRecord {}
    private struct NoKey: TableRecord {}
    private struct Sel: TableRecord {
        static let databaseTableName = "player"
        static var databaseSelection: [any SQLSelectable] { [Column("id"), Column("name")] }
    }
    private struct RowID: TableRecord {
        static let databaseTableName = "player"
        static var databaseSelection: [any SQLSelectable] { [.allColumns, .rowID] }
    }

    private let cte = CommonTableExpression(named: "top", request: Player.order(Column("score").desc).limit(2))
    private let p = TableAlias<Player>(name: "p")
    private let id = Column("id"), name = Column("name"), score = Column("score"), teamId = Column("teamId")

    @Test func selections() throws {
        try expectSQL(Player.select(name, score), #"SELECT "name", "score" FROM "player""#)
        try expectSQL(Player.select(name, as: String.self), #"SELECT "name" FROM "player""#)
        try expectSQL(Player.select(\.name, as: String.self), #"SELECT "name" FROM "player""#)
        try expectSQL(Player.select(sql: "name, ? AS x", arguments: [1]), #"SELECT name, 1 AS x FROM "player""#)
        try expectSQL(Player.select(literal: "name, \(1) AS x"), #"SELECT name, 1 AS x FROM "player""#)
        try expectSQL(
            Player.annotated(with: (score + 1).forKey("bonus")), #"SELECT *, "score" + 1 AS "bonus" FROM "player""#)
        try expectSQL(
            Player.select(name).annotated(with: score).annotated(with: id),
            #"SELECT "name", "score", "id" FROM "player""#)
        try expectSQL(Player.select(name).distinct(), #"SELECT DISTINCT "name" FROM "player""#)
        try expectSQL(Player.select(.allColumns, .rowID), #"SELECT *, "rowid" FROM "player""#)
        try expectSQL(Player.select(.allColumns(excluding: ["name"])), #"SELECT "id", "score", "teamId" FROM "player""#)
        try expectSQL(Player.select(.allColumns(excluding: ["foo"])), #"SELECT * FROM "player""#)
        try expectSQL(Player.selectPrimaryKey(as: Int64.self), #"SELECT "id" FROM "player""#)
        try expectSQL(Pair.selectPrimaryKey(as: Row.self), #"SELECT "a", "b" FROM "pair""#)
        try expectSQL(NoKey.selectPrimaryKey(as: Row.self), #"SELECT "rowid" FROM "noKey""#)
        try expectSQL(Player.selectID(), #"SELECT "id" FROM "player""#)
        try expectSQL(Sel.all(), #"SELECT "id", "name" FROM "player""#)
        try expectSQL(RowID.all(), #"SELECT *, "rowid" FROM "player""#)
    }

    @Test func filters() throws {
        try expectSQL(Player.none(), #"SELECT * FROM "player" WHERE 0"#)
        try expectSQL(
            Player.filter(score > 1).filter(name == "a"),
            #"SELECT * FROM "player" WHERE ("score" > 1) AND ("name" = 'a')"#)
        try expectSQL(
            Player.filter(score > 1 || id == 1).filter(name == "a"),
            #"SELECT * FROM "player" WHERE (("score" > 1) OR ("id" = 1)) AND ("name" = 'a')"#)
        try expectSQL(
            Player.filter(sql: "score > ?", arguments: [1]).filter(name == "a"),
            #"SELECT * FROM "player" WHERE (score > 1) AND ("name" = 'a')"#)
        try expectSQL(Player.filter(sql: "score > 1 OR 0"), #"SELECT * FROM "player" WHERE score > 1 OR 0"#)
        try expectSQL(Player.filter(literal: "score > \(1)"), #"SELECT * FROM "player" WHERE score > 1"#)
        try expectSQL(
            Pair.filter(keys: [["a": 1, "b": "x"], ["a": 2, "b": "y"]]),
            #"SELECT * FROM "pair" WHERE (("a" = 1) AND ("b" = 'x')) OR (("a" = 2) AND ("b" = 'y'))"#)
    }

    @Test func ordersAndGroups() throws {
        try expectSQL(Pair.orderByPrimaryKey(), #"SELECT * FROM "pair" ORDER BY "a", "b""#)
        try expectSQL(NoKey.orderByPrimaryKey(), #"SELECT * FROM "noKey" ORDER BY "rowid""#)
        try expectSQL(
            Player.select(name, max(score)).group(name).having(max(score) > 10),
            #"SELECT "name", MAX("score") FROM "player" GROUP BY "name" HAVING MAX("score") > 10"#)
        try expectSQL(Player.all().group(name, teamId), #"SELECT * FROM "player" GROUP BY "name", "teamId""#)
        try expectSQL(
            Player.all().group(sql: "name").having(sql: "max(score) > ?", arguments: [1]),
            #"SELECT * FROM "player" GROUP BY name HAVING max(score) > 1"#)
        try expectSQL(
            Player.all().group(name).having(max(score) > 1).having(min(score) < 3),
            #"SELECT * FROM "player" GROUP BY "name" HAVING (MAX("score") > 1) AND (MIN("score") < 3)"#)
        try expectSQL(Player.all().groupByPrimaryKey(), #"SELECT * FROM "player" GROUP BY "id""#)
        try expectSQL(Pair.all().groupByPrimaryKey(), #"SELECT * FROM "pair" GROUP BY "rowid""#)
        try expectSQL(Player.limit(10, offset: 20), #"SELECT * FROM "player" LIMIT 10 OFFSET 20"#)
        try expectSQL(
            Player.select(name, max(score).forKey("m")).distinct().filter(score > 1).group(name).having(
                max(score) > 5
            ).order(name.desc).limit(3, offset: 1),
            #"SELECT DISTINCT "name", MAX("score") AS "m" FROM "player" WHERE "score" > 1 GROUP BY "name" HAVING MAX("score") > 5 ORDER BY "name" DESC LIMIT 3 OFFSET 1"#
        )
    }

    @Test func counts() throws {
        try expectCountSQL(Player.all(), #"SELECT COUNT(*) FROM "player""#)
        try expectCountSQL(Player.all(), #"SELECT COUNT(*) FROM "player""#)
        try expectCountSQL(Player.filter(score > 1), #"SELECT COUNT(*) FROM "player" WHERE "score" > 1"#)
        try expectCountSQL(Player.order(name), #"SELECT COUNT(*) FROM "player""#)
        try expectCountSQL(Player.limit(2), #"SELECT COUNT(*) FROM (SELECT * FROM "player" LIMIT 2)"#)
        try expectCountSQL(Player.select(name), #"SELECT COUNT(*) FROM "player""#)
        try expectCountSQL(
            Player.select(name).distinct(), #"SELECT COUNT(*) FROM (SELECT DISTINCT "name" FROM "player")"#)
        try expectCountSQL(
            Player.select(name, score).distinct(),
            #"SELECT COUNT(*) FROM (SELECT DISTINCT "name", "score" FROM "player")"#)
        try expectCountSQL(Player.select(name, score), #"SELECT COUNT(*) FROM "player""#)
        try expectCountSQL(Player.all().distinct(), #"SELECT COUNT(*) FROM (SELECT DISTINCT * FROM "player")"#)
        try expectCountSQL(Player.select(score + 1), #"SELECT COUNT(*) FROM "player""#)
        try expectCountSQL(
            Player.select(score + 1).distinct(), #"SELECT COUNT(*) FROM (SELECT DISTINCT "score" + 1 FROM "player")"#)
        try expectCountSQL(
            Player.select((score + 1).forKey("x")).distinct(),
            #"SELECT COUNT(*) FROM (SELECT DISTINCT "score" + 1 AS "x" FROM "player")"#)
        try expectCountSQL(Player.all().group(name), #"SELECT COUNT(*) FROM (SELECT * FROM "player" GROUP BY "name")"#)
        try expectCountSQL(Player.select(sql: "name"), #"SELECT COUNT(*) FROM (SELECT name FROM "player")"#)
        try expectCountSQL(Player.select(max(score)), #"SELECT COUNT(*) FROM (SELECT MAX("score") FROM "player")"#)
    }

    @Test func commonTables() throws {
        try expectSQL(
            cte.all().with(cte),
            #"WITH "top" AS (SELECT * FROM "player" ORDER BY "score" DESC LIMIT 2) SELECT * FROM "top""#)
        try expectSQL(
            Player.with(CommonTableExpression(named: "ids", request: Player.select(id).filter(score > 1)))
                .filter(
                    CommonTableExpression(named: "ids", request: Player.select(id).filter(score > 1)).contains(id)
                ),
            #"WITH "ids" AS (SELECT "id" FROM "player" WHERE "score" > 1) SELECT * FROM "player" WHERE "id" IN "ids""#)
        do {
            let t = CommonTableExpression<Row>(named: "a", columns: ["x", "y"], sql: "SELECT 1, ?", arguments: [2])
            try expectSQL(
                t.all().filter(Column("x") == 1).with(t),
                #"WITH "a"("x", "y") AS (SELECT 1, 2) SELECT * FROM "a" WHERE "x" = 1"#)
        }
        do {
            let t = CommonTableExpression<Int>(
                recursive: true, named: "counter", columns: ["x"],
                literal: "VALUES(1) UNION ALL SELECT x+1 FROM counter WHERE x < \(3)")
            try expectSQL(
                t.all().with(t),
                #"WITH RECURSIVE "counter"("x") AS (VALUES(1) UNION ALL SELECT x+1 FROM counter WHERE x < 3) SELECT * FROM "counter""#
            )
        }
        do {
            let t = CommonTableExpression(named: "m", request: Player.select(max(score)))
            try expectCountSQL(
                Player.filter(score == t.all()).with(t),
                #"SELECT COUNT(*) FROM (WITH "m" AS (SELECT MAX("score") FROM "player") SELECT * FROM "player" WHERE "score" = (SELECT * FROM "m"))"#
            )
        }
    }

    @Test func aliases() throws {
        try expectSQL(
            Player.all().aliased(p).filter(p[score] > 1).order(p[name]),
            #"SELECT "p".* FROM "player" "p" WHERE "p"."score" > 1 ORDER BY "p"."name""#)
        do {
            let a = TableAlias<Player>()
            try expectSQL(Player.all().aliased(a).filter(a[score] > 1), #"SELECT * FROM "player" WHERE "score" > 1"#)
        }
        do {
            let a = TableAlias<Player>()
            try expectSQL(
                Player.all().aliased(a).filter(a.score > 1).order(a.name.desc),
                #"SELECT * FROM "player" WHERE "score" > 1 ORDER BY "name" DESC"#)
        }
    }

    @Test func changes() throws {
        let many = Player.filter(score > 100000)
        func expectLimitedChange(_ change: Change, native: String, byKey: String) throws {
            for (limitsChanges, expected) in [(true, native), (false, byKey)] {
                let sql = try rendered { writer in
                    writer.abilities.limitsChanges = limitsChanges
                    try writer.write(change)
                }
                #expect(sql == expected)
            }
        }
        try expectSQL(.deletion(many.query), #"DELETE FROM "player" WHERE "score" > 100000"#)
        try expectSQL(.deletion(many.order(name).query), #"DELETE FROM "player" WHERE "score" > 100000"#)
        try expectSQL(.deletion(many.distinct().query), #"DELETE FROM "player" WHERE "score" > 100000"#)
        try expectLimitedChange(
            .deletion(many.order(name).limit(1).query),
            native: #"DELETE FROM "player" WHERE "score" > 100000 ORDER BY "name" LIMIT 1"#,
            byKey: #"DELETE FROM "player" WHERE "id" IN (SELECT "id" FROM "player" WHERE "score" > 100000 "#
                + #"ORDER BY "name" LIMIT 1)"#)
        try expectLimitedChange(
            .deletion(Pair.filter(Column("a") > 1000).limit(1).query),
            native: #"DELETE FROM "pair" WHERE "a" > 1000 LIMIT 1"#,
            byKey: #"DELETE FROM "pair" WHERE "rowid" IN (SELECT "rowid" FROM "pair" WHERE "a" > 1000 LIMIT 1)"#)
        try expectLimitedChange(
            .deletion(NoKey.limit(1).query), native: #"DELETE FROM "noKey" LIMIT 1"#,
            byKey: #"DELETE FROM "noKey" WHERE "rowid" IN (SELECT "rowid" FROM "noKey" LIMIT 1)"#)
        try expectSQL(
            .update(
                Update(query: many.query, conflictResolution: nil, assignments: [name.set(to: "x"), score += 1])),
            #"UPDATE "player" SET "name" = 'x', "score" = "score" + 1 WHERE "score" > 100000"#)
        try expectLimitedChange(
            .update(
                Update(
                    query: many.order(name).limit(2).query, conflictResolution: nil, assignments: [score += 1])),
            native: #"UPDATE "player" SET "score" = "score" + 1 WHERE "score" > 100000 ORDER BY "name" LIMIT 2"#,
            byKey: #"UPDATE "player" SET "score" = "score" + 1 WHERE "id" IN (SELECT "id" FROM "player" "#
                + #"WHERE "score" > 100000 ORDER BY "name" LIMIT 2)"#)
    }

    /// A table that is named with its schema, wherever the statement names it.
    @Test func tablesOfASchema() throws {
        let request = QueryInterfaceRequest<Player>(query: SelectQuery(.table("player", schema: "main")))
        try expectSQL(request.filter(score > 1), #"SELECT * FROM "main"."player" WHERE "score" > 1"#)
        try expectSQL(
            request.aliased(p).filter(p[score] > 1),
            #"SELECT "p".* FROM "main"."player" "p" WHERE "p"."score" > 1"#)
        try expectSQL(
            request.filter(Pair.select(Column("a")).contains(score)),
            #"SELECT * FROM "main"."player" WHERE "score" IN (SELECT "a" FROM "pair")"#)
        try expectCountSQL(request, #"SELECT COUNT(*) FROM "main"."player""#)
        try expectSQL(
            .update(Update(query: request.query, conflictResolution: nil, assignments: [score += 1])),
            #"UPDATE "main"."player" SET "score" = "score" + 1"#)
        let sql = try rendered { writer in
            writer.abilities.limitsChanges = false
            try writer.write(.deletion(request.limit(1).query))
        }
        #expect(sql == #"DELETE FROM "main"."player" WHERE "id" IN (SELECT "id" FROM "main"."player" LIMIT 1)"#)
    }
}
