import Quarry
import Testing

@Suite struct AssociationAggregateTests {
    private typealias Team = Sport.Team
    private typealias Player = Sport.Player

    private let joined = #"FROM "team" LEFT JOIN "player" ON "player"."teamId" = "team"."id" GROUP BY "team"."id""#

    @Test func annotations() throws {
        try withSport { db in
            let players = Team.players
            let (sql, rows) = try fetched(
                db,
                Team.annotated(
                    with: players.count, players.max(\.score), players.min { $0.score }, players.sum(Column("score")),
                    players.total(\.score).forKey("total"), players.average(\.score), players.isEmpty
                )
                .filter(key: 1))
            #expect(
                sql == [
                    text(
                        #"SELECT "team".*, COUNT(DISTINCT "player"."id") AS "playerCount", "#,
                        #"MAX("player"."score") AS "maxPlayerScore", MIN("player"."score") AS "minPlayerScore", "#,
                        #"SUM("player"."score") AS "playerScoreSum", TOTAL("player"."score") AS "total", "#,
                        #"AVG("player"."score") AS "averagePlayerScore", "#,
                        #"COUNT(DISTINCT "player"."id") = 0 AS "hasNoPlayer" "#,
                        #"FROM "team" LEFT JOIN "player" ON "player"."teamId" = "team"."id" WHERE "team"."id" = 1 "#,
                        #"GROUP BY "team"."id""#)
                ])
            #expect(
                rows == [
                    text(
                        #"[id:1 name:"Reds" color:"red" playerCount:3 maxPlayerScore:1000 minPlayerScore:100 "#,
                        #"playerScoreSum:1400 total:1400.0 averagePlayerScore:466.6666666666667 hasNoPlayer:0]"#)
                ])
        }
    }

    @Test func filteredCounts() throws {
        try withSport { db in
            let good = Team.players.count { $0.score > 250 }
            let names = Team.players.count(distinct: \.name) { $0.score < 250 }
            let (sql, rows) = try fetched(
                db,
                Team.annotated(
                    with: good.forKey("good"), names.forKey("names"),
                    Team.players.count(distinct: Column("score")).forKey("scores")
                )
                .having(good > 0 || Team.players.count(filter: Column("name") == "Craig") == 1))
            #expect(
                sql == [
                    text(
                        #"SELECT "team".*, "#,
                        #"COUNT(DISTINCT "player"."id") FILTER (WHERE "player"."score" > 250) AS "good", "#,
                        #"COUNT(DISTINCT "player"."name") FILTER (WHERE "player"."score" < 250) AS "names", "#,
                        #"COUNT(DISTINCT "player"."score") AS "scores" "#, joined,
                        #" HAVING ((COUNT(DISTINCT "player"."id") FILTER (WHERE "player"."score" > 250)) > 0) "#,
                        #"OR ((COUNT(DISTINCT "player"."id") FILTER (WHERE "player"."name" = 'Craig')) = 1)"#)
                ])
            #expect(
                rows == [
                    #"[id:1 name:"Reds" color:"red" good:2 names:1 scores:3]"#,
                    #"[id:2 name:"Blues" color:"blue" good:0 names:1 scores:1]"#,
                ])
        }
    }

    @Test func names() throws {
        try withSport { db in
            let good = Team.players.filter { $0.score > 500 }.forKey("goodPlayers")
            let (sql, rows) = try fetched(db, Team.annotated(with: good.count, Team.players.count, good.isEmpty))
            #expect(
                sql == [
                    text(
                        #"SELECT "team".*, COUNT(DISTINCT "player1"."id") AS "goodPlayerCount", "#,
                        #"COUNT(DISTINCT "player2"."id") AS "playerCount", "#,
                        #"COUNT(DISTINCT "player1"."id") = 0 AS "hasNoGoodPlayer" FROM "team" "#,
                        #"LEFT JOIN "player" "player1" ON ("player1"."teamId" = "team"."id") AND ("player1"."score" > 500) "#,
                        #"LEFT JOIN "player" "player2" ON "player2"."teamId" = "team"."id" GROUP BY "team"."id""#)
                ])
            #expect(rows[0] == #"[id:1 name:"Reds" color:"red" goodPlayerCount:1 playerCount:3 hasNoGoodPlayer:0]"#)
        }
    }

    @Test func conditions() throws {
        try withSport { db in
            let names = try Team.having(!Team.players.isEmpty && Team.players.count < 3).fetchAll(db).map(\.name)
            #expect(names == ["Blues"])
        }
    }

    @Test func throughOthersAndInAssociations() throws {
        try withSport { db in
            let sql = try fetched(db, Team.including(all: Team.players.annotated(with: Player.awards.count))).sql
            #expect(
                sql.last
                    == text(
                        #"SELECT "player".*, COUNT(DISTINCT "award"."id") AS "awardCount", "#,
                        #""player"."teamId" AS "grdb_teamId" FROM "player" "#,
                        #"LEFT JOIN "award" ON "award"."playerId" = "player"."id" WHERE "player"."teamId" IN (1, 2, 3) "#,
                        #"GROUP BY "player"."id""#))
        }
    }

    @Test func distinctValuesAndCompositeKeys() throws {
        try withSport { db in
            // Rows without a rowid are told apart by all columns of their key.
            let pairs = Sport.Thing.hasMany(Sport.Pair.self, using: ForeignKey(["a"], to: ["x"]))
            let (sql, rows) = try fetched(db, Sport.Thing.annotated(with: pairs.count))
            #expect(
                sql == [
                    text(
                        #"SELECT "thing".*, COUNT(DISTINCT CASE WHEN "pair"."a" IS NOT NULL "#,
                        #"THEN QUOTE("pair"."a") || ',' || QUOTE("pair"."b") END) AS "pairCount" FROM "thing" "#,
                        #"LEFT JOIN "pair" ON "pair"."a" = "thing"."x" GROUP BY "thing"."rowid""#)
                ])
            #expect(rows.map { $0.split(separator: "pairCount:").last } == ["2]", "2]", "0]"])
        }
    }

    private struct Info: Decodable, FetchableRecord, Equatable {
        var team: Team
        var playerCount: Int
        var maxPlayerScore: Int?
        var hasNoPlayer: Bool
    }

    @Test func records() throws {
        try withSport { db in
            let request = Team.annotated(with: Team.players.count, Team.players.max(\.score), Team.players.isEmpty)
                .order(\.id)
            let infos = try request.asRequest(of: Info.self).fetchAll(db)
            #expect(infos.map(\.team.name) == ["Reds", "Blues", "Greens"])
            #expect(infos.map(\.playerCount) == [3, 1, 0])
            #expect(infos.map(\.maxPlayerScore) == [1000, 200, nil])
            #expect(infos.map(\.hasNoPlayer) == [false, false, true])
            let count = try request.fetchCount(db)
            #expect(count == 3)
        }
    }
}
