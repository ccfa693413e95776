import Quarry
import QuarryFixtures
import QuarrySQL
import QuarryTestSupport
import Testing

@Suite struct FunctionExpressionTests {
    @Test func textFunctions() throws {
        try withAthletes { db throws in
            let name = Column("name")
            try expectQuery(
                db, selecting: replace(name, "ar", with: "AR"), sql: #"REPLACE("name", 'ar', 'AR')"#,
                rows: ["Arthur", "BARbARa", "Craig", "Diane"])
            try expectQuery(
                db, selecting: substr(name, 2), sql: #"SUBSTR("name", 2)"#, rows: ["rthur", "arbara", "raig", "iane"])
            try expectQuery(
                db, selecting: substr(name, -3, 2), sql: #"SUBSTR("name", -3, 2)"#, rows: ["hu", "ar", "ai", "an"])
            try expectQuery(
                db, selecting: trim(name, "Aar"), sql: #"TRIM("name", 'Aar')"#, rows: ["thu", "Barb", "Craig", "Diane"])
            try expectQuery(
                db, selecting: ltrim(name, "AB"), sql: #"LTRIM("name", 'AB')"#,
                rows: ["rthur", "arbara", "Craig", "Diane"])
            try expectQuery(
                db, selecting: rtrim(name, "ra"), sql: #"RTRIM("name", 'ra')"#,
                rows: ["Arthu", "Barb", "Craig", "Diane"])
            try expectQuery(
                db, selecting: trim(name), sql: #"TRIM("name")"#, rows: ["Arthur", "Barbara", "Craig", "Diane"])
            try expectQuery(db, selecting: instr(name, "a"), sql: #"INSTR("name", 'a')"#, rows: ["0", "2", "3", "3"])
            try expectQuery(
                db, selecting: lower(name), sql: #"LOWER("name")"#, rows: ["arthur", "barbara", "craig", "diane"])
            try expectQuery(
                db, selecting: upper(name), sql: #"UPPER("name")"#, rows: ["ARTHUR", "BARBARA", "CRAIG", "DIANE"])
            try expectQuery(db, selecting: hex(Column("id")), sql: #"HEX("id")"#, rows: ["31", "32", "33", "34"])
            try expectQuery(
                db, selecting: quote(Column("teamId")), sql: #"QUOTE("teamId")"#, rows: ["1", "1", "2", "NULL"])
            try expectQuery(db, selecting: unicode(name), sql: #"UNICODE("name")"#, rows: ["65", "66", "67", "68"])
            try expectQuery(
                db, selecting: printf("%s:%03d", name, Column("id")), sql: #"PRINTF('%s:%03d', "name", "id")"#,
                rows: ["Arthur:001", "Barbara:002", "Craig:003", "Diane:004"])
        }
    }

    @Test func valuesOfAGroupBecomeOneText() throws {
        try withAthletes { db throws in
            let name = Column("name")
            let teamId = Column("teamId")
            try expectQuery(
                db, selecting: groupConcat(name), sql: #"GROUP_CONCAT("name")"#, rows: ["Arthur,Barbara,Craig,Diane"])
            try expectQuery(
                db, selecting: groupConcat(name, separator: "; ", filter: Column("score") > 15),
                sql: #"GROUP_CONCAT("name", '; ') FILTER (WHERE "score" > 15)"#, rows: ["Barbara; Craig"])
            try expectQuery(
                db, selecting: groupConcat(teamId, distinct: true), sql: #"GROUP_CONCAT(DISTINCT "teamId")"#,
                rows: ["1,2"])
            expectError(.SQLITE_MISUSE, "groupConcat has no separator of distinct values: select them in a subquery") {
                try Row.fetchAll(db, Athlete.select(groupConcat(teamId, separator: ";", distinct: true)))
            }
        }
    }

    @Test func dateFunctions() throws {
        try withAthletes { db throws in
            func expectValue(_ expression: SQLExpression, _ sql: String, _ value: String) throws {
                let text = try Athlete.select(expression).limit(1).sql(db)
                #expect(text == "SELECT \(sql) FROM \"athlete\" LIMIT 1")
                #expect(try rows(db, Athlete.select(expression).limit(1)) == [value])
            }
            let then = "2023-01-15 20:30:45".databaseValue
            try expectValue(julianDay(then), "JULIANDAY('2023-01-15 20:30:45')", "2459960.3546875")
            try expectValue(dateTime(then, .day(1)), "DATETIME('2023-01-15 20:30:45', '1 days')", "2023-01-16 20:30:45")
            try expectValue(
                date(then, .startOfMonth, .month(1), .day(-1)),
                "DATE('2023-01-15 20:30:45', 'start of month', '1 months', '-1 days')", "2023-01-31")
            try expectValue(
                time(then, .hour(2), .minute(-30), .second(1.5)),
                "TIME('2023-01-15 20:30:45', '2 hours', '-30 minutes', '1.5 seconds')", "22:00:46")
            try expectValue(unixEpoch(then), "UNIXEPOCH('2023-01-15 20:30:45')", "1673814645")
            try expectValue(strftime("%Y-%m", then), "STRFTIME('%Y-%m', '2023-01-15 20:30:45')", "2023-01")
            try expectValue(date(then, .weekday(0)), "DATE('2023-01-15 20:30:45', 'weekday 0')", "2023-01-15")
            try expectValue(
                date(then, .startOfYear, .year(1)), "DATE('2023-01-15 20:30:45', 'start of year', '1 years')",
                "2024-01-01")
            try expectValue(
                dateTime(then, .startOfDay), "DATETIME('2023-01-15 20:30:45', 'start of day')", "2023-01-15 00:00:00")
            try expectValue(dateTime(0.databaseValue, .unixEpoch), "DATETIME(0, 'unixepoch')", "1970-01-01 00:00:00")
            try expectValue(
                dateTime(2_440_587.5.databaseValue, .julianDay), "DATETIME(2440587.5, 'julianday')",
                "1970-01-01 00:00:00")
            try expectValue(dateTime(0.databaseValue, .auto), "DATETIME(0, 'auto')", "-4713-11-24 12:00:00")
            try expectValue(
                julianDay(dateTime(then, .localTime, .utc)) - julianDay(then),
                "JULIANDAY(DATETIME('2023-01-15 20:30:45', 'localtime', 'utc')) - JULIANDAY('2023-01-15 20:30:45')",
                "0.0")
            #expect(
                try Athlete.select(date(SQLExpression.now)).limit(1).sql(db)
                    == #"SELECT DATE('now') FROM "athlete" LIMIT 1"#)
        }
    }

    @Test func mathFunctions() throws {
        try withAthletes { db throws in
            func expectValue(_ expression: SQLExpression, _ sql: String, _ value: String) throws {
                let request = Athlete.select(expression).limit(1)
                #expect(try request.sql(db) == "SELECT \(sql) FROM \"athlete\" LIMIT 1")
                #expect(try rows(db, request) == [value])
            }
            let x = 2.25.databaseValue
            try expectValue(round(x), "ROUND(2.25)", "2.0")
            try expectValue(round(x, 1), "ROUND(2.25, 1)", "2.3")
            try expectValue(sign(-x), "SIGN(-2.25)", "-1")
            try expectValue(ceil(x), "CEIL(2.25)", "3.0")
            try expectValue(floor(x), "FLOOR(2.25)", "2.0")
            try expectValue(trunc(-x), "TRUNC(-2.25)", "-2.0")
            try expectValue(mod(x, 2), "MOD(2.25, 2)", "0.25")
            try expectValue(sqrt(x), "SQRT(2.25)", "1.5")
            try expectValue(pow(x, 2), "POW(2.25, 2)", "5.0625")
            try expectValue(exp(0.databaseValue), "EXP(0)", "1.0")
            try expectValue(ln(1.databaseValue), "LN(1)", "0.0")
            try expectValue(round(log2(8.databaseValue), 6), "ROUND(LOG2(8), 6)", "3.0")
            try expectValue(round(log10(1000.databaseValue), 6), "ROUND(LOG10(1000), 6)", "3.0")
            try expectValue(round(log(9.databaseValue, base: 3), 6), "ROUND(LOG(3, 9), 6)", "2.0")
            try expectValue(sin(0.databaseValue), "SIN(0)", "0.0")
            try expectValue(cos(0.databaseValue), "COS(0)", "1.0")
            try expectValue(tan(0.databaseValue), "TAN(0)", "0.0")
            try expectValue(asin(0.databaseValue), "ASIN(0)", "0.0")
            try expectValue(acos(1.databaseValue), "ACOS(1)", "0.0")
            try expectValue(atan(0.databaseValue), "ATAN(0)", "0.0")
            try expectValue(round(degrees(atan2(1.databaseValue, 1)), 6), "ROUND(DEGREES(ATAN2(1, 1)), 6)", "45.0")
            try expectValue(sinh(0.databaseValue), "SINH(0)", "0.0")
            try expectValue(cosh(0.databaseValue), "COSH(0)", "1.0")
            try expectValue(tanh(0.databaseValue), "TANH(0)", "0.0")
            try expectValue(
                round(radians(180.databaseValue) - SQLExpression.pi, 6), "ROUND(RADIANS(180) - PI(), 6)", "0.0")
            try expectValue(typeOf(SQLExpression.random), "TYPEOF(RANDOM())", "integer")
            try expectValue(length(SQLExpression.randomBlob(7)), "LENGTH(RANDOMBLOB(7))", "7")
        }
    }

    @Test func missingJSONFunctionsThrow() throws {
        try withAthletes { db throws in
            func text(_ abilities: SQLiteAbilities, _ expression: SQLExpression) throws -> String {
                var writer = QueryWriter(schema: db)
                writer.abilities = abilities
                try writer.write(expression)
                return writer.sql()
            }
            var (old, late) = (SQLiteAbilities.ofLibrary, SQLiteAbilities.ofLibrary)
            old.version = 3_040_001
            late.version = 3_050_000
            let x = Column("x")
            let expressions: [(SQLExpression, String, String)] = [
                (Database.jsonb(x), #"JSONB("x")"#, "JSONB needs SQLite 3.45.0, and this is 3.40.1"),
                (
                    Database.jsonErrorPosition(x), #"JSON_ERROR_POSITION("x")"#,
                    "JSON_ERROR_POSITION needs SQLite 3.42.0, and this is 3.40.1"
                ),
            ]
            for (expression, sql, message) in expressions {
                expectError(.SQLITE_MISUSE, message) { try text(old, expression) }
                #expect(try text(late, expression) == sql)
            }
        }
    }
}
