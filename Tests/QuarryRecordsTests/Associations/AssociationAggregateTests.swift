import Quarry
import QuarryFixtures
import Testing

@Suite struct AssociationAggregateTests {
    private typealias Team = Sport.Team
    private typealias Player = Sport.Player

    private let joined = #"FROM "team" LEFT JOIN "player" ON "player"."teamId" = "team"."id" GROUP BY "team"."id""#

    @Test func annotations() throws {
        try withSport { db in
            let players = Team.players
            try expectQuery(
                db,
                Team.annotated(
                    with: players.count, players.max(\.score), players.min { $0.score }, players.sum(Column("score")),
                    players.total(\.score).forKey("total"), players.average(\.score), players.isEmpty
                )
                .filter(key: 1),
                sql: text(
                    #"SELECT "team".*, COUNT(DISTINCT "player"."id") AS "playerCount", "#,
                    #"MAX("player"."score") AS "maxPlayerScore", MIN("player"."score") AS "minPlayerScore", "#,
                    #"SUM("player"."score") AS "playerScoreSum", TOTAL("player"."score") AS "total", "#,
                    #"AVG("player"."score") AS "averagePlayerScore", "#,
                    #"COUNT(DISTINCT "player"."id") = 0 AS "hasNoPlayer" "#,
                    #"FROM "team" LEFT JOIN "player" ON "player"."teamId" = "team"."id" WHERE "team"."id" = 1 "#,
                    #"GROUP BY "team"."id""#),
                rows: ["1|Reds|red|3|1000|100|1400|1400.0|466.6666666666667|0"])
        }
    }

    @Test func filteredCounts() throws {
        try withSport { db in
            let good = Team.players.count { $0.score > 250 }
            let names = Team.players.count(distinct: \.name) { $0.score < 250 }
            try expectQuery(
                db,
                Team.annotated(
                    with: good.forKey("good"), names.forKey("names"),
                    Team.players.count(distinct: Column("score")).forKey("scores")
                )
                .having(good > 0 || Team.players.count(filter: Column("name") == "Craig") == 1),
                sql: text(
                    #"SELECT "team".*, "#,
                    #"COUNT(DISTINCT "player"."id") FILTER (WHERE "player"."score" > 250) AS "good", "#,
                    #"COUNT(DISTINCT "player"."name") FILTER (WHERE "player"."score" < 250) AS "names", "#,
                    #"COUNT(DISTINCT "player"."score") AS "scores" "#, joined,
                    #" HAVING ((COUNT(DISTINCT "player"."id") FILTER (WHERE "player"."score" > 250)) > 0) "#,
                    #"OR ((COUNT(DISTINCT "player"."id") FILTER (WHERE "player"."name" = 'Craig')) = 1)"#),
                rows: ["1|Reds|red|2|1|3", "2|Blues|blue|0|1|1"])
        }
    }

    @Test func names() throws {
        try withSport { db in
            let good = Team.players.filter { $0.score > 500 }.forKey("goodPlayers")
            try expectQuery(
                db, Team.annotated(with: good.count, Team.players.count, good.isEmpty),
                sql: text(
                    #"SELECT "team".*, COUNT(DISTINCT "player1"."id") AS "goodPlayerCount", "#,
                    #"COUNT(DISTINCT "player2"."id") AS "playerCount", "#,
                    #"COUNT(DISTINCT "player1"."id") = 0 AS "hasNoGoodPlayer" FROM "team" "#,
                    #"LEFT JOIN "player" "player1" ON ("player1"."teamId" = "team"."id") AND ("player1"."score" > 500) "#,
                    #"LEFT JOIN "player" "player2" ON "player2"."teamId" = "team"."id" GROUP BY "team"."id""#),
                rows: ["1|Reds|red|1|3|0", "2|Blues|blue|0|1|1", "3|Greens|green|0|0|1"])
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
            try expectQuery(
                db, Team.including(all: Team.players.annotated(with: Player.awards.count)),
                sql: #"SELECT * FROM "team""#,
                text(
                    #"SELECT "player".*, COUNT(DISTINCT "award"."id") AS "awardCount", "#,
                    #""player"."teamId" AS "grdb_teamId" FROM "player" "#,
                    #"LEFT JOIN "award" ON "award"."playerId" = "player"."id" WHERE "player"."teamId" IN (1, 2, 3) "#,
                    #"GROUP BY "player"."id""#),
                rows: [
                    """
                    ▿ [id:1 name:"Reds" color:"red"]
                      + players: 3 rows
                    """,
                    """
                    ▿ [id:2 name:"Blues" color:"blue"]
                      + players: 1 row
                    """,
                    """
                    ▿ [id:3 name:"Greens" color:"green"]
                      + players: 0 row
                    """,
                ])
        }
    }

    @Test func distinctValuesAndCompositeKeys() throws {
        try withSport { db in
            // Rows without a rowid are told apart by all columns of their key.
            let pairs = Sport.Thing.hasMany(Sport.Pair.self, using: ForeignKey(["a"], to: ["x"]))
            try expectQuery(
                db, Sport.Thing.annotated(with: pairs.count),
                sql: text(
                    #"SELECT "thing".*, COUNT(DISTINCT CASE WHEN "pair"."a" IS NOT NULL "#,
                    #"THEN QUOTE("pair"."a") || ',' || QUOTE("pair"."b") END) AS "pairCount" FROM "thing" "#,
                    #"LEFT JOIN "pair" ON "pair"."a" = "thing"."x" GROUP BY "thing"."rowid""#),
                rows: ["1|x|2", "1|y|2", "7|z|0"])
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
