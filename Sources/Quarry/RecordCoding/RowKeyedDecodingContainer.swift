import QuarryCore

/// The columns of a row under the keys of a type.
struct RowKeyedDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    /// Not counted: see `ContainerOwner`.
    private let reference: Unmanaged<KeyPlan>

    init(_ plan: KeyPlan) { reference = Unmanaged.passUnretained(plan) }

    private var plan: KeyPlan { reference.takeUnretainedValue() }

    private var decoder: RowDecoder { plan.decoder }

    var codingPath: [any CodingKey] { decoder.codingPath }

    var allKeys: [Key] {
        guard let row = try? decoder.row() else { return [] }
        let names = row.names + row.scopes.names
        return names.compactMap { Key(stringValue: $0) }
    }

    func contains(_ key: Key) -> Bool {
        if plan.column(of: key) >= 0 { return true }
        return (try? decoder.nestedRow(key)) != nil || (try? decoder.prefetchedList(key)) != nil
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        let column = plan.column(of: key)
        if column >= 0 { return try decoder.row().hasNull(atIndex: column) }
        if let row = try decoder.nestedRow(key) { return !row.containsNonNullValue }
        return try decoder.prefetchedList(key) == nil
    }

    // MARK: - Standard types

    @inline(__always)
    private func standard<Value: DatabaseValueConvertible>(_ type: Value.Type, _ key: Key) throws -> Value {
        try reference._withUnsafeGuaranteedRef { plan in try plan.value(type, key) }
    }

    @inline(__always)
    private func optional<Value: DatabaseValueConvertible>(_ type: Value.Type, _ key: Key) throws -> Value? {
        try reference._withUnsafeGuaranteedRef { plan in try plan.valueIfPresent(type, key) }
    }

    @inline(__always)
    private func integer<Value: SQLInteger>(_ type: Value.Type, _ key: Key) throws -> Value {
        try reference._withUnsafeGuaranteedRef { plan in try plan.integer(type, key) }
    }

    @inline(__always)
    private func integerOrNull<Value: SQLInteger>(_ type: Value.Type, _ key: Key) throws -> Value? {
        try reference._withUnsafeGuaranteedRef { plan in try plan.integerIfPresent(type, key) }
    }

    @inline(__always) func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try standard(type, key) }
    @inline(__always) func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try reference._withUnsafeGuaranteedRef { plan in try plan.string(key) }
    }

    @inline(__always) func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try reference._withUnsafeGuaranteedRef { plan in try plan.number(key) }
    }

    @inline(__always) func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try standard(type, key) }
    @inline(__always) func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try reference._withUnsafeGuaranteedRef { plan in try plan.integer(type, key) }
    }

    @inline(__always) func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(type, key) }
    @inline(__always) func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(type, key) }
    @inline(__always) func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(type, key) }
    @inline(__always) func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(type, key) }
    @inline(__always) func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(type, key) }
    @inline(__always) func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(type, key) }
    @inline(__always) func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(type, key) }
    @inline(__always) func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(type, key) }
    @inline(__always) func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(type, key) }

    @inline(__always) func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try optional(type, key)
    }
    @inline(__always) func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try reference._withUnsafeGuaranteedRef { plan in try plan.stringIfPresent(key) }
    }
    @inline(__always) func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try optional(type, key)
    }
    @inline(__always) func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try optional(type, key)
    }
    @inline(__always) func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try integerOrNull(type, key)
    }
    @inline(__always) func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try integerOrNull(type, key)
    }
    @inline(__always) func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try integerOrNull(type, key)
    }
    @inline(__always) func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try integerOrNull(type, key)
    }
    @inline(__always) func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try integerOrNull(type, key)
    }
    @inline(__always) func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try integerOrNull(type, key)
    }
    @inline(__always) func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try integerOrNull(type, key)
    }
    @inline(__always) func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try integerOrNull(type, key)
    }
    @inline(__always) func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try integerOrNull(type, key)
    }
    @inline(__always) func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try integerOrNull(type, key)
    }

    // MARK: - Other types

    @inline(__always) func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try reference._withUnsafeGuaranteedRef { plan in try plan.decode(type, key) }
    }

    @inline(__always) func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try reference._withUnsafeGuaranteedRef { plan in try plan.decodeIfPresent(type, key) }
    }

    // MARK: - Containers and decoders

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try superDecoder(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try superDecoder(forKey: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try decoder.recordDecoder() }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        try decoder.nestedDecoder(plan, at: plan.place(of: key), key)
    }
}
