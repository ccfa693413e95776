import Quarry
import QuarryFixtures
import QuarryTables
import QuarryTestSupport
import Testing

@Suite struct TableJoinTests {
    private typealias Team = Sport.Team
    private typealias Player = Sport.Player
    private typealias Award = Sport.Award

    @Test func twoTables() throws {
        try withSport { db in
            let request = Player.filter { $0.score > 50 }
                .join(Team.self) { player, team in player.teamId == team.id }
                .filter { player, team in player.score < 1000 || team.color == "blue" }
                .order { player, team in [team.name, player.score.desc] }
                .limit(5)
            let sql = try emitted(db) {
                let rows: [(Player, Team)] = try request.fetchAll(db)
                #expect(rows.map { "\($0.0.name) \($0.1.name)" } == ["Craig Blues", "Eve Reds", "Arthur Reds"])
            }
            #expect(
                sql == [
                    text(
                        #"SELECT "player".*, "team".* FROM "player" JOIN "team" ON "player"."teamId" = "team"."id" "#,
                        #"WHERE ("player"."score" > 50) AND (("player"."score" < 1000) OR ("team"."color" = 'blue')) "#,
                        #"ORDER BY "team"."name", "player"."score" DESC LIMIT 5"#)
                ])
            let first = try request.fetchOne(db)
            #expect(first?.0.name == "Craig" && first?.1.name == "Blues")
            let count = try request.fetchCount(db)
            #expect(count == 3)
            let cursor = try request.fetchCursor(db)
            var names: [String] = []
            while let (player, team) = try cursor.next() { names.append(player.name + team.name) }
            #expect(names == ["CraigBlues", "EveReds", "ArthurReds"])
        }
    }

    @Test func outerJoins() throws {
        try withSport { db in
            let left: [(Player, Team?)] = try Player.all()
                .leftJoin(Team.self) { player, team in player.teamId == team.id }
                .order { player, _ in [player.id] }.fetchAll(db)
            #expect(left.map { $0.1?.name } == ["Reds", "Reds", "Blues", nil, "Reds"])
            let right: [(Player?, Team)] = try Player.all()
                .rightJoin(Team.self) { player, team in player.teamId == team.id }
                .order { player, team in [team.id, player.id] }.fetchAll(db)
            #expect(
                right.map { "\($0.0?.name ?? "-") \($0.1.name)" } == [
                    "Arthur Reds", "Barbara Reds", "Eve Reds", "Craig Blues", "- Greens",
                ])
            let full: [(Player?, Team?)] = try Player.all()
                .fullJoin(Team.self) { player, team in player.teamId == team.id }.fetchAll(db)
            #expect(full.filter { $0.0 == nil }.map { $0.1?.name } == ["Greens"])
            #expect(full.filter { $0.1 == nil }.map { $0.0?.name } == ["Dan"])
        }
    }

    @Test func oneTableTwice() throws {
        try withSport { db in
            let request = Player.all().join(Player.filter { $0.score > 100 }) { player, better in
                player.teamId == better.teamId && player.score < better.score
            }
            let sql = try emitted(db) {
                let pairs = try request.fetchAll(db).map { "\($0.0.name) < \($0.1.name)" }.sorted()
                #expect(pairs == ["Arthur < Barbara", "Arthur < Eve", "Eve < Barbara"])
            }
            #expect(
                sql == [
                    text(
                        #"SELECT "player1".*, "player2".* FROM "player" "player1" JOIN "player" "player2" "#,
                        #"ON ("player1"."teamId" = "player2"."teamId") AND ("player1"."score" < "player2"."score") "#,
                        #"AND ("player2"."score" > 100)"#)
                ])
        }
    }

    @Test func threeTables() throws {
        try withSport { db in
            let players = Award.all().join(Player.self) { award, player in award.playerId == player.id }
            let teams = players.leftJoin(Team.self) { _, player, team in player.teamId == team.id }
            let gold = teams.filter { award, _, _ in award.title == "gold" }.order { award, _, _ in [award.id] }
            let rows: [(Award, Player, Team?)] = try gold.fetchAll(db)
            #expect(
                rows.map { "\($0.0.title) \($0.1.name) \($0.2?.name ?? "-")" } == [
                    "gold Arthur Reds", "gold Craig Blues",
                ])
        }
    }

    @Test func limitedRowsAreJoined() throws {
        try withSport { db in
            let best = Player.order(\.score.desc).limit(2)
            let request = best.join(Award.self) { player, award in player.id == award.playerId }
            let sql = try emitted(db) { _ = try request.fetchAll(db) }
            #expect(
                sql == [
                    text(
                        #"SELECT "player".*, "award".* FROM (SELECT * FROM "player" ORDER BY "score" DESC LIMIT 2) "player" "#,
                        #"JOIN "award" ON "player"."id" = "award"."playerId""#)
                ])
            let other = try emitted(db) {
                _ = try Award.all().join(best) { award, player in award.playerId == player.id }.fetchAll(db)
            }
            #expect(
                other == [
                    text(
                        #"SELECT "award".*, "player".* FROM "award" "#,
                        #"JOIN (SELECT * FROM "player" ORDER BY "score" DESC LIMIT 2) "player" "#,
                        #"ON "award"."playerId" = "player"."id""#)
                ])
        }
    }

    @Test func outerJoinsOfMoreTables() throws {
        try withSport { db in
            let right = Player.filter { $0.score < 500 }
                .join(Team.self) { player, team in player.teamId == team.id }
                .filter { _, team in team.color == "red" }
                .rightJoin(Award.filter { $0.title == "gold" }) { player, _, award in award.playerId == player.id }
                .order { _, _, award in [award.id] }
            let sql = try emitted(db) {
                let rows: [(Player?, Team?, Award)] = try right.fetchAll(db)
                #expect(
                    rows.map { "\($0.0?.name ?? "-") \($0.1?.name ?? "-") \($0.2.id)" } == ["Arthur Reds 1", "- - 3"])
            }
            #expect(
                sql == [
                    text(
                        #"SELECT "player".*, "team".*, "award".* FROM "player" JOIN "team" ON "player"."teamId" = "team"."id" "#,
                        #"RIGHT JOIN (SELECT * FROM "award" WHERE "title" = 'gold') "award" "#,
                        #"ON ("award"."playerId" = "player"."id") "#,
                        #"AND (("player"."score" < 500) AND ("team"."color" = 'red')) "#,
                        #"ORDER BY "award"."id""#)
                ])
            let full: [(Player?, Team?, Award?)] = try Player.all()
                .leftJoin(Team.self) { player, team in player.teamId == team.id }
                .fullJoin(Award.filter { $0.id > 1 }) { player, _, award in award.playerId == player.id }
                .filter { player, _, award in award.exists || player.id == 2 }
                .order { player, _, award in [award.id, player.id] }.fetchAll(db)
            #expect(
                full.map { "\($0.0?.name ?? "-") \($0.1?.name ?? "-") \($0.2?.id ?? 0)" } == [
                    "Barbara Reds 0", "Arthur Reds 2", "Craig Blues 3",
                ])
            let filtered = Player.filter { $0.score < 500 }
                .leftJoin(Team.self) { player, team in player.teamId == team.id }
                .fullJoin(Award.self) { player, _, award in award.playerId == player.id }
            expectError(
                .SQLITE_MISUSE,
                "a full join of three tables can't follow a filter: filter after it, or join filtered requests with asTable()"
            ) { () throws in _ = try filtered.fetchAll(db) }
        }
    }

    /// The request's rows are joined, whatever the join adds to them.
    @Test func filteredRowsAreJoined() throws {
        try withSport { db in
            let one: [(Player?, Team?, Award)] = try Player.filter(id: 1).filter(literal: "\(Column("id")) > 0")
                .join(Team.self) { player, team in player.teamId == team.id }
                .rightJoin(Award.self) { player, _, award in award.playerId == player.id }
                .order { _, _, award in [award.id] }.fetchAll(db)
            #expect(one.map { $0.0?.name } == ["Arthur", "Arthur", nil])
            let request = Player.filter { $0.score > 250 }.rightJoin(Team.filter { $0.id != 2 }) { player, team in
                player.teamId == team.id
            }
            .order { player, team in [team.id, player.id] }
            let sql = try emitted(db) {
                let rows: [(Player?, Team)] = try request.fetchAll(db)
                #expect(
                    rows.map { "\($0.0?.name ?? "-") \($0.1.name)" } == ["Barbara Reds", "Eve Reds", "- Greens"])
            }
            #expect(
                sql == [
                    text(
                        #"SELECT "player".*, "team".* FROM (SELECT * FROM "player" WHERE "score" > 250) "player" "#,
                        #"RIGHT JOIN (SELECT * FROM "team" WHERE "id" <> 2) "team" ON "player"."teamId" = "team"."id" "#,
                        #"ORDER BY "team"."id", "player"."id""#)
                ])
            let full: [(Player?, Team?)] = try Player.filter { $0.id == 4 }
                .fullJoin(Team.filter { $0.id == 3 }) { player, team in player.teamId == team.id }
                .order { player, _ in [player.id] }.fetchAll(db)
            #expect(full.map { "\($0.0?.name ?? "-") \($0.1?.name ?? "-")" } == ["- Greens", "Dan -"])
        }
    }
}
