import QuarryCore

/// The container of an encoder whose record has ended: it refuses everything.
struct EndedKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws { throw EncoderHasEnded() }

    // This method serves each standard type as well.
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { throw EncoderHasEnded() }

    func encode(_ value: Int128, forKey key: Key) throws { throw EncoderHasEnded() }
    func encode(_ value: UInt128, forKey key: Key) throws { throw EncoderHasEnded() }

    // These can't throw: they drop all values.

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(EndedKeyedEncodingContainer<NestedKey>())
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { superEncoder().unkeyedContainer() }
    func superEncoder() -> any Encoder { JSONNodeEncoder(node: .unused, codingPath: []) }
    func superEncoder(forKey key: Key) -> any Encoder { superEncoder() }
}

/// The row as a single value, for a type that wraps another type.
struct RecordSingleValueContainer: SingleValueEncodingContainer {
    let encoder: RecordEncoder

    var codingPath: [any CodingKey] { [] }

    func encodeNil() throws { throw noColumn("nil") }

    // This method serves each standard type as well.
    func encode<T: Encodable>(_ value: T) throws {
        if encoder.hasEnded { throw EncoderHasEnded() }
        if let record = value as? any EncodableRecord { return try encoder.session.encode(record) }
        if value is any DatabaseValueConvertible { throw noColumn(value) }
        try value.encode(to: encoder)
    }

    func encode(_ value: Int128) throws { throw noColumn(value) }
    func encode(_ value: UInt128) throws { throw noColumn(value) }

    private func noColumn(_ value: Any) -> EncodingError {
        EncodingError.invalidValue(
            value,
            EncodingError.Context(
                codingPath: [], debugDescription: "\(encoder.session.type) encodes a single value, which has no column")
        )
    }
}

/// A list, which can't be a row.
struct RefusingListContainer: UnkeyedEncodingContainer {
    let type: any RecordEncodingStrategies.Type

    var codingPath: [any CodingKey] { [] }
    var count: Int { 0 }

    private var error: EncodingError {
        EncodingError.invalidValue(
            type,
            EncodingError.Context(codingPath: [], debugDescription: "\(type) encodes a list, which has no columns"))
    }

    func encodeNil() throws { throw error }
    func encode<T: Encodable>(_ value: T) throws { throw error }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        JSONNodeEncoder(node: JSONNode(of: type), codingPath: []).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func superEncoder() -> any Encoder { JSONNodeEncoder(node: JSONNode(of: type), codingPath: []) }
}
