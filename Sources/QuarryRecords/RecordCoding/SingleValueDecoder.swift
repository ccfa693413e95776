import QuarryCore

/// Decodes a type that is one value, and finds out whether the type isn't.
final class SingleValueDecoder: Decoder {
    fileprivate let value: DatabaseValue

    /// Whether the type asked for a container of several values.
    private(set) var needsJSON = false

    /// Whether the type asked for one value, as a type does that isn't always stored as JSON.
    private(set) var asksForOneValue = false

    /// The column of the record that is decoded; nil for a value that is in none.
    fileprivate let column: ColumnDecoding?

    /// The keys of the record.
    private let outerPath: [any CodingKey]

    /// The key of the column.
    private let key: (any CodingKey)?

    init(
        value: DatabaseValue, column: ColumnDecoding? = nil, path: [any CodingKey] = [], key: (any CodingKey)? = nil
    ) {
        self.value = value
        self.column = column
        outerPath = path
        self.key = key
    }

    var codingPath: [any CodingKey] { key.map { outerPath + [$0] } ?? outerPath }
    var userInfo: [CodingUserInfoKey: Any] { column?.recordType.databaseDecodingUserInfo ?? [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw refusal(of: [String: Any].self)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw refusal(of: [Any].self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        asksForOneValue = true
        return SingleContainer(decoder: self)
    }

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

    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.value.isNull }

    // This method serves each standard type as well.
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard let column = decoder.column else {
            guard let convertible = type as? any DatabaseValueConvertible.Type else { return try T(from: decoder) }
            return try convert(convertible)
        }
        switch column.conversion(to: type) {
        case .convertible(let convertible): return try convert(convertible)
        case .strategy(let decode):
            guard let value = decode(decoder.value) else { throw decoder.mismatch(type) }
            return reinterpret(opening: value)
        case nil: return try T(from: decoder)
        }
    }

    private func convert<C: DatabaseValueConvertible, T>(_ type: C.Type, as result: T.Type = T.self) throws -> T {
        try found(C.fromDatabaseValue(decoder.value), result)
    }

    private func found<Value, T>(_ value: Value?, _ type: T.Type) throws -> T {
        guard let value else { throw decoder.mismatch(type) }
        return reinterpret(value)
    }

    // The protocol has methods for these types, which fail by default; JSON can contain them.
    func decode(_ type: Int128.Type) throws -> Int128 { throw decoder.refusal(of: type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { throw decoder.refusal(of: type) }
}
