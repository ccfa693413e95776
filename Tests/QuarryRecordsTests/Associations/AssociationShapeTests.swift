import Quarry
import QuarryFixtures
import Testing

/// Shapes in which rows were lost, or could not be decoded.
@Suite struct AssociationShapeTests {
    private typealias Team = Sport.Team
    private typealias Player = Sport.Player
    private typealias Award = Sport.Award

    private struct AwardInfo: Decodable, FetchableRecord {
        struct Member: Decodable, FetchableRecord {
            var player: Player
            var team: Team
        }

        var award: Award
        var player: Member?
    }

    /// SQLite calls columns of joins in parentheses `id:1` where there are two.
    @Test func recordsOfARequiredRowBehindAnOptionalOne() throws {
        try withSport { db in
            try db.execute(sql: "INSERT INTO award VALUES (4, 'iron', 4)")
            let request = Award.including(optional: Award.player.including(required: Player.team))
            let infos = try request.asRequest(of: AwardInfo.self).fetchAll(db)
            #expect(
                infos.map { "\($0.award.title) \($0.player?.player.name ?? "-") \($0.player?.team.name ?? "-")" } == [
                    "gold Arthur Reds", "silver Arthur Reds", "gold Craig Blues", "iron - -",
                ])
            let names = try Row.fetchAll(
                db, Award.select(\.id).annotated(withOptional: Award.player.joining(required: Player.team).select(\.id))
            )
            #expect(names.map { Array($0.columnNames) }.allSatisfy { $0 == ["id", "id"] })
        }
    }

    @Test func rowsOfSubqueriesHaveTheAssociationsOfTheirTable() throws {
        try withSport { db in
            let some = Player.filter { $0.id < 2 }.union(Player.filter { $0.id == 3 })
            try expectQuery(
                db, some.joining(required: Player.team.filter { $0.name == "Blues" }),
                sql: text(
                    #"SELECT "subquery".* FROM (SELECT * FROM "player" WHERE "id" < 2 UNION SELECT * FROM "player" "#,
                    #"WHERE "id" = 3) "subquery" JOIN "team" ON ("team"."id" = "subquery"."teamId") "#,
                    #"AND ("team"."name" = 'Blues')"#), rows: ["3|Craig|200|2"])
            let best = Player.order(\.score.desc).limit(2).asTable(named: "best").including(all: Player.awards)
                .including(optional: Player.team)
            let found = try Row.fetchAll(db, best.order(\.id))
            #expect(found.map { $0["name"] as String } == ["Barbara", "Eve"])
            #expect(found.map { $0.scopes["team"]?["name"] as String? } == ["Reds", "Reds"])
            #expect(found.map { $0.prefetchedRows["awards"]?.count } == [0, 0])
        }
    }

    @Test func groupsAreThoseOfEachParent() throws {
        try withSport { db in
            let titles = Team.awards.select(\.title).group(\.title).order(\.title)
            try expectQuery(
                db, Team.including(all: titles), sql: #"SELECT * FROM "team""#,
                text(
                    #"SELECT "award"."title", "player"."teamId" AS "grdb_teamId" FROM "award" "#,
                    #"JOIN "player" ON ("player"."id" = "award"."playerId") AND ("player"."teamId" IN (1, 2, 3)) "#,
                    #"GROUP BY "award"."title", "player"."teamId" ORDER BY "award"."title""#),
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
            let lists = try Row.fetchAll(db, Team.including(all: titles))
            #expect(
                lists.map { $0.prefetchedRows["awards"]?.map { $0["title"] as String } } == [
                    ["gold", "silver"], ["gold"], [],
                ])
            let joined = try Row.fetchAll(
                db,
                Player.select(\.name).including(required: Player.awards.select(\.title).group(\.title)).order(\.id))
            #expect(
                joined.map { "\($0["name"] as String) \($0.scopes["award"]?["title"] as String? ?? "")" }.sorted() == [
                    "Arthur gold", "Arthur silver", "Craig gold",
                ])
            // One person of two countries.
            let citizens = Sport.Country.citizens.annotated(with: Sport.Person.children.count)
            let countries = try Row.fetchAll(db, Sport.Country.including(all: citizens))
            #expect(
                countries.map { $0.prefetchedRows["people"]?.map { "\($0["name"] as String) \($0[3] as Int)" } } == [
                    ["Root 1", "Kid 1"], ["Kid 1"],
                ])
        }
    }
}
