import Quarry
import QuarryCore
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite struct PageTests {
    private typealias Player = Sport.Player

    @Test func pagesFollowEachOther() throws {
        try withSport { db in
            let request = Player.order(\.score.desc)
            var first = RecordPage<Player>(items: [])
            try expectEmitted(
                db, #"SELECT * FROM "player" ORDER BY "score" DESC, "id" DESC LIMIT 3"#
            ) { first = try request.page(size: 2).fetch(db) }
            #expect(first.items.map(\.name) == ["Barbara", "Eve"] && first.previous == nil)

            var second = first
            try expectEmitted(
                db,
                #"SELECT * FROM "player" WHERE ("score" = 300) AND ("id" < 5) ORDER BY "id" DESC LIMIT 3"#,
                #"SELECT * FROM "player" WHERE "score" < 300 ORDER BY "score" DESC, "id" DESC LIMIT 3"#
            ) { second = try request.page(size: 2, after: first.next).fetch(db) }
            #expect(second.items.map(\.name) == ["Craig", "Arthur"])

            let third = try request.page(size: 2, after: second.next).fetch(db)
            #expect(third.items.map(\.name) == ["Dan"] && third.next == nil)

            var again = third
            try expectEmitted(
                db, #"SELECT * FROM "player" WHERE ("score" = 5) AND ("id" > 4) ORDER BY "id" LIMIT 3"#,
                #"SELECT * FROM "player" WHERE "score" > 5 ORDER BY "score", "id" LIMIT 3"#
            ) { again = try request.page(size: 2, before: third.previous).fetch(db) }
            #expect(again == second)
            #expect(try request.page(size: 2, before: again.previous).fetch(db) == first)
            #expect(try request.page(size: 2, before: again.previous).fetchCount(db) == 5)
        }
    }

    @Test func aRequestWithoutAnOrderHasThatOfItsKey() throws {
        try withSport { db in
            let page = try Player.page(size: 4).fetch(db)
            #expect(page.items.map(\.id) == [1, 2, 3, 4])
            try expectEmitted(db, #"SELECT * FROM "player" WHERE "id" > 4 ORDER BY "id" LIMIT 5"#) {
                let rest = try Player.page(size: 4, after: page.next).fetch(db)
                #expect(rest.items.map(\.id) == [5])
            }
            let pairs = try Sport.Pair.order(Column("b").desc).page(size: 2).fetch(db)
            #expect(pairs.items.map(\.a) == [2, 1])
            try expectEmitted(
                db, #"SELECT * FROM "pair" WHERE ("b" = 'y') AND ("a" < 1) ORDER BY "a" DESC LIMIT 3"#,
                #"SELECT * FROM "pair" WHERE "b" < 'y' ORDER BY "b" DESC, "a" DESC LIMIT 3"#
            ) {
                let rest = try Sport.Pair.order(Column("b").desc).page(size: 2, after: pairs.next).fetch(db)
                #expect(rest.items == [Sport.Pair(a: 1, b: "x")])
            }
            // A table without a primary key is ordered by its rowid, which its rows don't show.
            try db.execute(sql: "INSERT INTO noKey VALUES (7), (7), (7)")
            let rows = try Table("noKey").order(Column("x")).page(size: 2).fetch(db)
            #expect(rows.items.map(\.count) == [1, 1])
            try expectEmitted(
                db,
                #"SELECT *, "rowid" AS "quarry_page_1" FROM "noKey" WHERE ("x" = 7) AND ("rowid" > 2) "#
                    + #"ORDER BY "rowid" LIMIT 3"#,
                #"SELECT *, "rowid" AS "quarry_page_1" FROM "noKey" WHERE "x" > 7 ORDER BY "x", "rowid" LIMIT 2"#
            ) {
                let rest = try Table("noKey").order(Column("x")).page(size: 2, after: rows.next).fetch(db)
                #expect(rest.items == [["x": 7]] && rest.next == nil)
            }
        }
    }

    /// NULL at the end of an order isn't larger than a value: those rows come from a query of their own.
    @Test func rowsWithNullHaveTheirPlace() throws {
        try withSport { db in
            try db.execute(
                sql: "UPDATE team SET color = NULL WHERE id <> 2; INSERT INTO team VALUES (4, 'Whites', 'w')")
            let request = Sport.Team.order(\.color.desc)
            let first = try request.page(size: 1).fetch(db)
            #expect(first.items.map(\.color) == ["w"])
            try expectEmitted(
                db,
                #"SELECT * FROM "team" WHERE ("color" = 'w') AND ("id" < 4) ORDER BY "id" DESC LIMIT 3"#,
                #"SELECT * FROM "team" WHERE "color" < 'w' ORDER BY "color" DESC, "id" DESC LIMIT 3"#,
                #"SELECT * FROM "team" WHERE "color" IS NULL ORDER BY "color" DESC, "id" DESC LIMIT 2"#
            ) {
                let second = try request.page(size: 2, after: first.next).fetch(db)
                #expect(second.items.map(\.id) == [2, 3])
                try expectEmitted(
                    db,
                    #"SELECT * FROM "team" WHERE ("color" IS NULL) AND ("id" < 3) "#
                        + #"ORDER BY "id" DESC LIMIT 3"#
                ) {
                    let third = try request.page(size: 2, after: second.next).fetch(db)
                    #expect(third.items.map(\.id) == [1])
                }
            }
        }
    }

    @Test func termsMayHaveDifferentDirections() throws {
        try withSport { db in
            let request = Player.order { [$0.teamId, $0.score.desc] }
            let first = try request.page(size: 2).fetch(db)
            #expect(first.items.map(\.id) == [4, 2])
            try expectEmitted(
                db,
                #"SELECT * FROM "player" WHERE ("teamId" = 1) AND ("score" = 1000) AND ("id" < 2) "#
                    + #"ORDER BY "id" DESC LIMIT 4"#,
                #"SELECT * FROM "player" WHERE ("teamId" = 1) AND ("score" < 1000) "#
                    + #"ORDER BY "score" DESC, "id" DESC LIMIT 4"#,
                #"SELECT * FROM "player" WHERE "teamId" > 1 ORDER BY "teamId", "score" DESC, "id" DESC LIMIT 2"#
            ) {
                let second = try request.page(size: 3, after: first.next).fetch(db)
                #expect(second.items.map(\.id) == [5, 1, 3] && second.next == nil)
            }
        }
    }

    @Test func joinedTablesAndExpressionsCanBeOrdered() throws {
        try withSport { db in
            let request = Player.including(optional: Player.team.order(\.name.desc)).order {
                $0.name.collating(.nocase)
            }
            let all = try request.asRequest(of: Row.self).fetchAll(db)
            try expectPages(db, request.asRequest(of: Row.self), all)
            let byTeam = Player.including(optional: Player.team.order(\.name.desc))
            #expect(
                try names(db, byTeam.asRequest(of: Row.self), size: 2) == ["Eve", "Barbara", "Arthur", "Craig", "Dan"])
            // A player has several awards: rows of one player are told apart by the award.
            let awards = Player.joining(optional: Player.awards).order(\.score)
            #expect(try awards.fetchAll(db).count == 6)
            #expect(try awards.allPages(db, size: 1).flatMap(\.items).map(\.id) == [4, 1, 1, 3, 5, 2])
            // A team is the only one of its player, so that its key isn't in the order.
            try expectEmitted(
                db,
                #"SELECT "player".* FROM "player" LEFT JOIN "team" ON "team"."id" = "player"."teamId" "#
                    + #"ORDER BY "player"."id" LIMIT 2"#
            ) { _ = try Player.joining(optional: Player.team).page(size: 1).fetch(db) }
        }
    }

    @Test func pagesHavePrefetchedRows() throws {
        struct TeamWithPlayers: Decodable, FetchableRecord {
            var name: String
            var players: [Player]
        }
        try withSport { db in
            let request = Sport.Team.including(all: Sport.Team.players.order(\.name)).order(\.name)
                .asRequest(of: TeamWithPlayers.self)
            let page = try request.page(size: 2).fetch(db)
            #expect(page.items.map(\.name) == ["Blues", "Greens"])
            #expect(page.items.map { $0.players.map(\.name) } == [["Craig"], []])
            let next = try request.page(size: 2, after: page.next).fetch(db)
            #expect(next.items.map { $0.players.map(\.name) } == [["Arthur", "Barbara", "Eve"]])
        }
    }

    @Test func groupsHavePages() throws {
        try withSport { db in
            let request = Sport.Team.annotated(with: Sport.Team.players.count).order(
                Column("playerCount").detached.desc)
            #expect(try names(db, request.asRequest(of: Row.self), size: 1) == ["Reds", "Blues", "Greens"])
            let scores = Player.select(Column("teamId"), sum(Column("score")).forKey("total")).group(\.teamId)
                .order { _ in Column("total") }
            try expectPages(db, scores.asRequest(of: Row.self), scores.fetchRows(db))
        }
    }

    /// `rank = x` sets the ranking function of a full-text table.
    @Test func fullTextMatchesHavePages() throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE page USING fts5(text);
                    INSERT INTO page VALUES
                        ('a b'), ('b'), ('b b'), ('b'), ('c'), ('b'), ('d'), ('e'), ('f'), ('g'), ('h');
                    CREATE TABLE comment (id INTEGER PRIMARY KEY, pageId INTEGER);
                    INSERT INTO comment SELECT rowid, rowid FROM page
                    """)
            let matches = Table("page").matching(FTS5Pattern(matchingAnyTokenIn: "b"))
            for request in [matches.order(Column.rank), matches.order(Column("rank").desc), matches] {
                try expectPages(db, request, request.page(size: .max).fetch(db).items)
            }
            let token = try matches.order(Column.rank).page(size: 2).fetch(db).next
            let sql = try emitted(db) { _ = try matches.order(Column.rank).page(size: 1, after: token).fetch(db) }
                .joined()
            #expect(sql.contains(#"("rank" BETWEEN"#), "\(sql)")
        }
    }

    @Test func aliasesAndNamesKeepTheirMeaning() throws {
        try withSport { db in
            let named = Player.aliased(TableAlias(name: "p")).filter(sql: "p.score > 50").order(\.score)
            #expect(try names(db, named.asRequest(of: Row.self), size: 1) == ["Arthur", "Craig", "Eve", "Barbara"])
            try db.execute(
                sql: #"""
                    CREATE TABLE "a ""b" ("x y" TEXT COLLATE NOCASE, "ID" INTEGER PRIMARY KEY, "quarry_page_0" TEXT);
                    INSERT INTO "a ""b" VALUES ('b', 1, 'q'), ('B', 2, 'r'), ('a', 3, 's'), (NULL, 4, 't')
                    """#)
            let request = Table(#"a "b"#).order(Column("X Y").desc, Column("id"))
            try expectPages(db, request, request.fetchAll(db))
            #expect(try request.fetchAll(db).map { $0["id"] as Int } == [1, 2, 3, 4])
            let other = Table(#"a "b"#).order(length(Column("x y")))
            #expect(
                try other.page(size: 9).fetch(db).items.map { $0["quarry_page_0"] as String } == ["t", "q", "r", "s"])
        }
    }

    /// In ORDER BY, a name is that of a column of the result first; in WHERE, that of a column of the table.
    @Test func columnsOfTheResultMayHaveNamesOfColumns() throws {
        try withSport { db in
            let renamed = Player.select(Column("id"), (Column("score") * -1).forKey("score")).order(\.score)
            try expectPages(db, renamed.asRequest(of: Row.self), renamed.fetchRows(db))
            let swapped = Player.select(Column("name"), (100 - Column("id")).forKey("id")).order(\.teamId)
            let rows = swapped.asRequest(of: Row.self)
            #expect(
                try names(db, rows, size: 2) == ["Dan", "Arthur", "Barbara", "Eve", "Craig"])
            let raw = Player.select(sql: "name, -score AS score, id + 0 AS twin", as: Row.self)
            #expect(try names(db, raw.order(Column("score")), size: 2) == ["Dan", "Arthur", "Craig", "Eve", "Barbara"])
        }
    }

    @Test func anEmptyPageLeadsBack() throws {
        try withSport { db in
            let request = Player.order(\.score)
            let page = try request.page(size: 3).fetch(db)
            try db.execute(sql: "DELETE FROM player WHERE score > 200")
            let empty = try request.page(size: 3, after: page.next).fetch(db)
            #expect(empty.items.isEmpty && empty.next == nil)
            let back = try request.page(size: 3, before: empty.previous).fetch(db)
            #expect(back.items == page.items && back.previous == nil)
            // The row of the token may be gone.
            try db.execute(
                sql:
                    "DELETE FROM award; DELETE FROM player WHERE score = 200; INSERT INTO player VALUES (9, 'New', 201, NULL)"
            )
            #expect(try request.page(size: 3, after: page.next).fetch(db).items.map(\.name) == ["New"])
            try db.execute(sql: "DELETE FROM profile; DELETE FROM player")
            let none = try request.page(size: 3, before: page.next).fetch(db)
            #expect(none.items.isEmpty && none.previous == nil && none.next != nil)
            #expect(try request.page(size: 3).fetch(db) == RecordPage(items: []))
        }
    }

    @Test func pagesByNumber() throws {
        try withSport { db in
            let request = Player.order(\.teamId)
            var page = NumberedPage<Player>(items: [], number: 0, size: 1, total: 0)
            try expectEmitted(
                db, #"SELECT COUNT(*) FROM "player""#,
                #"SELECT * FROM "player" ORDER BY "teamId", "id" LIMIT 2 OFFSET 2"#
            ) { page = try request.page(number: 2, size: 2).fetch(db) }
            #expect(page.items.map(\.id) == [2, 5])
            #expect(page.total == 5 && page.pageCount == 3 && page.number == 2 && page.size == 2)
            #expect(try request.page(number: 4, size: 2).fetch(db).items.isEmpty)
            #expect(try request.page(number: .max, size: .max).fetch(db).items.isEmpty)
            #expect(try request.page(number: 1, size: .max).fetch(db).items.count == 5)
            #expect(try Player.none().page(number: 1, size: 2).fetch(db).pageCount == 0)
            // In the order of the pages after a row.
            try expectEmitted(
                db, #"SELECT COUNT(*) FROM "player""#,
                #"SELECT * FROM "player" ORDER BY "teamId" DESC, "id" DESC LIMIT 2 OFFSET 0"#
            ) { page = try Player.order(\.teamId.desc).page(number: 1, size: 2).fetch(db) }
            #expect(try Player.order(\.teamId.desc).page(size: 2).fetch(db).items == page.items)
            try expectEmitted(
                db, #"SELECT COUNT(*) FROM "player""#,
                #"SELECT * FROM "player" ORDER BY teamId DESC, "id" LIMIT 2 OFFSET 0"#
            ) { _ = try Player.order(sql: "teamId DESC").page(number: 1, size: 2).fetch(db) }
            // Compound requests and views have them, too; other errors are thrown.
            try db.execute(sql: "CREATE VIEW best AS SELECT name, score FROM player")
            let view = Table("best").order(Column("score").desc)
            expectError(.SQLITE_MISUSE) { _ = try view.page(size: 2).fetch(db) }
            let best = try String.fetchAll(db, sql: "SELECT name FROM best ORDER BY score DESC, name LIMIT 2")
            #expect(try view.page(number: 1, size: 2).fetch(db).items.map { $0["name"] as String } == best)
            expectError(.SQLITE_ERROR, "no such table: nowhere") {
                _ = try Table("nowhere").page(number: 1, size: 1).fetch(db)
            }
            let both = Player.filter(key: 1).union(Player.filter(key: 2)).order(Column("name"))
            #expect(try both.page(number: 2, size: 1).fetch(db).items.map(\.name) == ["Barbara"])
        }
    }

    /// Outside a transaction, a page is read in its own: another process can't write between its queries.
    @Test func aPageIsReadFromOneState() throws {
        let queue = try DatabaseQueue()
        try queue.writeWithoutTransaction { db in
            try db.makeScoredPlayers(["Arthur": 1, "Barbara": 2])
            try expectEmitted(
                db, "BEGIN DEFERRED TRANSACTION", #"SELECT COUNT(*) FROM "player""#,
                #"SELECT * FROM "player" ORDER BY "id" LIMIT 1 OFFSET 0"#, "COMMIT TRANSACTION"
            ) { _ = try Table("player").page(number: 1, size: 1).fetch(db) }
            #expect(!db.isInsideTransaction)
            #expect(throws: DatabaseError.self) { try Table("nothing").page(size: 1).fetch(db) }
            #expect(!db.isInsideTransaction)
        }
    }

    @Test func pagesAreObserved() throws {
        try withSport { db in
            let page = try Player.order(\.score).page(size: 2).fetch(db)
            let region = try db.recordingRegion {
                try Player.order(\.score).page(size: 2, after: page.next).fetch(db)
            }.region
            #expect(region.description == "player(id,name,score,teamid)")
        }
    }

    // MARK: - Requests without pages

    @Test func wrongRequestsThrow() throws {
        try withSport { db in
            func refuse<T: RowDecodable>(
                _ request: QueryInterfaceRequest<T>, _ message: String,
                sourceLocation: SourceLocation = #_sourceLocation
            ) {
                expectError(.SQLITE_MISUSE, message, sourceLocation: sourceLocation) { () throws in
                    try request.page(size: 2).fetch(db)
                }
            }
            refuse(
                Player.order(sql: "score"),
                "pages of player: an order written as SQL isn't known: order by columns, or by SQL(…).sqlExpression"
            )
            refuse(
                Player.limit(3), "pages of player: a request with a limit has no pages: leave out limit(_:)")
            refuse(
                Player.filter(key: 1).union(Player.filter(key: 2)),
                "pages of player: the rows of a compound request have no key: fetch pages of a view")
            refuse(
                Player.select(\.name).distinct(),
                "pages of player: distinct rows need the columns of their order and of their key: "
                    + "leave out select(_:) or distinct()")
            try db.execute(sql: "CREATE VIEW best AS SELECT * FROM player WHERE score > 100")
            refuse(
                Table("best").all(),
                "pages of best: its rows have no key; for a view, define it with databaseSchemaSource "
                    + "(columnsForPrimaryKey)")
            expectError(.SQLITE_MISUSE, "a page of 0 rows: the size is 1 at least") { () throws in
                try Player.all().page(size: 0).fetch(db)
            }
            expectError(.SQLITE_MISUSE, "page 0: the number of the first page is 1") { () throws in
                try Player.page(number: 0, size: 2).fetch(db)
            }
            let token = try Player.all().page(size: 1).fetch(db).next
            expectError(.SQLITE_MISUSE, "a page is either after or before a row: give one token") { () throws in
                try Player.all().page(size: 1, after: token, before: token).fetch(db)
            }
            #expect(try Player.order(SQL("score + 0").sqlExpression).page(size: 1).fetch(db).items.map(\.id) == [4])
            #expect(try Player.all().distinct().order(\.score).page(size: .max).fetch(db).items.count == 5)
        }
    }

    @Test func aViewWithAKeyHasPages() throws {
        struct Source: DatabaseSchemaSource {
            func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) -> [String]? { ["id"] }
        }
        var configuration = Configuration()
        configuration.schemaSource = Source()
        try withSport(configuration) { db in
            try db.execute(sql: "CREATE VIEW best AS SELECT * FROM player WHERE score > 100")
            let request = Table("best").order(Column("score"))
            let page = try request.page(size: 2).fetch(db)
            #expect(try request.page(size: 2, after: page.next).fetch(db).items.map { $0["id"] as Int } == [2])
        }
    }

    // MARK: - Plans

    private func plans(_ db: Database, _ body: () throws -> Void) throws -> [String] {
        try emitted(db, body).map { sql in
            try String.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)", adapter: SuffixRowAdapter(fromIndex: 3))
                .joined(separator: "; ")
        }
    }

    @Test func eachQueryIsASearchOfAnIndex() throws {
        try withSport { db in
            try db.execute(
                sql: """
                    CREATE INDEX byScore ON player (score);
                    CREATE INDEX byTeam ON player (teamId, score DESC);
                    CREATE INDEX byLength ON player (length(name), id)
                    """)
            let byScore = Player.order(\.score.desc)
            let ofScore = try byScore.page(size: 1).fetch(db).next
            let search = "SEARCH player USING INDEX byScore"
            #expect(
                try plans(db) { _ = try byScore.page(size: 1, after: ofScore).fetch(db) } == [
                    search + " (score=? AND rowid<?)", search + " (score<?)",
                ])
            #expect(
                try plans(db) { _ = try byScore.page(size: 1, before: ofScore).fetch(db) } == [
                    search + " (score=? AND rowid>?)", search + " (score>?)",
                ])

            let byTeam = Player.order { [$0.teamId, $0.score.desc, $0.id] }
            let ofTeam = try byTeam.page(size: 3).fetch(db).next
            #expect(
                try plans(db) { _ = try byTeam.page(size: 9, after: ofTeam).fetch(db) } == [
                    "SEARCH player USING INDEX byTeam (teamId=? AND score=? AND rowid>?)",
                    "SEARCH player USING INDEX byTeam (teamId=? AND score<?)",
                    "SEARCH player USING INDEX byTeam (teamId>?)",
                ])
            let byLength = Player.order(length(Column("name")))
            let ofLength = try byLength.page(size: 2).fetch(db).next
            #expect(
                try plans(db) { _ = try byLength.page(size: 2, after: ofLength).fetch(db) } == [
                    "SEARCH player USING INDEX byLength (<expr>=? AND id>?)",
                    "SEARCH player USING INDEX byLength (<expr>>?)",
                ])
        }
    }

    /// Counts the operations of SQLite's virtual machine.
    private final class StepCounter: DatabaseTracer {
        let options = DatabaseTracing.Options(.statements)
        let count = Recorded(0)

        func receive(_ event: DatabaseTraceEvent) {
            if case .statement(let statement) = event { count.update { $0 += statement.virtualMachineStepCount } }
        }
    }

    @Test func aPageCostsTheSameAtAnyDepth() throws {
        let counter = StepCounter()
        let queue = try DatabaseQueue()
        let registration = queue.addTracer(counter)
        defer { registration.remove() }
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score INTEGER NOT NULL, teamId INTEGER);
                    CREATE INDEX byScore ON player (score);
                    WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                    INSERT INTO player SELECT i, 'Player', i % 5, NULL FROM n
                    """)
        }
        func steps(_ body: (Database) throws -> Void) throws -> Int {
            counter.count.update { $0 = 0 }
            try queue.read(body)
            return counter.count.value
        }
        let request = Player.order(\.score)
        var token: PageToken?
        try queue.read { db in
            for _ in 0..<20 { token = try request.page(size: 500, after: token).fetch(db).next }
        }
        let first = try steps { _ = try request.page(size: 50).fetch($0) }
        let distant = try steps { _ = try request.page(size: 50, after: token).fetch($0) }
        let numbered = try steps { db in _ = try request.limit(50, offset: 10_000).fetchAll(db) }
        #expect(first > 200 && Double(distant) < 1.2 * Double(first), "\(first), then \(distant)")
        #expect(numbered > 20 * first)
    }

    // MARK: - Helpers

    /// Expects pages of each size to be the rows, from the first to the last and back.
    private func expectPages(
        _ db: Database, _ request: QueryInterfaceRequest<Row>, _ rows: [Row],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for size in 1...rows.count + 1 {
            let pages = try request.allPages(db, size: size)
            #expect(pages.flatMap(\.items) == rows, "size \(size)", sourceLocation: sourceLocation)
            let backward = try request.items(upTo: #require(pages.last), db, size: size)
            #expect(backward == rows, "back, size \(size)", sourceLocation: sourceLocation)
        }
    }

    private func names(_ db: Database, _ request: QueryInterfaceRequest<Row>, size: Int) throws -> [String] {
        try request.allPages(db, size: size).flatMap(\.items).map { $0["name"] }
    }
}

extension QueryInterfaceRequest {
    fileprivate func fetchRows(_ db: Database) throws -> [Row] { try asRequest(of: Row.self).fetchAll(db) }
}
