import QuarryCore
import QuarrySQL
import Testing

@Suite struct AssociationAggregateTests {
    private typealias Team = Sport.Team
    private typealias Player = Sport.Player

    private let joined = #"FROM "team" LEFT JOIN "player" ON "player"."teamId" = "team"."id" GROUP BY "team"."id""#

    @Test func names() throws {
        try expectSQL(
            Team.annotated(with: Team.players.max(\.score) ?? 0, Team.players.count + 1),
            #"SELECT "team".*, IFNULL(MAX("player"."score"), 0) AS "maxPlayerScore", COUNT(DISTINCT "player"."id") + 1 "#
                + joined)
    }

    @Test func throughOthersAndInAssociations() throws {
        try expectSQL(
            Team.annotated(with: Team.awards.count),
            text(
                #"SELECT "team".*, COUNT(DISTINCT "award"."id") AS "awardCount" FROM "team" "#,
                #"LEFT JOIN "player" ON "player"."teamId" = "team"."id" "#,
                #"LEFT JOIN "award" ON "award"."playerId" = "player"."id" GROUP BY "team"."id""#))
    }

    @Test func distinctValuesAndCompositeKeys() throws {
        try expectSQL(
            Team.annotated(with: Team.players.select { [$0.name] }.distinct().count),
            #"SELECT "team".*, COUNT(DISTINCT "player"."name") AS "playerCount" "# + joined)
    }

    @Test func conditions() throws {
        let count = #"COUNT(DISTINCT "player"."id")"#
        let players = Team.players
        let cases: [(AssociationAggregate<Team>, String)] = [
            (players.count >= 2, "\(count) >= 2"), (players.count != 2, "\(count) <> 2"),
            (players.isEmpty, "\(count) = 0"), (!players.isEmpty, "\(count) > 0"),
            (!(!players.isEmpty), "\(count) = 0"), (players.isEmpty == false, "\(count) > 0"),
            (players.isEmpty != false, "\(count) = 0"), (true == players.isEmpty, "\(count) = 0"),
            (players.max(\.score) == nil, #"MAX("player"."score") IS NULL"#),
            (players.count == Column("id"), #"\#(count) = "team"."id""#),
            (
                players.count > 1 && players.max(\.score) < 5000 || players.isEmpty,
                #"((\#(count) > 1) AND (MAX("player"."score") < 5000)) OR (\#(count) = 0)"#
            ),
            (
                -players.count + 2 * players.count - players.count / 1 <= 7,
                "(((-\(count)) + (2 * \(count))) - (\(count) / 1)) <= 7"
            ),
            (!(players.count > 1), "NOT (\(count) > 1)"), (3 > players.count, "3 > \(count)"),
            (players.count === nil, "\(count) IS NULL"), (1 !== players.count, "1 IS NOT \(count)"),
        ]
        for (condition, expected) in cases {
            try expectSQL(Team.having(condition), #"SELECT "team".* "# + joined + " HAVING " + expected)
        }
    }
}
