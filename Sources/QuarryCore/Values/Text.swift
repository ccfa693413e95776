extension String: DatabaseValueConvertible, StatementColumnConvertible {
    /// Text, with all its bytes: NULs too.
    @inlinable
    public var databaseValue: DatabaseValue { DatabaseValue(content: .string(self)) }

    /// Text, or a blob that is UTF-8; nil for NULL and numbers.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> String? {
        switch dbValue.content {
        case .string(let value): value
        case .blob(let value): String(validating: value, as: UTF8.self)
        default: nil
        }
    }

    /// Reads text, or a blob that is UTF-8.
    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = StatementColumns.string(sqliteStatement, index) else { return nil }
        self = value
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
