import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite struct ConditionalExpressionTests {
    @Test func aCaseDecidesByConditions() throws {
        try withAthletes { db throws in
            let level = caseWhen(Column("score") > 25, then: "gold").when(Column("score") > 15, then: "silver")
            try expectQuery(
                db, selecting: level.otherwise("bronze"),
                sql: #"CASE WHEN "score" > 25 THEN 'gold' WHEN "score" > 15 THEN 'silver' ELSE 'bronze' END"#,
                rows: ["bronze", "gold", "silver", "bronze"])
            try expectQuery(
                db, selecting: level, sql: #"CASE WHEN "score" > 25 THEN 'gold' WHEN "score" > 15 THEN 'silver' END"#,
                rows: ["NULL", "gold", "silver", "NULL"])
            try expectQuery(
                db, Athlete.filter(level == "gold").select(Column("id")),
                sql:
                    #"SELECT "id" FROM "athlete" WHERE CASE WHEN "score" > 25 THEN 'gold' WHEN "score" > 15 THEN 'silver' END "#
                    + "= 'gold'", rows: ["2"])
        }
    }

    @Test func aCaseComparesABase() throws {
        try withAthletes { db throws in
            try expectQuery(
                db,
                selecting: caseOf(Column("teamId"), when: 1, then: "red").when(2, then: Column("name")).otherwise(nil),
                sql: #"CASE "teamId" WHEN 1 THEN 'red' WHEN 2 THEN "name" ELSE NULL END"#,
                rows: ["red", "red", "Craig", "NULL"])
        }
    }

    @Test func aCaseOfAggregatesIsOneRow() throws {
        try withAthletes { db throws in
            let isFull = caseWhen(count(.allColumns) > 3, then: "full").otherwise("open")
            let found = try emitted(db) { () throws in
                #expect(try Athlete.select(isFull, as: String.self).fetchOne(db) == "full")
            }
            #expect(found == [#"SELECT CASE WHEN COUNT(*) > 3 THEN 'full' ELSE 'open' END FROM "athlete""#])
        }
    }

    @Test func functionsChooseBetweenValues() throws {
        try withAthletes { db throws in
            try expectQuery(
                db, selecting: nullIf(Column("name"), "Craig"), sql: #"NULLIF("name", 'Craig')"#,
                rows: ["Arthur", "Barbara", "NULL", "Diane"])
            try expectQuery(
                db, selecting: iif(Column("score") > 15, "high", nil), sql: #"IIF("score" > 15, 'high', NULL)"#,
                rows: ["NULL", "high", "high", "NULL"])
            try expectQuery(
                db, selecting: typeOf(Column("score")), sql: #"TYPEOF("score")"#,
                rows: ["integer", "integer", "integer", "null"])
            try expectQuery(
                db, selecting: min(Column("score"), Column("id"), 2), sql: #"MIN("score", "id", 2)"#,
                rows: ["1", "2", "2", "NULL"])
            try expectQuery(
                db, selecting: max(Column("score"), 15), sql: #"MAX("score", 15)"#, rows: ["15", "30", "20", "NULL"])
        }
    }

    @Test func hintsGoToThePlanner() throws {
        try withAthletes { db throws in
            try expectQuery(
                db, Athlete.filter(likelihood(Column("score") > 15, 0.25)).select(Column("id")),
                sql: #"SELECT "id" FROM "athlete" WHERE LIKELIHOOD("score" > 15, 0.25)"#, rows: ["2", "3"])
            try expectQuery(
                db, Athlete.filter(likely(Column("score") > 15) && unlikely(Column("id") == 2)).select(Column("id")),
                sql: #"SELECT "id" FROM "athlete" WHERE LIKELY("score" > 15) AND UNLIKELY("id" = 2)"#, rows: ["2"])
            expectError(.SQLITE_MISUSE, "the probability of likelihood is 1.5, and must be from 0.0 to 1.0") {
                try Row.fetchAll(db, Athlete.filter(likelihood(Column("score") > 1, 1.5)))
            }
            expectError(.SQLITE_MISUSE, "the probability of likelihood is nan, and must be from 0.0 to 1.0") {
                try Row.fetchAll(db, Athlete.filter(likelihood(Column("score") > 1, .nan)))
            }
        }
    }

    @Test func rowValuesAreComparedAsOne() throws {
        try withAthletes { db throws in
            let pair = rowValue(Column("teamId"), Column("score"))
            try expectQuery(
                db, Athlete.filter(pair == rowValue(1, 30)).select(Column("id")),
                sql: #"SELECT "id" FROM "athlete" WHERE ("teamId", "score") = (1, 30)"#, rows: ["2"])
            try expectQuery(
                db, Athlete.filter(pair > rowValue(1, 10)).select(Column("id")).order(Column("id")),
                sql: #"SELECT "id" FROM "athlete" WHERE ("teamId", "score") > (1, 10) ORDER BY "id""#, rows: ["2", "3"])
            try expectQuery(
                db, Athlete.filter([rowValue(1, 10), rowValue(2, 20)].contains(pair)).select(Column("id")),
                sql: #"SELECT "id" FROM "athlete" WHERE ("teamId", "score") IN (VALUES (1, 10), (2, 20))"#,
                rows: ["1", "3"])
            try expectQuery(
                db, Athlete.filter(![rowValue(1, 10), rowValue(2, 20)].contains(pair)).select(Column("id")),
                sql: #"SELECT "id" FROM "athlete" WHERE ("teamId", "score") NOT IN (VALUES (1, 10), (2, 20))"#,
                rows: ["2"])
            try expectQuery(
                db, Athlete.filter([rowValue(1, 10)].contains(pair)).select(Column("id")),
                sql: #"SELECT "id" FROM "athlete" WHERE ("teamId", "score") = (1, 10)"#, rows: ["1"])
            try expectQuery(
                db,
                Athlete.filter(
                    Athlete.select(Column("teamId"), max(Column("score"))).group(Column("teamId")).contains(pair)
                )
                .select(Column("id")).order(Column("id")),
                sql:
                    #"SELECT "id" FROM "athlete" WHERE ("teamId", "score") IN (SELECT "teamId", MAX("score") FROM "athlete" "#
                    + #"GROUP BY "teamId") ORDER BY "id""#, rows: ["2", "3"])
            expectError(.SQLITE_MISUSE, "row 2 of a list of values has 1 values, and the first has 2") {
                try Row.fetchAll(db, Athlete.filter([rowValue(1, 10), rowValue(2)].contains(pair)))
            }
        }
    }

    @Test func aRangeIsOfACollation() throws {
        try withAthletes { db throws in
            try expectQuery(
                db, Athlete.filter(("a"..."bz").contains(Column("name").collating(.nocase))).select(Column("name")),
                sql: #"SELECT "name" FROM "athlete" WHERE ("name" COLLATE NOCASE) BETWEEN 'a' AND 'bz'"#,
                rows: ["Arthur", "Barbara"])
            try expectQuery(
                db, Athlete.filter(("a"..<"b").contains(Column("name").collating(.nocase))).select(Column("name")),
                sql:
                    #"SELECT "name" FROM "athlete" WHERE ("name" >= 'a' COLLATE NOCASE) AND ("name" < 'b' COLLATE NOCASE)"#,
                rows: ["Arthur"])
        }
    }
}
