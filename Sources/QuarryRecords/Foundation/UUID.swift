public import Foundation
public import QuarryCore

/// A UUID is stored as a blob of 16 bytes; it is read from such a blob, or from text.
///
/// ```swift
/// try db.execute(sql: "INSERT INTO player (id) VALUES (?)", arguments: [UUID()])
/// let id = try UUID.fetchOne(db, sql: "SELECT 'E621E1F8-C36C-495A-93FC-0C247A3E6E5F'")
/// ```
extension UUID: DatabaseValueConvertible, StatementColumnConvertible {
    /// A blob of 16 bytes.
    public var databaseValue: DatabaseValue {
        withUnsafeBytes(of: uuid) { Array($0) }.databaseValue
    }

    /// A blob of 16 bytes, or text of 36 characters: hexadecimal digits of any case with dashes.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> UUID? {
        switch dbValue.rawStorage {
        case .blob(let bytes): bytes.withUnsafeBytes { UUID(bytes: $0) }
        case .string(var text): text.withUTF8Bytes { UUID(text: UnsafeRawBufferPointer($0)) }
        default: nil
        }
    }

    /// Reads the column; nil for NULL.
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> UUID? {
        UUID(sqliteStatement: sqliteStatement, index: index)
    }

    /// Reads a blob of 16 bytes, or text.
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let uuid: UUID?
        switch StatementColumns.type(sqliteStatement, index) {
        case .blob: uuid = StatementColumns.withBlob(sqliteStatement, index) { UUID(bytes: $0) }
        case .text: uuid = StatementColumns.withUTF8(sqliteStatement, index) { UUID(text: $0) }
        default: uuid = nil
        }
        guard let uuid else { return nil }
        self = uuid
    }

    /// Binds a blob of 16 bytes.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        withUnsafeBytes(of: uuid) { StatementBindings.bind(bytes: $0, to: sqliteStatement, at: index) }
    }

    @inline(__always)
    private init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        self.init(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }

    private init?(text: UnsafeRawBufferPointer) {
        guard text.count == 36 else { return nil }
        var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        let isValid = withUnsafeMutableBytes(of: &uuid) { bytes in
            var position = 0
            for index in 0..<16 {
                // "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    guard text[position] == UInt8(ascii: "-") else { return false }
                    position += 1
                }
                guard let high = Self.nibble(text[position]), let low = Self.nibble(text[position + 1]) else {
                    return false
                }
                bytes[index] = high << 4 | low
                position += 2
            }
            return true
        }
        guard isValid else { return nil }
        self.init(uuid: uuid)
    }

    @inline(__always)
    private static func nibble(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
