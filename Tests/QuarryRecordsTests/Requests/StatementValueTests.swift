import Quarry
import QuarryFixtures
import QuarrySQL
import QuarryTestSupport
import Testing

@Suite struct StatementValueTests {
    let id = Column("id"), name = Column("name"), score = Column("score"), teamId = Column("teamId")

    func all(_ db: Database) throws -> [String] { try rows(db, Athlete.select(id, name, score).order(id)) }

    @Test func aStatementIsKeptPrintedAndRun() throws {
        let raise = Athlete.filter { $0.teamId == 1 }.update {
            [$0.score += 10, $0.name.set(to: $0.name ?? "O'Brien")]
        }
        let purge = Athlete.filter { $0.score == nil }.delete()
        let statements: [any ChangeStatement<Athlete> & Sendable] = [raise, purge]
        #expect(statements.count == 2)
        try withAthletes { db throws in
            #expect(
                try raise.sql(db)
                    == #"UPDATE "athlete" SET "score" = "score" + 10, "name" = IFNULL("name", 'O''Brien') WHERE "teamId" = 1"#
            )
            #expect(try purge.sql(db) == #"DELETE FROM "athlete" WHERE "score" IS NULL"#)
            #expect(try all(db) == ["1|Arthur|10", "2|Barbara|30", "3|Craig|20", "4|Diane|NULL"])
            #expect(try raise.execute(db) == 2)
            #expect(try purge.execute(db) == 1)
            #expect(try purge.execute(db) == 0)
            #expect(try all(db) == ["1|Arthur|20", "2|Barbara|40", "3|Craig|20"])
            #expect(try Table("athlete").update([score.set(to: nil)]).execute(db) == 3)
            #expect(try Table("athlete").delete().execute(db) == 3)
            expectError(.SQLITE_MISUSE, "an update of athlete has no assignments") { () throws in
                try Athlete.all().update([]).execute(db)
            }
        }
    }

    @Test func rowsAreInserted() throws {
        try withAthletes { db throws in
            let insert = Athlete.insert({ [$0.id, $0.name, $0.score] }, values: [[5, "Eve", 50], [6, "F'x", nil]])
            #expect(
                try insert.sql(db)
                    == #"INSERT INTO "athlete" ("id", "name", "score") VALUES (5, 'Eve', 50), (6, 'F''x', NULL)"#)
            #expect(try insert.execute(db) == 2)
            let values: [[(any SQLExpressible)?]] = [[7, Athlete.filter(id == 1).select(name), score]]
            let error = expectError(DatabaseError.self) { () throws in
                try Table("athlete").insert(columns: [id, name, score], values: values).execute(db)
            }
            #expect(noSuchColumn("score").contains(error?.message))
            #expect(
                try Athlete.insert(columns: [id, name], values: [[1, "Zoe"]], onConflict: .ignore).execute(db) == 0)
            #expect(
                try Athlete.insert(columns: [id, name], values: [[1, "Zoe"]], onConflict: .replace).sql(db)
                    == #"INSERT OR REPLACE INTO "athlete" ("id", "name") VALUES (1, 'Zoe')"#)
            #expect(
                try Squad.insert(columns: [name], values: [["x"]]).returning({ [$0.id] }, as: Int.self).fetchAll(db)
                    == [4])
            #expect(try Table("archive").insert(values: [[1, "a", 2, 3, nil]]).execute(db) == 1)
            expectError(.SQLITE_MISUSE, "an insert into athlete has 1 columns and 2 values a row") { () throws in
                try Athlete.insert(columns: [id], values: [[1, 2]]).execute(db)
            }
            expectError(.SQLITE_MISUSE, "a list of values has no values") { () throws in
                try Athlete.insert(columns: [id], values: []).execute(db)
            }
            try db.execute(sql: "CREATE TABLE plain (a INTEGER DEFAULT 3, b TEXT DEFAULT 'x')")
            struct Plain: TableRecord {}
            #expect(try Plain.insertDefaultValues().sql(db) == #"INSERT INTO "plain" DEFAULT VALUES"#)
            #expect(try Plain.insertDefaultValues().execute(db) == 1)
            #expect(try rows(db, Plain.all()) == ["3|x"])
        }
    }

    @Test func manyRowsAreInsertedByParts() throws {
        try withAthletes { db throws in
            try db.setLimit(.variableNumber, to: 10)
            let columns = [id, name, score]
            let values: [[(any SQLExpressible)?]] = (5...12).map { [$0, "n\($0)", $0 * 10] }
            let insert = Athlete.insert(columns: columns, values: values)
            let emittedSQL = try emitted(db) { () throws in #expect(try insert.execute(db) == 8) }
            func part(_ numbers: [Int]) -> String {
                #"INSERT INTO "athlete" ("id", "name", "score") VALUES "#
                    + numbers.map { "(\($0), 'n\($0)', \($0 * 10))" }.joined(separator: ", ")
            }
            #expect(
                emittedSQL == [
                    "SAVEPOINT quarry", part([5, 6, 7]), part([8, 9, 10]), part([11, 12]), "RELEASE SAVEPOINT quarry",
                ])
            #expect(try all(db).suffix(2) == ["11|n11|110", "12|n12|120"])
            // All or none; the rows before the one that fails with OR FAIL.
            let again = Athlete.insert(
                columns: columns, values: [[13, "x", 1], [14, "y", 1], [15, "z", 1], [5, "w", 1]])
            expectError(.SQLITE_CONSTRAINT_PRIMARYKEY, "UNIQUE constraint failed: athlete.id") { () throws in
                try again.execute(db)
            }
            #expect(try Athlete.filter(id > 12).fetchCount(db) == 0)
            let failing = Athlete.insert(
                columns: columns, values: [[13, "x", 1], [14, "y", 1], [15, "z", 1], [5, "w", 1], [16, "v", 1]],
                onConflict: .fail)
            expectError(.SQLITE_CONSTRAINT_PRIMARYKEY, "UNIQUE constraint failed: athlete.id") { () throws in
                try failing.execute(db)
            }
            #expect(try Athlete.filter(id > 12).select(id).fetchCount(db) == 3)
            #expect(db.isInsideTransaction)
            // Values in addition to those of the rows, and rows that have more.
            let upsert = Athlete.insert(
                columns: [id, name], values: [[5, "a"], [6, "b"], [7, "c"], [8, "d"], [99, "e"]]
            )
            .onConflict([id], updateWhere: { _ in score > 60 }) { [name.set(to: $0["name"]), score += 1] }
            #expect(try upsert.execute(db) == 3)
            #expect(
                try rows(db, Athlete.filter((5...8).contains(id)).select(name).order(id)) == ["n5", "n6", "c", "d"])
            let uneven: [[(any SQLExpressible)?]] =
                (20..<26).map { (number: Int) in [number, "u\(number)", nil] }
                + [[26, [1, 2, 3, 4, 5, 6].contains(score) && id > 0, 1]].map { row in row }
            let failure = expectError(DatabaseError.self) { () throws in
                try Athlete.insert(columns: columns, values: uneven).execute(db)
            }
            #expect(noSuchColumn("score").contains(failure?.message))
            #expect(try Athlete.filter((20..<30).contains(id)).fetchCount(db) == 0)
            // An insert that can't be divided throws, and writes nothing.
            expectError(
                .SQLITE_MISUSE,
                "8 rows are too many for an insert into athlete that returns rows: a statement takes 10 values"
            ) { () throws in _ = try insert.returning().fetchAll(db) }
            #expect(try insert.sql(db) == part(Array(5...12)))
            let plan = try insert.explain(db)
            #expect(plan.contains("3 CONSTANT ROWS") || plan.contains("3-ROW VALUES CLAUSE"))
        }
    }

    @Test func rowsOfARequestAreInserted() throws {
        try withAthletes { db throws in
            let copy = Athlete.filter(score > 15).select(id, name).insert(into: Table("archive"), columns: [id, name])
            #expect(
                try copy.sql(db)
                    == #"INSERT INTO "archive" ("id", "name") SELECT "id", "name" FROM "athlete" WHERE "score" > 15"#)
            #expect(try copy.execute(db) == 2)
            #expect(try Athlete.filter(id == 1).insert(into: Table("archive")).execute(db) == 1)
            #expect(try rows(db, Table("archive").select(id, name).order(id)) == ["1|Arthur", "2|Barbara", "3|Craig"])
            let best = CommonTableExpression(named: "best", request: Athlete.order(score.desc).limit(1))
            let named = best.all().with(best).select(
                id + 100, [name.sqlExpression, "2".sqlExpression].joined(operator: .concat)
            ).insert(into: Athlete.self, columns: [id, name])
            #expect(
                try named.sql(db)
                    == #"INSERT INTO "athlete" ("id", "name") WITH "best" AS (SELECT * FROM "athlete" "#
                    + #"ORDER BY "score" DESC LIMIT 1) SELECT "id" + 100, "name" || '2' FROM "best""#)
            #expect(try named.execute(db) == 1)
        }
    }

    @Test func rowsInTheWayAreUpdated() throws {
        try withAthletes { db throws in
            let insert = Athlete.insert(columns: [name, score], values: [["Arthur", 1], ["Eve", 2]])
            let adding = insert.onConflict([name]) { excluded in [score += excluded["score"], id.noOverwrite] }
            #expect(
                try adding.sql(db)
                    == #"INSERT INTO "athlete" ("name", "score") VALUES ('Arthur', 1), ('Eve', 2) "#
                    + #"ON CONFLICT("name") DO UPDATE SET "score" = "score" + "excluded"."score""#)
            #expect(try adding.execute(db) == 2)
            #expect(
                try rows(db, Athlete.filter(["Arthur", "Eve"].contains(name)).select(name, score)) == [
                    "Arthur|11", "Eve|2",
                ])
            let nothing = insert.onConflictDoNothing()
            #expect(
                try nothing.sql(db)
                    == #"INSERT INTO "athlete" ("name", "score") VALUES ('Arthur', 1), ('Eve', 2) ON CONFLICT DO NOTHING"#
            )
            #expect(try nothing.execute(db) == 0)
            let larger = insert.onConflict([name], updateWhere: { score < $0["score"] }) {
                [score.set(to: $0["score"])]
            }
            #expect(
                try larger.returning({ ($0.name, $0.score) }, as: (String, Int).self).sql(db)
                    == #"INSERT INTO "athlete" ("name", "score") VALUES ('Arthur', 1), ('Eve', 2) ON CONFLICT("name") "#
                    + #"DO UPDATE SET "score" = "excluded"."score" WHERE "score" < "excluded"."score" RETURNING "name", "score""#
            )
            #expect(try larger.execute(db) == 0)
            let several = Athlete.insert(columns: [id, name], values: [[1, "Craig"], [9, "Craig"]])
                .onConflictDoNothing([id])
                .onConflict([name]) { _ in [score.set(to: 99)] }
            #expect(
                try several.sql(db)
                    == #"INSERT INTO "athlete" ("id", "name") VALUES (1, 'Craig'), (9, 'Craig') "#
                    + #"ON CONFLICT("id") DO NOTHING ON CONFLICT("name") DO UPDATE SET "score" = 99"#)
            #expect(try several.execute(db) == 1)
            try db.execute(sql: "CREATE UNIQUE INDEX partial ON archive (name) WHERE score > 0")
            let partial = Table("archive").insert(columns: [name, score], values: [["a", 1], ["a", 2]])
                .onConflict([name], where: score > 0) { [score.set(to: $0["score"])] }
            #expect(
                try partial.sql(db)
                    == #"INSERT INTO "archive" ("name", "score") VALUES ('a', 1), ('a', 2) "#
                    + #"ON CONFLICT("name") WHERE "score" > 0 DO UPDATE SET "score" = "excluded"."score""#)
            #expect(try partial.execute(db) == 2)
            expectError(.SQLITE_MISUSE, "the condition of a partial index needs the columns of the index") {
                () throws in
                try insert.onConflictDoNothing(where: score > 0).execute(db)
            }
        }
    }

    @Test func rowsOfARequestAreInsertedOrUpdate() throws {
        try withAthletes { db throws in
            func text(_ request: QueryInterfaceRequest<Athlete>) throws -> String {
                let insert = request.insert(into: Table("archive")).onConflict([id]) { [name.set(to: $0["name"])] }
                #expect(try insert.execute(db) > 0)
                #expect(try insert.execute(db) > 0)
                return try insert.sql(db)
            }
            let conflict = #" ON CONFLICT("id") DO UPDATE SET "name" = "excluded"."name""#
            #expect(
                try text(Athlete.all()) == #"INSERT INTO "archive" SELECT * FROM "athlete" WHERE 1"# + conflict)
            #expect(
                try text(Athlete.filter(id > 1))
                    == #"INSERT INTO "archive" SELECT * FROM "athlete" WHERE "id" > 1"# + conflict)
            #expect(
                try text(Athlete.filter(id > 1).union(Athlete.all()))
                    == #"INSERT INTO "archive" SELECT * FROM (SELECT * FROM "athlete" WHERE "id" > 1 UNION "#
                    + #"SELECT * FROM "athlete") "subquery" WHERE 1"# + conflict)
        }
    }

    @Test func columnsAreSetFromAnotherTable() throws {
        try withAthletes { db throws in
            let (athlete, squad) = (TableAlias<Athlete>(), TableAlias<Squad>())
            let raise = Athlete.all().aliased(athlete).filter(athlete.teamId == squad.id)
                .update([score += squad.bonus]).from(Squad.all().aliased(squad))
            #expect(
                try raise.sql(db)
                    == #"UPDATE "athlete" SET "score" = "athlete"."score" + "team"."bonus" FROM "team" "#
                    + #"WHERE "athlete"."teamId" = "team"."id""#)
            #expect(try raise.execute(db) == 3)
            #expect(try all(db) == ["1|Arthur|15", "2|Barbara|35", "3|Craig|27", "4|Diane|NULL"])
            let blue = Athlete.all().aliased(athlete).filter(athlete.teamId == squad.id)
                .update([score.set(to: 0)]).from(Squad.filter(name == "Blue").aliased(squad))
            #expect(
                try blue.returning().sql(db)
                    == #"UPDATE "athlete" SET "score" = 0 FROM "team" WHERE ("athlete"."teamId" = "team"."id") "#
                    + #"AND ("team"."name" = 'Blue') RETURNING *"#)
            #expect(try blue.returning().fetchAll(db).map(\.id) == [3])
            let (a, b) = (TableAlias<Athlete>(), TableAlias<Athlete>())
            let swapped = Athlete.all().aliased(a).filter(a.id == b.id - 1)
                .update([score.set(to: b.score)]).from(Athlete.all().aliased(b))
            #expect(
                try swapped.returning([id], as: Int.self).sql(db)
                    == #"UPDATE "athlete" AS "athlete1" SET "score" = "athlete2"."score" FROM "athlete" "athlete2" "#
                    + #"WHERE "athlete1"."id" = ("athlete2"."id" - 1) RETURNING "id""#)
            #expect(try swapped.execute(db) == 3)
            #expect(try all(db) == ["1|Arthur|35", "2|Barbara|0", "3|Craig|NULL", "4|Diane|NULL"])
            let best = Table("athlete").select(teamId, max(score).forKey("top")).group(teamId)
            let top = TableAlias<Row>(name: "top")
            let topped = Athlete.all().aliased(athlete).filter(athlete.teamId == top[teamId])
                .update([score.set(to: top["top"])]).from(best.aliased(top))
            #expect(
                try topped.sql(db)
                    == #"UPDATE "athlete" SET "score" = "top"."top" FROM (SELECT "teamId", MAX("score") AS "top" "#
                    + #"FROM "athlete" GROUP BY "teamId") "top" WHERE "athlete"."teamId" = "top"."teamId""#)
            #expect(try topped.execute(db) == 3)
        }
    }

    @Test func rowsThatAreChosenByMoreAreSetFromAnotherTable() throws {
        try withAthletes { db throws in
            let (athlete, squad) = (TableAlias<Athlete>(), TableAlias<Squad>())
            let own = Squad.all().aliased(squad).filter(squad.id == athlete.teamId)
            let first = Athlete.order(score.desc).limit(1).aliased(athlete)
                .update([score += squad.bonus]).from(own)
            #expect(
                try first.returning([id], as: Int.self).sql(db)
                    == #"UPDATE "athlete" SET "score" = "athlete"."score" + "team"."bonus" FROM "team" "#
                    + #"WHERE ("athlete"."id" IN (SELECT "id" FROM "athlete" ORDER BY "score" DESC LIMIT 1)) "#
                    + #"AND ("team"."id" = "athlete"."teamId") RETURNING "id""#)
            #expect(try first.returning([id], as: Int.self).fetchAll(db) == [2])
            #expect(try all(db) == ["1|Arthur|10", "2|Barbara|35", "3|Craig|20", "4|Diane|NULL"])
            let team = Athlete.belongsTo(Squad.self, using: ForeignKey(["teamId"]))
            let joined = Athlete.joining(required: team.filter { $0.name == "Blue" }).filter { $0.score > 5 }
                .aliased(athlete).update([score.set(to: 0)]).from(own)
            #expect(
                try joined.sql(db)
                    == #"UPDATE "athlete" SET "score" = 0 FROM "team" "#
                    + #"WHERE ("athlete"."id" IN (SELECT "athlete"."id" FROM "athlete" JOIN "team" "#
                    + #"ON ("team"."id" = "athlete"."teamId") AND ("team"."name" = 'Blue') WHERE "athlete"."score" > 5)) "#
                    + #"AND ("team"."id" = "athlete"."teamId")"#)
            #expect(try joined.execute(db) == 1)
            let mates = Squad.hasMany(Athlete.self, using: ForeignKey(["teamId"]))
            let total = TableAlias<Row>(name: "total")
            let large = Squad.having(mates.count > 1).update([Column("bonus").set(to: total["n"])])
                .from(Table("athlete").select(count(.allColumns).forKey("n")).aliased(total))
            #expect(
                try large.sql(db)
                    == #"UPDATE "team" SET "bonus" = "total"."n" FROM (SELECT COUNT(*) AS "n" FROM "athlete") "total" "#
                    + #"WHERE "team"."id" IN (SELECT "team"."id" FROM "team" LEFT JOIN "athlete" "#
                    + #"ON "athlete"."teamId" = "team"."id" GROUP BY "team"."id" HAVING COUNT(DISTINCT "athlete"."id") > 1)"#
            )
            #expect(try large.execute(db) == 1)
            expectError(
                .SQLITE_MISUSE, "grouped rows of table athlete can't be changed: each of them represents several rows"
            ) { () throws in
                try Athlete.all().group(teamId).update([score.set(to: 1)]).from(Squad.all()).execute(db)
            }
            expectError(.SQLITE_MISUSE, "rows of a compound request can't be changed") { () throws in
                try Athlete.all().union(Athlete.all()).update([score.set(to: 1)]).from(Squad.all()).execute(db)
            }
            // A group for each primary key is one row.
            let empty = Squad.having(mates.isEmpty)
            #expect(
                try empty.delete().sql(db)
                    == #"DELETE FROM "team" WHERE "id" IN (SELECT "team"."id" FROM "team" LEFT JOIN "athlete" "#
                    + #"ON "athlete"."teamId" = "team"."id" GROUP BY "team"."id" HAVING COUNT(DISTINCT "athlete"."id") = 0)"#
            )
            let count = try empty.fetchCount(db)
            #expect(try empty.deleteAll(db) == count && empty.fetchCount(db) == 0)
            #expect(try Squad.having(mates.count > 1).updateAll(db) { [$0.bonus.set(to: 9)] } == 1)
        }
    }

    @Test func limitedChangesAreNativeOrRewritten() throws {
        try withAthletes { db throws in
            let lowest = Athlete.filter(score != nil).order(score).limit(1, offset: 1)
            func text(_ change: some ChangeStatement, native: Bool) throws -> String {
                var writer = QueryWriter(schema: db)
                writer.abilities.limitsChanges = native
                try writer.write(change._change.change, returning: [id.sqlSelection])
                try db.inSavepoint { () throws in
                    #expect(
                        try Int.fetchAll(db, sql: writer.sql(), arguments: writer.statementArguments()) == [3])
                    return .rollback
                }
                return writer.sql()
            }
            if SQLiteAbilities.ofLibrary.limitsChanges {
                #expect(
                    try text(lowest.delete(), native: true)
                        == #"DELETE FROM "athlete" WHERE "score" IS NOT NULL RETURNING "id" ORDER BY "score" LIMIT 1 OFFSET 1"#
                )
                #expect(
                    try text(lowest.update([score += 1]), native: true)
                        == #"UPDATE "athlete" SET "score" = "score" + ? WHERE "score" IS NOT NULL RETURNING "id" "#
                        + #"ORDER BY "score" LIMIT 1 OFFSET 1"#)
            }
            #expect(
                try text(lowest.delete(), native: false)
                    == #"DELETE FROM "athlete" WHERE "id" IN (SELECT "id" FROM "athlete" WHERE "score" IS NOT NULL "#
                    + #"ORDER BY "score" LIMIT 1 OFFSET 1) RETURNING "id""#)
            #expect(
                try text(lowest.update([score += 1]), native: false)
                    == #"UPDATE "athlete" SET "score" = "score" + ? WHERE "id" IN (SELECT "id" FROM "athlete" "#
                    + #"WHERE "score" IS NOT NULL ORDER BY "score" LIMIT 1 OFFSET 1) RETURNING "id""#)
        }
    }

    @Test func aConstantOrdersNothing() throws {
        try withAthletes { db throws in
            for (constant, sql) in [
                (1.databaseValue != nil, "NULL IS NOT 1"), ("a".databaseValue == nil, "NULL IS 'a'"),
            ] {
                let request = Athlete.select(name, id).order(constant, id.desc)
                #expect(try request.sql(db) == #"SELECT "name", "id" FROM "athlete" ORDER BY \#(sql), "id" DESC"#)
                let found = try Row.fetchAll(db, request).map { row in row[1] as Int }
                #expect(found == [4, 3, 2, 1])
                // Newer versions of SQLite would take 1 IS NOT NULL for the first column.
                let read = try Row.fetchAll(db, sql: request.sql(db)).map { row in row[1] as Int }
                #expect(read == [4, 3, 2, 1])
            }
        }
    }

    @Test func whatIsReturnedNeedsNoTableName() throws {
        try withAthletes { db throws in
            let a = TableAlias<Athlete>(name: "a")
            let gone = Athlete.all().aliased(a).filter(a.score > 25)
            let found = try emitted(db) { () throws in #expect(try gone.deleteAndFetchAll(db).map(\.id) == [2]) }
            #expect(found == [#"DELETE FROM "athlete" AS "a" WHERE "a"."score" > 25 RETURNING *"#])
            let first = Athlete.all().aliased(a).filter(a.id == 1).delete().returning(
                [a.name, a.score + 1], as: Row.self)
            #expect(
                try first.sql(db)
                    == #"DELETE FROM "athlete" AS "a" WHERE "a"."id" = 1 RETURNING "name", "score" + 1"#)
            #expect(try first.fetchOne(db)?.count == 2)
        }
    }

    @Test func changedRowsAreFetched() throws {
        try withAthletes { db throws in
            let raise = Athlete.filter(teamId == 1).update([score += 1])
            let pairs: [(String, Int)] = try raise.returning { ($0.name, $0.score) }.fetchAll(db)
            #expect(pairs.map(\.0) == ["Arthur", "Barbara"] && pairs.map(\.1) == [11, 31])
            #expect(try raise.returning([score], as: Int.self).fetchSet(db) == [12, 32])
            #expect(try Athlete.filter(id == 1).delete().returning().fetchOne(db)?.name == "Arthur")
            #expect(try Athlete.fetchCount(db) == 3)
            expectError(
                .SQLITE_MISUSE,
                "the rows of a change are only known after it has run: fetch or execute it, and count the rows"
            ) { () throws in _ = try raise.returning().fetchCount(db) }
            expectError(.SQLITE_MISUSE, "a request selects nothing") { () throws in
                _ = try raise.returning([], as: Row.self).fetchAll(db)
            }
        }
    }
}
