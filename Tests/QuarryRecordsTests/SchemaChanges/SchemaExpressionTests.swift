import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite("Schema of expressions") struct SchemaExpressionTests {
    @Test func definitionsTakeExpressions() throws {
        try withSport { (db) throws in
            try expectEmitted(
                db,
                #"CREATE TABLE "s1" ("a" INTEGER CHECK ("a" > 0), "b" INTEGER GENERATED ALWAYS AS ("a" + 1) VIRTUAL, "#
                    + #""c" TEXT CHECK (c <> '') DEFAULT 'x', CHECK ("a" > 1), CHECK (a < 100))"#
            ) {
                try db.create(table: "s1") { t in
                    t.column("a", .integer).check { $0 > 0 }
                    t.column("b", .integer).generatedAs(Column("a") + 1)
                    t.column("c", .text).check(sql: "c <> ''").defaults(sql: "'x'")
                    t.check(Column("a") > 1)
                    t.constraint(literal: "CHECK (a < \(100))")
                }
            }
            try expectEmitted(db, #"CREATE VIEW "v1" AS SELECT * FROM "player" WHERE "score" > 10"#) {
                try db.create(view: "v1", as: Sport.Player.filter(Column("score") > 10))
            }
            try expectEmitted(db, #"CREATE INDEX "i1" ON "player"("score") WHERE "score" > 10"#) {
                try db.create(index: "i1", on: "player", columns: ["score"], condition: Column("score") > 10)
            }
            try expectEmitted(
                db,
                #"CREATE UNIQUE INDEX "i2" ON "player"(ABS("score"), "name" COLLATE NOCASE, "id" DESC) "#
                    + #"WHERE "name" <> 'it''s'"#
            ) {
                try db.create(
                    index: "i2", on: "player",
                    expressions: [abs(Column("score")), Column("name").collating(.nocase), Column("id").desc],
                    options: .unique, condition: Column("name") != "it's")
            }
            try expectEmitted(
                db, #"CREATE INDEX "index_player_on_teamId" ON "player"("teamId") WHERE "teamId" IS NOT NULL"#
            ) {
                try db.create(indexOn: "player", columns: ["teamId"], condition: Column("teamId") != nil)
            }
            #expect(try Table("v1").fetchCount(db) == 4)
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO s1 (a) VALUES (1)") }
        }
    }
}
