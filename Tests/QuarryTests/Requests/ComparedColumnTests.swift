import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// Two columns that are compared, in each place that takes an expression: none may become Swift's `==`, whose Bool
/// would be a constant of the query.
@Suite struct ComparedColumnTests {
    private let a = Column("score")
    private let b = Column("teamId")

    private func sql(_ db: Database, _ request: some FetchRequest) throws -> String {
        try request.makePreparedRequest(db, forSingleResult: false).statement.sql
    }

    @Test func inRequests() throws {
        try withAthletes { (db) throws in
            func expectRequest(
                _ request: some FetchRequest, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
            ) throws {
                #expect(try sql(db, request) == expected, sourceLocation: sourceLocation)
            }
            let same = #""score" = "teamId""#
            try expectRequest(Athlete.filter { $0.score == $0.teamId }, #"SELECT * FROM "athlete" WHERE \#(same)"#)
            try expectRequest(
                Athlete.filter { !($0.score == $0.teamId) }, #"SELECT * FROM "athlete" WHERE "score" <> "teamId""#)
            try expectRequest(Athlete.select { [$0.score == $0.teamId] }, #"SELECT \#(same) FROM "athlete""#)
            try expectRequest(Athlete.select { $0.score == $0.teamId }, #"SELECT \#(same) FROM "athlete""#)
            try expectRequest(Athlete.select((a == b).forKey("x")), #"SELECT \#(same) AS "x" FROM "athlete""#)
            try expectRequest(Athlete.order { [$0.score == $0.teamId] }, #"SELECT * FROM "athlete" ORDER BY \#(same)"#)
            try expectRequest(Athlete.order((a == b).desc), #"SELECT * FROM "athlete" ORDER BY \#(same) DESC"#)
            try expectRequest(Athlete.annotated { $0.score == $0.teamId }, #"SELECT *, \#(same) FROM "athlete""#)
            try expectRequest(
                Athlete.group { [$0.score == $0.teamId] }.having { $0.score == $0.teamId },
                #"SELECT * FROM "athlete" GROUP BY \#(same) HAVING \#(same)"#)
            try expectRequest(
                Athlete.group(a == b).having(a == b), #"SELECT * FROM "athlete" GROUP BY \#(same) HAVING \#(same)"#)
            try expectRequest(
                Athlete.filter([a == b, a != b].joined(operator: .or)),
                #"SELECT * FROM "athlete" WHERE (\#(same)) OR ("score" <> "teamId")"#)
            let lazy = [a, b].lazy.map { $0 == b }
            try expectRequest(
                Athlete.filter(AnySequence(lazy).joined(operator: .and)),
                #"SELECT * FROM "athlete" WHERE (\#(same)) AND ("teamId" = "teamId")"#)
            try expectRequest(
                Athlete.filter([a == b, a != b].contains(a == b)),
                #"SELECT * FROM "athlete" WHERE (\#(same)) IN (\#(same), "score" <> "teamId")"#)
            try expectRequest(
                Athlete.filter(Athlete.select(a == b).contains(a == b)),
                #"SELECT * FROM "athlete" WHERE (\#(same)) IN (SELECT \#(same) FROM "athlete")"#)
            let optional: Column? = b
            try expectRequest(
                Athlete.filter(a == optional && optional != a),
                #"SELECT * FROM "athlete" WHERE (\#(same)) AND ("teamId" <> "score")"#)
            let alias = TableAlias<Athlete>(name: "x")
            try expectRequest(
                Athlete.aliased(alias).filter(alias.score == alias.teamId),
                #"SELECT "x".* FROM "athlete" "x" WHERE "x"."score" = "x"."teamId""#)
            let literal: SQLRequest<Row> = "SELECT \(a == b) FROM athlete WHERE 1 IN \([a == b, a != b])"
            try expectRequest(literal, #"SELECT \#(same) FROM athlete WHERE 1 IN (\#(same), "score" <> "teamId")"#)
        }
    }

    @Test func inExpressions() throws {
        try withAthletes { (db) throws in
            func expectExpression(
                _ expression: some SQLSpecificExpressible, _ expected: String,
                sourceLocation: SourceLocation = #_sourceLocation
            ) throws {
                let text = try sql(db, Athlete.select(expression))
                #expect(text == "SELECT \(expected) FROM \"athlete\"", sourceLocation: sourceLocation)
            }
            let same = #""score" = "teamId""#
            try expectExpression(
                caseWhen(a == b, then: a == b).when(a != b, then: a != b).otherwise(a == b),
                #"CASE WHEN \#(same) THEN \#(same) WHEN "score" <> "teamId" THEN "score" <> "teamId" ELSE \#(same) END"#
            )
            try expectExpression(
                caseOf(a == b, when: a != b, then: a == b).otherwise(a == b),
                #"CASE (\#(same)) WHEN "score" <> "teamId" THEN \#(same) ELSE \#(same) END"#)
            try expectExpression((a == b) == (a == b), #"(\#(same)) = (\#(same))"#)
            try expectExpression((a == b) ?? (a == b), #"IFNULL(\#(same), \#(same))"#)
            try expectExpression(max(a == b), #"MAX(\#(same))"#)
            try expectExpression(count(distinct: a == b), #"COUNT(DISTINCT \#(same))"#)
            try expectExpression(count(.allColumns, filter: a == b), #"COUNT(*) FILTER (WHERE \#(same))"#)
            try expectExpression(cast(a == b, as: .text), #"CAST(\#(same) AS TEXT)"#)
            try expectExpression(cast(a == b, as: Database.StorageClass.real), #"CAST(\#(same) AS REAL)"#)
            try expectExpression(coalesce([a == b, a == b]), #"COALESCE(\#(same), \#(same))"#)
            try expectExpression(Database.jsonArray([a == b]), #"JSON_ARRAY(\#(same))"#)
            try expectExpression(
                rank().over(partitionBy: [a == b], orderBy: [a == b]),
                #"RANK() OVER (PARTITION BY \#(same) ORDER BY \#(same))"#)
        }
    }

    @Test func inJoins() throws {
        try withAthletes { (db) throws in
            let team = Athlete.belongsTo(Squad.self, using: ForeignKey(["teamId"]))
            #expect(
                try sql(db, Athlete.joining(required: team.filter { $0.id == $0.bonus })) == """
                    SELECT "athlete".* FROM "athlete" \
                    JOIN "team" ON ("team"."id" = "athlete"."teamId") AND ("team"."id" = "team"."bonus")
                    """)
            #expect(
                try sql(db, Athlete.annotated(withRequired: team.select { $0.id == $0.bonus })) == """
                    SELECT "athlete".*, "team"."id" = "team"."bonus" FROM "athlete" \
                    JOIN "team" ON "team"."id" = "athlete"."teamId"
                    """)
            let athletes = Squad.hasMany(Athlete.self, using: ForeignKey(["teamId"]))
            #expect(
                try sql(db, Squad.annotated(with: athletes.count(filter: a == b))) == """
                    SELECT "team".*, COUNT(DISTINCT "athlete"."id") \
                    FILTER (WHERE "athlete"."score" = "athlete"."teamId") FROM "team" \
                    LEFT JOIN "athlete" ON "athlete"."teamId" = "team"."id" GROUP BY "team"."id"
                    """)
            let join = Athlete.all().join(Squad.self) { athlete, squad in athlete.score == squad.bonus }
                .filter { athlete, squad in athlete.id == squad.id }
            let statements = try emitted(db) { _ = try join.fetchAll(db) }
            #expect(
                statements == [
                    """
                    SELECT "athlete".*, "team".* FROM "athlete" JOIN "team" ON "athlete"."score" = "team"."bonus" \
                    WHERE "athlete"."id" = "team"."id"
                    """
                ])
        }
    }

    @Test func inChanges() throws {
        try withAthletes { (db) throws in
            let insert = Athlete.insert(columns: [Column("id"), a], values: [[1, 2]])
                .onConflict([Column("id")], where: a == b, updateWhere: { a == $0["teamId"] }) { excluded in
                    [a.set(to: excluded["score"] == b), b.set(to: a == b)]
                }
                .returning({ [$0.score == $0.teamId] }, as: Int.self)
            #expect(
                try insert.sql(db) == """
                    INSERT INTO "athlete" ("id", "score") VALUES (1, 2) ON CONFLICT("id") WHERE "score" = "teamId" \
                    DO UPDATE SET "score" = "excluded"."score" = "teamId", "teamId" = "score" = "teamId" \
                    WHERE "score" = "excluded"."teamId" RETURNING "score" = "teamId"
                    """)
            let update = Athlete.filter { $0.score == $0.teamId }.update { [$0.score.set(to: $0.score == $0.teamId)] }
            #expect(
                try update.sql(db)
                    == #"UPDATE "athlete" SET "score" = "score" = "teamId" WHERE "score" = "teamId""#)
            #expect(
                try Athlete.filter(a == b).delete().sql(db) == #"DELETE FROM "athlete" WHERE "score" = "teamId""#)
            let statements = try emitted(db) {
                var athlete = Athlete(id: 1, name: "Arthur", score: 1, teamId: 2)
                athlete = try athlete.upsertAndFetch(db, onConflict: ["id"]) { excluded in
                    [Athlete.Columns.score.set(to: excluded.score == excluded.teamId)]
                }
                #expect(athlete.score == 0)
            }
            let upsert = statements.first { $0.hasPrefix("INSERT") }
            #expect(upsert?.contains(#"SET "score" = "excluded"."score" = "excluded"."teamId""#) == true)
        }
    }

    @Test func inSchemas() throws {
        try withAthletes { (db) throws in
            let (d, e) = (Column("d"), Column("e"))
            let statements = try emitted(db) {
                try db.create(table: "t") { t in
                    t.column("d")
                    t.column("e").check { $0 == d }
                    t.column("f").generatedAs(d == e)
                    t.column(literal: "g DEFAULT 1 CHECK (\(d == e))")
                    t.check(d == e)
                    t.constraint(literal: "CHECK (\(d == e))")
                }
                try db.create(index: "i", on: "t", expressions: [d == e, (d == e).desc], condition: d == e)
                try db.create(view: "v", as: Athlete.select((a == b).forKey("same")).filter(a == b))
                try db.alter(table: "t") { t in t.add(column: "h").check { $0 == e } }
            }
            #expect(
                statements == [
                    #"CREATE TABLE "t" ("d", "e" CHECK ("e" = "d"), "f" GENERATED ALWAYS AS ("d" = "e") VIRTUAL, "#
                        + #"g DEFAULT 1 CHECK ("d" = "e"), CHECK ("d" = "e"), CHECK ("d" = "e"))"#,
                    #"CREATE INDEX "i" ON "t"("d" = "e", "d" = "e" DESC) WHERE "d" = "e""#,
                    #"CREATE VIEW "v" AS SELECT "score" = "teamId" AS "same" FROM "athlete" WHERE "score" = "teamId""#,
                    #"ALTER TABLE "t" ADD COLUMN "h" CHECK ("h" = "e")"#,
                ])
        }
    }

    private enum Cases: String, ColumnExpression {
        case score, teamId
    }

    /// Cases of an enum are SQL where no Bool is taken, and where one side is an expression.
    @Test func casesOfAnEnum() throws {
        try withAthletes { (db) throws in
            #expect(
                try sql(db, Athlete.filter(Cases.score == Cases.teamId))
                    == #"SELECT * FROM "athlete" WHERE "score" = "teamId""#)
            #expect(
                try sql(db, Athlete.group(Cases.score).having(Cases.score.sqlExpression == Cases.teamId))
                    == #"SELECT * FROM "athlete" GROUP BY "score" HAVING "score" = "teamId""#)
            #expect([Cases.score, .teamId].contains(.teamId))
        }
    }
}
