import QuarryCore

/// Decodes a type that is one value, and finds out which type isn't.
final class SingleValueDecoder: Decoder {
    fileprivate let value: DatabaseValue

    /// Whether the type asked for a container of several values.
    private(set) var needsJSON = false

    /// The record type whose property is decoded.
    private let recordType: (any RecordDecodingStrategies.Type)?

    init(value: DatabaseValue, for recordType: (any RecordDecodingStrategies.Type)? = nil) {
        self.value = value
        self.recordType = recordType
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { recordType?.databaseDecodingUserInfo ?? [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw refusal(of: [String: Any].self)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw refusal(of: [Any].self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { SingleContainer(decoder: self) }

    fileprivate func refusal(of type: Any.Type) -> any Error {
        needsJSON = true
        return mismatch(type)
    }

    fileprivate func mismatch(_ type: Any.Type) -> any Error {
        DecodingError.typeMismatch(
            type, DecodingError.Context(codingPath: [], debugDescription: "\(value.storageClass) is no \(type)"))
    }
}

private struct SingleContainer: SingleValueDecodingContainer {
    let decoder: SingleValueDecoder

    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { decoder.value.isNull }

    // This one method is that of each standard type as well.
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard let convertible = type as? any DatabaseValueConvertible.Type else { return try T(from: decoder) }
        guard let value = convertible.fromDatabaseValue(decoder.value) as? T else { throw decoder.mismatch(type) }
        return value
    }

    // They have a method of their own in the protocol, which fails; JSON has room for them.
    func decode(_ type: Int128.Type) throws -> Int128 { throw decoder.refusal(of: type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { throw decoder.refusal(of: type) }
}
