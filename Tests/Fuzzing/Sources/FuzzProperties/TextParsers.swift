import Foundation
import Quarry

/// Text of dates, UUIDs and decimals: what is read is written as a text that reads as the same, whichever way it takes.
enum TextParsers {
    private static let queue = Result { try DatabaseQueue() }

    static func checkDate(_ bytes: [UInt8]) throws {
        guard let date = try read(Date.self, bytes) else { return }
        guard let text = try written(date, bytes) else {
            // A zone may shift a date out of the years that have a text.
            guard let year = Double("\(date.timeIntervalSince1970 / 31_556_952 + 1970)"), !(0.01..<9999.99 ~= year)
            else {
                throw Violation("a date of a year from 0 to 9999 can't be stored: \(date)")
            }
            return
        }
        try expectEqual(text.utf8.count, 23, "the length of a date", bytes)
        try expectEqual(Date.fromDatabaseValue(text.databaseValue), date, "a date read again", bytes)
        try expectEqual(try written(date, bytes), text, "a date written again", bytes)
        // SQLite knows fewer zones, and rounds what is beyond milliseconds.
        let input = String(decoding: bytes, as: UTF8.self)
        let seconds = try queue.get().read { db in
            try Double?.fetchOne(db, sql: "SELECT CAST(strftime('%s', ?) AS REAL)", arguments: [input]) ?? nil
        }
        if !bytes.contains(0), let seconds, abs(seconds - date.timeIntervalSince1970) > 1.001 {
            throw Violation("\(String(reflecting: input)) is \(date.timeIntervalSince1970), and \(seconds) for SQLite")
        }
    }

    static func checkComponents(_ bytes: [UInt8]) throws {
        guard let components = try read(DatabaseDateComponents.self, bytes) else { return }
        guard let text = try written(components, bytes) else {
            throw Violation("components that were read can't be stored: \(components)")
        }
        guard let again = DatabaseDateComponents.fromDatabaseValue(text.databaseValue) else {
            throw Violation("\(text) can't be read")
        }
        try expectEqual(again.format, components.format, "the format read again", bytes)
        try expectEqual(try written(again, bytes), text, "components written again", bytes)
        // A text of components is a date if it has a day.
        let hasDay = components.dateComponents.day != nil
        try expectEqual(Date.fromDatabaseValue(text.databaseValue) != nil, hasDay, "whether it is a date", bytes)
    }

    static func checkUUID(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        let uuid = try read(UUID.self, Array(text.utf8), alsoBlob: false)
        // Foundation takes other text too.
        let isOne =
            text.utf8.count == 36
            && text.utf8.enumerated().allSatisfy { index, byte in
                [8, 13, 18, 23].contains(index)
                    ? byte == UInt8(ascii: "-") : "0123456789abcdefABCDEF".utf8.contains(byte)
            }
        try expectEqual(uuid != nil, isOne, "whether it is a UUID", bytes)
        if let uuid {
            try expectEqual(UUID(uuidString: text), uuid, "Foundation's UUID", bytes)
            try expectEqual(uuid.uuidString, text.uppercased(), "the UUID's text", bytes)
            try expectEqual(UUID.fromDatabaseValue(uuid.databaseValue), uuid, "a UUID read again", bytes)
        }
        let ofBlob = UUID.fromDatabaseValue(bytes.databaseValue)
        try expectEqual(ofBlob?.databaseValue, bytes.count == 16 ? bytes.databaseValue : nil, "a UUID's bytes", bytes)
    }

    static func checkDecimal(_ bytes: [UInt8]) throws {
        guard let decimal = try read(Decimal.self, bytes, alsoBlob: false) else { return }
        guard let text = try written(decimal, bytes) else { throw Violation("\(decimal) can't be stored") }
        try expectEqual(Decimal.fromDatabaseValue(text.databaseValue), decimal, "a decimal read again", bytes)
        try expectEqual(try written(decimal, bytes), text, "a decimal written again", bytes)
        guard text.utf8.allSatisfy({ "-.0123456789".utf8.contains($0) }) else {
            throw Violation("a decimal has another character: \(text)")
        }
    }

    /// The value of a text: the same as a `DatabaseValue`, in a statement, and as a blob if blobs are read too.
    private static func read<T: DatabaseValueConvertible & Equatable>(
        _ type: T.Type, _ bytes: [UInt8], alsoBlob: Bool = true
    ) throws -> T? {
        let text = String(decoding: bytes, as: UTF8.self)
        let value = T.fromDatabaseValue(text.databaseValue)
        try queue.get().read { db in
            let row = try Row.fetchOne(db, sql: "SELECT ?, ?, NULL", arguments: [text, text.utf8.map { $0 }])
            guard let row else { throw Violation("no row") }
            try expectEqual(try? row.decode(T.self, atIndex: 0), value, "the value in a row", bytes)
            let direct = try? T.fetchOne(db, sql: "SELECT ?", arguments: [text])
            try expectEqual(direct ?? nil, value, "the value in a statement", bytes)
            if alsoBlob {
                try expectEqual(try? row.decode(T.self, atIndex: 1), value, "the value of a blob", bytes)
            }
            try expectEqual(try row.decode(T?.self, atIndex: 2), nil, "NULL", bytes)
        }
        return value
    }

    /// The text that a value is stored as; nil if it can't be.
    private static func written(_ value: some DatabaseValueConvertible, _ bytes: [UInt8]) throws -> String? {
        do {
            return try queue.get().read { db in try String.fetchOne(db, sql: "SELECT ?", arguments: [value]) }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_MISMATCH {
            return nil
        }
    }
}
