import Quarry
import Testing

@Suite struct JSONSamples {
    struct Player: Codable, FetchableRecord, PersistableRecord {
        var id: Int64
        var name: String
        var info: String

        enum Columns {
            static let id = Column("id")
            static let name = Column("name")
            static let info = JSONColumn("info")
        }
    }

    private func withDatabase(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, info TEXT);
                    INSERT INTO player VALUES
                        (1, 'Arthur', '{"city": "Paris", "tags": ["captain"]}'), (2, 'Barbara', '{"tags": []}');
                    """)
            try body(db)
        }
    }

    @Test func parts() throws {
        try withDatabase { db in
            let cities = try Player.select({ $0.info["city"] }, as: String?.self).fetchAll(db)  // ["Paris", nil]
            let captains = try Player.filter { $0.info["$.tags[0]"] == "captain" }.fetchAll(db)
            #expect(cities == ["Paris", nil] && captains.count == 1)
        }
    }

    @Test func changes() throws {
        try withDatabase { db in
            try Player.filter { $0.id == 1 }.updateAll(db) {
                [$0.info.set(to: Database.jsonSet($0.info, ["$.city": "Rome", "$.home": $0.info["city"]]))]
            }
            #expect(
                try Player.fetchOne(db, key: 1)?.info == #"{"city":"Rome","tags":["captain"],"home":"Paris"}"#)
        }
    }

    @Test func making() throws {
        try withDatabase { db in
            let object = Database.jsonObject(["name": Column("name"), "info": JSONColumn("info")])
            let json = try Player.select(Database.jsonGroupArray(object), as: String.self).fetchOne(db)
            #expect(json?.hasPrefix(#"[{"name":"Arthur","info":{"city":"Paris""#) == true)
        }
    }

    @Test func elements() throws {
        try withDatabase { db in
            let (player, tag) = (TableAlias<Player>(), TableAlias<JSONElement>())
            let tags = Database.jsonEach(player.info, atPath: "$.tags")

            let captains = try Player.all().aliased(player)
                .filter(tags.filter { $0.value == "captain" }.exists())
                .fetchAll(db)
            let pairs = try Player.all().aliased(player)
                .join(.inner, tags.aliased(tag))
                .select((player.name, tag.value), as: (String, String).self)
                .fetchAll(db)  // [("Arthur", "captain")]
            #expect(captains.count == 1 && pairs.count == 1)
        }
    }
}
