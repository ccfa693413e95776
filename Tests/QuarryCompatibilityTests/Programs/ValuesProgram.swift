import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Values of all types, types of the program's own, untyped values, and rows as collections and dictionaries.
enum ValuesProgram: Program {
    static func run() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, value)")
            let uuid = UUID(uuidString: "0102030F-0000-4000-8000-0000000000FF")!
            let values: [(any DatabaseValueConvertible)?] = [
                nil, true, 42, Int8(-8), UInt32.max, 1.5, Float(0.25), "text", "", Data([0, 255]), Data(), uuid,
                URL(string: "https://example.org/%C3%A9"), Decimal(string: "-0.125"), Color(red: 1, green: 2, blue: 3),
                Suit.spades, Meters(value: 3),
                Date(timeIntervalSince1970: 0.25), Size(width: 1, height: 2), DatabaseValue.null,
                Int64.max.databaseValue,
            ]
            for value in values {
                try db.execute(sql: "INSERT INTO t (value) VALUES (?)", arguments: [value])
            }
            for row in try Row.fetchAll(db, sql: "SELECT id, typeof(value) AS type, value FROM t") {
                let value: DatabaseValue = row["value"]
                switch value.storage {
                case .null: print(row["id"] as Int, "null")
                case .int64(let number): print(row["id"] as Int, "int64", number)
                case .double(let number): print(row["id"] as Int, "double", number)
                case .string(let text): print(row["id"] as Int, "string", text)
                case .blob(let data): print(row["id"] as Int, "blob", data.count, data.base64EncodedString())
                }
            }
            print(try UUID.fetchOne(db, sql: "SELECT value FROM t WHERE id = 12") == uuid)
            print(try URL.fetchOne(db, sql: "SELECT value FROM t WHERE id = 13")?.path ?? "none")
            print(
                try Decimal.fetchOne(db, sql: "SELECT value FROM t WHERE id = 14") ?? 0,
                try Decimal.fetchAll(db, sql: "SELECT 1 UNION SELECT 2.5"))
            print(try Color.fetchOne(db, sql: "SELECT value FROM t WHERE id = 15") == Color(red: 1, green: 2, blue: 3))
            print(
                try Suit.fetchAll(db, sql: "SELECT value FROM t WHERE id = 16").map(\.rawValue),
                try Suit?.fetchAll(db, sql: "SELECT NULL UNION ALL SELECT 'h'").map { $0?.rawValue ?? "-" })
            print(try Meters.fetchAll(db, sql: "SELECT value FROM t WHERE id IN (3, 17)").map(\.value))
            print(try Meters?.fetchAll(db, sql: "SELECT NULL UNION ALL SELECT 7").map { $0?.value ?? -1 })
            print(try Size.fetchOne(db, sql: "SELECT value FROM t WHERE id = 19") == Size(width: 1, height: 2))
            do {
                print(try Suit.fetchAll(db, sql: "SELECT 'x'"))
            } catch is RowDecodingError {
                print("no suit")
            }
        }

        try dbQueue.read { db in
            let row = try Row.fetchOne(
                db, sql: "SELECT 1 AS id, 'Arthur' AS name, NULL AS team, 2.5 AS Score, x'CAFE' AS data")!
            print(
                row.count, Array(row.columnNames), row.hasColumn("SCORE"), row.hasNull(atIndex: 2),
                row.containsNonNullValue)
            print(
                row["name"] as String, row["NAME"] as String, row[0] as Int, row[Column("score")] as Double,
                row["team"] as String? ?? "none")
            print(row["missing"] == nil, row["team"] == nil, row["id"] as Int64? ?? -1, row["id"] as Bool)
            if let data = row["data"] as? Data { print("data", Array(data)) }
            if let id = row["id"] as? Int64, let name = row["name"] as? String { print("untyped", id, name) }
            print(try row.decode(Int.self, forColumn: "id"), try row.decode(Int?.self, forColumn: "team") ?? -1)
            for (column, value) in row {
                print(column, Data.fromDatabaseValue(value)?.count ?? -1)
            }
            print(row.map { "\($0.0)" }, row.first?.0 ?? "none", row.databaseValues.filter(\.isNull).count)
            print(
                row.coalesce(["team", "name"]) as String? ?? "none",
                try row.withUnsafeData(named: "data") { $0?.count ?? -1 })
            let dictionary = Dictionary(row.map { ($0.0, $0.1) }, uniquingKeysWith: { first, _ in first })
            print(dictionary["name"] ?? .null, dictionary.keys.sorted())
            print(
                row == Row(["id": 1]), Row(["id": 1]) == ["id": 1], Row() == [:],
                Array((["a": 1, "b": nil] as Row).columnNames))
            do {
                _ = try row.decode(Int.self, forColumn: "name")
            } catch is RowDecodingError {
                print("a name is no number")
            }
        }

        let texts: [DatabaseValue] = [
            "a".databaseValue, 1.databaseValue, 1.0.databaseValue, .null, Data([97]).databaseValue,
        ]
        print(texts[1] == texts[2], texts[0] == texts[4], Set(texts).count, texts.dropLast().map(\.description))
        print(
            texts.map { Int.fromDatabaseValue($0) ?? -1 },
            [texts[0], texts[3], texts[4]].map { String.fromDatabaseValue($0) ?? "-" })
        print(texts.map { Bool.fromDatabaseValue($0) ?? false }, texts.map { Data.fromDatabaseValue($0)?.count ?? -1 })
        print(
            DatabaseValue(value: 12) ?? .null, DatabaseValue(value: Data?.none as Any) == nil,
            texts[0].storage == .string("a"))
        print(texts.map { $0.storage.value.map { "\(type(of: $0))" } ?? "nil" })
    }
}

private struct Color: DatabaseValueConvertible, Equatable {
    var red: Int
    var green: Int
    var blue: Int

    var databaseValue: DatabaseValue {
        (red << 16 | green << 8 | blue).databaseValue
    }

    static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Color? {
        guard let rgb = Int.fromDatabaseValue(dbValue) else { return nil }
        return Color(red: rgb >> 16, green: rgb >> 8 & 255, blue: rgb & 255)
    }
}

private enum Suit: String, DatabaseValueConvertible {
    case spades = "s"
    case hearts = "h"
}

private struct Meters: DatabaseValueConvertible, StatementColumnConvertible {
    var value: Double

    init(value: Double) {
        self.value = value
    }

    init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let value: Double? = Double(sqliteStatement: sqliteStatement, index: index)
        guard let value else { return nil }
        self.value = value
    }

    var databaseValue: DatabaseValue { value.databaseValue }

    static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Meters? {
        Double.fromDatabaseValue(dbValue).map { Meters(value: $0) }
    }
}

private struct Size: Codable, DatabaseValueConvertible, Equatable {
    var width: Int
    var height: Int
}
