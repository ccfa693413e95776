import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// Subqueries in SQL, which name their columns without tables, in requests whose columns are qualified.
@Suite struct SubqueryScopeTests {
    private typealias Player = Sport.Player
    private typealias Team = Sport.Team

    @Test func aSubqueryInSQLDoesNotReadTheColumnsOfTheJoinedRequest() throws {
        try withSport { (db) throws in
            let blues: SQLRequest<Int> =
                "SELECT \(Column("id")) FROM \(Team.self) WHERE \(Column("name")) = \("Blues")"
            let others = Player.joining(required: Player.team).filter(!blues.contains(Column("teamId")))
            #expect(try others.order(Column("id")).fetchAll(db).map(\.id) == [1, 2, 5])
            #expect(try others.updateAll(db, Column("score").set(to: 0)) == 3)
            try db.execute(sql: "DELETE FROM award; DELETE FROM profile")
            #expect(try others.deleteAll(db) == 3)
            #expect(try Player.order(Column("id")).fetchAll(db).map(\.id) == [3, 4])
        }
    }

    @Test func randomSubqueriesFindWhatTheSameSQLWithAllNamesFinds() throws {
        let seed = SeededGenerator().seed
        print("SubqueryScopeTests.randomSubqueriesFindWhatTheSameSQLWithAllNamesFinds seed: \(seed)")
        var random = RandomSubquery(SeededGenerator(seed: seed))
        var foundRows = 0
        try withSport { (db) throws in
            for number in 0..<300 {
                let (request, sql) = random.request()
                let place = "seed \(seed), request \(number)"
                let expected = try Int.fetchAll(db, sql: "SELECT o.id \(sql) ORDER BY o.id")
                let found = try Int.fetchAll(db, request.select(Column("id")).order(Column("id")))
                #expect(found == expected, "\(place): \(sql)")
                #expect(try request.fetchCount(db) == expected.count, "\(place), counted: \(sql)")
                #expect(try request.isEmpty(db) == expected.isEmpty, "\(place), is empty: \(sql)")
                foundRows += expected.count
                let others = Set(1...5).subtracting(expected).sorted()
                try db.inSavepoint {
                    _ = try request.updateAll(db, Column("score").set(to: -1))
                    let kept = try Int.fetchAll(db, sql: "SELECT id FROM player WHERE score <> -1 ORDER BY id")
                    #expect(kept == others, "\(place), updated: \(sql)")
                    return .rollback
                }
                try db.execute(sql: "PRAGMA defer_foreign_keys = 1")
                try db.inSavepoint {
                    _ = try request.deleteAll(db)
                    let kept = try Int.fetchAll(db, sql: "SELECT id FROM player ORDER BY id")
                    #expect(kept == others, "\(place), deleted: \(sql)")
                    return .rollback
                }
            }
        }
        #expect(foundRows > 100)
    }
}

/// Makes requests for players, and the same as SQL in which each column has its table.
private struct RandomSubquery {
    private var random: SeededGenerator
    private let outer = TableAlias(name: "o")
    private var tableCount = 0

    init(_ random: SeededGenerator) { self.random = random }

    private mutating func number(below count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    mutating func request() -> (request: QueryInterfaceRequest<Sport.Player>, sql: String) {
        var request = Sport.Player.aliased(outer)
        var sql = "FROM player o"
        switch number(below: 5) {
        case 0: break
        case 1:
            request = request.joining(required: Sport.Player.team)
            sql += " JOIN team t ON t.id = o.teamId"
        case 2:
            request = request.including(optional: Sport.Player.team)
            sql += " LEFT JOIN team t ON t.id = o.teamId"
        case 3:
            request = request.joining(optional: Sport.Player.awards)
            sql += " LEFT JOIN award a ON a.playerId = o.id"
        default:
            request = request.joining(required: Sport.Player.team.joining(required: Sport.Team.players))
            sql += " JOIN team t ON t.id = o.teamId JOIN player p ON p.teamId = t.id"
        }
        let form = number(below: 7)
        // The tables of WITH can't read those of its statement.
        let (body, text) = select(depth: 3, readsOuter: form != 6)
        let subquery = SQLRequest<Int>(literal: body)
        switch form {
        case 0: return (request.filter(subquery.contains(Column("id"))), sql + " WHERE o.id IN (\(text))")
        case 1: return (request.filter(!subquery.contains(Column("teamId"))), sql + " WHERE o.teamId NOT IN (\(text))")
        case 2:
            let largest: SQLRequest<Int> = "SELECT MAX(\(Column("id"))) FROM (\(subquery))"
            let condition = largest.sqlExpression > Column("id")
            return (request.filter(condition), sql + " WHERE (SELECT MAX(id) FROM (\(text))) > o.id")
        case 3: return (request.filter(subquery.exists()), sql + " WHERE EXISTS (\(text))")
        case 4:
            return (
                request.filter(literal: "\(Column("id")) IN (\(subquery))"), sql + " WHERE o.id IN (\(text))"
            )
        case 5:
            let union = Sport.Team.select(Column("id"), as: Int.self).filter(Column("id") == 2).union(subquery)
            let all = "SELECT id FROM team WHERE id = 2 UNION SELECT * FROM (\(text))"
            return (request.filter(union.contains(Column("id"))), sql + " WHERE o.id IN (\(all))")
        default:
            let table = CommonTableExpression<Int>(named: "c", request: subquery)
            let filtered = request.with(table).filter(table.contains(Column("id")))
            return (filtered, sql + " WHERE o.id IN (\(text))")
        }
    }

    /// `SELECT id FROM … WHERE …`
    private mutating func select(depth: Int, readsOuter: Bool) -> (SQL, String) {
        tableCount += 1
        let (table, name) = (["team", "player", "award"][number(below: 3)], "x\(tableCount)")
        let label = table == "award" ? "title" : "name"
        let (condition, text) = condition(name, label, depth, readsOuter)
        return (
            "SELECT \(Column("id")) FROM \(sql: table) WHERE \(condition)",
            "SELECT \(name).id FROM \(table) \(name) WHERE \(text)"
        )
    }

    private mutating func condition(
        _ name: String, _ label: String, _ depth: Int, _ readsOuter: Bool
    ) -> (SQL, String) {
        let (id, column) = (Column("id"), Column(label))
        let kind = number(below: depth > 0 ? 11 : 4)
        switch kind {
        case 0: return ("\(column) > \("C")", "\(name).\(label) > 'C'")
        case 1: return ("\(id) % 2 = 0", "\(name).id % 2 = 0")
        case 2: return ("\(SQL("\(column) <> \("Dan")"))", "\(name).\(label) <> 'Dan'")
        case 3 where readsOuter:
            return (
                "\(outer[Column("name")]) <> \(column) OR \(outer[id]) = \(id)",
                "o.name <> \(name).\(label) OR o.id = \(name).id"
            )
        case 3: return ("\(id == 2)", "\(name).id = 2")
        case 4:
            let (first, firstText) = condition(name, label, depth - 1, readsOuter)
            let (second, secondText) = condition(name, label, depth - 1, readsOuter)
            return ("(\(first)) AND (\(second))", "(\(firstText)) AND (\(secondText))")
        default: break
        }
        let (body, text) = select(depth: depth - 1, readsOuter: readsOuter)
        let subquery = SQLRequest<Int>(literal: body)
        switch kind {
        case 5: return ("\(id) IN (\(subquery))", "\(name).id IN (\(text))")
        case 6: return ("\(!subquery.contains(id))", "\(name).id NOT IN (\(text))")
        case 7: return ("\(subquery.exists())", "EXISTS (\(text))")
        case 8:
            let request = Sport.Award.filter(subquery.contains(id)).select(Column("playerId"))
            return ("\(id) IN \(request)", "\(name).id IN (SELECT y.playerId FROM award y WHERE y.id IN (\(text)))")
        case 9:
            let request = Sport.Player.joining(required: Sport.Player.team).select(id)
                .filter(subquery.contains(Column("teamId")))
            let all = "SELECT y.id FROM player y JOIN team z ON z.id = y.teamId WHERE y.teamId IN (\(text))"
            return ("\(request.contains(id))", "\(name).id IN (\(all))")
        default:
            let table = CommonTableExpression<Int>(named: "c", request: subquery)
            return ("\(id) IN (WITH \(definitionFor: table) SELECT * FROM \(table))", "\(name).id IN (\(text))")
        }
    }
}
