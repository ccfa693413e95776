import Quarry
import QuarryFixtures
import QuarrySQL
import QuarryTestSupport
import Testing

@Suite struct JSONExpressionTests {
    let info = JSONColumn("info"), name = Column("name")

    @Test func partsOfJSON() throws {
        try withAthletes { db throws in
            try expectQuery(
                db, selecting: info["city"], sql: #""info" ->> 'city'"#, rows: ["Paris", "Rome", "Paris", "NULL"])
            try expectQuery(
                db, selecting: info["$.tags[0]"], sql: #""info" ->> '$.tags[0]'"#,
                rows: ["captain", "NULL", "left", "NULL"])
            try expectQuery(
                db, selecting: info.jsonExtract(atPath: "$.age"), sql: #"JSON_EXTRACT("info", '$.age')"#,
                rows: ["30", "25", "NULL", "NULL"])
            try expectQuery(
                db, selecting: info.jsonExtract(atPaths: ["$.age", "$.city"]),
                sql: #"JSON_EXTRACT("info", '$.age', '$.city')"#,
                rows: [#"[30,"Paris"]"#, #"[25,"Rome"]"#, #"[null,"Paris"]"#, "NULL"])
            try expectQuery(
                db, selecting: info.jsonRepresentation(atPath: "$.age"), sql: #""info" -> '$.age'"#,
                rows: ["30", "25", "null", "NULL"])
        }
    }

    @Test func conditionsOnJSON() throws {
        try withAthletes { db throws in
            try expectQuery(
                db, Athlete.filter { $0.info["city"] == "Paris" }.select(Column("id")),
                sql: #"SELECT "id" FROM "athlete" WHERE ("info" ->> 'city') = 'Paris'"#, rows: ["1", "3"])
            try expectQuery(
                db, Athlete.filter(AnySQLJSONExpressible(info)["age"] > 26).select(Column("id")),
                sql: #"SELECT "id" FROM "athlete" WHERE ("info" ->> 'age') > 26"#, rows: ["1"])
        }
    }

    @Test func jsonOfAnAlias() throws {
        try withAthletes { db throws in
            let athlete = TableAlias<Athlete>(name: "p")
            let infos: [any SQLJSONExpressible] = [athlete[info], athlete.info, athlete[name.asJSON]]
            #expect(infos.count == 3)
            let request = Athlete.aliased(athlete)
            try expectQuery(
                db, request.filter(athlete[info]["city"] == "Paris" && athlete.info["age"] > 26).select(Column("id")),
                sql:
                    #"SELECT "p"."id" FROM "athlete" "p" WHERE (("p"."info" ->> 'city') = 'Paris') AND (("p"."info" ->> 'age') > 26)"#,
                rows: ["1"])
            try expectQuery(
                db, request.order(athlete[info].jsonExtract(atPath: "$.age").desc).select(Column("id")).limit(1),
                sql: #"SELECT "p"."id" FROM "athlete" "p" ORDER BY JSON_EXTRACT("p"."info", '$.age') DESC LIMIT 1"#,
                rows: ["1"])
            // Inside other JSON, it is JSON.
            try expectQuery(
                db,
                request.filter(athlete[info]["age"] == 25).select(
                    Database.jsonArray([athlete.info["age"], athlete[Column("id")]])),
                sql:
                    #"SELECT JSON_ARRAY("p"."info" ->> 'age', "p"."id") FROM "athlete" "p" WHERE ("p"."info" ->> 'age') = 25"#,
                rows: ["[25,2]"])
            try expectEmitted(db, #"SELECT JSON_ARRAY(JSON("p"."info")) FROM "athlete" "p""#) {
                _ = try String.fetchAll(db, request.select(Database.jsonArray([athlete.info])))
            }
        }
    }

    @Test func functionsThatMakeJSON() throws {
        try withAthletes { db throws in
            func expectValue(_ expression: SQLExpression, _ sql: String, _ value: String) throws {
                let request = Athlete.select(expression).limit(1)
                #expect(try request.sql(db) == "SELECT \(sql) FROM \"athlete\" LIMIT 1")
                #expect(try rows(db, request) == [value])
            }
            let short = #"{"a":[1,2]}"#.databaseValue
            try expectValue(Database.json(#" {"a": 1} "#), #"JSON(' {"a": 1} ')"#, #"{"a":1}"#)
            try expectValue(
                Database.json(info), #"JSON("info")"#, #"{"city":"Paris","tags":["captain","left"],"age":30}"#)
            try expectValue(
                Database.jsonArray([1, name, "[2]".databaseValue.asJSON, "[2]"]),
                #"JSON_ARRAY(1, "name", JSON('[2]'), '[2]')"#, #"[1,"Arthur",[2],"[2]"]"#)
            try expectValue(
                Database.jsonArray([Database.jsonArray([1]), Database.jsonArray([2]).asJSON] as [any SQLExpressible]),
                "JSON_ARRAY(JSON_ARRAY(1), JSON_ARRAY(2))", "[[1],[2]]")
            try expectValue(
                Database.jsonArrayLength(short, atPath: "$.a"), #"JSON_ARRAY_LENGTH('{"a":[1,2]}', '$.a')"#, "2")
            try expectValue(Database.jsonArrayLength("[1]"), "JSON_ARRAY_LENGTH('[1]')", "1")
            try expectValue(
                Database.jsonObject(["z": 1, "a": name, "j": "[]".databaseValue.asJSON]),
                #"JSON_OBJECT('z', 1, 'a', "name", 'j', JSON('[]'))"#, #"{"z":1,"a":"Arthur","j":[]}"#)
            let dictionary: [String: any SQLExpressible] = ["z": 1, "a": 2, "m": 3]
            try expectValue(
                Database.jsonObject(dictionary), "JSON_OBJECT('a', 2, 'm', 3, 'z', 1)", #"{"a":2,"m":3,"z":1}"#)
            try expectValue(
                Database.jsonExtract(short, atPath: "$.a[1]"), #"JSON_EXTRACT('{"a":[1,2]}', '$.a[1]')"#, "2")
            try expectValue(
                Database.jsonInsert(short, ["$.a": 0, "$.b": 1]), #"JSON_INSERT('{"a":[1,2]}', '$.a', 0, '$.b', 1)"#,
                #"{"a":[1,2],"b":1}"#)
            try expectValue(
                Database.jsonReplace(short, ["$.a": name, "$.b": 1]),
                #"JSON_REPLACE('{"a":[1,2]}', '$.a', "name", '$.b', 1)"#, #"{"a":"Arthur"}"#)
            try expectValue(
                Database.jsonSet(short, ["$.b": "[3]".databaseValue.asJSON]),
                #"JSON_SET('{"a":[1,2]}', '$.b', JSON('[3]'))"#, #"{"a":[1,2],"b":[3]}"#)
            try expectValue(
                Database.jsonSet(short, dictionary.filter { $0.key == "" }), #"JSON_SET('{"a":[1,2]}')"#,
                #"{"a":[1,2]}"#)
            try expectValue(
                Database.jsonPatch(short, with: #"{"a":null,"b":1}"#),
                #"JSON_PATCH('{"a":[1,2]}', '{"a":null,"b":1}')"#, #"{"b":1}"#)
            try expectValue(
                Database.jsonRemove(short, atPath: "$.a[0]"), #"JSON_REMOVE('{"a":[1,2]}', '$.a[0]')"#, #"{"a":[2]}"#)
            try expectValue(
                Database.jsonRemove(short, atPaths: ["$.a[0]", "$.a[0]"]),
                #"JSON_REMOVE('{"a":[1,2]}', '$.a[0]', '$.a[0]')"#, #"{"a":[]}"#)
            try expectValue(Database.jsonType(short), #"JSON_TYPE('{"a":[1,2]}')"#, "object")
            try expectValue(Database.jsonType(short, atPath: "$.a"), #"JSON_TYPE('{"a":[1,2]}', '$.a')"#, "array")
            try expectValue(Database.jsonIsValid("{"), "JSON_VALID('{')", "0")
            try expectValue(Database.jsonQuote(name), #"JSON_QUOTE("name")"#, #""Arthur""#)
        }
    }

    @Test func aggregatesThatMakeJSON() throws {
        try withAthletes { db throws in
            try expectQuery(
                db, selecting: Database.jsonGroupArray(name), sql: #"JSON_GROUP_ARRAY("name")"#,
                rows: [#"["Arthur","Barbara","Craig","Diane"]"#])
            try expectQuery(
                db,
                selecting: Database.jsonGroupArray(
                    info.jsonRepresentation(atPath: "tags").asJSON, filter: Column("id") < 3),
                sql: #"JSON_GROUP_ARRAY(JSON("info" -> 'tags')) FILTER (WHERE "id" < 3)"#,
                rows: [#"[["captain","left"],[]]"#])
            try expectQuery(
                db, selecting: Database.jsonGroupObject(key: name, value: Column("score"), filter: Column("id") != 4),
                sql: #"JSON_GROUP_OBJECT("name", "score") FILTER (WHERE "id" <> 4)"#,
                rows: [#"{"Arthur":10,"Barbara":30,"Craig":20}"#])
            let found = try emitted(db) {
                let text = try Athlete.select(Database.jsonGroupArray(Column("id")), as: String.self).fetchOne(db)
                #expect(text == "[1,2,3,4]")
            }
            #expect(found == [#"SELECT JSON_GROUP_ARRAY("id") FROM "athlete""#])
        }
    }

    @Test func columnsAreSetToJSON() throws {
        try withAthletes { db throws in
            let found = try emitted(db) {
                try Athlete.filter(Column("id") == 1).updateAll(
                    db, info.set(to: Database.jsonSet(info, ["$.city": "Oslo", "$.home": info["city"]])))
                try Athlete.filter(Column("id") == 2).updateAll(db, info.set(to: "[]".databaseValue.asJSON))
            }
            #expect(
                found == [
                    #"UPDATE "athlete" SET "info" = JSON_SET("info", '$.city', 'Oslo', '$.home', "info" ->> 'city') "#
                        + #"WHERE "id" = 1"#,
                    #"UPDATE "athlete" SET "info" = '[]' WHERE "id" = 2"#,
                ])
            #expect(
                try rows(db, Athlete.filter(Column("id") <= 2).select(info)) == [
                    #"{"city":"Oslo","tags":["captain","left"],"age":30,"home":"Paris"}"#, "[]",
                ])
        }
    }

    @Test func functionsInBinaryFormatAreOfALaterSQLite() throws {
        try withAthletes { db throws in
            var writer = QueryWriter(schema: db)
            writer.abilities.version = 3_045_000
            let x = Column("x")
            let all: [(SQLExpression, String)] = [
                (Database.jsonb(x), #"JSONB("x")"#),
                (Database.jsonbArray([1, info]), #"JSONB_ARRAY(?, JSON("info"))"#),
                (Database.jsonbExtract(x, atPath: "$.a"), #"JSONB_EXTRACT("x", ?)"#),
                (Database.jsonbExtract(x, atPaths: ["$.a"]), #"JSONB_EXTRACT("x", ?)"#),
                (Database.jsonbInsert(x, ["$.a": 1]), #"JSONB_INSERT("x", ?, ?)"#),
                (Database.jsonbReplace(x, ["$.a": 1]), #"JSONB_REPLACE("x", ?, ?)"#),
                (Database.jsonbSet(x, ["$.a": 1]), #"JSONB_SET("x", ?, ?)"#),
                (Database.jsonbObject(["a": x]), #"JSONB_OBJECT(?, "x")"#),
                (Database.jsonbPatch(x, with: x), #"JSONB_PATCH("x", "x")"#),
                (Database.jsonbRemove(x, atPath: "$.a"), #"JSONB_REMOVE("x", ?)"#),
                (Database.jsonbRemove(x, atPaths: ["$.a"]), #"JSONB_REMOVE("x", ?)"#),
                (Database.jsonbGroupArray(x), #"JSONB_GROUP_ARRAY("x")"#),
                (Database.jsonbGroupObject(key: x, value: x), #"JSONB_GROUP_OBJECT("x", "x")"#),
                (Database.jsonIsValid(x, options: [.json, .jsonb]), #"JSON_VALID("x", ?)"#),
            ]
            for (expression, sql) in all {
                var copy = writer
                try copy.write(expression)
                #expect(copy.sql() == sql)
                copy.abilities.version = 3_040_001
                let error = expectError(DatabaseError.self) { () throws in try copy.write(expression) }
                #expect(error?.message?.hasSuffix("needs SQLite 3.45.0, and this is 3.40.1") == true)
            }
        }
    }
}
