import QuarryCore
import QuarrySQL
import Testing

/// The tables to which columns in subqueries belong.
@Suite struct SubqueryScopeTests {
    typealias Team = Sport.Team
    typealias Player = Sport.Player

    private let blues: SQLRequest<Int> =
        "SELECT \(Column("id")) FROM \(Team.self) WHERE \(Column("name")) = \("Blues")"

    /// The players of teams, who are joined, so that their columns are qualified.
    private let joined = Player.joining(required: Player.team)

    private func expectCondition(
        _ condition: some SQLSpecificExpressible, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try expectSQL(
            joined.filter(condition),
            #"SELECT "player".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamId" WHERE "# + expected,
            sourceLocation: sourceLocation)
    }

    @Test func columnsInSQLBelongToItsOwnTables() throws {
        let sql = #"SELECT "id" FROM "team" WHERE "name" = 'Blues'"#
        try expectCondition(!blues.contains(Column("teamId")), #""player"."teamId" NOT IN (\#(sql))"#)
        try expectCondition(Column("teamId") == blues, #""player"."teamId" = (\#(sql))"#)
        try expectCondition(blues.exists(), "EXISTS (\(sql))")
        try expectCondition(
            SQL("\(Column("teamId")) IN (\(blues))").sqlExpression, #""player"."teamId" IN (\#(sql))"#)
        let nested: SQLRequest<Int> =
            "SELECT \(Column("id")) FROM team WHERE \(blues.contains(Column("id"))) AND \(SQL("\(Column("color"))"))"
        try expectCondition(
            nested.contains(Column("id")),
            #""player"."id" IN (SELECT "id" FROM team WHERE "id" IN (\#(sql)) AND "color")"#)
        try expectCondition(
            Team.select(Column("id")).filter(Column("id") == 1).union(blues).contains(Column("id")),
            #""player"."id" IN (SELECT "id" FROM "team" WHERE "id" = 1 UNION SELECT * FROM (\#(sql)))"#)
        let named = CommonTableExpression<Int>(named: "blue", request: blues)
        try expectCondition(
            named.all().with(named).contains(Column("id")),
            #""player"."id" IN (WITH "blue" AS (\#(sql)) SELECT * FROM "blue")"#)
        let all: SQLRequest<Row> = "SELECT \(.allColumns) FROM team ORDER BY \(Column("name").desc)"
        try expectCondition(all.exists(), #"EXISTS (SELECT * FROM team ORDER BY "name" DESC)"#)
    }

    @Test func columnsInAChangesSQLBelongToItsOwnTables() throws {
        let sql = #"SELECT "id" FROM "team" WHERE "name" = 'Blues'"#
        try expectSQL(
            .deletion(joined.filter(blues.contains(Column("teamId"))).query),
            text(
                #"DELETE FROM "player" WHERE "id" IN (SELECT "player"."id" FROM "player" JOIN "team" "#,
                #"ON "team"."id" = "player"."teamId" WHERE "player"."teamId" IN (\#(sql)))"#))
        let alias = TableAlias<Player>(name: "p")
        try expectSQL(
            .deletion(Player.aliased(alias).filter(blues.contains(Column("teamId"))).query),
            #"DELETE FROM "player" AS "p" WHERE "p"."teamId" IN (\#(sql))"#)
    }

    @Test func onlyAnAliasMeansATableOfTheEnclosingRequest() throws {
        let player = TableAlias<Player>()
        let own: SQLRequest<Int> =
            "SELECT 1 FROM team WHERE \(Column("id")) = \(player[Column("teamId")]) AND \(Column("name")) = 'Blues'"
        // Also of a request with one table, whose columns are otherwise not qualified.
        try expectSQL(
            Player.aliased(player).filter(own.exists()),
            text(
                #"SELECT * FROM "player" WHERE EXISTS "#,
                #"(SELECT 1 FROM team WHERE "id" = "player"."teamId" AND "name" = 'Blues')"#))
        try expectSQL(
            joined.aliased(player).filter(own.exists()),
            text(
                #"SELECT "player".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamId" WHERE EXISTS "#,
                #"(SELECT 1 FROM team WHERE "id" = "player"."teamId" AND "name" = 'Blues')"#))
    }

    /// VALUES has no tables.
    @Test func columnsInAListOfValuesBelongToTheEnclosingRequest() throws {
        let pairs = [rowValue(Column("id"), Column("score")), rowValue(1, 2)]
        try expectCondition(
            pairs.contains(rowValue(Column("teamId"), Column("score"))),
            #"("player"."teamId", "player"."score") IN (VALUES ("player"."id", "player"."score"), (1, 2))"#)
    }

    @Test func columnsOfTablesInSQLCannotBeExcluded() throws {
        let sql: SQLRequest<Row> = "SELECT \(.allColumns(excluding: ["name"])) FROM team"
        let error = #expect(throws: DatabaseError.self) { try rendered(joined.filter(sql.exists())) }
        #expect(error?.message == "columns can only be excluded in a request")
    }
}
