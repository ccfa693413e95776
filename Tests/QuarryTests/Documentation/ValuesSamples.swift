import Foundation
import Quarry
import Testing

enum Role: String, DatabaseValueConvertible {
    case captain
    case player
}

struct Email: DatabaseValueConvertible {
    var address: String

    var databaseValue: DatabaseValue { address.databaseValue }

    static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Email? {
        guard let address = String.fromDatabaseValue(dbValue), address.contains("@") else { return nil }
        return Email(address: address)
    }
}

struct Address: Codable, DatabaseValueConvertible {
    var street: String
    var city: String
}

@Suite struct ValuesSamples {
    let dbQueue: DatabaseQueue

    init() throws {
        dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.execute(
                sql: "CREATE TABLE player (id BLOB PRIMARY KEY, email TEXT, role TEXT, address TEXT, createdAt TEXT)")
        }
    }

    @Test func roundTrip() throws {
        try dbQueue.write { db in
            let id = UUID()
            let address = Address(street: "Baker Street", city: "London")
            try db.execute(
                sql: "INSERT INTO player VALUES (?, ?, ?, ?, ?)",
                arguments: [id, Email(address: "arthur@example.com"), Role.captain, address, Date()])

            let row = try Row.fetchOne(db, sql: "SELECT * FROM player WHERE id = ?", arguments: [id])!
            let email: Email = row["email"]
            let role: Role = row["role"]
            let createdAt: Date = row["createdAt"]

            #expect(email.address == "arthur@example.com")
            #expect(role == .captain)
            #expect(abs(createdAt.timeIntervalSinceNow) < 86_400)
            #expect(row["address"] == #"{"city":"London","street":"Baker Street"}"#)
            #expect((row["address"] as Address).city == "London")
        }
    }

    @Test func storage() throws {
        try dbQueue.read { db in
            let value = try DatabaseValue.fetchOne(db, sql: "SELECT 1.5")!
            switch value.storage {
            case .null: print("NULL")
            case .int64(let integer): print(integer)
            case .double(let real): print(real)
            case .string(let text): print(text)
            case .blob(let data): print(data.count)
            }
            #expect(value == 1.5.databaseValue)
        }
    }
}
