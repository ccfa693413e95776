import Quarry
import QuarryFixtures
import Testing

@Suite struct ExpressionsSamples {
    typealias Player = Sport.Player
    typealias Team = Squad

    private func withDatabase(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT UNIQUE, score INTEGER, teamId INTEGER);
                    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT, bonus INTEGER);
                    CREATE TABLE archive (id INTEGER PRIMARY KEY, name TEXT, score INTEGER, teamId INTEGER);
                    INSERT INTO player VALUES (1, 'Arthur', 1200, 1), (2, 'Barbara', 150, 1), (3, 'Craig', 5, NULL);
                    INSERT INTO team VALUES (1, 'Red', 10), (2, 'Blue', 20);
                    """)
            try body(db)
        }
    }

    @Test func conditions() throws {
        try withDatabase { db in
            let winners = try Player.filter { $0.score > 1000 && $0.teamId != nil }.fetchAll(db)
            let some = try Player.filter { [1, 2].contains($0.id) || $0.name.like("C%") }.fetchAll(db)
            let page = try Player.filter { rowValue($0.score, $0.id) > rowValue(150, 2) }.fetchAll(db)
            let exact = try Player.filter { $0.name.regexp("^[AB].*r") }.fetchAll(db)
            #expect(winners.count == 1 && some.count == 3 && page.count == 1 && exact.count == 2)
        }
    }

    @Test func choices() throws {
        try withDatabase { db in
            let medal = caseWhen(Column("score") > 1000, then: "gold")
                .when(Column("score") > 100, then: "silver")
                .otherwise(nil)
            let medals = try Player.select(medal, as: String?.self).fetchAll(db)  // ["gold", "silver", nil]
            #expect(medals == ["gold", "silver", nil])
        }
    }

    @Test func tuples() throws {
        try withDatabase { db in
            let scores: [(String, Int)] = try Player.select { ($0.name, $0.score) }.fetchAll(db)
            let best = try Player.select({ ($0.teamId, max($0.score)) }, as: (Int64?, Int).self)
                .group(Column("teamId"))
                .fetchAll(db)  // [(Int64?, Int)]
            #expect(scores.count == 3 && best.count == 2)
        }
    }

    @Test func compounds() throws {
        try withDatabase { db in
            let names = Player.select(Column("name"), as: String.self)
                .union(Team.select(Column("name")))
                .order(Column("name"))
            let all = try names.fetchAll(db)  // ["Arthur", "Barbara", "Blue", "Craig", "Red"]
            #expect(all == ["Arthur", "Barbara", "Blue", "Craig", "Red"])
        }
    }

    @Test func sources() throws {
        try withDatabase { db in
            let (player, team) = (TableAlias<Player>(), TableAlias<Team>())
            let pairs = try Player.all().aliased(player)
                .join(.full, Team.all().aliased(team), on: player.teamId == team.id)
                .select((player.name, team.name), as: (String?, String?).self)
                .fetchAll(db)
            let best = try Player.order(Column("score").desc).limit(2).asTable()
                .select(average(Column("score")), as: Double.self)
                .fetchOne(db)
            #expect(pairs.count == 4 && best == 675)
        }
    }

    @Test func statements() throws {
        try withDatabase { db in
            let raise = Player.filter { $0.teamId == 1 }.update { [$0.score += 10] }
            print(try raise.sql(db))  // UPDATE "player" SET "score" = "score" + 10 WHERE "teamId" = 1
            let count = try raise.execute(db)  // 2

            let copy = Player.filter { $0.score < 10 }.insert(into: Table("archive"))
            let purge = Player.filter { $0.score < 10 }.delete()
            try copy.execute(db)
            let gone: [(Int64, String)] = try purge.returning { ($0.id, $0.name) }.fetchAll(db)

            let upsert = Player.insert({ [$0.name, $0.score] }, values: [["Arthur", 1], ["Eve", 2]])
                .onConflict([Column("name")]) { excluded in [Column("score") += excluded.score] }
            try upsert.execute(db)
            #expect(count == 2 && gone.count == 1)
            #expect(try Player.filter { $0.name == "Arthur" }.fetchOne(db)?.score == 1211)
        }
    }

    @Test func updateFrom() throws {
        try withDatabase { db in
            let (player, team) = (TableAlias<Player>(), TableAlias<Team>())
            let reward = Player.all().aliased(player)
                .filter(player.teamId == team.id)
                .update { [$0.score += team.bonus] }
                .from(Team.all().aliased(team))
            try reward.execute(db)
            #expect(try Player.fetchOne(db, key: 1)?.score == 1210)
        }
    }

    @Test func plans() throws {
        try withDatabase { db in
            let plan = try Player.filter { $0.name == "Arthur" }.explain(db)
            print(plan)
            // QUERY PLAN
            // `--SEARCH player USING INDEX sqlite_autoindex_player_1 (name=?)
            #expect(!plan.contains("SCAN"))
        }
    }
}
