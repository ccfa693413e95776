import Quarry
import QuarryFixtures
import Testing

@Suite struct JoiningTests {
    private typealias Team = Sport.Team
    private typealias Player = Sport.Player
    private typealias Award = Sport.Award

    // MARK: - Shapes

    @Test func belongsTo() throws {
        try withSport { db in
            try expectQuery(
                db, Player.including(required: Player.team).limit(1),
                sql:
                    #"SELECT "player".*, "team".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamId" LIMIT 1"#,
                rows: [
                    """
                    ▿ [id:1 name:"Arthur" score:100 teamId:1]
                      unadapted: [id:1 name:"Arthur" score:100 teamId:1 id:1 name:"Reds" color:"red"]
                      - team: [id:1 name:"Reds" color:"red"]
                    """
                ])
        }
    }

    @Test func hasOneAndHasMany() throws {
        try withSport { db in
            // One row: the scope is in singular.
            try expectQuery(
                db, Team.including(required: Team.players.filter { $0.score > 500 }),
                sql: text(
                    #"SELECT "team".*, "player".* FROM "team" "#,
                    #"JOIN "player" ON ("player"."teamId" = "team"."id") AND ("player"."score" > 500)"#),
                rows: [
                    """
                    ▿ [id:1 name:"Reds" color:"red"]
                      unadapted: [id:1 name:"Reds" color:"red" id:2 name:"Barbara" score:1000 teamId:1]
                      - player: [id:2 name:"Barbara" score:1000 teamId:1]
                    """
                ]
            )
        }
    }

    @Test func through() throws {
        try withSport { db in
            try expectQuery(
                db, Award.including(required: Award.team).limit(1),
                sql: text(
                    #"SELECT "award".*, "team".* FROM "award" JOIN "player" ON "player"."id" = "award"."playerId" "#,
                    #"JOIN "team" ON "team"."id" = "player"."teamId" LIMIT 1"#),
                rows: [
                    """
                    ▿ [id:1 title:"gold" playerId:1]
                      unadapted: [id:1 title:"gold" playerId:1 id:1 name:"Reds" color:"red"]
                      - player: []
                        - team: [id:1 name:"Reds" color:"red"]
                    """
                ])
        }
    }

    @Test func selfJoins() throws {
        typealias Person = Sport.Person
        try withSport { db in
            let parent = Person.parent.including(optional: Person.parent)
            try expectQuery(
                db, Person.including(optional: parent).filter(key: 3),
                sql: text(
                    #"SELECT "person1".*, "person2".*, "person3".* FROM "person" "person1" "#,
                    #"LEFT JOIN "person" "person2" ON "person2"."id" = "person1"."parentId" "#,
                    #"LEFT JOIN "person" "person3" ON "person3"."id" = "person2"."parentId" "#,
                    #"WHERE "person1"."id" = 3"#),
                rows: [
                    """
                    ▿ [id:3 parentId:2 name:"Grandchild"]
                      unadapted: [id:3 parentId:2 name:"Grandchild" id:2 parentId:1 name:"Kid" id:1 \
                    parentId:NULL name:"Root"]
                      - parent: [id:2 parentId:1 name:"Kid"]
                        - parent: [id:1 parentId:NULL name:"Root"]
                    """
                ])
        }
    }

    @Test func tables() throws {
        let players = Table("player")
        let teams = Table<Team>("team")
        try withSport { db in
            try expectQuery(
                db, players.including(required: players.belongsTo(teams)).limit(1),
                sql:
                    #"SELECT "player".*, "team".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamId" LIMIT 1"#,
                rows: [
                    """
                    ▿ [id:1 name:"Arthur" score:100 teamId:1]
                      unadapted: [id:1 name:"Arthur" score:100 teamId:1 id:1 name:"Reds" color:"red"]
                      - team: [id:1 name:"Reds" color:"red"]
                    """
                ])
            try expectQuery(
                db, teams.having(teams.hasMany(players).count > 2),
                sql: text(
                    #"SELECT "team".* FROM "team" LEFT JOIN "player" ON "player"."teamId" = "team"."id" "#,
                    #"GROUP BY "team"."id" HAVING COUNT(DISTINCT "player"."id") > 2"#), rows: ["1|Reds|red"])
            try expectQuery(
                db, teams.limit(1).including(all: teams.hasMany(players)), sql: #"SELECT * FROM "team" LIMIT 1"#,
                #"SELECT *, "teamId" AS "grdb_teamId" FROM "player" WHERE "teamId" = 1"#,
                rows: [
                    """
                    ▿ [id:1 name:"Reds" color:"red"]
                      + players: 3 rows
                    """
                ])
        }
    }

    @Test func commonTables() throws {
        let best = CommonTableExpression<Row>(
            named: "bests", sql: "SELECT teamId, MAX(score) AS score FROM player GROUP BY teamId")
        let association = Team.association(to: best) { team, best in team["id"] == best["teamId"] }
        try withSport { db in
            try expectQuery(
                db, Team.with(best).including(required: association).limit(1),
                sql: text(
                    #"WITH "bests" AS (SELECT teamId, MAX(score) AS score FROM player GROUP BY teamId) "#,
                    #"SELECT "team".*, "bests".* FROM "team" JOIN "bests" ON "team"."id" = "bests"."teamId" LIMIT 1"#
                ),
                rows: [
                    """
                    ▿ [id:1 name:"Reds" color:"red"]
                      unadapted: [id:1 name:"Reds" color:"red" teamId:1 score:1000]
                      - best: [teamId:1 score:1000]
                    """
                ])
            // The association may bring the table itself.
            try expectQuery(
                db, Team.joining(optional: association.with(best)),
                sql: text(
                    #"WITH "bests" AS (SELECT teamId, MAX(score) AS score FROM player GROUP BY teamId) "#,
                    #"SELECT "team".* FROM "team" LEFT JOIN "bests" ON "team"."id" = "bests"."teamId""#),
                rows: ["1|Reds|red", "2|Blues|blue", "3|Greens|green"]
            )
            let back = best.association(to: Team.self) { best, team in best["teamId"] == team["id"] }
            try expectQuery(
                db, best.all().with(best).including(required: back),
                sql: text(
                    #"WITH "bests" AS (SELECT teamId, MAX(score) AS score FROM player GROUP BY teamId) "#,
                    #"SELECT "bests".*, "team".* FROM "bests" JOIN "team" ON "bests"."teamId" = "team"."id""#),
                rows: [
                    """
                    ▿ [teamId:1 score:1000]
                      unadapted: [teamId:1 score:1000 id:1 name:"Reds" color:"red"]
                      - team: [id:1 name:"Reds" color:"red"]
                    """,
                    """
                    ▿ [teamId:2 score:200]
                      unadapted: [teamId:2 score:200 id:2 name:"Blues" color:"blue"]
                      - team: [id:2 name:"Blues" color:"blue"]
                    """,
                ])
            try expectQuery(
                db, Team.with(best).joining(required: Team.association(to: best)).order(Column("id")),
                sql: text(
                    #"WITH "bests" AS (SELECT teamId, MAX(score) AS score FROM player GROUP BY teamId) "#,
                    #"SELECT "team".* FROM "team" JOIN "bests" ORDER BY "team"."id""#),
                rows: [
                    "1|Reds|red", "1|Reds|red", "1|Reds|red", "2|Blues|blue", "2|Blues|blue", "2|Blues|blue",
                    "3|Greens|green", "3|Greens|green", "3|Greens|green",
                ])
        }
    }

    // MARK: - Columns, orders, names

    @Test func selections() throws {
        try withSport { db in
            try expectQuery(
                db,
                Player.select { [$0.name] }
                    .including(required: Player.team.select(sql: "team.color, 1 AS one"))
                    .including(optional: Player.profile.select(sql: "bio, 2 AS two")).limit(1),
                sql: text(
                    #"SELECT "player"."name", team.color, 1 AS one, bio, 2 AS two FROM "player" "#,
                    #"JOIN "team" ON "team"."id" = "player"."teamId" "#,
                    #"LEFT JOIN "profile" ON "profile"."playerId" = "player"."id" LIMIT 1"#),
                rows: [
                    """
                    ▿ [name:"Arthur"]
                      unadapted: [name:"Arthur" color:"red" one:1 bio:"tall" two:2]
                      - profile: [bio:"tall" two:2]
                      - team: [color:"red" one:1]
                    """
                ])
        }
    }

    @Test func annotations() throws {
        try withSport { db in
            try expectQuery(
                db, Player.annotated(withRequired: Player.team.select { [$0.color.forKey("teamColor")] }).limit(1),
                sql: text(
                    #"SELECT "player".*, "team"."color" AS "teamColor" FROM "player" "#,
                    #"JOIN "team" ON "team"."id" = "player"."teamId" LIMIT 1"#),
                rows: ["1|Arthur|100|1|red"])
        }
    }

    @Test func ordersAndAliases() throws {
        let team = TableAlias<Team>()
        try withSport { db in
            try expectQuery(
                db, Player.joining(optional: Player.team.aliased(team)).filter(!team.exists),
                sql:
                    #"SELECT "player".* FROM "player" LEFT JOIN "team" ON "team"."id" = "player"."teamId" WHERE "team"."id" IS NULL"#,
                rows: ["4|Dan|5|NULL"])
        }
    }

    @Test func counts() throws {
        try withSport { db in
            let count = try Player.including(required: Player.team).fetchCount(db)
            #expect(count == 4)
            let isEmpty = try Player.joining(required: Player.team.filter { $0.color == "pink" }).isEmpty(db)
            #expect(isEmpty)
        }
    }

    // MARK: - Beyond conditions

    @Test func requiredBehindOptional() throws {
        try withSport { db in
            // Both or none.
            try expectQuery(
                db,
                Award.including(optional: Award.player.including(required: Player.team.filter { $0.color == "blue" })),
                sql: text(
                    #"SELECT "award".*, "player".*, "team".* FROM "award" LEFT JOIN ("player" "#,
                    #"JOIN "team" ON ("team"."id" = "player"."teamId") AND ("team"."color" = 'blue')) "#,
                    #"ON "player"."id" = "award"."playerId""#),
                rows: [
                    """
                    ▿ [id:1 title:"gold" playerId:1]
                      unadapted: [id:1 title:"gold" playerId:1 id:NULL name:NULL score:NULL teamId:NULL \
                    id:1:NULL name:1:NULL color:NULL]
                      - player: [id:NULL name:NULL score:NULL teamId:NULL]
                        - team: [id:NULL name:NULL color:NULL]
                    """,
                    """
                    ▿ [id:2 title:"silver" playerId:1]
                      unadapted: [id:2 title:"silver" playerId:1 id:NULL name:NULL score:NULL teamId:NULL \
                    id:1:NULL name:1:NULL color:NULL]
                      - player: [id:NULL name:NULL score:NULL teamId:NULL]
                        - team: [id:NULL name:NULL color:NULL]
                    """,
                    """
                    ▿ [id:3 title:"gold" playerId:3]
                      unadapted: [id:3 title:"gold" playerId:3 id:3 name:"Craig" score:200 teamId:2 id:1:2 \
                    name:1:"Blues" color:"blue"]
                      - player: [id:3 name:"Craig" score:200 teamId:2]
                        - team: [id:2 name:"Blues" color:"blue"]
                    """,
                ])
        }
    }

    @Test func limitedJoinsAreOfEachOrigin() throws {
        try withSport { db in
            let best = Team.players.order(\.score.desc).limit(1)
            try expectQuery(
                db, Team.including(optional: best).order(\.id),
                sql: text(
                    #"SELECT "team".*, "player".* FROM "team" LEFT JOIN (SELECT * FROM (SELECT *, "#,
                    #"ROW_NUMBER() OVER (PARTITION BY "teamId" ORDER BY "score" DESC) AS "quarry_rank" "#,
                    #"FROM "player") WHERE "quarry_rank" <= 1 ORDER BY "quarry_rank") "player" "#,
                    #"ON "player"."teamId" = "team"."id" ORDER BY "team"."id""#),
                rows: [
                    """
                    ▿ [id:1 name:"Reds" color:"red"]
                      unadapted: [id:1 name:"Reds" color:"red" id:2 name:"Barbara" score:1000 teamId:1 quarry_rank:1]
                      - player: [id:2 name:"Barbara" score:1000 teamId:1]
                    """,
                    """
                    ▿ [id:2 name:"Blues" color:"blue"]
                      unadapted: [id:2 name:"Blues" color:"blue" id:3 name:"Craig" score:200 teamId:2 quarry_rank:1]
                      - player: [id:3 name:"Craig" score:200 teamId:2]
                    """,
                    """
                    ▿ [id:3 name:"Greens" color:"green"]
                      unadapted: [id:3 name:"Greens" color:"green" id:NULL name:NULL score:NULL teamId:NULL \
                    quarry_rank:NULL]
                      - player: [id:NULL name:NULL score:NULL teamId:NULL]
                    """,
                ])
        }
    }

    @Test func distinctAndGroupedJoins() throws {
        try withSport { db in
            let totals = Team.players.select { [$0.teamId, sum($0.score).forKey("total")] }.group(\.teamId)
            try expectQuery(
                db, Team.including(required: totals).order(\.id),
                sql: text(
                    #"SELECT "team".*, "player".* FROM "team" JOIN (SELECT "teamId", SUM("score") AS "total" FROM "player" "#,
                    #"GROUP BY "teamId") "player" ON "player"."teamId" = "team"."id" ORDER BY "team"."id""#),
                rows: [
                    """
                    ▿ [id:1 name:"Reds" color:"red"]
                      unadapted: [id:1 name:"Reds" color:"red" teamId:1 total:1400]
                      - player: [teamId:1 total:1400]
                    """,
                    """
                    ▿ [id:2 name:"Blues" color:"blue"]
                      unadapted: [id:2 name:"Blues" color:"blue" teamId:2 total:200]
                      - player: [teamId:2 total:200]
                    """,
                ])
        }
    }

    @Test func joinsThatAreSubqueriesStandInParts() throws {
        try withSport { db in
            let best = Team.players.order(\.score.desc).limit(1)
            let request = Team.filter { $0.id == 3 }.select(\.name)
                .union(Team.joining(required: best).filter { $0.id == 2 }.select(\.name))
            try expectQuery(
                db, request,
                sql: text(
                    #"SELECT "name" FROM "team" WHERE "id" = 3 UNION SELECT "team"."name" FROM "team" JOIN ("#,
                    #"SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY "teamId" ORDER BY "score" DESC) "#,
                    #"AS "quarry_rank" FROM "player") WHERE "quarry_rank" <= 1 ORDER BY "quarry_rank") "player" "#,
                    #"ON "player"."teamId" = "team"."id" WHERE "team"."id" = 2"#),
                rows: ["Blues", "Greens"])
        }
    }

    @Test func partsAreNamedApartFromTheRequestAround() throws {
        try withSport { db in
            let player = TableAlias<Player>()
            let mates = Player.filter { $0.id == 4 && $0.id == player.id }.select(\.id)
                .union(Player.filter { $0.teamId == player.teamId && $0.score > player.score }.select(\.id))
            try expectQuery(
                db, Player.select(\.name).aliased(player).filter(mates.exists()),
                sql: text(
                    #"SELECT "name" FROM "player" WHERE EXISTS ("#,
                    #"SELECT "player1"."id" FROM "player" "player1" WHERE ("player1"."id" = 4) AND "#,
                    #"("player1"."id" = "player"."id") UNION "#,
                    #"SELECT "player1"."id" FROM "player" "player1" WHERE ("player1"."teamId" = "player"."teamId") "#,
                    #"AND ("player1"."score" > "player"."score"))"#),
                rows: ["Arthur", "Dan", "Eve"])
        }
    }

    @Test func ordersOfJoinsStayOutOfParts() throws {
        try withSport { db in
            let request = Team.filter { $0.id == 3 }.select(\.name)
                .union(Team.joining(required: Team.players.order(\.score)).select(\.name))
            try expectQuery(
                db, request,
                sql: text(
                    #"SELECT "name" FROM "team" WHERE "id" = 3 UNION SELECT "team"."name" FROM "team" "#,
                    #"JOIN "player" ON "player"."teamId" = "team"."id""#), rows: ["Blues", "Greens", "Reds"])
        }
    }
}
