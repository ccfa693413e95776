import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// The first rows of each parent.
@Suite struct PrefetchedLimitTests {
    private typealias Team = Sport.Team
    private typealias Player = Sport.Player
    private typealias Award = Sport.Award

    private struct TeamInfo: Decodable, FetchableRecord {
        var team: Team
        var players: [Player]
    }

    @Test func limitIsOfEachParent() throws {
        try withSport { db in
            let best = Team.players.order(\.score.desc).limit(2)
            let sql = try emitted(db) {
                let rows = try Row.fetchAll(db, Team.including(all: best))
                let names = rows.map { $0.prefetchedRows["players"]?.map { $0["name"] as String } }
                #expect(names == [["Barbara", "Eve"], ["Craig"], []])
            }
            #expect(
                sql.last
                    == text(
                        #"SELECT * FROM (SELECT *, "teamId" AS "grdb_teamId", "#,
                        #"ROW_NUMBER() OVER (PARTITION BY "teamId" ORDER BY "score" DESC) AS "quarry_rank" FROM "player" "#,
                        #"WHERE "teamId" IN (1, 2, 3)) WHERE "quarry_rank" <= 2 ORDER BY "quarry_rank""#))
            let second = try Row.fetchAll(db, Team.including(all: best.limit(1, offset: 1)))
            #expect(second.map { $0.prefetchedRows["players"]?.map { $0["name"] as String } } == [["Eve"], [], []])
            let infos = try Team.including(all: best).asRequest(of: TeamInfo.self).fetchAll(db)
            #expect(infos.map { $0.players.map(\.id) } == [[2, 5], [3], []])
        }
    }

    @Test func limitedRowsWithOthersBeside() throws {
        try withSport { db in
            let awards = Team.awards.order(\.title.desc).including(required: Award.player).limit(1)
            let sql = try emitted(db) {
                let rows = try Row.fetchAll(db, Team.including(all: awards))
                let first = try #require(rows[0].prefetchedRows["awards"]?.first)
                #expect(first.description == #"[id:2 title:"silver" playerId:1 grdb_teamId:1]"#)
                #expect(first.scopes["player"]?["name"] == "Arthur")
                #expect(rows.map { $0.prefetchedRows["awards"]?.count } == [1, 1, 0])
            }
            #expect(
                sql.last
                    == text(
                        #"SELECT * FROM (SELECT "award".*, "player1"."teamId" AS "grdb_teamId", "player2".*, "#,
                        #"ROW_NUMBER() OVER (PARTITION BY "player1"."teamId" ORDER BY "award"."title" DESC) AS "quarry_rank" "#,
                        #"FROM "award" JOIN "player" "player1" ON ("player1"."id" = "award"."playerId") "#,
                        #"AND ("player1"."teamId" IN (1, 2, 3)) JOIN "player" "player2" ON "player2"."id" = "award"."playerId") "#,
                        #"WHERE "quarry_rank" <= 1 ORDER BY "quarry_rank""#))
        }
    }

    @Test func distinctRowsAreLimited() throws {
        try withSport { db in
            try db.execute(sql: "INSERT INTO award VALUES (4, 'gold', 2), (5, 'bronze', 5)")
            let titles = Team.awards.select(\.title).distinct().order(\.title.desc)
            try expectQuery(
                db, Team.including(all: titles.limit(2)), sql: #"SELECT * FROM "team""#,
                text(
                    #"SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY "award"."grdb_teamId" "#,
                    #"ORDER BY "award"."title" DESC) AS "quarry_rank" FROM ("#,
                    #"SELECT DISTINCT "award"."title", "player"."teamId" AS "grdb_teamId" FROM "award" "#,
                    #"JOIN "player" ON ("player"."id" = "award"."playerId") AND ("player"."teamId" IN (1, 2, 3))) "#,
                    #""award") WHERE "quarry_rank" <= 2 ORDER BY "quarry_rank""#),
                rows: [
                    """
                    ▿ [id:1 name:"Reds" color:"red"]
                      + awards: 2 rows
                    """,
                    """
                    ▿ [id:2 name:"Blues" color:"blue"]
                      + awards: 1 row
                    """,
                    """
                    ▿ [id:3 name:"Greens" color:"green"]
                      + awards: 0 row
                    """,
                ])
            let lists = try Row.fetchAll(db, Team.including(all: titles.limit(1, offset: 1)))
            #expect(lists.map { $0.prefetchedRows["awards"]?.map { $0["title"] as String } } == [["gold"], [], []])
            let all = try Row.fetchAll(db, Player.including(all: Player.awards.distinct().limit(1)))
            #expect(all.map { $0.prefetchedRows["awards"]?.count } == [1, 1, 1, 0, 1])
            try expectQuery(
                db,
                Player.select(\.name).including(
                    optional: Player.awards.select(\.title).distinct().order(\.title.desc).limit(1)),
                sql: text(
                    #"SELECT "player"."name", "award".* FROM "player" LEFT JOIN (SELECT * FROM ("#,
                    #"SELECT *, ROW_NUMBER() OVER (PARTITION BY "award"."grdb_playerId" ORDER BY "award"."title" DESC) "#,
                    #"AS "quarry_rank" FROM (SELECT DISTINCT "title", "playerId" AS "grdb_playerId" FROM "award") "#,
                    #""award") WHERE "quarry_rank" <= 1 ORDER BY "quarry_rank") "award" "#,
                    #"ON "award"."grdb_playerId" = "player"."id""#),
                rows: [
                    """
                    ▿ [name:"Arthur"]
                      unadapted: [name:"Arthur" title:"silver" grdb_playerId:1 quarry_rank:1]
                      - award: [title:"silver" grdb_playerId:1]
                    """,
                    """
                    ▿ [name:"Barbara"]
                      unadapted: [name:"Barbara" title:"gold" grdb_playerId:2 quarry_rank:1]
                      - award: [title:"gold" grdb_playerId:2]
                    """,
                    """
                    ▿ [name:"Craig"]
                      unadapted: [name:"Craig" title:"gold" grdb_playerId:3 quarry_rank:1]
                      - award: [title:"gold" grdb_playerId:3]
                    """,
                    """
                    ▿ [name:"Dan"]
                      unadapted: [name:"Dan" title:NULL grdb_playerId:NULL quarry_rank:NULL]
                      - award: [title:NULL grdb_playerId:NULL]
                    """,
                    """
                    ▿ [name:"Eve"]
                      unadapted: [name:"Eve" title:"bronze" grdb_playerId:5 quarry_rank:1]
                      - award: [title:"bronze" grdb_playerId:5]
                    """,
                ])
        }
    }
}
