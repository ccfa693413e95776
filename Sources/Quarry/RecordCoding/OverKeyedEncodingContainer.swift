/// What a record's encoder gives when the record is over: it refuses everything.
struct OverKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let type: any RecordEncodingStrategies.Type

    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws { throw EncoderIsOver() }

    // This one method is that of each standard type as well.
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { throw EncoderIsOver() }

    func encode(_ value: Int128, forKey key: Key) throws { throw EncoderIsOver() }
    func encode(_ value: UInt128, forKey key: Key) throws { throw EncoderIsOver() }

    // What these are given has no place.

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(OverKeyedEncodingContainer<NestedKey>(type: type))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { superEncoder().unkeyedContainer() }
    func superEncoder() -> any Encoder { JSONNodeEncoder(node: JSONNode(of: type), codingPath: []) }
    func superEncoder(forKey key: Key) -> any Encoder { superEncoder() }
}
