import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite struct RequestsSamples {
    struct Player: Codable, FetchableRecord, MutablePersistableRecord, Identifiable {
        var id: Int64?
        var name: String
        var score: Int
        var teamId: Int64?

        enum Columns {
            static let id = Column("id")
            static let name = Column("name")
            static let score = Column("score")
            static let teamId = Column("teamId")
        }
    }

    struct Team: Codable, FetchableRecord, PersistableRecord, Identifiable {
        var id: Int64
        var name: String

        enum Columns {
            static let id = Column("id")
            static let name = Column("name")
        }
    }

    private func inTables(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            try db.makeTeamTables()
            try db.execute(
                sql: """
                    INSERT INTO team VALUES (1, 'Reds');
                    INSERT INTO player VALUES (1, 'Arthur', 1200, 1), (2, 'Barbara', 900, NULL);
                    """)
            try body(db)
        }
    }

    @Test func firstRequests() throws {
        try inTables { (db) throws in
            let best = try Player.filter { $0.score > 1000 }.order(\.name).limit(10).fetchAll(db)  // [Player]
            let player = try Player.filter(id: 1).fetchOne(db)  // Player?
            let names = try Player.select(\.name, as: String.self).fetchSet(db)  // Set<String>
            let count = try Player.filter { $0.teamId == nil }.fetchCount(db)  // Int

            #expect(best.map(\.name) == ["Arthur"])
            #expect(player?.name == "Arthur")
            #expect(names == ["Arthur", "Barbara"])
            #expect(count == 1)
        }
    }

    @Test func columnsWithoutAType() throws {
        try inTables { (db) throws in
            let rows = try Table("player").filter(Column("score") > 1000).fetchAll(db)  // [Row]

            #expect(rows.count == 1)
        }
        try inTables { (db) throws in
            let rows = try Table("player").aliased(TableAlias(name: "p")).filter(sql: "p.score > 1000").fetchAll(db)
            // SELECT "p".* FROM "player" "p" WHERE p.score > 1000

            #expect(rows.count == 1)
        }
    }

    @Test func groups() throws {
        try inTables { (db) throws in
            let best = Player.select { [$0.teamId, max($0.score).forKey("best")] }.group(\.teamId)
            let request = best.having { count($0.id) > 0 }
            let rows = try Row.fetchAll(db, request)  // [[teamId:NULL best:900], [teamId:1 best:1200]]

            #expect(rows.map { $0["best"] as Int } == [900, 1200])
        }
    }

    @Test func subqueries() throws {
        try inTables { (db) throws in
            let reds = Team.filter { $0.name == "Reds" }.select(\.id, as: Int64.self)
            let players = try Player.filter { reds.contains($0.teamId) }.fetchAll(db)

            let player = TableAlias<Player>()
            let better = Player.filter { $0.score > player.score }
            let winners = try Player.aliased(player).filter(!better.exists()).fetchAll(db)

            #expect(players.map(\.name) == ["Arthur"])
            #expect(winners.map(\.name) == ["Arthur"])
        }
    }

    @Test func commonTables() throws {
        try inTables { (db) throws in
            let best = CommonTableExpression(named: "best", request: Player.order(\.score.desc).limit(10))
            let players = try best.all().with(best).order(Column("name")).fetchAll(db)  // [Player]

            #expect(players.count == 2)
        }
    }

    @Test func changes() throws {
        try inTables { (db) throws in
            try Player.filter { $0.teamId == 1 }.updateAll(db) { [$0.score += 10] }
            let gone = try Player.filter { $0.score < 1000 }.deleteAndFetchAll(db)  // [Player]

            #expect(gone.map(\.name) == ["Barbara"])
        }
    }

    @Test func sqlInside() throws {
        try inTables { (db) throws in
            let minimum = 1000
            let players = try Player.filter(literal: "\(Column("score")) > \(minimum)").fetchAll(db)
            let request: SQLRequest<Player> = """
                SELECT \(columnsOf: Player.self) FROM \(Player.self)
                WHERE \(Column("score")) = (\(Player.select { max($0.score) }))
                """
            let all: SQLRequest<Player> =
                "SELECT \(.allColumns) FROM player WHERE \(1200) IN \([Column("id"), Column("score")])"

            #expect(players.count == 1)
            #expect(try request.fetchAll(db).map(\.name) == ["Arthur"])
            #expect(try all.fetchAll(db).map(\.name) == ["Arthur"])

            let arthur = try Player.fetchOne(db, SQLRequest(sql: "SELECT * FROM player WHERE id = ?", arguments: [1]))

            #expect(arthur?.name == "Arthur")
        }
    }

    @Test func namedArguments() throws {
        try inTables { (db) throws in
            let scores = try Player.filter(sql: "score > :score", arguments: ["score": 100])
                .group(sql: "teamId")
                .having(sql: "MAX(score) > :score", arguments: ["score": 1000])
                .select(sql: "MAX(score) AS best", as: Int.self)
                .fetchAll(db)  // [1200]

            #expect(scores == [1200])
        }
    }
}

extension DerivableRequest<Player> {
    func winners() -> Self { filter(Column("score") > 1000) }
}

extension RequestsSamples {
    @Test func requestsOfOnesOwn() throws {
        try inTables { (db) throws in
            let names = try QuarryFixtures.Player.all().winners().select(Column("name"), as: String.self).fetchAll(db)

            #expect(names == ["Arthur"])
        }
    }
}
