import QuarryCore

/// The columns of a record under the keys of a type.
struct RecordKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    /// Not counted: see `ContainerOwner`.
    private let reference: Unmanaged<RecordEncodingState>

    init(_ state: RecordEncodingState) { reference = Unmanaged.passUnretained(state) }

    private var state: RecordEncodingState { reference.takeUnretainedValue() }

    var codingPath: [any CodingKey] { [] }

    /// Gives `body` the target, and the column of a key; or `bind` the target, and the parameter of a key that is
    /// known.
    @inline(__always)
    private func write(
        _ key: Key, bind: (EncodingTarget, CInt) -> Void, _ body: (EncodingTarget, String) -> Void
    ) throws {
        try reference._withUnsafeGuaranteedRef { state in
            try state.withTarget { target in
                if state.byteKeys == ObjectIdentifier(Key.self) {
                    let parameter = target.parameter(of: byteKey(key))
                    if parameter > 0 { return bind(target, parameter) }
                    // A column that the statement doesn't use.
                    if parameter == 0 { return }
                }
                writeByName(key, state, target, body)
            }
        }
    }

    /// A key that is one byte.
    @inline(__always)
    private func byteKey(_ key: Key) -> ParameterLayout.ByteKey {
        ParameterLayout.ByteKey(type: ObjectIdentifier(Key.self), byte: unsafeBitCast(key, to: UInt8.self))
    }

    @inline(never)
    private func writeByName(
        _ key: Key, _ state: RecordEncodingState, _ target: EncodingTarget, _ body: (EncodingTarget, String) -> Void
    ) {
        let place = target.next
        body(target, state.column(key))
        if state.byteKeys == ObjectIdentifier(Key.self) { target.remember(byteKey(key), at: place) }
    }

    func encodeNil(forKey key: Key) throws { try encodeNull(key) }

    // MARK: - Standard types

    @inline(__always)
    private func encode(integer value: Int64, _ key: Key) throws {
        try write(key, bind: { $0.bind(value, at: $1) }, { $0.set(value, forColumn: $1) })
    }

    @inline(__always)
    private func encodeNull(_ key: Key) throws {
        try write(key, bind: { $0.bindNull(at: $1) }, { $0.setNull(forColumn: $1) })
    }

    func encode(_ value: Bool, forKey key: Key) throws { try encode(integer: value ? 1 : 0, key) }
    func encode(_ value: Int, forKey key: Key) throws { try encode(integer: Int64(value), key) }
    func encode(_ value: Int8, forKey key: Key) throws { try encode(integer: Int64(value), key) }
    func encode(_ value: Int16, forKey key: Key) throws { try encode(integer: Int64(value), key) }
    func encode(_ value: Int32, forKey key: Key) throws { try encode(integer: Int64(value), key) }
    func encode(_ value: Int64, forKey key: Key) throws { try encode(integer: value, key) }
    func encode(_ value: UInt8, forKey key: Key) throws { try encode(integer: Int64(value), key) }
    func encode(_ value: UInt16, forKey key: Key) throws { try encode(integer: Int64(value), key) }
    func encode(_ value: UInt32, forKey key: Key) throws { try encode(integer: Int64(value), key) }

    // Those that may not fit in 64 bits with a sign throw when they are bound.
    func encode(_ value: UInt, forKey key: Key) throws {
        try write(key, bind: { $0.bind(convertible: value, at: $1) }, { $0.set(convertible: value, forColumn: $1) })
    }

    func encode(_ value: UInt64, forKey key: Key) throws {
        try write(key, bind: { $0.bind(convertible: value, at: $1) }, { $0.set(convertible: value, forColumn: $1) })
    }

    func encode(_ value: String, forKey key: Key) throws {
        try write(key, bind: { $0.bind(value, at: $1) }, { $0.set(value, forColumn: $1) })
    }

    func encode(_ value: Double, forKey key: Key) throws {
        try write(key, bind: { $0.bind(value, at: $1) }, { $0.set(value, forColumn: $1) })
    }

    func encode(_ value: Float, forKey key: Key) throws { try encode(Double(value), forKey: key) }

    // A property that is nil is NULL: a row that is updated must lose the value it had.

    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNull(key) }
    }

    func encodeIfPresent(_ value: String?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNull(key) }
    }

    func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNull(key) }
    }

    func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNull(key) }
    }

    func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNull(key) }
    }

    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNull(key) }
    }

    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNull(key) }
    }

    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNull(key) }
    }

    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNull(key) }
    }

    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNull(key) }
    }

    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNull(key) }
    }

    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNull(key) }
    }

    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNull(key) }
    }

    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNull(key) }
    }

    // MARK: - Other types

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try state.encode(value, forKey: key) }

    func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
        if let value { try state.encode(value, forKey: key) } else { try encodeNull(key) }
    }

    // MARK: - Containers and encoders

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        JSONNodeEncoder(node: state.nest(key), codingPath: [key]).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        JSONNodeEncoder(node: state.nest(key), codingPath: [key]).unkeyedContainer()
    }

    /// The same row: what a class's superclass encodes stands beside what it encodes itself.
    func superEncoder() -> any Encoder { RecordEncoder(state) }

    func superEncoder(forKey key: Key) -> any Encoder {
        JSONNodeEncoder(node: state.nest(key), codingPath: [key])
    }
}
