import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Codable: strategies for dates, data, UUIDs and column names; JSON in columns; values of one container.
enum SettingsProgram: Program {
    static func run() throws {
        let dbQueue = try DatabaseQueue()
        let date = Date(timeIntervalSinceReferenceDate: 1000.5)
        try dbQueue.write { db in
            try db.create(table: "profile") { t in
                t.primaryKey("id", .text)
                t.column("address", .jsonText)
                t.column("tags", .jsonText).notNull()
                t.column("role", .text).notNull()
                t.column("level", .integer)
                t.column("website", .text)
                t.column("balance", .text)
                t.column("avatar", .blob)
                t.column("preferences", .jsonText)
            }
            var profile = Profile(
                id: UUID(uuidString: "00000000-0000-4000-8000-0000000000AA")!,
                address: Address(
                    street: "Main Street", lines: ["1a", "2nd floor"], moved: Date(timeIntervalSince1970: 3)),
                tags: ["b", "a"], role: .editor, level: .high, website: URL(string: "https://example.org/a?b=1"),
                balance: Decimal(string: "12.50"), avatar: Data([1, 2, 255]), preferences: ["z": 1, "a": nil])
            try profile.insert(db)
            print(
                try Row.fetchOne(db, sql: "SELECT hex(id), *, hex(avatar) FROM profile")!.filter {
                    $0.0 != "id" && $0.0 != "avatar"
                })
            let fetched = try Profile.fetchOne(db)!
            print(fetched == profile, fetched.balance ?? 0, fetched.website?.host ?? "none")
            profile.address = nil
            profile.level = nil
            profile.tags = []
            print(try profile.updateChanges(db, from: fetched))
            print(try Profile.filter(Column("role") == Role.editor).fetchOne(db)?.address == nil)
            print(try String.fetchAll(db, sql: "SELECT role FROM profile WHERE level IS NULL AND address IS NULL"))
            try db.execute(sql: "UPDATE profile SET role = 'owner'")
            do {
                _ = try Profile.fetchAll(db)
            } catch is RowDecodingError {
                print("not a role")
            }
        }

        // Each record chooses its formats.
        try dbQueue.write { db in
            try db.create(table: "measure") { t in
                t.column("measure_id", .integer).primaryKey()
                t.column("taken_at")
                t.column("sent_at")
                t.column("device_name", .text)
                t.column("raw_bytes")
                t.column("stamp")
            }
            let measure = Measure(
                measureId: 1, takenAt: date, sentAt: date, deviceName: "left", rawBytes: Data("abc".utf8),
                stamp: Stamp(date: date))
            try measure.insert(db)
            print(try Row.fetchOne(db, sql: "SELECT * FROM measure")!)
            print(try Measure.fetchOne(db) == measure, try Measure.fetchOne(db, key: 1)?.deviceName ?? "none")
        }

        // The formats of dates, one after the other.
        try dbQueue.write { db in
            try print(
                dates(db, Seconds2001(date: date)), dates(db, Seconds1970(date: date)),
                dates(db, Milliseconds(date: date)))
            try print(dates(db, WholeSeconds(date: date)), dates(db, ISO(date: date)), dates(db, Day(date: date)))
            try print(dates(db, Plain(date: date)))
        }

        // Dates and data inside JSON.
        try dbQueue.write { db in
            try db.create(table: "note") { $0.column("content", .jsonText) }
            let note = Note(content: Note.Content(written: date, bytes: Data([1, 2]), author: "Ann", unit: nil))
            try note.insert(db)
            print(try String.fetchOne(db, sql: "SELECT content FROM note") ?? "NULL")
            print(try Note.fetchOne(db)?.content.written == date, try Note.fetchOne(db)?.content.author ?? "none")
        }
    }

    private static func dates<R: DatedRecord>(_ db: Database, _ record: R) throws -> String {
        let container = try record.databaseDictionary
        let row = Row(container)
        let decoded = try R(row: row)
        return "\(container["date"] ?? .null) \(decoded.date.timeIntervalSinceReferenceDate)"
    }
}

private enum Role: String, Codable, DatabaseValueConvertible {
    case reader, editor
}

private enum Level: Int, Codable {
    case low = 1
    case high = 10
}

private struct Address: Codable, Equatable {
    var street: String
    var lines: [String]
    var moved: Date
}

private struct Profile: Codable, Equatable, FetchableRecord, PersistableRecord {
    var id: UUID
    var address: Address?
    var tags: [String]
    var role: Role
    var level: Level?
    var website: URL?
    var balance: Decimal?
    var avatar: Data?
    var preferences: [String: Int?]

    static func databaseJSONEncoder(for column: String) -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.dateEncodingStrategy = .secondsSince1970
        return encoder
    }

    static func databaseJSONDecoder(for column: String) -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        return decoder
    }
}

/// A date that encodes itself, in a container for one value.
private struct Stamp: Codable, Equatable {
    var date: Date

    init(date: Date) {
        self.date = date
    }

    init(from decoder: any Decoder) throws {
        date = try decoder.singleValueContainer().decode(Date.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(date)
    }
}

private struct Measure: Codable, Equatable, FetchableRecord, PersistableRecord {
    static let databaseColumnDecodingStrategy = DatabaseColumnDecodingStrategy.convertFromSnakeCase
    static let databaseColumnEncodingStrategy = DatabaseColumnEncodingStrategy.convertToSnakeCase

    var measureId: Int
    var takenAt: Date
    var sentAt: Date
    var deviceName: String
    var rawBytes: Data
    var stamp: Stamp

    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        column == "sent_at" ? .millisecondsSince1970 : .timeIntervalSinceReferenceDate
    }

    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        column == "sent_at" ? .millisecondsSince1970 : .timeIntervalSinceReferenceDate
    }

    static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy {
        .text
    }

    static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy {
        .custom { value in Data.fromDatabaseValue(value).map { Data($0) } }
    }
}

private protocol DatedRecord: Codable, FetchableRecord, PersistableRecord {
    var date: Date { get }
}

private struct Plain: DatedRecord {
    var date: Date
}

private struct Seconds2001: DatedRecord {
    var date: Date
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .timeIntervalSinceReferenceDate
    }
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .timeIntervalSinceReferenceDate
    }
}

private struct Seconds1970: DatedRecord {
    var date: Date
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .timeIntervalSince1970
    }
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .timeIntervalSince1970
    }
}

private struct Milliseconds: DatedRecord {
    var date: Date
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .millisecondsSince1970
    }
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .millisecondsSince1970
    }
}

private struct WholeSeconds: DatedRecord {
    var date: Date
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy { .secondsSince1970 }
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .timeIntervalSince1970
    }
}

private struct ISO: DatedRecord {
    var date: Date
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy { .iso8601 }
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy { .iso8601 }
}

private struct Day: DatedRecord {
    var date: Date
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .custom { date in Int(date.timeIntervalSince1970 / 86400) }
    }
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .custom { value in Int.fromDatabaseValue(value).map { Date(timeIntervalSince1970: Double($0) * 86400) } }
    }
}

private struct Note: Codable, FetchableRecord, PersistableRecord {
    struct Content: Codable {
        var written: Date
        var bytes: Data
        var author: String
        var unit: String?
    }

    var content: Content
}
