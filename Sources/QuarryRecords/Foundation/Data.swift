public import Foundation
public import QuarryCore

/// Data is stored as a blob; it is read from a blob, or from the UTF-8 of text.
///
/// ```swift
/// try db.execute(sql: "INSERT INTO picture (content) VALUES (?)", arguments: [data])
/// let data = try Data.fetchOne(db, sql: "SELECT content FROM picture")
/// ```
extension Data: DatabaseValueConvertible, StatementColumnConvertible {
    /// A blob.
    public var databaseValue: DatabaseValue { Array(self).databaseValue }

    /// A blob, or the UTF-8 of text; nil for NULL and numbers.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Data? {
        switch dbValue.rawStorage {
        case .blob(let bytes): Data(bytes)
        case .string(let text): Data(text.utf8)
        default: nil
        }
    }

    /// Reads a blob, or the UTF-8 of text.
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let value = StatementColumns.borrow(sqliteStatement, index)
        let type = StatementColumns.type(ofBorrowed: value)
        switch type {
        case .blob, .text: self.init(copying: StatementColumns.bytes(ofBorrowed: value, type))
        default: return nil
        }
    }

    /// Reads the column; nil for NULL.
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Data? {
        Data(sqliteStatement: sqliteStatement, index: index)
    }

    /// Binds a blob with its length.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        withUnsafeBytes { StatementBindings.bind(bytes: $0, to: sqliteStatement, at: index) }
    }

    @inline(__always)
    private init(copying bytes: UnsafeRawBufferPointer) {
        if let base = bytes.baseAddress { self.init(bytes: base, count: bytes.count) } else { self.init() }
    }
}
