extension String: DatabaseValueConvertible, StatementColumnConvertible {
    /// Text, with all its bytes, also NULs.
    @inlinable
    public var databaseValue: DatabaseValue { DatabaseValue(content: .string(self)) }

    /// Text, or a blob that is UTF-8; a number as SQLite writes it: `1`, `1.5`; nil for NULL.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> String? {
        switch dbValue.content {
        case .string(let value): value
        case .blob(let value): String(validating: value, as: UTF8.self)
        case .int64(let value): String(value)
        case .double(let value): SQLiteLibrary.text(of: value)
        default: nil
        }
    }

    /// Reads text, a blob that is UTF-8, or a number as SQLite writes it.
    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = StatementColumns.string(sqliteStatement, index) else { return nil }
        self = value
    }

    /// Reads the column; nil for NULL.
    @inlinable
    @inline(__always)
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> String? {
        String(sqliteStatement: sqliteStatement, index: index)
    }

    /// Binds text with its length.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        StatementBindings.bind(self, to: sqliteStatement, at: index)
    }
}

extension Substring: DatabaseValueConvertible {
    /// Text.
    @inlinable
    public var databaseValue: DatabaseValue { String(self).databaseValue }

    /// As `String`.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Substring? {
        String.fromDatabaseValue(dbValue).map { Substring($0) }
    }
}

extension Character: DatabaseValueConvertible {
    /// Text of one character.
    public var databaseValue: DatabaseValue { String(self).databaseValue }

    /// Text of exactly one character.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Character? {
        guard let text = String.fromDatabaseValue(dbValue), text.count == 1 else { return nil }
        return text.first
    }
}
