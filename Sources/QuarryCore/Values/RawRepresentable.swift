// An enum or struct with a raw value that converts, converts too: `enum Kind: String, DatabaseValueConvertible`.
//
// Nothing but the two conversions stands here: `bind` and `fromStatement` of the raw value would pass by a type that
// writes its own.
extension DatabaseValueConvertible where Self: RawRepresentable, RawValue: DatabaseValueConvertible {
    /// The raw value's.
    @inlinable
    public var databaseValue: DatabaseValue { rawValue.databaseValue }

    /// The value with that raw value, or nil if there is none.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        RawValue.fromDatabaseValue(dbValue).flatMap { Self(rawValue: $0) }
    }
}

extension StatementColumnConvertible where Self: RawRepresentable, RawValue: StatementColumnConvertible {
    /// Reads the raw value, and makes the value of it.
    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let rawValue = RawValue(sqliteStatement: sqliteStatement, index: index) else { return nil }
        self.init(rawValue: rawValue)
    }
}
