import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite struct RecordsSamples {
    struct Player: Codable, FetchableRecord, MutablePersistableRecord, Identifiable {
        var id: Int64?
        var name: String
        var score: Int

        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }

    struct Place: FetchableRecord, PersistableRecord {
        var code: String
        var latitude: Double
        var longitude: Double

        init(row: Row) throws {
            code = try row.decode(forColumn: "code")
            latitude = try row.decode(forColumn: "latitude")
            longitude = try row.decode(forColumn: "longitude")
        }

        func encode(to container: inout PersistenceContainer) {
            container["code"] = code
            container["latitude"] = latitude
            container["longitude"] = longitude
        }
    }

    struct NewPlayer: Codable, PersistableRecord {
        static let databaseTableName = "player"

        enum Columns {
            static let score = Column("score")
        }

        var name: String
    }

    struct Membership: Codable, FetchableRecord, PersistableRecord {
        var teamId: Int64
        var playerId: Int64
    }

    private func inTables(_ body: (Database) throws -> Void) throws {
        try withTables { db in
            try db.execute(
                sql: """
                    CREATE TABLE archivedPlayer (id INTEGER PRIMARY KEY, name TEXT, score INTEGER);
                    CREATE TABLE place (code TEXT PRIMARY KEY, latitude REAL, longitude REAL);
                    CREATE TABLE membership (teamId INTEGER, playerId INTEGER, PRIMARY KEY (teamId, playerId));
                    CREATE TABLE visit (id BLOB PRIMARY KEY, date TEXT, place TEXT, tags TEXT);
                    CREATE TABLE session (id TEXT PRIMARY KEY, started_at INTEGER);
                    CREATE TABLE link (url TEXT PRIMARY KEY);
                    CREATE TABLE deletedLink (url TEXT);
                    CREATE TABLE setting (name TEXT PRIMARY KEY, value INTEGER);
                    """)
            try body(db)
        }
    }

    @Test func oneRecord() throws {
        try inTables { (db) throws in
            var player = Player(id: nil, name: "Arthur", score: 10)
            try player.insert(db)  // player.id is 1
            player.score = 20
            try player.update(db)  // UPDATE "player" SET "name"='Arthur', "score"=20 WHERE "id"=1
            try player.updateChanges(db) { $0.score = 30 }  // UPDATE "player" SET "score"=30 WHERE "id"=1
            let found = try Player.find(db, id: 1)  // Player
            let all = try Player.fetchAll(db)  // [Player]
            try player.delete(db)  // true: there was such a row

            #expect(found.score == 30)
            #expect(all.count == 1)
            #expect(try Player.fetchCount(db) == 0)

            try player.insert(db, table: "archivedPlayer")

            #expect(try Player.fetchOne(db, key: 1, table: "archivedPlayer")?.score == 30)
        }
    }

    @Test func methodsAsFunctions() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in try db.makeScoredPlayers(["Arthur": 10]) }

        let players = try dbQueue.read(Player.fetchAll)  // [Player]

        #expect(players.map(\.name) == ["Arthur"])
    }

    @Test func someColumnsOfTheRow() throws {
        try inTables { (db) throws in
            let score = try NewPlayer(name: "Dan").insertAndFetch(db) { statement in
                try Int.fetchOne(statement)  // 100, the default of the column
            } select: {
                [$0.score]
            }
            // INSERT INTO "player" ("id", "name") VALUES (NULL,'Dan') RETURNING "score"

            #expect(score == 100)
        }
    }

    @Test func columnsByHand() throws {
        try inTables { (db) throws in
            let row: Row = ["code": "PAR", "latitude": 48.5, "longitude": 2.25]
            try Place(row: row).insert(db)
            #expect(try Place.fetchOne(db, key: "PAR")?.latitude == 48.5)
        }
    }

    @Test func batches() throws {
        try inTables { (db) throws in
            let names = ["Arthur", "Barbara"]

            var players = names.map { Player(id: nil, name: $0, score: 0) }
            try Player.insertAll(db, &players)  // each has its id
            try Player.upsertAll(db, players)
            try Player.updateAll(db, set: ["score"], from: Player(id: nil, name: "", score: 100))

            #expect(players.map(\.id) == [1, 2])
            #expect(try Player.fetchAll(db).map(\.score) == [100, 100])
        }
    }

    @Test func keys() throws {
        try inTables { (db) throws in
            try Player.insertAll(db, ["Arthur", "Barbara"].map { Player(id: nil, name: $0, score: 0) })
            try Membership(teamId: 1, playerId: 2).insert(db)

            let one = try Player.fetchOne(db, key: 1)  // Player?
            let arthur = try Player.fetchOne(db, key: ["name": "Arthur"])  // Player?
            let some = try Player.fetchAll(db, keys: [1, 2, 3])  // [Player]
            let isThere = try Membership.exists(db, key: ["teamId": 1, "playerId": 2])
            try Player.deleteAll(db, ids: [1, 2])

            #expect(one?.id == arthur?.id)
            #expect(try Player.fetchOne(db, key: ["name": "Craig", "score": 10]) == nil)
            #expect(some.count == 2)
            #expect(isThere)
            #expect(try Player.fetchCount(db) == 0)
        }
    }

    struct Visit: Codable, FetchableRecord, PersistableRecord {
        struct Place: Codable {
            var latitude: Double
            var longitude: Double
        }

        var id: UUID
        var date: Date
        var place: Place
        var tags: [String]?
    }

    struct Session: Codable, FetchableRecord, PersistableRecord, Identifiable {
        static let databaseColumnEncodingStrategy = DatabaseColumnEncodingStrategy.convertToSnakeCase
        static let databaseColumnDecodingStrategy = DatabaseColumnDecodingStrategy.convertFromSnakeCase
        static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
            .millisecondsSince1970
        }
        static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
            .millisecondsSince1970
        }
        static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
            .lowercaseString
        }

        var id: UUID
        var startedAt: Date
    }

    @Test func codable() throws {
        try inTables { (db) throws in
            let id = UUID()
            let date = Date(timeIntervalSince1970: 1_709_209_800)

            let place = Visit.Place(latitude: 48.5, longitude: 2.25)
            try Visit(id: id, date: date, place: place, tags: ["sea"]).insert(db)
            // INSERT INTO "visit" ("id", "date", "place", "tags")
            // VALUES (x'…','2024-02-29 12:30:00.000','{"latitude":48.5,"longitude":2.25}','["sea"]')

            #expect(
                try Row.fetchOne(db, sql: "SELECT date, place, tags FROM visit") == [
                    "date": "2024-02-29 12:30:00.000", "place": #"{"latitude":48.5,"longitude":2.25}"#,
                    "tags": #"["sea"]"#,
                ])
            try Session(id: id, startedAt: date).insert(db)
            #expect(try Session.find(db, id: id).startedAt == date)
            let stored = try Row.fetchOne(db, sql: "SELECT * FROM session")
            #expect(stored == ["id": id.uuidString.lowercased(), "started_at": 1_709_209_800_000])
        }
    }

    struct NotSecure: Error { var url: String }

    struct Link: Codable, PersistableRecord {
        var url: String

        func willSave(_ db: Database) throws {
            if !url.hasPrefix("https:") { throw NotSecure(url: url) }
        }

        func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {
            let isDeleted = try delete()
            if isDeleted { try db.execute(sql: "INSERT INTO deletedLink VALUES (?)", arguments: [url]) }
        }
    }

    @Test func callbacks() throws {
        try inTables { (db) throws in
            #expect(throws: NotSecure.self) { try Link(url: "http://example.com").insert(db) }
            let link = Link(url: "https://example.com")
            try link.insert(db)
            #expect(try link.delete(db))
            #expect(try String.fetchAll(db, sql: "SELECT url FROM deletedLink") == ["https://example.com"])
        }
    }

    struct Setting: Codable, FetchableRecord, PersistableRecord {
        static let persistenceConflictPolicy = PersistenceConflictPolicy(insert: .replace)

        var name: String
        var value: Int
    }

    @Test func conflicts() throws {
        try inTables { (db) throws in
            try Setting(name: "size", value: 1).insert(db)  // INSERT OR REPLACE INTO "setting" …
            try Setting(name: "size", value: 2).insert(db)  // the same: it takes the place of the other
            let isNew = try Setting(name: "size", value: 3).insertOrIgnore(db)  // INSERT OR IGNORE …: false
            #expect(!isNew)
            #expect(try Setting.fetchAll(db).map(\.value) == [2])
            let error = #expect(throws: DatabaseError.self) {
                try Setting(name: "size", value: 3).insert(db, onConflict: .fail)
            }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_PRIMARYKEY)
        }
    }
}
