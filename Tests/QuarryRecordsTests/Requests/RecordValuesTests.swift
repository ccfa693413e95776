import Foundation
import Quarry
import QuarryExpectations
import QuarrySQL
import QuarryTestSupport
import Testing

private struct Model: Codable, PersistableRecord, FetchableRecord {
    static let databaseTableName = "model"
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy { .secondsSince1970 }
    enum CodingKeys: String, CodingKey {
        case id, name
        case date = "made"
        case tags, note
    }
    var id: Int
    var name: String
    var date: Date
    var tags: [String]
    var note: String?
}

private struct Thrower: EncodableRecord {
    struct Failure: Error {}
    func encode(to container: inout PersistenceContainer) throws { throw Failure() }
}

/// Updates of a request's rows with the values of a record.
@Suite struct RecordValuesTests {
    let dbQueue = try! DatabaseQueue()
    private let model = Model(
        id: 99, name: "n", date: Date(timeIntervalSince1970: 5), tags: ["x"], note: nil)

    init() throws {
        try dbQueue.write { db in
            try db.execute(
                sql: "CREATE TABLE model (id INTEGER PRIMARY KEY, name TEXT, made INTEGER, tags TEXT, note TEXT)")
            for id in 1...6 {
                try db.execute(sql: "INSERT INTO model VALUES (?, 'old', 0, '[]', 'note')", arguments: [id])
            }
        }
    }

    @Test func encodesAsARecord() throws {
        try dbQueue.write { db in
            // A limit of a change is native where SQLite was built with SQLITE_ENABLE_UPDATE_DELETE_LIMIT.
            let rows = #""id" > 2 ORDER BY "id" DESC LIMIT 2 OFFSET 1"#
            let isNative = SQLiteAbilities.ofLibrary.limitsChanges
            let condition = isNative ? rows : #""id" IN (SELECT "id" FROM "model" WHERE \#(rows))"#
            try expectEmitted(
                db, #"UPDATE "model" SET "made" = 5, "tags" = '["x"]', "note" = NULL WHERE \#(condition)"#
            ) {
                let count = try Model.filter(Column("id") > 2).order(Column("id").desc).limit(2, offset: 1)
                    .updateAll(db, set: ["MADE", "tags", "note"], from: model)
                #expect(count == 2)
            }
            #expect(try Int.fetchAll(db, sql: "SELECT id FROM model WHERE note IS NULL") == [4, 5])
            #expect(try Model.all().updateAll(db, set: [Column("name")], from: model) == 6)
            #expect(try Table("model").all().updateAll(db, set: ["note"], from: model) == 6)
            #expect(try Model.filter(key: 1).updateAll(db, set: ["name", "made"], to: [nil, 7]) == 1)
            #expect(try Row.fetchOne(db, sql: "SELECT name, made FROM model WHERE id = 1") == ["name": nil, "made": 7])
        }
    }

    @Test func refuses() throws {
        try dbQueue.write { (db) throws in
            let all = Model.all()
            expectError(.SQLITE_MISUSE, "an update of table model needs at least one column to set") {
                try all.updateAll(db, set: [String](), from: model)
            }
            expectError(
                .SQLITE_MISUSE,
                #"the record has no column "nme" of table model: it encodes id, name, made, tags, note"#
            ) { try all.updateAll(db, set: ["name", "nme"], from: model) }
            expectError(.SQLITE_MISUSE, "an update of 2 columns needs as many values, not 1: name, note") {
                try all.updateAll(db, set: ["name", "note"], to: ["a"])
            }
            expectError(.SQLITE_MISUSE, "an update of table model needs at least one column to set") {
                try all.updateAll(db, set: [String](), to: [])
            }
            expectError(Thrower.Failure.self) { try all.updateAll(db, set: ["name"], from: Thrower()) }
            expectError(.SQLITE_MISUSE) {
                try all.group(Column("name")).updateAll(db, set: ["name"], from: model)
            }
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM model WHERE name = 'old' AND note = 'note'") == 6)
        }
    }
}
