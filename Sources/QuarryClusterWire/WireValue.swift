/// A value of an argument or a column.
public enum WireValue: Hashable, Sendable {
    /// A 64-bit integer.
    case integer(Int64)

    /// A floating-point number.
    case float(Double)

    /// A text. It can't contain a NUL.
    case text(String)

    /// Bytes.
    case blob([UInt8])

    /// NULL.
    case null

    /// An integer of a column declared DATETIME, DATE or TIMESTAMP: seconds since 1970.
    case unixTime(Int64)

    /// A text of a column declared DATETIME, DATE or TIMESTAMP; it is empty for NULL.
    case iso8601(String)

    /// An integer of a column declared BOOLEAN; it is 0 for NULL, and needn't be 0 or 1.
    case boolean(Int64)

    /// The type.
    public var type: WireType {
        switch self {
        case .integer: .integer
        case .float: .float
        case .text: .text
        case .blob: .blob
        case .null: .null
        case .unixTime: .unixTime
        case .iso8601: .iso8601
        case .boolean: .boolean
        }
    }
}

/// The type of a value, as a number on the wire.
public enum WireType: UInt8, CaseIterable, Sendable {
    /// A 64-bit integer.
    case integer = 1

    /// A floating-point number.
    case float = 2

    /// A text.
    case text = 3

    /// Bytes.
    case blob = 4

    /// NULL.
    case null = 5

    /// An integer of a column declared DATETIME, DATE or TIMESTAMP.
    case unixTime = 9

    /// A text of a column declared DATETIME, DATE or TIMESTAMP.
    case iso8601 = 10

    /// An integer of a column declared BOOLEAN.
    case boolean = 11
}

extension BodyWriter {
    /// Appends a value, not its type.
    mutating func value(_ value: WireValue, _ field: StaticString) throws(WireError) {
        switch value {
        case .integer(let number), .unixTime(let number), .boolean(let number): word(UInt64(bitPattern: number))
        case .float(let number): word(number.bitPattern)
        case .text(let string), .iso8601(let string): try text(string, field)
        case .blob(let bytes): blob(bytes)
        case .null: word(0)
        }
    }
}
