import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// Records of scopes, requests for one record, and what is wrong with associations.
@Suite struct AssociatedRecordTests {
    private typealias Team = Sport.Team
    private typealias Player = Sport.Player
    private typealias Award = Sport.Award

    private struct PlayerInfo: Decodable, FetchableRecord {
        var player: Player
        var team: Team?
    }

    private struct AwardInfo: Decodable, FetchableRecord {
        var title: String
        var team: Team
    }

    @Test func decodableRecords() throws {
        try withSport { db in
            let infos = try Player.including(optional: Player.team).order(\.id).asRequest(of: PlayerInfo.self).fetchAll(
                db)
            #expect(infos.map(\.player.name) == ["Arthur", "Barbara", "Craig", "Dan", "Eve"])
            #expect(infos.map { $0.team?.name } == ["Reds", "Reds", "Blues", nil, "Reds"])
            // The scope of the association that leads there has no columns; the scope in it is found.
            let awards = try Award.including(required: Award.team).asRequest(of: AwardInfo.self).fetchAll(db)
            #expect(awards.map(\.team.name) == ["Reds", "Reds", "Blues"])
            #expect(awards.map(\.title) == ["gold", "silver", "gold"])
        }
    }

    private struct RowInfo: FetchableRecord {
        var player: Player
        var team: Team?
        var thrown: Team?

        init(row: Row) throws {
            player = try Player(row: row)
            team = row["team"]
            thrown = try row.decodeIfPresent(forKey: "team")
        }
    }

    @Test func recordsThatReadRows() throws {
        try withSport { db in
            let infos = try Player.including(optional: Player.team).order(\.id).asRequest(of: RowInfo.self).fetchAll(db)
            #expect(infos.map { $0.team?.name } == ["Reds", "Reds", "Blues", nil, "Reds"])
            #expect(infos.map(\.thrown) == infos.map(\.team))
            let row = try #require(try Row.fetchOne(db, Player.including(required: Player.team)))
            let team: Team = row["team"]
            #expect(team.name == "Reds")
            let error = #expect(throws: RowDecodingError.self) { () throws in
                _ = try row.decode(Team.self, forKey: "club")
            }
            #expect(error?.description.hasPrefix(#"scope not found: "club""#) == true)
        }
    }

    @Test func missingScopesEndTheProcess() async {
        await #expect(processExitsWith: .failure) {
            try withSport { db in
                let row = try Row.fetchOne(db, Sport.Player.all())!
                let _: Sport.Team = row["team"]
            }
        }
    }

    // MARK: - Requests for one record

    @Test func requestsForOneRecord() throws {
        let reds = Team(id: 1, name: "Reds", color: nil)
        try withSport { db in
            try expectQuery(
                db, reds.request(for: Team.players.filter { $0.score > 1 }.order(\.name)),
                sql: #"SELECT * FROM "player" WHERE ("score" > 1) AND ("teamId" = 1) ORDER BY "name""#,
                rows: ["1|Arthur|100|1", "2|Barbara|1000|1", "5|Eve|300|1"])
            try expectQuery(
                db, reds.request(for: Team.players.limit(2)),
                sql: #"SELECT * FROM "player" WHERE "teamId" = 1 LIMIT 2"#,
                rows: ["1|Arthur|100|1", "2|Barbara|1000|1"])
            try expectQuery(
                db, reds.request(for: Team.awards),
                sql: text(
                    #"SELECT "award".* FROM "award" JOIN "player" ON ("player"."id" = "award"."playerId") "#,
                    #"AND ("player"."teamId" = 1)"#), rows: ["1|gold|1", "2|silver|1"])
            try expectQuery(
                db, Team(id: nil, name: "", color: nil).request(for: Team.players),
                sql: #"SELECT * FROM "player" WHERE 0"#, rows: [])
            let arthur = Player(id: 1, name: "Arthur", score: 1, teamId: 2)
            let sql = try emitted(db) {
                let team = try arthur.request(for: Player.team).fetchOne(db)
                #expect(team?.name == "Blues")
            }
            #expect(sql == [#"SELECT * FROM "team" WHERE "id" = 2"#])
            try expectQuery(
                db, Sport.Pair(a: 1, b: "x").request(for: Sport.Pair.parts.filter(Column("id") > 1)),
                sql: #"SELECT * FROM "part" WHERE ("id" > 1) AND ("pairA" = 1) AND ("pairB" = 'x')"#, rows: ["2|1|x"])
            let awards = try reds.request(for: Team.awards).including(required: Award.player).fetchCount(db)
            #expect(awards == 2)
        }
    }

    private struct Nameless: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "player"
        static let team = belongsTo(Sport.Team.self)
        static let best = association(to: CommonTableExpression<Row>(named: "best", sql: "SELECT 1"))
        var id: Int64
    }

    @Test func requestsThatCanNotBeMade() throws {
        try withSport { db in
            expectError(
                .SQLITE_MISUSE, "a record of type Nameless has no column teamId, by which it finds rows of team"
            ) { try Nameless(id: 1).request(for: Nameless.team).fetchAll(db) }
            expectError(
                .SQLITE_MISUSE, "no request for one Nameless: the association to best isn't one of equal columns"
            ) { try Nameless(id: 1).request(for: Nameless.best).fetchAll(db) }
        }
    }

    // MARK: - Foreign keys

    @Test func missingAndAmbiguousKeys() throws {
        try withSport { db in
            expectError(
                .SQLITE_MISUSE, "table team has no foreign key to player: name the columns with using: ForeignKey([…])"
            ) { try Team.including(required: Team.belongsTo(Player.self)).fetchAll(db) }
            expectError(
                .SQLITE_MISUSE,
                text(
                    "table match has several foreign keys to team, (guestId) and (homeId): ",
                    "choose one with using: ForeignKey([…])")
            ) { try Sport.Match.joining(required: Sport.Match.ambiguous).fetchAll(db) }
            expectError(
                .SQLITE_MISUSE, "table thing has no foreign key to pair: name the columns with using: ForeignKey([…])"
            ) { try Sport.Thing.joining(required: Sport.Thing.undeclared).fetchAll(db) }
            let narrow = Sport.Thing.belongsTo(Sport.Pair.self, using: ForeignKey(["x"]))
            expectError(
                .SQLITE_MISUSE,
                text(
                    "the foreign key of thing with the columns (x) can't refer to pair with the columns (a, b): ",
                    "the numbers of columns must be equal")
            ) { try Sport.Thing.joining(required: narrow).fetchAll(db) }
        }
    }

    @Test func conflicts() throws {
        try withSport { db in
            let other = Player.belongsTo(Team.self, using: ForeignKey(["score"]))
            let message = text(
                "two associations of a request have the key team, but find different rows: ",
                "give one of them another key with forKey(_:)")
            expectError(.SQLITE_MISUSE, message) {
                try Player.joining(required: Player.team).joining(required: other).fetchAll(db)
            }
            let profile = Player.profile.forKey("Team")
            expectError(.SQLITE_MISUSE, message) {
                try Player.joining(required: Player.team).joining(optional: profile).fetchAll(db)
            }
        }
    }
}
