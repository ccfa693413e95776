import QuarryCore
import QuarrySQL
import Testing

/// Two columns that are compared, in each place that takes an expression: none may become Swift's `==`, whose Bool
/// would be a constant of the query.
@Suite struct ComparedColumnTests {
    private typealias Player = Sport.Player

    private let a = Column("score")
    private let b = Column("teamId")

    @Test func requestsCompareColumns() throws {
        let same = #""score" = "teamId""#
        try expectSQL(Player.filter { $0.score == $0.teamId }, #"SELECT * FROM "player" WHERE \#(same)"#)
        try expectSQL(
            Player.filter { !($0.score == $0.teamId) }, #"SELECT * FROM "player" WHERE "score" <> "teamId""#)
        try expectSQL(Player.select { [$0.score == $0.teamId] }, #"SELECT \#(same) FROM "player""#)
        try expectSQL(Player.select { $0.score == $0.teamId }, #"SELECT \#(same) FROM "player""#)
        try expectSQL(Player.select((a == b).forKey("x")), #"SELECT \#(same) AS "x" FROM "player""#)
        try expectSQL(Player.order { [$0.score == $0.teamId] }, #"SELECT * FROM "player" ORDER BY \#(same)"#)
        try expectSQL(Player.order((a == b).desc), #"SELECT * FROM "player" ORDER BY \#(same) DESC"#)
        try expectSQL(Player.annotated { $0.score == $0.teamId }, #"SELECT *, \#(same) FROM "player""#)
        try expectSQL(
            Player.group { [$0.score == $0.teamId] }.having { $0.score == $0.teamId },
            #"SELECT * FROM "player" GROUP BY \#(same) HAVING \#(same)"#)
        try expectSQL(
            Player.group(a == b).having(a == b), #"SELECT * FROM "player" GROUP BY \#(same) HAVING \#(same)"#)
        try expectSQL(
            Player.filter([a == b, a != b].joined(operator: .or)),
            #"SELECT * FROM "player" WHERE (\#(same)) OR ("score" <> "teamId")"#)
        let lazy = [a, b].lazy.map { $0 == b }
        try expectSQL(
            Player.filter(AnySequence(lazy).joined(operator: .and)),
            #"SELECT * FROM "player" WHERE (\#(same)) AND ("teamId" = "teamId")"#)
        try expectSQL(
            Player.filter([a == b, a != b].contains(a == b)),
            #"SELECT * FROM "player" WHERE (\#(same)) IN (\#(same), "score" <> "teamId")"#)
        try expectSQL(
            Player.filter(Player.select(a == b).contains(a == b)),
            #"SELECT * FROM "player" WHERE (\#(same)) IN (SELECT \#(same) FROM "player")"#)
        let optional: Column? = b
        try expectSQL(
            Player.filter(a == optional && optional != a),
            #"SELECT * FROM "player" WHERE (\#(same)) AND ("teamId" <> "score")"#)
        let alias = TableAlias<Player>(name: "x")
        try expectSQL(
            Player.aliased(alias).filter(alias.score == alias.teamId),
            #"SELECT "x".* FROM "player" "x" WHERE "x"."score" = "x"."teamId""#)
    }

    @Test func expressionsCompareColumns() throws {
        func expectExpression(
            _ expression: some SQLSpecificExpressible, _ expected: String,
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            try expectSQL(
                Player.select(expression), "SELECT \(expected) FROM \"player\"", sourceLocation: sourceLocation)
        }
        let same = #""score" = "teamId""#
        try expectExpression(
            caseWhen(a == b, then: a == b).when(a != b, then: a != b).otherwise(a == b),
            #"CASE WHEN \#(same) THEN \#(same) WHEN "score" <> "teamId" THEN "score" <> "teamId" ELSE \#(same) END"#
        )
        try expectExpression(
            caseOf(a == b, when: a != b, then: a == b).otherwise(a == b),
            #"CASE (\#(same)) WHEN "score" <> "teamId" THEN \#(same) ELSE \#(same) END"#)
        try expectExpression((a == b) == (a == b), #"(\#(same)) = (\#(same))"#)
        try expectExpression((a == b) ?? (a == b), #"IFNULL(\#(same), \#(same))"#)
        try expectExpression(max(a == b), #"MAX(\#(same))"#)
        try expectExpression(count(distinct: a == b), #"COUNT(DISTINCT \#(same))"#)
        try expectExpression(count(.allColumns, filter: a == b), #"COUNT(*) FILTER (WHERE \#(same))"#)
        try expectExpression(cast(a == b, as: .text), #"CAST(\#(same) AS TEXT)"#)
        try expectExpression(coalesce([a == b, a == b]), #"COALESCE(\#(same), \#(same))"#)
        try expectExpression(
            rank().over(partitionBy: [a == b], orderBy: [a == b]),
            #"RANK() OVER (PARTITION BY \#(same) ORDER BY \#(same))"#)
    }
}
