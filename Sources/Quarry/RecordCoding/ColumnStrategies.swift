import QuarryCore

/// A type whose values a record type may read from a column in a way of its own: Foundation's dates and data.
protocol DecodedByStrategy: DatabaseValueConvertible {
    /// What makes a value of that of a column; nil where the type does so itself.
    static func decoding(
        for column: String, of recordType: any RecordDecodingStrategies.Type
    ) -> ((DatabaseValue) -> Self?)?

    /// Reads a column of a statement into `place`, which has room for one value.
    static func read(
        _ statement: SQLiteStatement, _ index: CInt, into place: UnsafeMutableRawPointer
    ) -> StatementColumnReading
}

/// How a column of a statement was read.
enum StatementColumnReading {
    /// The value is in its place.
    case value
    case null
    /// The column has a value that is read in another way, if at all.
    case other
}

extension DecodedByStrategy where Self: StatementColumnConvertible {
    @inline(__always)
    static func read(
        _ statement: SQLiteStatement, _ index: CInt, into place: UnsafeMutableRawPointer
    ) -> StatementColumnReading {
        guard let value = Self?.fromStatement(statement, atUncheckedIndex: index) else { return .other }
        guard let value else { return .null }
        place.initializeMemory(as: Self.self, to: value)
        return .value
    }
}

/// A type whose values a record type may write into a column in a way of its own: Foundation's dates, data and UUIDs.
protocol EncodedByStrategy: DatabaseValueConvertible {
    /// What makes the value of a column; nil where the type does so itself.
    static func encoding(
        for column: String, of recordType: any RecordEncodingStrategies.Type
    ) -> ((Self) -> DatabaseValue)?

    /// Sets a column to this value, as the type itself stores it.
    func set(_ column: String, of target: EncodingTarget)
}
