import QuarryCore

/// A type for which a record type may have a strategy to read its values from a column: Foundation's dates and data.
protocol DecodedByStrategy: DatabaseValueConvertible {
    /// Converts the column's value; nil if the type converts itself.
    static func decoding(
        for column: String, of recordType: any RecordDecodingStrategies.Type
    ) -> ((DatabaseValue) -> Self?)?

    /// Reads a column of a statement into `place`, which has memory for one value.
    static func read(
        _ statement: SQLiteStatement, _ index: CInt, into place: UnsafeMutableRawPointer
    ) -> StatementColumnReading
}

/// How a column of a statement was read.
enum StatementColumnReading {
    /// The value is in its place.
    case value
    case null
    /// The column has another value, which may be readable in another way.
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

/// A type for which a record type may have a strategy to write its values into a column: Foundation's dates, data and
/// UUIDs.
protocol EncodedByStrategy: DatabaseValueConvertible {
    /// Makes the column's value; nil if the type converts itself.
    static func encoding(
        for column: String, of recordType: any RecordEncodingStrategies.Type
    ) -> ((Self) -> DatabaseValue)?

    /// Sets a column to this value, as the type itself stores it.
    func set(_ column: String, of target: EncodingTarget)
}
