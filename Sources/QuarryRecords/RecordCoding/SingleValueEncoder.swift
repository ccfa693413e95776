import QuarryCore

/// Encodes a type that is one value, and finds out whether the type isn't.
final class SingleValueEncoder: Encoder {
    /// The encoded value.
    fileprivate(set) var value: DatabaseValue?

    /// Whether the type asked for a container of several values.
    fileprivate(set) var needsJSON = false

    /// The column of the record that is encoded; nil for a value that goes into none.
    fileprivate let column: ColumnEncoding?

    /// The key of the column.
    private let key: (any CodingKey)?

    init(column: ColumnEncoding? = nil, key: (any CodingKey)? = nil) {
        self.column = column
        self.key = key
    }

    var codingPath: [any CodingKey] { key.map { [$0] } ?? [] }
    var userInfo: [CodingUserInfoKey: Any] { column?.recordType.databaseEncodingUserInfo ?? [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        needsJSON = true
        return KeyedEncodingContainer(RefusingKeyedContainer(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        needsJSON = true
        return RefusingUnkeyedContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleContainer(encoder: self) }
}

private struct SingleContainer: SingleValueEncodingContainer {
    let encoder: SingleValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() { encoder.value = .null }

    // This method serves each standard type as well.
    func encode<T: Encodable>(_ value: T) throws {
        if let column = encoder.column {
            if let databaseValue = column.databaseValue(value) {
                encoder.value = databaseValue
                return
            }
            if T.self == Double.self {
                encoder.value = .number(reinterpret(value))
                return
            }
            if T.self == Float.self {
                encoder.value = .number(Double(reinterpret(value) as Float))
                return
            }
            // The wrapped type may have a strategy.
            if T.self is any OptionalValue.Type { return try value.encode(to: encoder) }
        }
        if let value = value as? any DatabaseValueConvertible {
            encoder.value = encoder.column == nil ? value.databaseValue : .refusingNaN(value)
        } else {
            try value.encode(to: encoder)
        }
    }

    // The protocol has methods for these types, which fail by default; JSON can contain them.
    func encode(_ value: Int128) throws { try encoder.refuse() }
    func encode(_ value: UInt128) throws { try encoder.refuse() }
}

extension SingleValueEncoder {
    /// Ends the encoding of a type that isn't one value.
    private struct Refusal: Error {}

    fileprivate func refuse() throws {
        needsJSON = true
        throw Refusal()
    }
}

private struct RefusingKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: SingleValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil(forKey key: Key) throws { try encoder.refuse() }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try encoder.refuse() }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder.container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder.unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder }
    func superEncoder(forKey key: Key) -> any Encoder { encoder }
}

private struct RefusingUnkeyedContainer: UnkeyedEncodingContainer {
    let encoder: SingleValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { 0 }

    func encodeNil() throws { try encoder.refuse() }
    func encode<T: Encodable>(_ value: T) throws { try encoder.refuse() }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder.container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder }
}
