import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// JSON in columns: paths, functions, conditions, generated columns and indexes.
enum JSONProgram: Program {
    static func run() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.create(table: "player") { t in
                t.primaryKey("id", .integer)
                t.column("name", .text).notNull()
                t.column("address", .jsonText).notNull()
                t.column("tags", .jsonText).notNull()
                t.column("country", .text).generatedAs(JSONColumn("address")["country"])
            }
            try db.create(indexOn: "player", columns: ["country"])
            try db.create(index: "player_on_city", on: "player", expressions: [JSONColumn("address")["city"]])
            let arthur = Player(
                id: 1, name: "Arthur",
                address: Address(street: "1 Main", city: "Lyon", country: "France", zip: [69, 1]), tags: ["a", "b"])
            try arthur.insert(db)
            try Player(
                id: 2, name: "Bea", address: Address(street: nil, city: "Bonn", country: "Germany", zip: []), tags: []
            ).insert(db)
            print(try Player.find(db, key: 1) == arthur)
            print(try Row.fetchAll(db, sql: "SELECT * FROM player"))
        }

        try dbQueue.read { db in
            let address = JSONColumn("address")
            print(try Player.select(address["city"], as: String.self).fetchAll(db))
            print(try Player.filter(address["country"] == "Germany").fetchAll(db).map(\.name))
            print(try Player.filter(Player.Columns.country == "France").fetchAll(db).map(\.name))
            print(
                try Player.filter { $0.address["city"] == "Lyon" }.order { $0.address["country"].desc }.fetchCount(db))
            print(try Player.select(address["$.zip[0]"], as: Int?.self).fetchAll(db))
            print(try Player.select(address.jsonExtract(atPath: "$.street"), as: String?.self).fetchAll(db))
            print(
                try Player.select(address.jsonExtract(atPaths: ["$.city", "$.zip"]), as: String.self).fetchOne(db)
                    ?? "none")
            print(try Player.select(address.jsonRepresentation(atPath: "$.zip"), as: String.self).fetchAll(db))
            print(try Player.select(Column("address").asJSON["city"], as: String.self).fetchAll(db))
            print(try Player.order(address["city"]).fetchAll(db).map(\.name))
            print(try Player.select(Player.Columns.tags.jsonExtract(atPath: "$[1]"), as: String?.self).fetchAll(db))
            print(try Player.filter(address["street"] == nil).fetchCount(db))
        }

        try dbQueue.read { db in
            let tags = JSONColumn("tags")
            func one(_ expression: some SQLSpecificExpressible) throws -> String {
                try String.fetchOne(db, Player.filter(key: 1).select(expression)) ?? "NULL"
            }
            try print(
                one(Database.json("{ \"a\": [ 1 ] }".databaseValue)),
                one(Database.jsonArray([1, 2, "three"] as [any SQLExpressible])))
            try print(
                one(Database.jsonArray([Column("name"), tags] as [any SQLExpressible])),
                one(Database.jsonArrayLength(tags)))
            try print(
                one(Database.jsonArrayLength(JSONColumn("address"), atPath: "$.zip")),
                one(Database.jsonExtract(tags, atPath: "$[0]")))
            try print(one(Database.jsonInsert(tags, ["$[#]": "c"])), one(Database.jsonReplace(tags, ["$[0]": "z"])))
            try print(
                one(Database.jsonSet(tags, ["$[0]": Database.json("[1]".databaseValue)])),
                one(Database.jsonRemove(tags, atPath: "$[0]")))
            try print(
                one(
                    Database.jsonObject(
                        [("id", Column("id")), ("tags", tags)] as [(key: String, value: any SQLExpressible)])),
                one(Database.jsonObject(["a": 1])))
            try print(
                one(Database.jsonPatch(JSONColumn("address"), with: "{\"city\": null, \"zip\": 1}".databaseValue)))
            try print(
                one(Database.jsonType(tags)), one(Database.jsonType(tags, atPath: "$[0]")),
                one(Database.jsonType("12".databaseValue)))
            try print(
                one(Database.jsonIsValid(tags)), one(Database.jsonIsValid("nope".databaseValue)),
                one(Database.jsonQuote(Column("name"))), one(Database.jsonQuote(tags)))
            try print(String.fetchOne(db, Player.select(Database.jsonGroupArray(Column("name")))) ?? "NULL")
            try print(
                String.fetchOne(db, Player.select(Database.jsonGroupArray(Column("name"), filter: Column("id") > 1)))
                    ?? "NULL")
            try print(
                String.fetchOne(db, Player.select(Database.jsonGroupObject(key: Column("name"), value: tags))) ?? "NULL"
            )
            try print(String.fetchAll(db, sql: "SELECT value FROM player, json_each(tags) ORDER BY value"))
        }

        try dbQueue.write { db in
            print(
                try Player.filter(key: 1).updateAll(
                    db, JSONColumn("address").set(to: Database.jsonSet(JSONColumn("address"), ["$.city": "Paris"]))))
            print(try Player.filter(key: 2).updateAll(db) { [$0.tags.set(to: Database.jsonArray(["x", "y"]))] })
            print(try Player.fetchAll(db).map { "\($0.address.city) \($0.tags)" })
            do {
                try db.execute(sql: "SELECT json('{')")
            } catch let error as DatabaseError {
                print(error.message ?? "")
            }
        }
    }
}

private struct Address: Codable, Equatable {
    var street: String?
    var city: String
    var country: String
    var zip: [Int]
}

private struct Player: Codable, Equatable, FetchableRecord, PersistableRecord {
    enum Columns {
        static let id = Column(CodingKeys.id)
        static let name = Column(CodingKeys.name)
        static let address = JSONColumn(CodingKeys.address)
        static let tags = JSONColumn(CodingKeys.tags)
        static let country = Column("country")
    }

    var id: Int64
    var name: String
    var address: Address
    var tags: [String]
}
