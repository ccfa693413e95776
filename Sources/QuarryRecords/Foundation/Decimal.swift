public import Foundation
public import QuarryCore

/// A decimal number is stored as text, with a point in every locale.
///
/// ```swift
/// try db.execute(sql: "INSERT INTO item (price) VALUES (?)", arguments: [Decimal(string: "12.5")])
/// // INSERT INTO item (price) VALUES ('12.5')
/// ```
///
/// A decimal is read from text exactly, or not at all: text with more digits than a `Decimal` has isn't converted. It
/// is read from integers, and from reals as printed: 0.1 for `0.1`. Not-a-number has no readable text: binding it
/// throws a `DatabaseError` with the code `SQLITE_MISMATCH`.
///
/// - note: text sorts as text. A column that is declared `NUMERIC` or `REAL` turns it into a number, of 15 digits:
///   <https://www.sqlite.org/datatype3.html#type_affinity>.
extension Decimal: DatabaseValueConvertible, StatementColumnConvertible {
    /// Text such as `12.5`, without an exponent.
    public var databaseValue: DatabaseValue {
        if isNaN { return .unrepresentable("Decimal.nan", reason: "it isn't a number") }
        return description.databaseValue
    }

    /// The number of a text, an integer or a real.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Decimal? {
        switch dbValue.rawStorage {
        case .int64(let value): Decimal(value)
        case .double(let value): Decimal(shortest: value)
        case .string(var text): text.withUTF8Bytes { Decimal(databaseText: UnsafeRawBufferPointer($0)) }
        default: nil
        }
    }

    /// Reads the column; nil for NULL.
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Decimal? {
        Decimal(sqliteStatement: sqliteStatement, index: index)
    }

    /// Reads text, an integer or a real.
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let decimal: Decimal?
        switch StatementColumns.type(sqliteStatement, index) {
        case .integer: decimal = Decimal(StatementColumns.int64(sqliteStatement, index))
        case .real: decimal = Decimal(shortest: StatementColumns.double(sqliteStatement, index))
        case .text: decimal = StatementColumns.withUTF8(sqliteStatement, index) { Decimal(databaseText: $0) }
        default: decimal = nil
        }
        guard let decimal else { return nil }
        self = decimal
    }

    /// The number with the fewest digits that converts to the given real.
    private init?(shortest value: Double) {
        var text = value.description
        guard let decimal = text.withUTF8Bytes({ Decimal(databaseText: UnsafeRawBufferPointer($0)) }) else {
            return nil
        }
        self = decimal
    }

    private init?(databaseText: UnsafeRawBufferPointer) {
        // The exponents of a `Decimal` have 8 bits.
        guard var text = DecimalText(databaseText), text.lowerExponent(to: 127), text.exponent >= -128 else {
            return nil
        }
        if let significand = UInt64(exactly: text.mantissa), text.exponent < 127 {
            self.init(
                sign: text.isNegative ? .minus : .plus, exponent: text.exponent, significand: Decimal(significand))
        } else {
            // Arithmetic drops the zeros of a significand, and with them the numbers whose exponent was lowered.
            self.init(string: "\(text.isNegative ? "-" : "")\(text.mantissa)e\(text.exponent)")
        }
    }
}
