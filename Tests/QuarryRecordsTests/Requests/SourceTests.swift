import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite struct SourceTests {
    @Test func elementsOfJSONAreRows() throws {
        try withAthletes { db throws in
            let json = #"{"a": 1, "b": [2, "x"]}"#
            try expectQuery(
                db, Database.jsonEach(json).select { [$0.key, $0.type, $0.value] },
                sql: #"SELECT "key", "type", "value" FROM json_each('{"a": 1, "b": [2, "x"]}')"#,
                rows: ["a|integer|1", #"b|array|[2,"x"]"#])
            try expectQuery(
                db, Database.jsonEach(json, atPath: "$.b").filter { $0.key > 0 }.select { [$0.fullKey, $0.atom] },
                sql: #"SELECT "fullkey", "atom" FROM json_each('{"a": 1, "b": [2, "x"]}', '$.b') WHERE "key" > 0"#,
                rows: ["$.b[1]|x"])
            let elements = try Database.jsonTree(json).order { $0.id }.fetchAll(db)
            #expect(elements.map(\.fullKey) == ["$", "$.a", "$.b", "$.b[0]", "$.b[1]"])
            #expect(elements.map(\.parent) == [nil, 0, 0, elements[2].id, elements[2].id])
            #expect(elements[4].value == "x".databaseValue && elements[4].path == "$.b" && elements[4].type == "text")
            #expect(elements[0].atom == .null && elements[4].atom == "x".databaseValue)
        }
    }

    @Test func elementsOfAColumnAreJoinedOrAskedFor() throws {
        try withAthletes { db throws in
            let athlete = TableAlias<Athlete>()
            let tags = Database.jsonEach(athlete[Athlete.Columns.info], atPath: "$.tags")
            try expectQuery(
                db,
                Athlete.all().aliased(athlete).filter(tags.filter { $0.value == "left" }.exists()).select(Column("id")),
                sql: #"SELECT "id" FROM "athlete" WHERE EXISTS (SELECT * FROM json_each("athlete"."info", '$.tags') "#
                    + #"WHERE "value" = 'left')"#, rows: ["1", "3"])
            let tag = TableAlias<JSONElement>()
            try expectQuery(
                db, Athlete.all().aliased(athlete).join(.inner, tags.aliased(tag)).select(Column("name"), tag.value),
                sql: #"SELECT "athlete"."name", "json_each"."value" FROM "athlete" "#
                    + #"JOIN json_each("athlete"."info", '$.tags')"#,
                rows: ["Arthur|captain", "Arthur|left", "Craig|left"])
            try expectQuery(
                db,
                Athlete.all().join(.left, Database.jsonEach(Athlete.Columns.info, atPath: "$.tags").aliased(tag))
                    .select(Column("id"), count(tag.value)).group(Column("id")),
                sql: #"SELECT "athlete"."id", COUNT("json_each"."value") FROM "athlete" "#
                    + #"LEFT JOIN json_each("athlete"."info", '$.tags') GROUP BY "athlete"."id""#,
                rows: ["1|2", "2|0", "3|1", "4|0"])
        }
    }

    @Test func valuesAreRows() throws {
        try withAthletes { db throws in
            let list = ValueList([[1, "a"], [2, "b"]] as [[any SQLExpressible]])
            try expectQuery(
                db, list.all(), sql: #"SELECT * FROM (VALUES (1, 'a'), (2, 'b')) "subquery""#, rows: ["1|a", "2|b"])
            try expectQuery(
                db, list.all(columns: ["id", "letter"]).filter(Column("letter") == "b"),
                sql:
                    #"SELECT * FROM (SELECT "column1" AS "id", "column2" AS "letter" FROM (VALUES (1, 'a'), (2, 'b')) "#
                    + #""subquery") "subquery" WHERE "letter" = 'b'"#, rows: ["2|b"])
            let table = CommonTableExpression(
                named: "v", columns: ["id", "letter"], request: list, as: Row.self)
            try expectQuery(
                db, table.all().with(table).order(Column("id").desc),
                sql: #"WITH "v"("id", "letter") AS (VALUES (1, 'a'), (2, 'b')) SELECT * FROM "v" ORDER BY "id" DESC"#,
                rows: ["2|b", "1|a"])
            expectError(.SQLITE_MISUSE, "a list of values has no values") {
                try Row.fetchAll(db, ValueList([[any SQLExpressible]]()).all())
            }
            expectError(.SQLITE_MISUSE, "row 2 of a list of values has 2 values, and the first has 1") {
                try Row.fetchAll(db, ValueList([[1], [1, 2], [3]] as [[any SQLExpressible]]).all())
            }
        }
    }

    @Test func aRequestIsATableOfAnother() throws {
        try withAthletes { db throws in
            let best = Athlete.order(Column("score").desc).limit(2)
            try expectQuery(
                db, best.asTable(named: "best").filter(Column("teamId") == 1).select(Column("id")),
                sql: #"SELECT "best"."id" FROM (SELECT * FROM "athlete" ORDER BY "score" DESC LIMIT 2) "best" "#
                    + #"WHERE "best"."teamId" = 1"#, rows: ["2"])
            try expectQuery(
                db, best.asTable().select(count(.allColumns)),
                sql: #"SELECT COUNT(*) FROM (SELECT * FROM "athlete" ORDER BY "score" DESC LIMIT 2) "subquery""#,
                rows: ["2"])
            #expect(try best.asTable(named: "a\"b").fetchAll(db).map(\.id) == [2, 3])
            #expect(try best.asTable(named: "best").fetchCount(db) == 2)
        }
    }

    @Test func tablesAreJoinedOnAnything() throws {
        try withAthletes { db throws in
            let (athlete, squad) = (TableAlias<Athlete>(), TableAlias<Squad>())
            func request(_ kind: JoinKind, on condition: SQLExpression?) -> QueryInterfaceRequest<Athlete> {
                Athlete.all().aliased(athlete).join(kind, Squad.all().aliased(squad), on: condition)
                    .select(athlete.name, squad.name).order(squad.id, athlete.id)
            }
            func text(_ join: String) -> String {
                #"SELECT "athlete"."name", "team"."name" FROM "athlete" \#(join) ORDER BY "team"."id", "athlete"."id""#
            }
            let isMember = athlete.teamId == squad.id
            let on = #"ON "athlete"."teamId" = "team"."id""#
            let pairs = ["Arthur|Red", "Barbara|Red", "Craig|Blue"]
            try expectQuery(db, request(.inner, on: isMember), sql: text(#"JOIN "team" \#(on)"#), rows: pairs)
            try expectQuery(
                db, request(.left, on: isMember), sql: text(#"LEFT JOIN "team" \#(on)"#), rows: ["Diane|NULL"] + pairs)
            try expectQuery(
                db, request(.right, on: isMember), sql: text(#"RIGHT JOIN "team" \#(on)"#), rows: pairs + ["NULL|Green"]
            )
            try expectQuery(
                db, request(.full, on: isMember), sql: text(#"FULL JOIN "team" \#(on)"#),
                rows: ["Diane|NULL"] + pairs + ["NULL|Green"])
            try expectQuery(
                db, request(.inner, on: athlete.score > squad.bonus * 3 && squad.id > 1),
                sql: text(#"JOIN "team" ON ("athlete"."score" > ("team"."bonus" * 3)) AND ("team"."id" > 1)"#),
                rows: ["Barbara|Blue", "Arthur|Green", "Barbara|Green", "Craig|Green"])
            #expect(try rows(db, request(.cross, on: nil)).count == 12)
        }
    }

    @Test func whatIsJoinedMayBeFilteredOrMadeOfMore() throws {
        try withAthletes { db throws in
            let (athlete, squad) = (TableAlias<Athlete>(), TableAlias<Row>(name: "best"))
            let joined = Athlete.all().aliased(athlete)
                .join(.left, Squad.filter(Column("bonus") > 5), on: athlete.teamId == 2)
                .select(athlete.id)
            try expectQuery(
                db, joined,
                sql:
                    #"SELECT "athlete"."id" FROM "athlete" LEFT JOIN "team" ON ("athlete"."teamId" = 2) AND ("team"."bonus" > 5)"#,
                rows: ["1", "2", "3", "4"])
            let best = Table("athlete").select(Column("teamId"), max(Column("score")).forKey("top")).group(
                Column("teamId"))
            try expectQuery(
                db,
                Athlete.all().aliased(athlete)
                    .join(
                        .inner, best.aliased(squad),
                        on: athlete.teamId == squad[Column("teamId")] && athlete.score == squad[Column("top")]
                    )
                    .select(athlete.name),
                sql:
                    #"SELECT "athlete"."name" FROM "athlete" JOIN (SELECT "teamId", MAX("score") AS "top" FROM "athlete" "#
                    + #"GROUP BY "teamId") "best" ON ("athlete"."teamId" = "best"."teamId") "#
                    + #"AND ("athlete"."score" = "best"."top")"#, rows: ["Barbara", "Craig"])
        }
    }

    @Test func anEmptyNameIsAName() throws {
        try withAthletes { db throws in
            let (none, other) = (TableAlias<Athlete>(name: ""), TableAlias<Athlete>())
            try expectQuery(
                db, Athlete.all().aliased(none).filter(none.id == 1).select(none.id),
                sql: #"SELECT ""."id" FROM "athlete" "" WHERE ""."id" = 1"#, rows: ["1"])
            try expectQuery(
                db,
                Athlete.all().aliased(none).join(.inner, Athlete.all().aliased(other), on: none.id == other.id - 3)
                    .select(none.id, other.id),
                sql:
                    #"SELECT ""."id", "athlete"."id" FROM "athlete" "" JOIN "athlete" ON ""."id" = ("athlete"."id" - 3)"#,
                rows: ["1|4"])
            #expect(
                try Athlete.all().aliased(none).filter(none.id == 1).delete().sql(db)
                    == #"DELETE FROM "athlete" AS "" WHERE ""."id" = 1"#)
            try db.execute(sql: #"CREATE TABLE "" ("" INTEGER)"#)
            let unnamed = Table("").all().join(.inner, Table("").all())
            #expect(
                try unnamed.select(Column("")).sql(db) == #"SELECT "1"."" FROM "" "1" JOIN "" "2""#)
        }
    }

    @Test func namesAreOtherNamesWhereTheirBytesDiffer() throws {
        try withAthletes { db throws in
            let (composed, decomposed) = ("\u{E9}", "e\u{301}")
            try db.execute(sql: "CREATE TABLE \(composed) (id); INSERT INTO \(composed) VALUES (1)")
            let alias = TableAlias<Row>(name: decomposed)
            let request = Table(composed).aliased(alias)
            let sql = try request.filter(alias[Column("id")] == 1).sql(db)
            let expected =
                "SELECT \"\(decomposed)\".* FROM \"\(composed)\" \"\(decomposed)\" "
                + "WHERE \"\(decomposed)\".\"id\" = 1"
            #expect(sql.utf8.elementsEqual(expected.utf8), "\(sql)")
            try expectQuery(db, request.filter(alias[Column("id")] == 1), sql: expected, rows: ["1"])
            let changed = try request.filter(alias[Column("id")] == 1).updateAll(db, Column("id").set(to: 2))
            #expect(changed == 1)
            // SQLite takes a name of other case as the same one.
            let first = CommonTableExpression(named: "best", request: Table(composed).all(), as: Row.self)
            let second = CommonTableExpression(
                named: "Best", request: Table(composed).filter(sql: "id = 2"), as: Row.self)
            try expectQuery(
                db, second.all().with(first).with(second),
                sql: "WITH \"Best\" AS (SELECT * FROM \"\(composed)\" WHERE id = 2) SELECT * FROM \"Best\"", rows: ["2"]
            )
        }
    }
}
