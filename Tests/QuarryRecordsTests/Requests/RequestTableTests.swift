import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite("Tables in requests") struct RequestTableTests {
    private typealias Player = Sport.Player

    @Test func aSubqueryNamesTheTableAroundIt() throws {
        try withSport { (db) throws in
            let player = TableAlias<Player>()
            let better = Player.filter(
                Column("teamId") == player[Column("teamId")] && Column("score") > player[Column("score")])
            let best = Player.all().aliased(player).filter(!better.exists()).order(\.id)
            try expectEmitted(
                db,
                #"SELECT * FROM "player" WHERE NOT EXISTS (SELECT "player1".* FROM "player" "player1" "#
                    + #"WHERE ("player1"."teamId" = "player"."teamId") AND ("player1"."score" > "player"."score")) "#
                    + #"ORDER BY "id""#
            ) {
                let names = try best.fetchAll(db).map(\.name)
                #expect(names == ["Barbara", "Craig", "Dan"])
            }
            // Two levels out.
            let count = Player.filter(Column("teamId") == player.teamId && better.exists()).select(count(.allColumns))
            let request = Player.all().aliased(player).filter(count > 0).select(\.name, as: String.self)
            #expect(try request.fetchAll(db) == ["Arthur", "Eve"])
        }
    }

    @Test func hiddenOuterTablesWithNamesOfTheirOwn() throws {
        try withSport { (db) throws in
            let outer = TableAlias<Player>(name: "p")
            let inner = TableAlias<Player>(name: "q")
            let request = Player.all().aliased(outer)
                .filter(Player.all().aliased(inner).filter(inner.score > outer.score).exists()).order(outer.id)
            try expectEmitted(
                db,
                #"SELECT "p".* FROM "player" "p" WHERE EXISTS (SELECT "q".* FROM "player" "q" "#
                    + #"WHERE "q"."score" > "p"."score") ORDER BY "p"."id""#
            ) {
                let names = try request.fetchAll(db).map(\.name)
                #expect(names == ["Arthur", "Craig", "Dan", "Eve"])
            }
            let hiding = Player.all().aliased(outer)
                .filter(
                    Player.all().aliased(TableAlias<Player>(name: "P")).filter(Column("score") > outer.score).exists())
            expectError(.SQLITE_MISUSE, "a request and its subquery use two tables with the same name") {
                try hiding.fetchAll(db)
            }
        }
    }

    @Test func sqlAmongTheTablesAroundIt() throws {
        try withSport { (db) throws in
            let p = TableAlias<Player>(name: "p")
            try expectQuery(
                db, Player.all().aliased(p).filter(literal: "\(Column("score")) > \(10) AND p.id IN \([1, 2])"),
                sql: #"SELECT "p".* FROM "player" "p" WHERE "p"."score" > 10 AND p.id IN (1,2)"#,
                rows: ["1|Arthur|100|1", "2|Barbara|1000|1"])
            let best = Player.select(max(Column("score")))
            let players: SQLRequest<Player> = """
                SELECT \(columnsOf: Player.self) FROM \(Player.self) WHERE \(Column("score")) = \(best)
                """
            try expectEmitted(
                db, #"SELECT "player".* FROM "player" WHERE "score" = (SELECT MAX("score") FROM "player")"#
            ) {
                let names = try players.fetchAll(db).map(\.name)
                #expect(names == ["Barbara"])
            }
            let ids = SQLRequest<Int64>("SELECT id FROM player WHERE score > \(150)")
            #expect(try Player.filter(ids.contains(Column("id"))).fetchCount(db) == 3)
            #expect(try Player.filter(literal: "id IN \(ids)").fetchCount(db) == 3)
            #expect(try Player.filter(literal: "id IN (\(ids))").fetchCount(db) == 3)
            #expect(try Player.filter(literal: "id IN (\(Player.select(Column("id")).limit(3)))").fetchCount(db) == 3)
        }
    }

    @Test func otherTablesAndOtherTypes() throws {
        try withSport { (db) throws in
            try db.execute(sql: "DELETE FROM award; DELETE FROM profile")
            try db.execute(sql: "CREATE TABLE archive AS SELECT * FROM player WHERE id < 3")
            let archive = Table<Player>("archive")
            #expect(try archive.order(\.name).fetchAll(db).map(\.name) == ["Arthur", "Barbara"])
            #expect(try archive.fetchCount(db) == 2)
            #expect(try Player.fetchCount(db, table: "archive") == 2)
            #expect(try Table("archive").fetchOne(db)?["name"] == "Arthur")
            try archive.updateAll(db, Column("score").set(to: 7))
            #expect(try archive.select(Column("score"), as: Int.self).distinct().fetchAll(db) == [7])
            #expect(try Table<Player>("player").exists(db, id: 1))
            #expect(try !Table<Player>("player").exists(db, key: 99))
            #expect(try Table<Player>("player").deleteAll(db, ids: [1, 2, 99]) == 2)
            #expect(try archive.deleteAll(db) == 2)
        }
    }

    @Test func rowsOfAnotherTableByTheirKeys() throws {
        try withSport { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE archive (id INTEGER PRIMARY KEY, name TEXT UNIQUE, score INTEGER, teamId INTEGER);
                    INSERT INTO archive SELECT * FROM player;
                    """)
            let archive = Table<Player>("archive")
            try expectEmitted(db, #"SELECT * FROM "archive" WHERE "id" = 1"#) {
                let found = try archive.fetchOne(db, key: 1)
                #expect(found?.name == "Arthur")
            }
            try expectEmitted(db, #"SELECT * FROM "archive" WHERE "name" = 'Dan'"#) {
                let found = try archive.find(db, key: ["name": "Dan"])
                #expect(found.id == 4)
            }
            try expectEmitted(db, #"SELECT * FROM "archive" WHERE "id" IN (1, 2, 9)"#) {
                let found = try archive.fetchAll(db, ids: [1, 2, 9])
                #expect(found.map(\.name) == ["Arthur", "Barbara"])
            }
            expectError(RecordError.self, "Key not found in table archive: [id:9]") { try archive.find(db, id: 9) }
            expectError(RecordError.self, "Key not found in table archive: [name:TEXT]") {
                try Table("archive").find(db, key: ["name": "Zoe"])
            }
            #expect(try archive.fetchOne(db, key: nil as [String: (any DatabaseValueConvertible)?]?) == nil)
            // More keys than a statement has parameters, and some of them twice.
            let keys = Array(0..<300_000) + [1, 2]
            #expect(try archive.fetchAll(db, keys: keys).map(\.id) == [1, 2, 3, 4, 5])
            let keysOfTwo = (0..<3000).map {
                ["countryCode": "DE", "personId": $0] as [String: (any DatabaseValueConvertible)?]
            }
            #expect(try Table("citizenship").deleteAll(db, keys: keysOfTwo) == 2)
        }
    }

    @Test func rowsThatAreReturned() throws {
        try withSport { (db) throws in
            try db.execute(sql: "DELETE FROM award; DELETE FROM profile")
            let players = try Player.filter { $0.teamId == 1 }.updateAndFetchAll(db) { [$0.score += 1] }
            #expect(players.map(\.score) == [101, 1001, 301])
            let ids = try Player.filter { $0.score < 200 }.deleteAndFetchIds(db)
            #expect(ids == [1, 4])
            let limited = try Player.order(\.score.desc).limit(1).deleteAndFetchAll(db)
            #expect(limited.map(\.name) == ["Barbara"])
            #expect(try Player.selectID().fetchAll(db) == [3, 5])
        }
    }

    @Test func whatIsOnlyKnownWithAConnection() throws {
        try withSport { (db) throws in
            let request = Player.all()
                .filterWhenConnected { db in Column("score") > (try Int.fetchOne(db, sql: "SELECT 150") ?? 0) }
                .orderWhenConnected { db in
                    try db.primaryKey("player").columns.map { Column($0).desc }
                }
                .selectWhenConnected { _ in [Column("name"), Column("id")] }
            try expectEmitted(
                db, "SELECT 150", #"SELECT "name", "id" FROM "player" WHERE "score" > 150 ORDER BY "id" DESC"#
            ) {
                let names = try Row.fetchAll(db, request).map { $0["name"] as String }
                #expect(names == ["Eve", "Craig", "Barbara"])
            }
            let names = try Row.fetchAll(db, request.reversed()).map { $0["name"] as String }
            #expect(names == ["Barbara", "Craig", "Eve"])
        }
    }

    @Test func aRequestIsFetchedInPagesWithOneStatement() throws {
        try withSport { (db) throws in
            let request = Player.order(\.id).filter { $0.score > 10 }
            #expect(try request.limit(2).fetchAll(db).map(\.id) == [1, 2])
            #expect(try request.limit(2, offset: 2).fetchAll(db).map(\.id) == [3, 5])
            #expect(try request.limit(2).fetchCount(db) == 2)
            #expect(try !request.isEmpty(db))
            #expect(try request.none().isEmpty(db))
        }
    }

    @Test func rowidsTablesOfRecordsAndPartsOfSQL() throws {
        try withAthletes { db throws in
            try expectQuery(
                db, Athlete.select(.rowID).filter(.rowID > 2).order(.rowID),
                sql: #"SELECT "rowid" FROM "athlete" WHERE "rowid" > 2 ORDER BY "rowid""#, rows: ["3", "4"])
            try expectQuery(
                db, Athlete.select(max(.rowID)).group(.rowID).filter(coalesce([.rowID, Column("id")]) == 1),
                sql: #"SELECT MAX("rowid") FROM "athlete" WHERE COALESCE("rowid", "id") = 1 GROUP BY "rowid""#,
                rows: ["1"])
            let athlete = try Athlete.find(db, id: 1)
            let name: SQLRequest<String> = "SELECT name FROM \(tableOf: athlete) WHERE id = 1"
            #expect(try name.fetchOne(db) == "Arthur")
            let conditions = [SQL(Column("id") > 3), SQL(sql: "name = ?", arguments: ["Craig"])]
            try expectQuery(
                db,
                Athlete.filter(literal: conditions.joined(separator: " OR ")).select(Column("id")).order(Column("id")),
                sql: #"SELECT "id" FROM "athlete" WHERE "id" > 3 OR name = 'Craig' ORDER BY "id""#, rows: ["3", "4"])
            let marks = databaseQuestionMarks(count: 2)
            #expect(marks == "?,?" && databaseQuestionMarks(count: 0).isEmpty)
            #expect(try Table<Athlete>("athlete").updateAll(db) { [$0.score.set(to: 1)] } == 4)
            #expect(try Table<Athlete>("athlete").updateAll(db) { $0.score += 1 } == 4)
            let (first, second) = (TableAlias<Athlete>(), TableAlias<Athlete>())
            #expect(first == first && first != second && Set([first, second, first]).count == 2)
            let best = CommonTableExpression<Row>(named: "best", sql: "SELECT 1 AS x")
            let squads: [JoinAssociation<Row, Row>] = [best.association(to: Table("team")), best.association(to: best)]
            #expect(
                try best.all().with(best).joining(required: squads[0].filter(Column("id") == 1)).sql(db)
                    == #"WITH "best" AS (SELECT 1 AS x) SELECT "best".* FROM "best" JOIN "team" ON "team"."id" = 1"#)
            let typed = best.association(to: Squad.self)
            #expect(try best.all().with(best).including(required: typed).fetchCount(db) == Squad.fetchCount(db))
        }
    }
}
