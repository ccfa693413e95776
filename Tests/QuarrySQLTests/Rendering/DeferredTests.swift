import QuarryCore
import QuarryExpectations
import QuarrySQL
import Testing

/// Parts of a request that are functions of the schema.
@Suite struct DeferredTests {
    private let best = SQLExpression.deferred { schema in
        let columns = try schema.columnNames(of: "player")
        return Column(columns[2]) > 10
    }

    @Test func conditionsAreAskedOfTheSchemaInEachPlace() throws {
        let request = Table("player")
        try expectSQL(request.filter(best), #"SELECT * FROM "player" WHERE "score" > 10"#)
        try expectSQL(request.select(best), #"SELECT "score" > 10 FROM "player""#)
        try expectSQL(request.order(best), #"SELECT * FROM "player" ORDER BY "score" > 10"#)
        try expectSQL(
            request.group(best).having(best), #"SELECT * FROM "player" GROUP BY "score" > 10 HAVING "score" > 10"#)
        try expectSQL(
            request.filter(Column("id") == 1 && best && Column("name") == nil),
            #"SELECT * FROM "player" WHERE ("id" = 1) AND ("score" > 10) AND ("name" IS NULL)"#)
        try expectSQL(
            Table("team").filter(request.filter(best).exists()),
            #"SELECT * FROM "team" WHERE EXISTS (SELECT * FROM "player" WHERE "score" > 10)"#)
        try expectSQL(
            Sport.Team.joining(required: Sport.Team.players.filter(best)),
            #"SELECT "team".* FROM "team" JOIN "player" "#
                + #"ON ("player"."teamId" = "team"."id") AND ("player"."score" > 10)"#)
        let table = CommonTableExpression(named: "best", request: request.filter(best), as: Row.self)
        try expectSQL(
            table.all().with(table),
            #"WITH "best" AS (SELECT * FROM "player" WHERE "score" > 10) SELECT * FROM "best""#)
        #expect(
            try rendered { try $0.write(.deletion(request.filter(best).query)) }
                == #"DELETE FROM "player" WHERE "score" > 10"#)
    }

    @Test func whatTheSchemaThrowsComesOut() {
        let request = Table("player").filter(
            SQLExpression.deferred { [best] schema in
                _ = try schema.columnNames(of: "missing")
                return best
            })
        expectError(.SQLITE_ERROR, "no such table: missing") { try rendered(request) }
    }

    @Test func literalsAreBuiltInASchema() throws {
        let sql: SQL = "SELECT \(Column("id")), \(best) FROM player WHERE id = \(1)"
        let (text, arguments) = try sql.build(in: sport)
        #expect(text == #"SELECT "id", "score" > ? FROM player WHERE id = ?"# && arguments == [10, 1])
        final class Nothing: SQLContext {}
        let error = #expect(throws: DatabaseError.self) { try sql.build(in: Nothing()) }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.message == "SQL of the query interface is rendered without a schema")
    }
}
