import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite struct PrefetchingTests {
    private typealias Team = Sport.Team
    private typealias Player = Sport.Player
    private typealias Award = Sport.Award

    // MARK: - Statements

    @Test func oneStatementALevel() throws {
        try withSport { db in
            try expectQuery(
                db,
                Team.including(
                    all: Team.players.filter { $0.score > 50 }.order(\.name.desc).including(all: Player.awards)),
                sql: #"SELECT * FROM "team""#,
                text(
                    #"SELECT *, "teamId" AS "grdb_teamId" FROM "player" WHERE ("score" > 50) AND ("teamId" IN (1, 2, 3)) "#,
                    #"ORDER BY "name" DESC"#),
                #"SELECT *, "playerId" AS "grdb_playerId" FROM "award" WHERE "playerId" IN (1, 2, 3, 5)"#,
                rows: [
                    """
                    ▿ [id:1 name:"Reds" color:"red"]
                      + players: 3 rows
                    """,
                    """
                    ▿ [id:2 name:"Blues" color:"blue"]
                      + players: 1 row
                    """,
                    """
                    ▿ [id:3 name:"Greens" color:"green"]
                      + players: 0 row
                    """,
                ])
            try expectQuery(
                db, Team.none().including(all: Team.players), sql: #"SELECT * FROM "team" WHERE 0"#, rows: [])
            let one = try emitted(db) {
                let row = try Row.fetchOne(db, Team.including(all: Team.players))
                #expect(row?.prefetchedRows["players"]?.count == 3)
            }
            #expect(
                one == [
                    #"SELECT * FROM "team" LIMIT 1"#,
                    #"SELECT *, "teamId" AS "grdb_teamId" FROM "player" WHERE "teamId" = 1"#,
                ])
        }
    }

    @Test func through() throws {
        try withSport { db in
            try expectQuery(
                db, Sport.Country.including(all: Sport.Country.citizens.order(Column("name"))),
                sql: #"SELECT * FROM "country""#,
                text(
                    #"SELECT "person".*, "citizenship"."countryCode" AS "grdb_countryCode" FROM "person" "#,
                    #"JOIN "citizenship" ON ("citizenship"."personId" = "person"."id") "#,
                    #"AND ("citizenship"."countryCode" IN ('DE', 'FR')) ORDER BY "person"."name""#),
                rows: [
                    """
                    ▿ [code:"DE"]
                      + people: 2 rows
                    """,
                    """
                    ▿ [code:"FR"]
                      + people: 1 row
                    """,
                ])
            let row = try #require(try Row.fetchOne(db, Sport.Country.including(all: Sport.Country.citizens)))
            #expect(row.prefetchedRows.keys == ["people"])
            #expect(
                row.prefetchedRows["people"]?.description
                    == text(
                        "[[id:1 parentId:NULL name:\"Root\" grdb_countryCode:\"DE\"], ",
                        "[id:2 parentId:1 name:\"Kid\" grdb_countryCode:\"DE\"]]"))
            #expect(row.prefetchedRows["persons"] == nil)
        }
    }

    @Test func compositeKeys() throws {
        typealias Pair = Sport.Pair
        try withSport { db in
            try expectQuery(
                db, Pair.including(all: Pair.parts), sql: #"SELECT * FROM "pair""#,
                text(
                    #"WITH "quarry_base" AS (VALUES (1, 'x'), (1, 'y'), (2, 'y')) "#,
                    #"SELECT *, "pairA" AS "grdb_pairA", "pairB" AS "grdb_pairB" FROM "part" "#,
                    #"WHERE ("pairA", "pairB") IN "quarry_base""#),
                rows: [
                    """
                    ▿ [a:1 b:"x"]
                      + parts: 2 rows
                    """,
                    """
                    ▿ [a:1 b:"y"]
                      + parts: 0 row
                    """,
                    """
                    ▿ [a:2 b:"y"]
                      + parts: 1 row
                    """,
                ])
            let things = try Row.fetchAll(db, Pair.including(all: Pair.things)).map {
                $0.prefetchedRows["things"]?.count
            }
            #expect(things == [1, 1, 0])
        }
    }

    @Test func scopesHaveTheirOwn() throws {
        try withSport { db in
            let request = Player.including(optional: Player.team.including(all: Team.players.forKey("mates")))
                .filter { $0.id == 4 || $0.id == 3 }
            let sql = try emitted(db) {
                let rows = try Row.fetchAll(db, request)
                #expect(rows[0].scopes["team"]?.prefetchedRows["mates"]?.map { $0["name"] } == ["Craig"])
                #expect(rows[0].prefetchedRows["mates"]?.count == 1)
                #expect(rows[1].prefetchedRows["mates"] == [])
            }
            #expect(sql.last == #"SELECT *, "teamId" AS "grdb_teamId" FROM "player" WHERE "teamId" = 2"#)
            // Of a table whose columns aren't wanted.
            let hidden = Award.joining(required: Award.player.including(all: Player.awards)).filter(key: 1)
            let row = try #require(try Row.fetchOne(db, hidden))
            #expect(row.columnNames.elementsEqual(["id", "title", "playerId"]))
            #expect(row.prefetchedRows["awards"]?.count == 2)
        }
    }

    @Test func missingKeysAreAdded() throws {
        try withSport { db in
            try expectQuery(
                db, Team.select { [$0.name.forKey("id")] }.including(all: Team.players.select { [$0.name] }).limit(1),
                sql: #"SELECT "name" AS "id", "id" AS "grdb_id" FROM "team" LIMIT 1"#,
                #"SELECT "name", "teamId" AS "grdb_teamId" FROM "player" WHERE "teamId" = 1"#,
                rows: [
                    """
                    ▿ [id:"Reds"]
                      unadapted: [id:"Reds" grdb_id:1]
                      + players: 3 rows
                    """
                ])
        }
    }

    @Test func nestedToOne() throws {
        try withSport { db in
            try expectQuery(
                db, Team.including(all: Team.players.including(optional: Player.profile)),
                sql: #"SELECT * FROM "team""#,
                text(
                    #"SELECT "player".*, "player"."teamId" AS "grdb_teamId", "profile".* FROM "player" "#,
                    #"LEFT JOIN "profile" ON "profile"."playerId" = "player"."id" WHERE "player"."teamId" IN (1, 2, 3)"#
                ),
                rows: [
                    """
                    ▿ [id:1 name:"Reds" color:"red"]
                      + players: 3 rows
                    """,
                    """
                    ▿ [id:2 name:"Blues" color:"blue"]
                      + players: 1 row
                    """,
                    """
                    ▿ [id:3 name:"Greens" color:"green"]
                      + players: 0 row
                    """,
                ])
            let row = try Row.fetchOne(db, Team.including(all: Team.players.including(optional: Player.profile)))
            let player = try #require(row?.prefetchedRows["players"]?.first)
            #expect(player.description == #"[id:1 name:"Arthur" score:100 teamId:1 grdb_teamId:1]"#)
            #expect(player.scopes["profile"] == ["playerId": 1, "bio": "tall"])
        }
    }

    @Test func oneKeyIsOneList() throws {
        try withSport { db in
            let request = Team.including(all: Team.players.filter { $0.score > 50 }).including(
                all: Team.players.order(\.name))
            try expectQuery(
                db, request, sql: #"SELECT * FROM "team""#,
                text(
                    #"SELECT *, "teamId" AS "grdb_teamId" FROM "player" WHERE ("score" > 50) "#,
                    #"AND ("teamId" IN (1, 2, 3)) ORDER BY "name""#),
                rows: [
                    """
                    ▿ [id:1 name:"Reds" color:"red"]
                      + players: 3 rows
                    """,
                    """
                    ▿ [id:2 name:"Blues" color:"blue"]
                      + players: 1 row
                    """,
                    """
                    ▿ [id:3 name:"Greens" color:"green"]
                      + players: 0 row
                    """,
                ])
        }
    }

    // MARK: - Records

    private struct TeamInfo: Decodable, FetchableRecord, Equatable {
        var team: Team
        var players: [Player]
    }

    private struct TeamList: FetchableRecord {
        var name: String
        var players: [Player]
        var ids: Set<Player>

        init(row: Row) throws {
            name = try row.decode(forColumn: "name")
            players = row["players"]
            ids = row["players"]
        }
    }

    @Test func decodableRecords() throws {
        try withSport { db in
            let request = Team.including(all: Team.players).asRequest(of: TeamInfo.self)
            let sql = try emitted(db) {
                let infos = try request.fetchAll(db)
                #expect(infos.map(\.team.name) == ["Reds", "Blues", "Greens"])
                #expect(infos.map { $0.players.map(\.name) } == [["Arthur", "Barbara", "Eve"], ["Craig"], []])
            }
            #expect(sql.count == 2)
            let one = try request.fetchOne(db)
            #expect(one?.players.count == 3)
            let cursor = try request.fetchCursor(db)
            var names: [String] = []
            while let info = try cursor.next() { names.append("\(info.team.name) \(info.players.count)") }
            #expect(names == ["Reds 3", "Blues 1", "Greens 0"])
        }
    }

    @Test func recordsThatReadRows() throws {
        try withSport { db in
            let lists = try Team.including(all: Team.players.order(\.name.desc)).asRequest(of: TeamList.self).fetchAll(
                db)
            #expect(lists.map { $0.players.map(\.id) } == [[5, 2, 1], [3], []])
            #expect(lists.map(\.ids.count) == [3, 1, 0])
            let one = try #require(try Team.including(all: Team.players).asRequest(of: TeamList.self).fetchOne(db))
            #expect(one.players.map(\.id) == [1, 2, 5])
        }
    }

    private struct Tree: Decodable, FetchableRecord {
        struct Branch: Decodable, FetchableRecord {
            var name: String
            var awards: [Award]
            var profile: Sport.Profile?
        }

        var name: String
        var players: [Branch]
    }

    @Test func nestedRecords() throws {
        try withSport { db in
            let players = Team.players.including(all: Player.awards.order(\.title)).including(optional: Player.profile)
            let sql = try emitted(db) {
                let trees = try Team.including(all: players).asRequest(of: Tree.self).fetchAll(db)
                #expect(trees[0].players.map { $0.awards.map(\.title) } == [["gold", "silver"], [], []])
                #expect(trees[0].players.map { $0.profile?.bio } == ["tall", nil, nil])
                #expect(trees[1].players.map { $0.awards.map(\.title) } == [["gold"]])
            }
            #expect(sql.count == 3)
        }
    }

    private struct Keeper: FetchableRecord {
        let row: Row
        let players: [Player]

        init(row: Row) throws {
            self.row = row.copy()
            players = try row.decode(forKey: "players")
        }
    }

    @Test func keptRowsHaveTheirLists() throws {
        try withSport { db in
            let keepers = try Team.including(all: Team.players.including(all: Player.awards))
                .asRequest(of: Keeper.self).fetchAll(db)
            #expect(
                keepers[0].row.prefetchedRows["players"]?.map { $0["name"] as String } == ["Arthur", "Barbara", "Eve"])
            #expect(keepers[0].row.prefetchedRows["players"]?[0].prefetchedRows["awards"]?.count == 2)
            let again: [Player] = keepers[0].row["players"]
            #expect(again == keepers[0].players)
        }
    }

    @Test func whatNobodyWantsIsNotFetched() throws {
        try withSport { db in
            let sql = try emitted(db) { _ = try Team.including(all: Team.players).fetchAll(db) }
            #expect(sql == [#"SELECT * FROM "team""#])
        }
    }

    // MARK: - Keys

    @Test func keysBeyondTheLimitOfArguments() throws {
        try withSport { db in
            _ = try db.setLimit(.variableNumber, to: 3)
            let request = Team.including(all: Team.players.filter { $0.score < 10_000 })
            let sql = try emitted(db) {
                let counts = try request.asRequest(of: TeamInfo.self).fetchAll(db).map(\.players.count)
                #expect(counts == [3, 1, 0])
            }
            #expect(
                sql.dropFirst() == [
                    #"SELECT *, "teamId" AS "grdb_teamId" FROM "player" WHERE ("score" < 10000) AND ("teamId" IN (1, 2))"#,
                    #"SELECT *, "teamId" AS "grdb_teamId" FROM "player" WHERE ("score" < 10000) AND ("teamId" = 3)"#,
                ])
            let parts = try Row.fetchAll(db, Sport.Pair.including(all: Sport.Pair.parts))
            #expect(parts.map { $0.prefetchedRows["parts"]?.count } == [2, 0, 1])
        }
    }

    @Test func keysThatAreEqualForSQLite() throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE parent (code TEXT PRIMARY KEY COLLATE NOCASE, number INTEGER);
                    CREATE TABLE child (
                        id INTEGER PRIMARY KEY, code TEXT COLLATE NOCASE REFERENCES parent (code), number TEXT);
                    INSERT INTO parent VALUES ('fr', 1), ('DE', 2);
                    INSERT INTO child VALUES (1, 'FR', '1'), (2, 'fr', '2'), (3, 'de', '2');
                    """)
            let (parents, children) = (Table("parent"), Table("child"))
            let byCode = try Row.fetchAll(db, parents.including(all: parents.hasMany(children)))
            #expect(byCode.map { $0.prefetchedRows["children"]?.map { $0["id"] as Int } } == [[1, 2], [3]])
            let key = ForeignKey(["number"], to: ["number"])
            let byNumber = try Row.fetchAll(db, parents.including(all: parents.hasMany(children, using: key)))
            #expect(byNumber.map { $0.prefetchedRows["children"]?.map { $0["id"] as Int } } == [[1], [2, 3]])
        }
    }

    // MARK: - Rows

    @Test func rowsDifferByTheirLists() throws {
        try withSport { db in
            let plain = try #require(try Row.fetchOne(db, Team.all()))
            let full = try #require(try Row.fetchOne(db, Team.including(all: Team.players)))
            let same = try #require(try Row.fetchOne(db, Team.including(all: Team.players)))
            #expect(plain != full)
            #expect(full == same)
            #expect(plain.prefetchedRows.isEmpty && plain.prefetchedRows["players"] == nil)
            #expect(full.copy().prefetchedRows["players"]?.count == 3)
        }
    }

    // MARK: - Errors

    private struct BadPlayer: FetchableRecord {
        init(row: Row) throws { _ = try row.decode(Int.self, forColumn: "name") }
    }

    private struct BadTeam: FetchableRecord {
        init(row: Row) throws { let _: [BadPlayer] = row["players"] }
    }

    @Test func errorsOfRecordsAreThrown() throws {
        try withSport { db in
            let error = #expect(throws: RowDecodingError.self) { () throws in
                _ = try Team.including(all: Team.players).asRequest(of: BadTeam.self).fetchAll(db)
            }
            #expect(error?.description.hasPrefix("could not decode Int from database value TEXT") == true)
            let count = try Team.fetchCount(db)
            #expect(count == 3)
        }
    }

    private struct Missing: FetchableRecord {
        init(row: Row) throws { let _: [Player] = try row.decode(forKey: "coaches") }
    }

    @Test func missingListsThrow() throws {
        try withSport { db in
            let error = #expect(throws: RowDecodingError.self) { () throws in
                _ = try Team.including(all: Team.players).asRequest(of: Missing.self).fetchAll(db)
            }
            #expect(error?.description.hasPrefix(#"prefetched rows not found: "coaches""#) == true)
        }
    }

    @Test func requestsThatCannotBePrefetchedThrow() throws {
        try withSport { db in
            expectError(.SQLITE_MISUSE, "distinct rows of team without its column id have no players") {
                try Row.fetchAll(db, Team.select { [$0.name] }.distinct().including(all: Team.players))
            }
            let ordered = Team.hasMany(Award.self, through: Team.players.order(\.score), using: Player.awards)
            expectError(
                .SQLITE_MISUSE,
                "distinct rows of award that are ordered by joined tables can't be limited for each parent"
            ) { try Row.fetchAll(db, Team.including(all: ordered.distinct().limit(1))) }
            expectError(.SQLITE_ERROR, "no such column: player.score") {
                try Row.fetchAll(
                    db, Team.including(all: Team.players.select(\.name).order(\.score).distinct().limit(1)))
            }
            expectError(
                .SQLITE_MISUSE, "table award has no foreign key to team: name the columns with using: ForeignKey([…])"
            ) {
                try Row.fetchAll(
                    db, Team.including(all: Team.players).including(all: Team.hasMany(Award.self, key: "players")))
            }
            expectError(
                .SQLITE_MISUSE,
                text(
                    "two associations of a request have the key players, but find different rows: ",
                    "give one of them another key with forKey(_:)")
            ) {
                try Row.fetchAll(
                    db,
                    Team.including(all: Team.players)
                        .including(all: Team.hasMany(Player.self, using: ForeignKey(["score"]))))
            }
        }
    }

    @Test func listsOfOneKeyThroughOtherRowsThrow() throws {
        try withSport { db in
            let key = "awards"
            let others: [HasManyThroughAssociation<Team, Award>] = [
                // The pivot's rows are found by another column.
                Team.hasMany(
                    Award.self, through: Team.hasMany(Player.self, using: ForeignKey(["score"])), using: Player.awards),
                // The list's rows are found by another column of the pivot.
                Team.hasMany(
                    Award.self, through: Team.players,
                    using: Player.hasMany(Award.self, using: ForeignKey(["id"], to: ["id"]))),
                // The pivot is another table.
                Team.hasMany(
                    Award.self, through: Team.hasMany(Sport.Match.self, using: ForeignKey(["homeId"])),
                    using: Sport.Match.hasMany(Award.self, using: ForeignKey(["id"], to: ["id"]))),
            ]
            for other in others {
                let request = Team.including(all: Team.awards.forKey(key)).including(all: other.forKey(key))
                expectError(
                    .SQLITE_MISUSE,
                    text(
                        "two associations of a request have the key awards, but find different rows: ",
                        "give one of them another key with forKey(_:)")
                ) { () throws in try Row.fetchAll(db, request) }
                let both = Team.including(all: Team.awards.forKey(key)).including(all: other.forKey("other"))
                let row = try #require(try Row.fetchOne(db, both))
                #expect(row.prefetchedRows[key] != nil && row.prefetchedRows["other"] != nil)
            }
        }
    }
}
