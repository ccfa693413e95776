import QuarryCore

/// How the single values of a property are decoded from one column, however deep they are nested in it.
///
/// It is kept with the column's key, so that the record type is asked for each strategy once, and not for each row.
final class ColumnDecoding {
    /// How a value of the column becomes a value of a type.
    enum Conversion {
        case convertible(any DatabaseValueConvertible.Type)
        case strategy((DatabaseValue) -> (any DatabaseValueConvertible)?)
    }

    let recordType: any RecordDecodingStrategies.Type

    private let column: String

    private(set) lazy var json = ColumnJSONDecoder(recordType, column: column)

    /// The last type that has a conversion: comparing types is cheaper than casting one.
    private var known: (type: ObjectIdentifier, conversion: Conversion)?

    init(_ recordType: any RecordDecodingStrategies.Type, column: String) {
        self.recordType = recordType
        self.column = column
    }

    /// nil for a type that decodes itself, and for optionals, which have the strategies of the wrapped type.
    func conversion<T: Decodable>(to type: T.Type) -> Conversion? {
        if let known, known.type == ObjectIdentifier(type) { return known.conversion }
        guard !(type is any OptionalValue.Type) else { return nil }
        guard let convertible = type as? any DatabaseValueConvertible.Type else { return nil }
        let strategy = recordType.strategy(convertible, column)
        let conversion = strategy.map(Conversion.strategy) ?? .convertible(convertible)
        known = (ObjectIdentifier(type), conversion)
        return conversion
    }
}

extension RecordDecodingStrategies {
    /// The strategy that this record type has for values of a type in a column; nil if the type converts itself.
    static func strategy(
        _ type: any DatabaseValueConvertible.Type, _ column: String
    ) -> ((DatabaseValue) -> (any DatabaseValueConvertible)?)? {
        (type as? any DecodedByStrategy.Type).flatMap { strategy(opening: $0, column) }
    }

    private static func strategy<Value: DecodedByStrategy>(
        opening type: Value.Type, _ column: String
    ) -> ((DatabaseValue) -> (any DatabaseValueConvertible)?)? {
        guard let decode = type.decoding(for: column, of: self) else { return nil }
        return { decode($0) }
    }
}

/// How the single values of a property are encoded into one column, however deep they are nested in it.
final class ColumnEncoding {
    /// Makes the column's value from a value in memory, whose type only its maker and its caller know.
    typealias Strategy = (UnsafeRawPointer) -> DatabaseValue

    let recordType: any RecordEncodingStrategies.Type

    private let column: String

    private(set) lazy var json = ColumnJSONEncoder(recordType, column: column)

    /// The last type that was encoded.
    private var known: (type: ObjectIdentifier, strategy: Strategy?)?

    init(_ recordType: any RecordEncodingStrategies.Type, column: String) {
        self.recordType = recordType
        self.column = column
    }

    /// The value that the record type's strategy makes; nil if it has none for values of that type.
    func databaseValue<T: Encodable>(_ value: T) -> DatabaseValue? {
        if known?.type != ObjectIdentifier(T.self) {
            let type = T.self as? any EncodedByStrategy.Type
            known = (ObjectIdentifier(T.self), type.flatMap { recordType.strategy($0, column) })
        }
        return known?.strategy.map { strategy in withUnsafePointer(to: value) { strategy(UnsafeRawPointer($0)) } }
    }
}

extension RecordEncodingStrategies {
    /// The strategy that this record type has for values of a type in a column; nil if the type converts itself.
    static func strategy<Value: EncodedByStrategy>(_ type: Value.Type, _ column: String) -> ColumnEncoding.Strategy? {
        guard let encode = type.encoding(for: column, of: self) else { return nil }
        return { encode($0.assumingMemoryBound(to: Value.self).pointee) }
    }
}

extension Sequence<UInt8> {
    /// Whether these bytes are the JSON of an object or a list: the first byte that is no space tells.
    ///
    /// A type is stored as JSON if it encodes several values, so its JSON is never a number or a text.
    var isJSONOfSeveralValues: Bool {
        let first = first { byte in byte > UInt8(ascii: " ") }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }
}
