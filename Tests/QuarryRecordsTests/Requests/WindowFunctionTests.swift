import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite struct WindowFunctionTests {
    let id = Column("id"), score = Column("score"), teamId = Column("teamId"), name = Column("name")

    @Test func functionsThatNeedAWindow() throws {
        try withAthletes { db throws in
            let order = #"OVER (ORDER BY "score" DESC)"#
            func expectFunction(_ function: SQLExpression, _ sql: String, _ values: [String]) throws {
                try expectQuery(db, selecting: function.over(orderBy: score.desc), sql: sql + " " + order, rows: values)
            }
            try expectFunction(rowNumber(), "ROW_NUMBER()", ["3", "1", "2", "4"])
            try expectFunction(rank(), "RANK()", ["3", "1", "2", "4"])
            try expectFunction(denseRank(), "DENSE_RANK()", ["3", "1", "2", "4"])
            try expectFunction(
                percentRank(), "PERCENT_RANK()", ["0.6666666666666666", "0.0", "0.3333333333333333", "1.0"])
            try expectFunction(cumeDist(), "CUME_DIST()", ["0.75", "0.25", "0.5", "1.0"])
            try expectFunction(ntile(2), "NTILE(2)", ["2", "1", "1", "2"])
            try expectFunction(lag(name), #"LAG("name")"#, ["Craig", "NULL", "Barbara", "Arthur"])
            try expectFunction(lag(name, 2), #"LAG("name", 2)"#, ["Barbara", "NULL", "NULL", "Craig"])
            try expectFunction(
                lead(name, 1, default: "-"), #"LEAD("name", 1, '-')"#, ["Diane", "Craig", "Arthur", "-"])
            try expectFunction(firstValue(name), #"FIRST_VALUE("name")"#, ["Barbara", "Barbara", "Barbara", "Barbara"])
            try expectFunction(lastValue(name), #"LAST_VALUE("name")"#, ["Arthur", "Barbara", "Craig", "Diane"])
            try expectFunction(nthValue(name, 2), #"NTH_VALUE("name", 2)"#, ["Craig", "NULL", "Craig", "Craig"])
        }
    }

    @Test func aggregatesOverAWindow() throws {
        try withAthletes { db throws in
            try expectQuery(
                db, selecting: sum(score).over(partitionBy: teamId, orderBy: id),
                sql: #"SUM("score") OVER (PARTITION BY "teamId" ORDER BY "id")"#, rows: ["10", "40", "20", "NULL"])
            try expectQuery(
                db, selecting: count(.allColumns).over(partitionBy: teamId),
                sql: #"COUNT(*) OVER (PARTITION BY "teamId")"#, rows: ["2", "2", "1", "1"])
            try expectQuery(
                db, selecting: average(score, filter: id > 1).over(),
                sql: #"AVG("score") FILTER (WHERE "id" > 1) OVER ()"#, rows: ["25.0", "25.0", "25.0", "25.0"])
            try expectQuery(
                db, selecting: groupConcat(name, separator: "+").over(orderBy: [teamId, id]),
                sql: #"GROUP_CONCAT("name", '+') OVER (ORDER BY "teamId", "id")"#,
                rows: ["Diane+Arthur", "Diane+Arthur+Barbara", "Diane+Arthur+Barbara+Craig", "Diane"])
            try expectQuery(
                db, selecting: score - lag(score).over(orderBy: id),
                sql: #""score" - (LAG("score") OVER (ORDER BY "id"))"#, rows: ["NULL", "20", "-10", "NULL"])
        }
    }

    @Test func frames() throws {
        try withAthletes { db throws in
            func expectFrame(_ frame: WindowFrame, _ sql: String, _ values: [String]) throws {
                try expectQuery(
                    db, selecting: groupConcat(id).over(orderBy: coalesce([teamId, 9]), frame: frame),
                    sql: #"GROUP_CONCAT("id") OVER (ORDER BY COALESCE("teamId", 9) "# + sql + ")", rows: values)
            }
            try expectFrame(
                .rows(), "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", ["1", "1,2", "1,2,3", "1,2,3,4"])
            try expectFrame(
                .rows(from: .preceding(1), to: .following(1)), "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
                ["1,2", "1,2,3", "2,3,4", "3,4"])
            try expectFrame(
                .rows(from: .currentRow, to: .unboundedFollowing), "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
                ["1,2,3,4", "2,3,4", "3,4", "4"])
            try expectFrame(
                .groups(from: .preceding(1), to: .currentRow), "GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW",
                ["1,2", "1,2", "1,2,3", "3,4"])
            try expectFrame(
                .range(from: .preceding(1.5), to: .currentRow), "RANGE BETWEEN 1.5 PRECEDING AND CURRENT ROW",
                ["1,2", "1,2", "1,2,3", "4"])
            try expectFrame(
                .range(to: .following(1), excluding: .currentRow),
                "RANGE BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW",
                ["2,3", "1,3", "1,2", "1,2,3"])
            try expectFrame(
                .groups(from: .unboundedPreceding, to: .unboundedFollowing, excluding: .group),
                "GROUPS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE GROUP",
                ["3,4", "3,4", "1,2,4", "1,2,3"])
            try expectFrame(
                .rows(from: .unboundedPreceding, to: .unboundedFollowing, excluding: .ties),
                "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE TIES",
                ["1,3,4", "2,3,4", "1,2,3,4", "1,2,3,4"])
            try expectFrame(
                .rows(from: .preceding(0), to: .following(0), excluding: .noOthers),
                "ROWS BETWEEN 0 PRECEDING AND 0 FOLLOWING EXCLUDE NO OTHERS", ["1", "2", "3", "4"])
        }
    }

    @Test func windowsWithNames() throws {
        try withAthletes { db throws in
            let request = Athlete.select(id, rank().over("best").forKey("rank"), cumeDist().over("best"))
                .window("best", SQLWindow(orderBy: [score.desc]))
            try expectQuery(
                db, request.order(id),
                sql: #"SELECT "id", RANK() OVER "best" AS "rank", CUME_DIST() OVER "best" FROM "athlete" "#
                    + #"WINDOW "best" AS (ORDER BY "score" DESC) ORDER BY "id""#,
                rows: ["1|3|0.75", "2|1|0.25", "3|2|0.5", "4|4|1.0"])
            try expectQuery(
                db, request.window("BEST", SQLWindow(orderBy: [id])).select(rank().over("best")),
                sql: #"SELECT RANK() OVER "best" FROM "athlete" WINDOW "BEST" AS (ORDER BY "id")"#,
                rows: ["1", "2", "3", "4"])
            try expectQuery(
                db,
                Athlete.select(sum(score).over(SQLWindow(basedOn: "team", orderBy: [id], frame: .rows())))
                    .window("team", SQLWindow(partitionBy: [teamId])).order(id),
                sql:
                    #"SELECT SUM("score") OVER ("team" ORDER BY "id" ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) "#
                    + #"FROM "athlete" WINDOW "team" AS (PARTITION BY "teamId") ORDER BY "id""#,
                rows: ["10", "40", "20", "NULL"])
        }
    }

    @Test func theFirstOfEachGroup() throws {
        try withAthletes { db throws in
            let place = rowNumber().over(partitionBy: teamId, orderBy: score.desc).forKey("place")
            let best = Athlete.select(name, place).asTable(named: "ranked").filter(Column("place") == 1)
            try expectQuery(
                db, best.select(name).order(name),
                sql: #"SELECT "ranked"."name" FROM (SELECT "name", ROW_NUMBER() OVER (PARTITION BY "teamId" "#
                    + #"ORDER BY "score" DESC) AS "place" FROM "athlete") "ranked" WHERE "ranked"."place" = 1 "#
                    + #"ORDER BY "ranked"."name""#, rows: ["Barbara", "Craig", "Diane"])
            let found = try emitted(db) { () throws in #expect(try best.fetchCount(db) == 3) }
            #expect(found.count == 1)
        }
    }

    @Test func aWindowFollowsAFunction() throws {
        try withAthletes { db throws in
            expectError(
                .SQLITE_MISUSE,
                "OVER follows a function, and this is none: call over(_:) on rank(), sum(_:) and "
                    + "their like"
            ) { try Row.fetchAll(db, Athlete.select((score + 1).over())) }
            expectError(.SQLITE_ERROR, "no such window: \"w\"") {
                try Row.fetchAll(db, Athlete.select(rank().over("w")))
            }
            expectError(.SQLITE_ERROR, "frame starting offset must be a non-negative integer") {
                try Row.fetchAll(db, Athlete.select(sum(score).over(orderBy: id, frame: .rows(from: .preceding(-1)))))
            }
            expectError(.SQLITE_ERROR, "frame starting offset must be a non-negative number") {
                try Row.fetchAll(
                    db, Athlete.select(sum(score).over(orderBy: id, frame: .range(from: .preceding(.nan)))))
            }
        }
    }
}
