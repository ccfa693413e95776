import Quarry
import QuarryFixtures
import QuarryTables
import QuarryTestSupport
import Testing

/// Two columns that are compared, in places that take an expression and need a connection: the others are tested with
/// `QuarrySQL`.
@Suite struct ComparedColumnTests {
    private let a = Column("score")
    private let b = Column("teamId")

    private func sql(_ db: Database, _ request: some FetchRequest) throws -> String {
        try request.makePreparedRequest(db, forSingleResult: false).statement.sql
    }

    @Test func inSQLJSONAndStorageClasses() throws {
        try withAthletes { (db) throws in
            let same = #""score" = "teamId""#
            let literal: SQLRequest<Row> = "SELECT \(a == b) FROM athlete WHERE 1 IN \([a == b, a != b])"
            #expect(try sql(db, literal) == #"SELECT \#(same) FROM athlete WHERE 1 IN (\#(same), "score" <> "teamId")"#)
            let array = Athlete.select(Database.jsonArray([a == b]))
            #expect(try sql(db, array) == #"SELECT JSON_ARRAY(\#(same)) FROM "athlete""#)
            let real = Athlete.select(cast(a == b, as: Database.StorageClass.real))
            #expect(try sql(db, real) == #"SELECT CAST(\#(same) AS REAL) FROM "athlete""#)
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
