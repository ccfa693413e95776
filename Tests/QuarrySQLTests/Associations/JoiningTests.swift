import QuarryCore
import QuarrySQL
import Testing

@Suite struct JoiningTests {
    private typealias Team = Sport.Team
    private typealias Player = Sport.Player
    private typealias Award = Sport.Award

    @Test func belongsTo() throws {
        try expectSQL(
            Player.including(optional: Player.team.filter { $0.color == "red" }),
            text(
                #"SELECT "player".*, "team".* FROM "player" "#,
                #"LEFT JOIN "team" ON ("team"."id" = "player"."teamId") AND ("team"."color" = 'red')"#))
    }

    @Test func hasOneAndHasMany() throws {
        try expectSQL(
            Player.including(optional: Player.profile),
            text(
                #"SELECT "player".*, "profile".* FROM "player" "#,
                #"LEFT JOIN "profile" ON "profile"."playerId" = "player"."id""#))
    }

    @Test func unorderedRequestsHaveNoOrderOfJoinedTables() throws {
        let teams = Player.team.order(Column("name")).including(
            required: Team.players.order(Column("score")).reversed())
        let joined = Player.joining(required: teams).order(Column("name")).unordered()
        #expect(try !rendered(joined).contains("ORDER BY"))
        #expect(try rendered(joined.reversed()) == rendered(joined))
        #expect(try rendered(joined.order(Column("name"))).hasSuffix(#" ORDER BY "player1"."name""#))
        // With a limit, the order selects the rows.
        let best = Team.joining(required: Team.players.order(Column("score")).limit(1)).unordered()
        #expect(try rendered(best).contains(#"(PARTITION BY "teamId" ORDER BY "score")"#))
    }

    @Test func stableOrdersHaveTheKeysOfJoinedTables() throws {
        func expectOrder<T>(_ request: QueryInterfaceRequest<T>, _ expected: String?) throws {
            let order = try rendered(request).split(separator: " ORDER BY ", omittingEmptySubsequences: false)
            #expect(order.count == 2 ? String(order[1]) == expected : expected == nil)
        }
        let joined = Team.including(required: Team.players.joining(optional: Player.awards))
        try expectOrder(joined.withStableOrder(), #""team"."id", "player"."id", "award"."id""#)
        try expectOrder(
            joined.order(Column("name")).reversed().withStableOrder(),
            #""team"."name" DESC, "team"."id" DESC, "player"."id" DESC, "award"."id" DESC"#)
        try expectOrder(joined.withStableOrder().unordered(), nil)
        try expectOrder(
            Sport.Part.including(required: Sport.Part.pair).withStableOrder(), #""part"."id", "pair"."a", "pair"."b""#)
        // A group has no row of a joined table.
        try expectOrder(Team.annotated(with: Team.players.count).withStableOrder(), #""team"."id""#)
        // Joined subqueries have their columns alone.
        try expectOrder(
            Team.including(required: Team.players.distinct()).withStableOrder(), #""team"."id", "player"."id""#)
        try expectOrder(
            Team.including(required: Team.players.select(Column("name"), Column("teamId")).distinct())
                .withStableOrder(),
            #""team"."id", "player"."name", "player"."teamId""#)
        let scores = CommonTableExpression<Void>(named: "scores", columns: ["x"], sql: "SELECT 1")
        let scored = Team.association(to: scores) { _, _ in true }
        try expectOrder(Team.with(scores).including(required: scored).withStableOrder(), #""team"."id", "scores"."x""#)
    }

    @Test func through() throws {
        try expectSQL(
            Team.joining(required: Team.awards.filter { $0.title == "gold" }),
            text(
                #"SELECT "team".* FROM "team" JOIN "player" ON "player"."teamId" = "team"."id" "#,
                #"JOIN "award" ON ("award"."playerId" = "player"."id") AND ("award"."title" = 'gold')"#))
    }

    @Test func compositeAndUndeclaredKeys() throws {
        try expectSQL(
            Sport.Part.including(required: Sport.Part.pair),
            text(
                #"SELECT "part".*, "pair".* FROM "part" "#,
                #"JOIN "pair" ON ("pair"."a" = "part"."pairA") AND ("pair"."b" = "part"."pairB")"#))
        try expectSQL(
            Sport.Thing.including(required: Sport.Thing.pair),
            text(
                #"SELECT "thing".*, "pair".* FROM "thing" "#,
                #"JOIN "pair" ON ("pair"."a" = "thing"."x") AND ("pair"."b" = "thing"."y")"#))
        try expectSQL(
            Sport.Match.including(required: Sport.Match.home).including(required: Sport.Match.guest),
            text(
                #"SELECT "match".*, "team1".*, "team2".* FROM "match" "#,
                #"JOIN "team" "team1" ON "team1"."id" = "match"."homeId" "#,
                #"JOIN "team" "team2" ON "team2"."id" = "match"."guestId""#))
    }

    @Test func annotations() throws {
        try expectSQL(
            Player.select { [$0.id] }.annotated(withOptional: Player.team),
            #"SELECT "player"."id", "team".* FROM "player" LEFT JOIN "team" ON "team"."id" = "player"."teamId""#)
    }

    @Test func ordersAndAliases() throws {
        let team = TableAlias<Team>()
        try expectSQL(
            Player.including(required: Player.team.order(\.name)).order(\.score),
            text(
                #"SELECT "player".*, "team".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamId" "#,
                #"ORDER BY "player"."score", "team"."name""#))
        try expectSQL(
            Player.joining(required: Player.team.aliased(team)).filter(team.color == "red").order(team.name),
            text(
                #"SELECT "player".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamId" "#,
                #"WHERE "team"."color" = 'red' ORDER BY "team"."name""#))
    }

    @Test func oneKeyIsOneJoin() throws {
        try expectSQL(
            Player.including(required: Player.team.filter { $0.color == "red" })
                .including(optional: Player.team.forKey("TEAM").filter { $0.name == "x" }),
            text(
                #"SELECT "player".*, "team".* FROM "player" JOIN "team" ON ("team"."id" = "player"."teamId") "#,
                #"AND ("team"."color" = 'red') AND ("team"."name" = 'x')"#))
        try expectSQL(
            Player.including(optional: Player.team.select { [$0.name] }).joining(
                required: Player.team.order(\.color)),
            text(
                #"SELECT "player".*, "team"."name" FROM "player" JOIN "team" ON "team"."id" = "player"."teamId" "#,
                #"ORDER BY "team"."color""#))
        try expectSQL(
            Player.including(optional: Player.team.select { [$0.name] }.order(\.name))
                .including(optional: Player.team.select { [$0.color] }.order(\.color)),
            text(
                #"SELECT "player".*, "team"."color" FROM "player" LEFT JOIN "team" ON "team"."id" = "player"."teamId" "#,
                #"ORDER BY "team"."color""#))
        try expectSQL(
            Award.joining(required: Award.player).including(required: Award.team),
            text(
                #"SELECT "award".*, "team".* FROM "award" JOIN "player" ON "player"."id" = "award"."playerId" "#,
                #"JOIN "team" ON "team"."id" = "player"."teamId""#))
        // A foreign key that repeats the schema's is the same one.
        let named = Player.belongsTo(Team.self, using: ForeignKey(["teamId"]))
        try expectSQL(
            Player.including(required: Player.team).including(required: named),
            #"SELECT "player".*, "team".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamId""#)
    }

    @Test func otherKeysAreOtherJoins() throws {
        try expectSQL(
            Player.including(required: Player.team).including(optional: Player.team.forKey("other")),
            text(
                #"SELECT "player".*, "team1".*, "team2".* FROM "player" "#,
                #"JOIN "team" "team1" ON "team1"."id" = "player"."teamId" "#,
                #"LEFT JOIN "team" "team2" ON "team2"."id" = "player"."teamId""#))
    }

    @Test func distinctAndGroupedJoins() throws {
        try expectSQL(
            Player.including(required: Player.team.select { [$0.color] }.distinct()),
            text(
                #"SELECT "player".*, "team".* FROM "player" JOIN (SELECT DISTINCT "color", "id" AS "grdb_id" FROM "team") "#,
                #""team" ON "team"."grdb_id" = "player"."teamId""#))
    }
}
