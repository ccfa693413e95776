import Quarry
import QuarryCore
import QuarrySQL

/// Makes a meaningless value of a type, and notes the type's first request: a single value, or a container of several.
final class SampleDecoder: Decoder {
    enum Request {
        case value(Any.Type)
        case container
    }

    private(set) var request: Request?

    /// The number of enclosing single values.
    fileprivate let depth: Int

    /// A type whose only value is of its own type would nest without end.
    private static let maximumDepth = 64

    init(depth: Int = 0) { self.depth = depth }

    /// A meaningless value of a type.
    ///
    /// - throws: `NoValue` if none could be made.
    static func sample<T: Decodable>(of type: T.Type, depth: Int = 0) throws -> T {
        if let known = knownSample(of: type) as? T { return known }
        guard depth < maximumDepth else { throw NoValue("values of \(type) are nested without end") }
        do {
            return try T(from: SampleDecoder(depth: depth))
        } catch {
            if let first = firstCase(of: type) { return first }
            throw NoValue("no value of \(type) could be made")
        }
    }

    private static func knownSample(of type: Any.Type) -> Any? {
        switch type {
        case is Bool.Type: return false
        case is String.Type: return ""
        case let type as any FixedWidthInteger.Type: return type.zero
        case let type as any BinaryFloatingPoint.Type: return type.zero
        case let type as any InferableColumnValue.Type: return type.sample
        default: return nil
        }
    }

    /// The first case of an enum with unknown raw values.
    private static func firstCase<T>(of type: T.Type) -> T? {
        if let iterable = type as? any CaseIterable.Type { return iterable.first as? T }
        // A value of such a type consists of cases of enums, numbers and booleans, in one byte: all of these have a
        // value with zero bits. An enum without cases has no raw value, and can't be decoded.
        guard type is any RawRepresentable.Type, _isPOD(type), MemoryLayout<T>.size <= 1 else { return nil }
        return withUnsafeTemporaryAllocation(of: T.self, capacity: 1) { buffer in
            UnsafeMutableRawBufferPointer(buffer).initializeMemory(as: UInt8.self, repeating: 0)
            return buffer[0]
        }
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if request == nil { request = .container }
        return KeyedDecodingContainer(SampleKeyedContainer())
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        if request == nil { request = .container }
        return SampleUnkeyedContainer()
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { SampleValueContainer(decoder: self) }

    fileprivate func note(_ type: Any.Type) {
        if request == nil { request = .value(type) }
    }
}

extension CaseIterable {
    fileprivate static var first: Any? { allCases.first }
}

private struct SampleValueContainer: SingleValueDecodingContainer {
    let decoder: SampleDecoder
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        decoder.note(type)
        return try SampleDecoder.sample(of: type, depth: decoder.depth + 1)
    }
}

private struct SampleKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { true }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try SampleDecoder.sample(of: type) }

    // `decodeNil` returns true: optionals aren't decoded, so no type nests without end.

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        KeyedDecodingContainer(SampleKeyedContainer<NestedKey>())
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { SampleUnkeyedContainer() }
    func superDecoder() throws -> any Decoder { SampleDecoder() }
    func superDecoder(forKey key: Key) throws -> any Decoder { SampleDecoder() }
}

/// A list without elements.
private struct SampleUnkeyedContainer: UnkeyedDecodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 0 }
    var isAtEnd: Bool { true }
    var currentIndex: Int { 0 }

    mutating func decodeNil() throws -> Bool { true }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try SampleDecoder.sample(of: type) }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        KeyedDecodingContainer(SampleKeyedContainer<NestedKey>())
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { SampleUnkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { SampleDecoder() }
}
