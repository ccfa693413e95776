import Quarry
import QuarryTestSupport
import Testing

@Suite struct ConditionalExpressionTests {
    @Test func aCaseDecidesByConditions() throws {
        try withRequestTables { db throws in
            let level = caseWhen(Column("score") > 25, then: "gold").when(Column("score") > 15, then: "silver")
            try expectSelected(
                db, level.otherwise("bronze"),
                #"CASE WHEN "score" > 25 THEN 'gold' WHEN "score" > 15 THEN 'silver' ELSE 'bronze' END"#,
                ["bronze", "gold", "silver", "bronze"])
            try expectSelected(
                db, level, #"CASE WHEN "score" > 25 THEN 'gold' WHEN "score" > 15 THEN 'silver' END"#,
                ["NULL", "gold", "silver", "NULL"])
            try expectRows(
                db, Athlete.filter(level == "gold").select(Column("id")),
                #"SELECT "id" FROM "athlete" WHERE CASE WHEN "score" > 25 THEN 'gold' WHEN "score" > 15 THEN 'silver' END "#
                    + "= 'gold'", ["2"])
        }
    }

    @Test func aCaseComparesABase() throws {
        try withRequestTables { db throws in
            try expectSelected(
                db, caseOf(Column("teamId"), when: 1, then: "red").when(2, then: Column("name")).otherwise(nil),
                #"CASE "teamId" WHEN 1 THEN 'red' WHEN 2 THEN "name" ELSE NULL END"#, ["red", "red", "Craig", "NULL"])
        }
    }

    @Test func aCaseOfAggregatesIsOneRow() throws {
        try withRequestTables { db throws in
            let isFull = caseWhen(count(.allColumns) > 3, then: "full").otherwise("open")
            let found = try emitted(db) { () throws in
                #expect(try Athlete.select(isFull, as: String.self).fetchOne(db) == "full")
            }
            #expect(found == [#"SELECT CASE WHEN COUNT(*) > 3 THEN 'full' ELSE 'open' END FROM "athlete""#])
        }
    }

    @Test func functionsChooseBetweenValues() throws {
        try withRequestTables { db throws in
            try expectSelected(
                db, nullIf(Column("name"), "Craig"), #"NULLIF("name", 'Craig')"#,
                ["Arthur", "Barbara", "NULL", "Diane"])
            try expectSelected(
                db, iif(Column("score") > 15, "high", nil), #"IIF("score" > 15, 'high', NULL)"#,
                ["NULL", "high", "high", "NULL"])
            try expectSelected(
                db, typeOf(Column("score")), #"TYPEOF("score")"#, ["integer", "integer", "integer", "null"])
            try expectSelected(
                db, min(Column("score"), Column("id"), 2), #"MIN("score", "id", 2)"#, ["1", "2", "2", "NULL"])
            try expectSelected(
                db, max(Column("score"), 15), #"MAX("score", 15)"#, ["15", "30", "20", "NULL"])
        }
    }

    @Test func hintsGoToThePlanner() throws {
        try withRequestTables { db throws in
            try expectRows(
                db, Athlete.filter(likelihood(Column("score") > 15, 0.25)).select(Column("id")),
                #"SELECT "id" FROM "athlete" WHERE LIKELIHOOD("score" > 15, 0.25)"#, ["2", "3"])
            try expectRows(
                db, Athlete.filter(likely(Column("score") > 15) && unlikely(Column("id") == 2)).select(Column("id")),
                #"SELECT "id" FROM "athlete" WHERE LIKELY("score" > 15) AND UNLIKELY("id" = 2)"#, ["2"])
            expectError(.SQLITE_MISUSE, "the probability of likelihood is 1.5, and must be from 0.0 to 1.0") {
                try Row.fetchAll(db, Athlete.filter(likelihood(Column("score") > 1, 1.5)))
            }
            expectError(.SQLITE_MISUSE, "the probability of likelihood is nan, and must be from 0.0 to 1.0") {
                try Row.fetchAll(db, Athlete.filter(likelihood(Column("score") > 1, .nan)))
            }
        }
    }

    @Test func rowValuesAreComparedAsOne() throws {
        try withRequestTables { db throws in
            let pair = rowValue(Column("teamId"), Column("score"))
            try expectRows(
                db, Athlete.filter(pair == rowValue(1, 30)).select(Column("id")),
                #"SELECT "id" FROM "athlete" WHERE ("teamId", "score") = (1, 30)"#, ["2"])
            try expectRows(
                db, Athlete.filter(pair > rowValue(1, 10)).select(Column("id")).order(Column("id")),
                #"SELECT "id" FROM "athlete" WHERE ("teamId", "score") > (1, 10) ORDER BY "id""#, ["2", "3"])
            try expectRows(
                db, Athlete.filter([rowValue(1, 10), rowValue(2, 20)].contains(pair)).select(Column("id")),
                #"SELECT "id" FROM "athlete" WHERE ("teamId", "score") IN (VALUES (1, 10), (2, 20))"#, ["1", "3"])
            try expectRows(
                db, Athlete.filter(![rowValue(1, 10), rowValue(2, 20)].contains(pair)).select(Column("id")),
                #"SELECT "id" FROM "athlete" WHERE ("teamId", "score") NOT IN (VALUES (1, 10), (2, 20))"#, ["2"])
            try expectRows(
                db, Athlete.filter([rowValue(1, 10)].contains(pair)).select(Column("id")),
                #"SELECT "id" FROM "athlete" WHERE ("teamId", "score") = (1, 10)"#, ["1"])
            try expectRows(
                db,
                Athlete.filter(
                    Athlete.select(Column("teamId"), max(Column("score"))).group(Column("teamId")).contains(pair)
                )
                .select(Column("id")).order(Column("id")),
                #"SELECT "id" FROM "athlete" WHERE ("teamId", "score") IN (SELECT "teamId", MAX("score") FROM "athlete" "#
                    + #"GROUP BY "teamId") ORDER BY "id""#, ["2", "3"])
            expectError(.SQLITE_MISUSE, "row 2 of a list of values has 1 values, and the first has 2") {
                try Row.fetchAll(db, Athlete.filter([rowValue(1, 10), rowValue(2)].contains(pair)))
            }
        }
    }

    @Test func aRangeIsOfACollation() throws {
        try withRequestTables { db throws in
            try expectRows(
                db, Athlete.filter(("a"..."bz").contains(Column("name").collating(.nocase))).select(Column("name")),
                #"SELECT "name" FROM "athlete" WHERE ("name" COLLATE NOCASE) BETWEEN 'a' AND 'bz'"#,
                ["Arthur", "Barbara"])
            try expectRows(
                db, Athlete.filter(("a"..<"b").contains(Column("name").collating(.nocase))).select(Column("name")),
                #"SELECT "name" FROM "athlete" WHERE ("name" >= 'a' COLLATE NOCASE) AND ("name" < 'b' COLLATE NOCASE)"#,
                ["Arthur"])
        }
    }
}
