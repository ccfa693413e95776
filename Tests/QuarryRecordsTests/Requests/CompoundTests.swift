import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite struct CompoundTests {
    let names = Athlete.select(Column("name"), as: String.self)
    let teams = Squad.select(Column("name"), as: String.self)

    @Test func requestsArePutTogether() throws {
        try withAthletes { db throws in
            let a = Athlete.select(Column("teamId"))
            let b = Squad.select(Column("id"))
            try expectQuery(
                db, a.union(b).order(Column("teamId")),
                sql: #"SELECT "teamId" FROM "athlete" UNION SELECT "id" FROM "team" ORDER BY "teamId""#,
                rows: ["NULL", "1", "2", "3"])
            try expectQuery(
                db, a.unionAll(b), sql: #"SELECT "teamId" FROM "athlete" UNION ALL SELECT "id" FROM "team""#,
                rows: ["1", "1", "2", "NULL", "1", "2", "3"])
            try expectQuery(
                db, a.intersect(b), sql: #"SELECT "teamId" FROM "athlete" INTERSECT SELECT "id" FROM "team""#,
                rows: ["1", "2"])
            try expectQuery(
                db, b.except(a), sql: #"SELECT "id" FROM "team" EXCEPT SELECT "teamId" FROM "athlete""#, rows: ["3"])
            try expectQuery(
                db, a.union(SQLRequest<Int>("SELECT \(7)")).union(b).order(Column("teamId").desc).limit(2, offset: 1),
                sql: #"SELECT "teamId" FROM "athlete" UNION SELECT * FROM (SELECT 7) UNION SELECT "id" FROM "team" "#
                    + #"ORDER BY "teamId" DESC LIMIT 2 OFFSET 1"#, rows: ["3", "2"])
            try expectQuery(
                db, b.except(a.union(b)),
                sql: #"SELECT "id" FROM "team" EXCEPT SELECT * FROM "#
                    + #"(SELECT "teamId" FROM "athlete" UNION SELECT "id" FROM "team")"#, rows: [])
        }
    }

    @Test func ordersAndLimitsAreOfTheWhole() throws {
        try withAthletes { db throws in
            let whole = names.union(teams)
            let first = #"SELECT "name" FROM "athlete" UNION SELECT "name" FROM "team""#
            try expectQuery(
                db, whole.order(Column("name").desc).limit(2), sql: first + #" ORDER BY "name" DESC LIMIT 2"#,
                rows: ["Red", "Green"])
            try expectQuery(
                db, whole.order(Column("name").collating(.nocase)).reversed().limit(1),
                sql: first + #" ORDER BY "name" COLLATE NOCASE DESC LIMIT 1"#, rows: ["Red"])
            try expectQuery(
                db, whole.order(length(Column("name")), Column("name")).limit(1),
                sql: #"SELECT * FROM (\#(first)) "subquery" ORDER BY LENGTH("name"), "name" LIMIT 1"#, rows: ["Red"])
            #expect(try whole.order(Column("name")).fetchOne(db) == "Arthur")
            let found = try emitted(db) {
                _ = try whole.fetchOne(db)
                #expect(try whole.order(Column("name")).fetchCount(db) == 7)
            }
            #expect(found == [first + " LIMIT 1", "SELECT COUNT(*) FROM (\(first))"])
            #expect(try whole.limit(3).fetchCount(db) == 3)
            #expect(try whole.isEmpty(db) == false)
        }
    }

    @Test func anOrderOrALimitBeforeStaysWithItsRequest() throws {
        try withAthletes { db throws in
            let best = Athlete.order(Column("score").desc).limit(1).select(Column("name"))
            try expectQuery(
                db, best.union(Squad.order(Column("id")).limit(1).select(Column("name"))).order(Column("name")),
                sql: #"SELECT * FROM (SELECT "name" FROM "athlete" ORDER BY "score" DESC LIMIT 1) "subquery" "#
                    + #"UNION SELECT * FROM (SELECT "name" FROM "team" ORDER BY "id" LIMIT 1) ORDER BY "name""#,
                rows: ["Barbara", "Red"])
        }
    }

    @Test func otherChangesAreAroundTheWhole() throws {
        try withAthletes { db throws in
            let whole = Athlete.select(Column("name"), Column("score")).unionAll(
                Squad.select(Column("name"), Column("bonus")))
            let text = #"SELECT "name", "score" FROM "athlete" UNION ALL SELECT "name", "bonus" FROM "team""#
            try expectQuery(
                db, whole.order(Column("name")).filter(Column("score") > 5),
                sql: #"SELECT * FROM (\#(text)) "subquery" WHERE "score" > 5 ORDER BY "name""#,
                rows: ["Arthur|10", "Barbara|30", "Blue|7", "Craig|20"])
            try expectQuery(
                db, whole.select(max(Column("score"))), sql: #"SELECT MAX("score") FROM (\#(text)) "subquery""#,
                rows: ["30"])
            try expectQuery(
                db, whole.limit(2).filter(Column("score") > 10),
                sql: #"SELECT * FROM (\#(text) LIMIT 2) "subquery" WHERE "score" > 10"#, rows: ["Barbara|30"])
            try expectQuery(
                db,
                whole.select(Column("score") > 5, count(.allColumns)).group(Column("score") > 5).having(
                    count(.allColumns) > 1),
                sql:
                    #"SELECT "score" > 5, COUNT(*) FROM (\#(text)) "subquery" GROUP BY "score" > 5 HAVING COUNT(*) > 1"#,
                rows: ["0|2", "1|4"])
            try expectQuery(
                db, whole.select(Column("score") > 10).distinct().order(Column("score") > 10),
                sql: #"SELECT DISTINCT "score" > 10 FROM (\#(text)) "subquery" ORDER BY "score" > 10"#,
                rows: ["NULL", "0", "1"])
            expectError(.SQLITE_MISUSE, "rows of a compound request can't be changed") { () throws in
                try whole.deleteAll(db)
            }
            expectError(.SQLITE_MISUSE, "subquery isn't a table, and can't be changed") { () throws in
                try whole.filter(Column("score") > 5).deleteAll(db)
            }
        }
    }

    @Test func compoundsStandInsideOfOthers() throws {
        try withAthletes { db throws in
            let ids = Squad.select(Column("id")).filter(Column("name") == "Red").union(SQLRequest<Int>("SELECT 2"))
            try expectQuery(
                db, Athlete.filter(ids.contains(Column("teamId"))).select(Column("id")),
                sql: #"SELECT "id" FROM "athlete" WHERE "teamId" IN (SELECT "id" FROM "team" WHERE "name" = 'Red' "#
                    + "UNION SELECT * FROM (SELECT 2))", rows: ["1", "2", "3"])
            let all = CommonTableExpression(named: "everyone", request: names.union(teams))
            try expectQuery(
                db, all.all().with(all).filter(Column("name") > "D").order(Column("name")),
                sql: #"WITH "everyone" AS (SELECT "name" FROM "athlete" UNION SELECT "name" FROM "team") "#
                    + #"SELECT * FROM "everyone" WHERE "name" > 'D' ORDER BY "name""#, rows: ["Diane", "Green", "Red"])
        }
    }

    @Test func aTableOfWithCanBeMadeOfItself() throws {
        try withAthletes { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE employee (id INTEGER PRIMARY KEY, name TEXT, bossId INTEGER);
                    INSERT INTO employee VALUES (1, 'a', NULL), (2, 'b', 1), (3, 'c', 2), (4, 'd', NULL);
                    """)
            let employee = Table("employee")
            let chain = Table("chain")
            let (worker, boss) = (TableAlias<Row>(), TableAlias<Row>())
            let step = employee.all().aliased(worker)
                .join(.inner, chain.all().aliased(boss), on: worker[Column("bossId")] == boss[Column("id")])
                .select(worker[Column("id")], worker[Column("name")])
            let tree = CommonTableExpression<Row>(
                recursive: true, named: "chain",
                request: employee.filter(Column("id") == 1).select(Column("id"), Column("name")).unionAll(step))
            try expectQuery(
                db, tree.all().with(tree),
                sql: #"WITH RECURSIVE "chain" AS (SELECT "id", "name" FROM "employee" WHERE "id" = 1 UNION ALL "#
                    + #"SELECT "employee"."id", "employee"."name" FROM "employee" "#
                    + #"JOIN "chain" ON "employee"."bossId" = "chain"."id") SELECT * FROM "chain""#,
                rows: ["1|a", "2|b", "3|c"])
            let counter = CommonTableExpression<Int>(
                recursive: true, named: "counter", columns: ["x"],
                request: ValueList([1]).all().unionAll(
                    Table("counter").filter(Column("x") < 4).select(Column("x") + 1)))
            #expect(try counter.all().with(counter).fetchAll(db) == [1, 2, 3, 4])
        }
    }
}
