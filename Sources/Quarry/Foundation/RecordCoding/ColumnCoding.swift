import Foundation
import QuarryCore

/// How a property of a record type is decoded from one column, however deep single values are nested in it.
///
/// It is kept with the column's key, so that the record type is asked for each strategy once, and not for each row.
final class ColumnDecoding {
    let recordType: any RecordDecodingStrategies.Type

    private let column: String

    private(set) lazy var date = recordType.databaseDateDecodingStrategy(for: column)

    private(set) lazy var data = recordType.databaseDataDecodingStrategy(for: column)

    private(set) lazy var jsonDecoder = recordType.databaseJSONDecoder(for: column)

    /// The last type that converted itself, and what it converts with: to compare types is cheaper than to cast one.
    private var known: (type: ObjectIdentifier, convertible: any DatabaseValueConvertible.Type)?

    init(_ recordType: any RecordDecodingStrategies.Type, column: String) {
        self.recordType = recordType
        self.column = column
    }

    /// The type as one that converts a value itself; nil for optionals, which have the strategies of what they wrap.
    func convertible<T: Decodable>(_ type: T.Type) -> (any DatabaseValueConvertible.Type)? {
        if let known, known.type == ObjectIdentifier(type) { return known.convertible }
        guard !(type is any OptionalValue.Type) else { return nil }
        guard let convertible = type as? any DatabaseValueConvertible.Type else { return nil }
        known = (ObjectIdentifier(type), convertible)
        return convertible
    }
}

/// How a property of a record type is encoded into one column, however deep single values are nested in it.
final class ColumnEncoding {
    let recordType: any RecordEncodingStrategies.Type

    private let column: String

    private(set) lazy var date = recordType.databaseDateEncodingStrategy(for: column)

    private(set) lazy var data = recordType.databaseDataEncodingStrategy(for: column)

    private(set) lazy var uuid = recordType.databaseUUIDEncodingStrategy(for: column)

    private(set) lazy var jsonEncoder = recordType.databaseJSONEncoder(for: column)

    init(_ recordType: any RecordEncodingStrategies.Type, column: String) {
        self.recordType = recordType
        self.column = column
    }
}

/// An optional of any type.
protocol OptionalValue {
    static var wrapped: Any.Type { get }
}

extension Optional: OptionalValue {
    static var wrapped: Any.Type { Wrapped.self }
}

extension Sequence<UInt8> {
    /// Whether these bytes are the JSON of an object or a list, by the first that is no space.
    ///
    /// A type is stored as JSON where it encodes several values, so its JSON is never a number or a text.
    var isJSONOfSeveralValues: Bool {
        let first = first { byte in byte > UInt8(ascii: " ") }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }
}
