import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Keys of several columns, tables WITHOUT ROWID, tables without a primary key, views, and tables without a record.
enum MembershipsProgram: Program {
    static func run() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.create(table: "citizenship", options: [.withoutRowID]) { t in
                t.primaryKey {
                    t.column("citizenId", .integer)
                    t.column("countryCode", .text)
                }
                t.column("since", .integer)
            }
            try db.create(table: "event") { t in
                t.column("name", .text).notNull()
                t.column("payload", .blob)
            }
            try db.create(table: "seat") { t in
                t.column("row", .integer).notNull()
                t.column("number", .integer).notNull()
                t.column("ticket", .text).notNull().unique(onConflict: .replace)
                t.primaryKey(["row", "number"])
                t.uniqueKey(["ticket", "row"])
            }
            try db.create(
                view: "european",
                as: Citizenship.filter(["FR", "DE"].contains(Column("countryCode"))).order(Column("citizenId")))
        }

        try dbQueue.write { db in
            for (citizen, code, year) in [(1, "FR", 1999), (1, "DE", nil), (2, "US", 2010), (3, "FR", 2020)] {
                try Citizenship(citizenId: Int64(citizen), countryCode: code, since: year).insert(db)
            }
            let key: [String: any DatabaseValueConvertible] = ["citizenId": 1, "countryCode": "FR"]
            print(try Citizenship.fetchOne(db, key: key)?.since ?? -1)
            print(try Citizenship.exists(db, key: ["citizenId": 2, "countryCode": "FR"]))
            print(try Citizenship.filter(keys: [["citizenId": 1, "countryCode": "DE"], key]).fetchCount(db))
            var citizenship = try Citizenship.find(db, key: key)
            citizenship.since = 2000
            try citizenship.update(db)
            print(try citizenship.updateChanges(db) { $0.since = nil }, citizenship.since ?? -1)
            try Citizenship(citizenId: 9, countryCode: "IT", since: 1950).save(db)
            try Citizenship(citizenId: 9, countryCode: "IT", since: 1951).save(db)
            print(try Citizenship.fetchAll(db).map { "\($0.citizenId) \($0.countryCode) \($0.since ?? 0)" })
            print(try Citizenship.deleteAll(db, keys: [["citizenId": 9, "countryCode": "IT"]]))
            print(try citizenship.delete(db), try citizenship.exists(db))
            print(try Citizenship.orderByPrimaryKey().reversed().fetchAll(db).map(\.citizenId))
            print("view", try Row.fetchAll(db, sql: "SELECT * FROM european"))
            print("primary key", try db.primaryKey("citizenship").columns, try db.primaryKey("event").columns)
            print(try db.primaryKey("citizenship").isRowID, try db.primaryKey("event").isRowID)
        }

        try dbQueue.write { db in
            for name in ["start", "stop"] {
                var event = Event(name: name, payload: Data(name.utf8.prefix(2)))
                try event.insert(db)
                print("event", event.rowid ?? -1)
            }
            for event in try Event.fetchAll(db) {
                print(event.rowid ?? -1, event.name, event.payload.map { Array($0) } ?? [])
            }
            print(try Event.fetchOne(db, key: 2)?.name ?? "none")
            print(try Event.filter(Column.rowID > 1).fetchCount(db))
            for row in try Row.fetchAll(db, Table("event").select(.rowID, Column("name"))) {
                print(row[.rowID] as Int64, row["name"] as String)
            }
            print(try Event.deleteOne(db, key: 1), try Event.deleteAll(db))
        }

        try dbQueue.write { db in
            let seats = Table("seat")
            try db.execute(sql: "INSERT INTO seat VALUES (1, 1, 'A'), (1, 2, 'B'), (2, 1, 'C')")
            print(try seats.fetchCount(db), try seats.filter(Column("row") == 1).fetchCount(db))
            print(try seats.filter(key: ["row": 1, "number": 2]).fetchOne(db) ?? [:])
            print(
                try seats.filter(key: ["ticket": "C", "row": 2]).fetchCount(db),
                try seats.exists(db, key: ["ticket": "A"]))
            print(try seats.deleteOne(db, key: ["ticket": "A"]))
            try db.execute(sql: "INSERT INTO seat VALUES (3, 3, 'B')")
            print(try seats.select(Column("ticket"), as: String.self).order(Column("ticket")).fetchAll(db))
            print(
                try Table<Seat>("seat").orderByPrimaryKey().fetchAll(db).map { "\($0.row) \($0.number) \($0.ticket)" })
            print(
                try seats.updateAll(
                    db, Column("ticket").set(to: [Column("ticket"), "!".databaseValue].joined(operator: .concat))))
            print(try seats.select(Column("ticket"), as: String.self).fetchSet(db).sorted())
            print(
                try db.table("seat", hasUniqueKey: ["number", "row"]), try db.table("seat", hasUniqueKey: ["number"]))
            print(try seats.deleteAll(db), try seats.all().isEmpty(db))
        }
    }
}

private struct Citizenship: Codable, FetchableRecord, PersistableRecord {
    var citizenId: Int64
    var countryCode: String
    var since: Int?
}

private struct Event: FetchableRecord, MutablePersistableRecord {
    static var databaseSelection: [any SQLSelectable] { [.allColumns, .rowID] }

    var rowid: Int64?
    var name: String
    var payload: Data?

    init(name: String, payload: Data?) {
        self.name = name
        self.payload = payload
    }

    init(row: Row) throws {
        rowid = row[.rowID]
        name = row["name"]
        payload = row["payload"]
    }

    func encode(to container: inout PersistenceContainer) throws {
        container[.rowID] = rowid
        container["name"] = name
        container["payload"] = payload
    }

    mutating func didInsert(_ inserted: InsertionSuccess) {
        rowid = inserted.rowID
    }
}

private struct Seat: Decodable, FetchableRecord {
    var row: Int
    var number: Int
    var ticket: String
}
