import Quarry
import QuarryTestSupport
import Testing

/// The mistakes of a first day with records: each error says what is wrong, where, and what to do.
@Suite struct FirstMistakesWithRecordsTests {
    private struct Team: Codable, FetchableRecord, PersistableRecord {
        static let players = hasMany(Player.self)
        var id: Int64
        var name: String
    }

    private struct Player: Codable, FetchableRecord, MutablePersistableRecord {
        static let team = belongsTo(Team.self)
        var id: Int64?
        var name: String
        var teamId: Int64?

        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }

    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, teamId INTEGER REFERENCES team);
                    INSERT INTO team VALUES (1, 'Reds');
                    INSERT INTO player VALUES (1, 'Arthur', 1);
                    """)
        }
        return queue
    }

    @Test func updatingARecordWithoutAnID() throws {
        struct Note: Codable, FetchableRecord, PersistableRecord { var text: String }
        try makeQueue().write { (db) throws in
            expectError(
                RecordError.self,
                """
                Key not found in table player: [id:NULL]: the id is NULL. Was the record inserted, and the id stored \
                in didInsert?
                """
            ) { try Player(id: nil, name: "Barbara", teamId: nil).update(db) }
            try db.execute(sql: "CREATE TABLE note (text TEXT)")
            expectError(
                RecordError.self,
                """
                Key not found in table note: [rowid:NULL]: a table without a primary key has only the rowid, which the \
                record doesn't have. Declare a primary key
                """
            ) { try Note(text: "a").update(db) }
            expectError(RecordError.self, "Key not found in table player: [id:7]") {
                try Player(id: 7, name: "Barbara", teamId: nil).update(db)
            }
        }
    }

    @Test func aPropertyThatIsNotTheKeyOfItsAssociation() throws {
        struct PlayerInfo: Decodable, FetchableRecord {
            var player: Player
            var squad: Team
        }
        struct SquadOnly: Decodable, FetchableRecord { var squad: Team }
        try makeQueue().read { (db) throws in
            let error = expectError(DecodingError.self) {
                try PlayerInfo.fetchAll(db, Player.including(required: Player.team))
            }
            let text = error.map { "\($0)" } ?? ""
            let cure = """
                no column, scope or list "squad" for key path squad of PlayerInfo; the row has the scope team: rename \
                the property, or use forKey("squad")
                """
            #expect(text.contains(cure))
            #expect(text.ranges(of: "squad\"").count == 2, "it is said once: \(text)")
            #expect(text.contains("decoding PlayerInfo - row: [id:INTEGER name:TEXT teamId:INTEGER"))

            // A single property is decoded from the row itself.
            expectError(
                RowDecodingError.self,
                """
                column not found: "id" for key path id of Team, table: "team" - row: [name:TEXT], sql: \
                `SELECT "player"."name", "team".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamId"` - \
                "squad" isn't a scope; the row has the scope team: rename the property, or use forKey("squad")
                """
            ) {
                try SquadOnly.fetchAll(
                    db, Player.select(Column("name")).including(required: Player.team))
            }
            let neither = expectError(DecodingError.self) { try PlayerInfo.fetchAll(db, Player.all()) }
            #expect(
                neither.map { "\($0)" }?.contains(
                    """
                    no column, scope or list "squad" for key path squad of PlayerInfo: request an associated record \
                    with including(required:) or including(optional:)
                    """) == true)
        }
    }

    @Test func aListThatIsNotRequested() throws {
        struct TeamInfo: Decodable, FetchableRecord {
            var team: Team
            var members: [Player]
        }
        try makeQueue().read { (db) throws in
            let forgotten = expectError(DecodingError.self) { try TeamInfo.fetchAll(db, Team.all()) }
            #expect(
                forgotten.map { "\($0)" }?.contains(
                    """
                    no column, scope or list "members" for key path members of TeamInfo: request a list of records \
                    with including(all:)
                    """) == true)
            let misnamed = expectError(DecodingError.self) {
                try TeamInfo.fetchAll(db, Team.including(all: Team.players))
            }
            #expect(
                misnamed.map { "\($0)" }?.contains(
                    """
                    no column, scope or list "members" for key path members of TeamInfo; the row has the list players: \
                    rename the property, or use forKey("members")
                    """) == true)
        }
    }

    @Test func aColumnInSnakeCase() throws {
        struct Match: Decodable, FetchableRecord { var startedAt: Int }
        struct Place: Decodable, FetchableRecord { var startedURL: Int }
        struct Strategic: Decodable, FetchableRecord {
            static let databaseColumnDecodingStrategy = DatabaseColumnDecodingStrategy.convertFromSnakeCase
            var startedURL: Int
        }
        try DatabaseQueue().read { (db) throws in
            func expect<R: FetchableRecord>(_ type: R.Type, _ problem: String, _ column: String) {
                let sql = "SELECT 1 AS \(column)"
                expectError(
                    RowDecodingError.self,
                    "column not found: \(problem) - row: [\(column):INTEGER], sql: `\(sql)`"
                ) { try type.fetchAll(db, sql: sql) }
            }
            expect(
                Match.self,
                """
                "startedAt" for key path startedAt of Match: there is "started_at", so set \
                databaseColumnDecodingStrategy = .convertFromSnakeCase
                """, "started_at")
            expect(
                Place.self,
                """
                "startedURL" for key path startedURL of Place: there is "started_url", so write `case startedURL = \
                "started_url"` in CodingKeys
                """, "started_url")
            expect(
                Strategic.self,
                """
                "startedURL" for key path startedURL of Strategic: there is "started_url", so write `case startedURL = \
                "startedUrl"` in CodingKeys
                """, "started_url")
            expect(Match.self, "\"startedAt\" for key path startedAt of Match", "ended_at")
        }
    }

    @Test func anUnknownCaseAndTextThatIsNoJSON() throws {
        enum Kind: String, Codable { case home }
        enum Stored: String, Codable, DatabaseValueConvertible { case home }
        struct Match: Decodable, FetchableRecord { var kind: Kind }
        struct Optionally: Decodable, FetchableRecord { var kind: Stored? }
        struct Tagged: Decodable, FetchableRecord { var tags: [String] }
        try DatabaseQueue().read { (db) throws in
            let sql = "SELECT 'away' AS kind"
            expectError(
                RowDecodingError.self,
                """
                could not decode Kind from database value TEXT for key path kind of Match: no value of Kind has this \
                raw value - column: "kind", column index: 0, row: [kind:TEXT], sql: `\(sql)`
                """
            ) { try Match.fetchAll(db, sql: sql) }
            expectError(
                RowDecodingError.self,
                """
                could not decode Stored from database value TEXT: no value of Stored has this raw value - \
                column: "kind", column index: 0, row: [kind:TEXT], sql: `\(sql)`
                """
            ) { try Optionally.fetchAll(db, sql: sql) }
            expectError(
                RowDecodingError.self,
                """
                could not decode Stored from database value NULL - column: "NULL", column index: 0, row: [NULL:NULL], \
                sql: `SELECT NULL`
                """
            ) { try Stored.fetchAll(db, sql: "SELECT NULL") }
            let tags = "SELECT 'red, blue' AS tags"
            expectError(
                RowDecodingError.self,
                """
                could not decode Array<String> from database value TEXT for key path tags of Tagged: the value is not \
                JSON - column: "tags", column index: 0, row: [tags:TEXT], sql: `\(tags)`
                """
            ) { try Tagged.fetchAll(db, sql: tags) }
        }
    }
}
