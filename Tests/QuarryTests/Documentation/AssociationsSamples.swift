import Quarry
import QuarryTables
import Testing

@Suite struct AssociationsSamples {
    struct Team: Codable, FetchableRecord, PersistableRecord {
        static let players = hasMany(Player.self)
        static let awards = hasMany(Award.self, through: players, using: Player.awards)

        var id: Int64
        var name: String
        var color: String
    }

    struct Player: Codable, FetchableRecord, PersistableRecord {
        static let team = belongsTo(Team.self)
        static let awards = hasMany(Award.self)

        var id: Int64
        var name: String
        var score: Int
        var teamId: Int64?
    }

    struct Award: Codable, FetchableRecord, PersistableRecord {
        static let player = belongsTo(Player.self)
        static let team = hasOne(Team.self, through: player, using: Player.team)

        var id: Int64
        var title: String
        var playerId: Int64
    }

    struct Match: Codable, FetchableRecord, PersistableRecord {
        static let home = belongsTo(Team.self, key: "home", using: ForeignKey(["homeId"]))
        static let guest = belongsTo(Team.self, key: "guest", using: ForeignKey(["guestId"]))

        var id: Int64
        var homeId: Int64
        var guestId: Int64
    }

    @Test func addingTheForeignKey() throws {
        try inTables { db throws in
            try db.execute(
                sql: """
                    DROP TABLE award;
                    DROP TABLE player;
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score INTEGER);
                    """)
            try db.alter(table: "player") { t in t.belongsTo("team", onDelete: .setNull) }
            try Player(id: 1, name: "Arthur", score: 100, teamId: 2).insert(db)
            #expect(try Player.including(required: Player.team).fetchCount(db) == 1)
        }
    }

    private func inTables(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT, color TEXT);
                    CREATE TABLE player (
                        id INTEGER PRIMARY KEY, name TEXT, score INTEGER, teamId INTEGER REFERENCES team (id));
                    CREATE TABLE award (id INTEGER PRIMARY KEY, title TEXT, playerId INTEGER REFERENCES player (id));
                    CREATE TABLE match (id INTEGER PRIMARY KEY, homeId INTEGER, guestId INTEGER);
                    INSERT INTO team VALUES (1, 'Reds', 'red'), (2, 'Blues', 'blue');
                    INSERT INTO player VALUES
                        (1, 'Arthur', 100, 1), (2, 'Barbara', 1000, 1), (3, 'Craig', 200, 2), (4, 'Dan', 5, NULL);
                    INSERT INTO award VALUES (1, 'gold', 1), (2, 'silver', 1), (3, 'gold', 3);
                    INSERT INTO match VALUES (1, 1, 2);
                    """)
            try body(db)
        }
    }

    @Test func joinedRows() throws {
        try inTables { (db) throws in
            struct PlayerInfo: Decodable, FetchableRecord {
                var player: Player
                var team: Team?
            }
            let infos = try Player.including(optional: Player.team).asRequest(of: PlayerInfo.self).fetchAll(db)
            // SELECT "player".*, "team".* FROM "player" LEFT JOIN "team" ON "team"."id" = "player"."teamId"
            #expect(infos.map { $0.team?.name } == ["Reds", "Reds", "Blues", nil])

            let match = try Row.fetchOne(db, Match.including(required: Match.home).including(required: Match.guest))
            #expect(match?.scopes["guest"]?["name"] == "Blues")
        }
    }

    @Test func changedAssociations() throws {
        try inTables { (db) throws in
            let reds = Player.joining(required: Player.team.filter(Column("color") == "red"))
            let awards = Award.including(required: Award.player.including(optional: Player.team))
            let redNames = try reds.fetchAll(db).map(\.name)
            #expect(redNames == ["Arthur", "Barbara"])
            let awardRows = try Row.fetchAll(db, awards)
            #expect(awardRows.map { $0.scopesTree["team"]?["name"] } == ["Reds", "Reds", "Blues"])

            let team = TableAlias<Team>()
            let free = Player.joining(optional: Player.team.aliased(team)).filter(!team.exists)
            // SELECT "player".* FROM "player" LEFT JOIN "team" ON "team"."id" = "player"."teamId" WHERE "team"."id" IS
            // NULL
            let freeNames = try free.fetchAll(db).map(\.name)
            #expect(freeNames == ["Dan"])

            let best = Team.players.order(Column("score").desc).limit(1)
            let teams = Team.including(optional: best)  // each with its best player
            let bestNames = try Row.fetchAll(db, teams.orderByPrimaryKey()).map {
                $0.scopes["player"]?["name"] as String?
            }
            #expect(bestNames == ["Barbara", "Craig"])
        }
    }

    struct TeamInfo: Decodable, FetchableRecord {
        var team: Team
        var players: [Player]
    }

    @Test func rowsThatAreFetchedBesides() throws {
        try inTables { (db) throws in
            struct TeamInfo: Decodable, FetchableRecord {
                var team: Team
                var players: [Player]
            }
            let infos = try Team.including(all: Team.players).asRequest(of: TeamInfo.self).fetchAll(db)
            // SELECT * FROM "team"
            // SELECT *, "teamId" AS "grdb_teamId" FROM "player" WHERE "teamId" IN (1, 2)
            #expect(infos.map { $0.players.map(\.name) } == [["Arthur", "Barbara"], ["Craig"]])
        }
        try inTables { (db) throws in
            let topThree = Team.players.order(Column("score").desc).limit(3)
            let infos = try Team.including(all: topThree).asRequest(of: TeamInfo.self).fetchAll(db)
            // SELECT * FROM "team"
            // SELECT * FROM (SELECT *, "teamId" AS "grdb_teamId",
            //     ROW_NUMBER() OVER (PARTITION BY "teamId" ORDER BY "score" DESC) AS "quarry_rank"
            //   FROM "player" WHERE "teamId" IN (1, 2)) WHERE "quarry_rank" <= 3 ORDER BY "quarry_rank"
            #expect(infos.map { $0.players.map(\.name) } == [["Barbara", "Arthur"], ["Craig"]])
        }
    }

    @Test func recordsOfRows() throws {
        try inTables { (db) throws in
            struct PlayerCard: FetchableRecord {
                var player: Player
                var team: Team?
                var awards: [Award]

                init(row: Row) throws {
                    player = try Player(row: row)
                    team = try row.decodeIfPresent(forKey: "team")
                    awards = try row.decode(forKey: "awards")
                }
            }
            let request = Player.including(optional: Player.team).including(all: Player.awards)
            let cards = try request.asRequest(of: PlayerCard.self).fetchAll(db)
            #expect(cards.map { $0.awards.map(\.title) } == [["gold", "silver"], [], ["gold"], []])
            #expect(cards.map { $0.team?.name } == ["Reds", "Reds", "Blues", nil])
        }
    }

    @Test func requestsAndAggregates() throws {
        try inTables { (db) throws in
            let team = Team(id: 1, name: "Reds", color: "red")
            let players = try team.request(for: Team.players).order(Column("name")).fetchAll(db)
            // SELECT * FROM "player" WHERE "teamId" = 1 ORDER BY "name"
            #expect(players.map(\.name) == ["Arthur", "Barbara"])

            let counted = Team.annotated(with: Team.players.count, Team.players.max(Column("score")))
            // SELECT "team".*, COUNT(DISTINCT "player"."id") AS "playerCount", MAX("player"."score") AS
            // "maxPlayerScore" FROM "team" LEFT JOIN "player" ON "player"."teamId" = "team"."id" GROUP BY "team"."id"

            let large = Team.having(Team.players.count >= 2 && !Team.awards.isEmpty)
            let rows = try Row.fetchAll(db, counted)
            #expect(rows.map { $0["playerCount"] as Int } == [2, 1])
            let names = try large.fetchAll(db).map(\.name)
            #expect(names == ["Reds"])

            let totals = Team.annotated(with: abs(Team.players.sum(Column("score"))).forKey("distance"))

            #expect(try Row.fetchAll(db, totals).map { $0["distance"] as Int } == [1100, 200])
        }
    }

    @Test func tablesWithoutAnAssociation() throws {
        try inTables { (db) throws in
            let pairs = try Player.all()
                .leftJoin(Team.self) { player, team in player["teamId"] == team["id"] }
                .order { player, team in [team["name"], player["score"].desc] }
                .fetchAll(db)  // [(Player, Team?)]
            #expect(
                pairs.map { "\($0.0.name) \($0.1?.name ?? "-")" } == [
                    "Dan -", "Craig Blues", "Barbara Reds", "Arthur Reds",
                ])
        }
    }
}
