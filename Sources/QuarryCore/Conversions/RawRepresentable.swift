// An enum or struct with a convertible raw value can also be convertible: `enum Kind: String,
// DatabaseValueConvertible`.
//
// Only the two conversions are implemented here: `bind` and `fromStatement` of the raw value would bypass conversions
// that a type implements itself.
extension DatabaseValueConvertible where Self: RawRepresentable, RawValue: DatabaseValueConvertible {
    /// The database value of the raw value.
    @inlinable
    public var databaseValue: DatabaseValue { rawValue.databaseValue }

    /// The value with that raw value, or nil if there is none.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        RawValue.fromDatabaseValue(dbValue).flatMap { Self(rawValue: $0) }
    }
}

extension StatementColumnConvertible where Self: RawRepresentable, RawValue: StatementColumnConvertible {
    /// Reads the raw value, and converts it.
    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let rawValue = RawValue(sqliteStatement: sqliteStatement, index: index) else { return nil }
        self.init(rawValue: rawValue)
    }
}
