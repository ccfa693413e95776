import QuarryCore
import Synchronization

/// What an `Encodable` record encodes itself into, for the time of that record.
///
/// What is found out of a type (which column a key writes, how a type converts) stays with the target of the type, in
/// the state, which serves all records. Who keeps an encoder beyond its record is told so, also while the next one is
/// encoded.
struct RecordEncoder {
    fileprivate let state: RecordEncodingState

    /// That of the record.
    private let number: Int

    init(_ state: RecordEncodingState) {
        self.state = state
        number = state.number
    }

    static func encode<Record: EncodableRecord & Encodable>(_ record: Record, to target: EncodingTarget) throws {
        let state: RecordEncodingState
        if let kept = target.encodingState {
            let kept = unsafeDowncast(kept, to: RecordEncodingState.self)
            let fits = !kept.isActive && !kept.isRetired && kept.typeIdentifier == ObjectIdentifier(type(of: record))
            state = fits ? kept : RecordEncodingState(type(of: record), target)
            if kept.isRetired { target.encodingState = state }
        } else {
            state = RecordEncodingState(type(of: record), target)
            target.encodingState = state
        }
        state.begin()
        defer { state.end() }
        try record.encode(to: RecordEncoder(state))
    }

    /// Whether the record is over. Then the state may be another thread's, for all but its number.
    fileprivate var isOver: Bool { number != state.number || !state.isActive }
}

extension RecordEncoder: Encoder {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { state.type.databaseEncodingUserInfo }

    func container<Key: CodingKey>(keyedBy keys: Key.Type) -> KeyedEncodingContainer<Key> {
        if isOver { return KeyedEncodingContainer(OverKeyedEncodingContainer(type: state.type)) }
        if let given = state.container(ObjectIdentifier(keys)) {
            if let type = given.type {
                return type._withUnsafeGuaranteedRef {
                    unsafeDowncast($0, to: ContainerTypeOf<KeyedEncodingContainer<Key>>.self).container(given.object)
                }
            }
            return unsafeBitCast(given.object.takeUnretainedValue(), to: KeyedEncodingContainer<Key>.self)
        }
        let container = KeyedEncodingContainer(RecordKeyedEncodingContainer<Key>(state))
        state.giveOut(unsafeBitCast(container, to: AnyObject.self), ObjectIdentifier(keys)) {
            ContainerTypeOf<KeyedEncodingContainer<Key>>()
        }
        if MemoryLayout<Key>.size == 1, _isPOD(Key.self) { state.byteKeys = ObjectIdentifier(keys) }
        return container
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        RefusingListContainer(type: state.type)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { RecordSingleValueContainer(encoder: self) }
}

/// For those who keep an encoder.
struct EncoderIsOver: Error, CustomStringConvertible {
    var description: String { "a record's encoder has been used after the record" }
}

/// What a record's encoder and its containers share.
final class RecordEncodingState: ContainerOwner {
    /// How a value of a type becomes a value of a column.
    enum Conversion {
        case convertible(any DatabaseValueConvertible.Type)
        /// A type that could have a strategy, and converts itself.
        case ownConversion(any EncodedByStrategy.Type)
        case strategy(ColumnEncoding.Strategy)
        case optional
        /// A type that encodes itself as one value, or as several.
        case singleValue(ColumnEncoding)
        /// A type whose last value was several.
        case json(ColumnEncoding)
    }

    /// What is known of a key.
    private struct Fact {
        let column: String
        /// The type that `conversion` is for.
        var type: ObjectIdentifier?
        var conversion: Conversion?
    }

    let type: any RecordEncodingStrategies.Type
    let typeIdentifier: ObjectIdentifier

    /// The target keeps the encoder, and lives while a record is encoded into it.
    private let target: Unmanaged<EncodingTarget>

    private let strategy: DatabaseColumnEncodingStrategy

    /// Whether a key is the name of its column.
    private let keepsKeys: Bool

    /// The last type of keys that came and are one byte.
    @exclusivity(unchecked)
    fileprivate(set) var byteKeys = ParameterLayout.ByteKey.none.type

    /// Rises when a record is over.
    private let records = Atomic<Int>(0)

    fileprivate var number: Int { records.load(ordering: .relaxed) }

    /// Whether a record is being encoded.
    @exclusivity(unchecked)
    private(set) var isActive = false

    @exclusivity(unchecked)
    private var keys = NameMemo<Fact>()

    init(_ type: any RecordEncodingStrategies.Type, _ target: EncodingTarget) {
        self.type = type
        typeIdentifier = ObjectIdentifier(type)
        self.target = Unmanaged.passUnretained(target)
        strategy = type.databaseColumnEncodingStrategy
        keepsKeys = strategy.keepsKeys
    }

    func begin() { isActive = true }

    func end() {
        isActive = false
        records.store(number &+ 1, ordering: .relaxed)
        recordIsOver()
    }

    /// Gives `body` the target; throws if a container has been kept beyond its record.
    @inline(__always)
    func withTarget(_ body: (EncodingTarget) throws -> Void) throws {
        guard isActive else { throw EncoderIsOver() }
        try target._withUnsafeGuaranteedRef { try body($0) }
    }

    // MARK: - Columns

    /// The column of a key.
    @inline(__always)
    func column(_ key: some CodingKey) -> String {
        if keepsKeys { return key.stringValue }
        return keys.entries[place(of: key)].fact.column
    }

    /// The place of a key among those that are known.
    @inline(__always)
    private func place(of key: some CodingKey) -> Int {
        let name = key.stringValue
        return keys.expectedPlace(name) ?? search(key, name)
    }

    @inline(never)
    private func search(_ key: any CodingKey, _ name: String) -> Int {
        if let place = keys.place(name, spelled: true) { return place }
        let fact = Fact(column: strategy.column(key))
        if let place = keys.append(name, fact) { return place }
        // More keys than are remembered.
        keys = NameMemo()
        return keys.append(name, fact)!
    }

    /// Encodes a value of any type.
    func encode<T: Encodable>(_ value: T, forKey key: some CodingKey) throws {
        try withTarget { target in
            let place = place(of: key)
            let column = keys.entries[place].fact.column
            // What no statement wants need not be converted.
            if target.skip(column) { return }
            if keys.entries[place].fact.type == ObjectIdentifier(T.self),
                let conversion = keys.entries[place].fact.conversion
            {
                return try encode(value, conversion, column, target, key)
            }
            let conversion = try conversion(T.self, value, column, key)
            keys.entries[place].fact.conversion = conversion
            keys.entries[place].fact.type = ObjectIdentifier(T.self)
            try encode(value, conversion, column, target, key)
        }
    }

    private func encode<T: Encodable>(
        _ value: T, _ conversion: Conversion, _ column: String, _ target: EncodingTarget,
        _ key: some CodingKey
    ) throws {
        switch conversion {
        case .convertible(let convertible):
            set(value, as: convertible, column, target)
        case .ownConversion(let type):
            setItself(value, as: type, column, target)
        case .strategy(let strategy):
            let stored = withUnsafePointer(to: value) { strategy(UnsafeRawPointer($0)) }
            target.set(convertible: stored, forColumn: column)
        case .optional:
            guard let optional = value as? any EncodableOptional else { return }
            if try !optional.encodeWrapped(self, key) { target.setNull(forColumn: column) }
        case .singleValue(let encoding):
            if let stored = try singleValue(value, encoding, key) {
                target.set(convertible: stored, forColumn: column)
            } else {
                target.set(try json(value, encoding), forColumn: column)
            }
        case .json(let encoding):
            let json = try json(value, encoding)
            // Another value of the type may be a single one, whose JSON is no object and no list.
            if !json.utf8.isJSONOfSeveralValues, let stored = try singleValue(value, encoding, key) {
                target.set(convertible: stored, forColumn: column)
            } else {
                target.set(json, forColumn: column)
            }
        }
    }

    /// The single value that a value encodes; nil if it encodes several.
    private func singleValue(
        _ value: some Encodable, _ encoding: ColumnEncoding, _ key: some CodingKey
    ) throws -> DatabaseValue? {
        let encoder = SingleValueEncoder(column: encoding, key: key)
        do {
            try value.encode(to: encoder)
        } catch {
            guard encoder.needsJSON else { throw error }
        }
        return encoder.needsJSON ? nil : encoder.value ?? .null
    }

    private func json(_ value: some Encodable, _ encoding: ColumnEncoding) throws -> String {
        try encoding.json.text(of: value)
    }

    /// Finds out how values of a type become values of a column.
    @inline(never)
    private func conversion<T: Encodable>(
        _ type: T.Type, _ value: T, _ column: String, _ key: some CodingKey
    ) throws -> Conversion {
        if let type = type as? any EncodedByStrategy.Type {
            return self.type.strategy(type, column).map { .strategy($0) } ?? .ownConversion(type)
        }
        if type is any EncodableOptional.Type { return .optional }
        if let convertible = type as? any DatabaseValueConvertible.Type { return .convertible(convertible) }
        // One value, or JSON: the type itself knows.
        let encoding = ColumnEncoding(self.type, column: column)
        return try singleValue(value, encoding, key) == nil ? .json(encoding) : .singleValue(encoding)
    }

    private func set<C: DatabaseValueConvertible, T>(
        _ value: T, as type: C.Type, _ column: String, _ target: EncodingTarget
    ) {
        let convertible: C = reinterpret(value)
        target.set(convertible: convertible, forColumn: column)
    }

    private func setItself<Value: EncodedByStrategy, T>(
        _ value: T, as type: Value.Type, _ column: String, _ target: EncodingTarget
    ) {
        withUnsafePointer(to: value) {
            UnsafeRawPointer($0).assumingMemoryBound(to: Value.self).pointee.set(column, of: target)
        }
    }

    /// Encodes a record that another one wraps, as that record encodes itself.
    fileprivate func encode(_ record: some EncodableRecord) throws {
        try withTarget { target in
            var container = PersistenceContainer(target)
            try record.encode(to: &container)
        }
    }

    /// A place for what a nested container gets, which becomes the JSON of the column.
    func nest(_ key: some CodingKey) -> JSONNode {
        let node = JSONNode(of: type)
        guard isActive else { return node }
        let column = strategy.column(key)
        let type = type
        target.takeUnretainedValue().set(forColumn: column) {
            try ColumnJSONEncoder(type, column: column).text(of: node).databaseValue
        }
        return node
    }
}

/// Values that are encoded although they are optional: by `encode`, not `encodeIfPresent`.
private protocol EncodableOptional {
    /// - returns: false for nil.
    func encodeWrapped(_ state: RecordEncodingState, _ key: some CodingKey) throws -> Bool
}

extension Optional: EncodableOptional where Wrapped: Encodable {
    func encodeWrapped(_ state: RecordEncodingState, _ key: some CodingKey) throws -> Bool {
        guard let self else { return false }
        try state.encode(self, forKey: key)
        return true
    }
}

/// The row as a single value: of a type that wraps another.
private struct RecordSingleValueContainer: SingleValueEncodingContainer {
    let encoder: RecordEncoder

    var codingPath: [any CodingKey] { [] }

    func encodeNil() throws { throw noColumn("nil") }

    // This one method is that of each standard type as well.
    func encode<T: Encodable>(_ value: T) throws {
        if encoder.isOver { throw EncoderIsOver() }
        if let record = value as? any EncodableRecord { return try encoder.state.encode(record) }
        if value is any DatabaseValueConvertible { throw noColumn(value) }
        try value.encode(to: encoder)
    }

    func encode(_ value: Int128) throws { throw noColumn(value) }
    func encode(_ value: UInt128) throws { throw noColumn(value) }

    private func noColumn(_ value: Any) -> EncodingError {
        EncodingError.invalidValue(
            value,
            EncodingError.Context(
                codingPath: [], debugDescription: "\(encoder.state.type) encodes a single value, which has no column"))
    }
}

/// A list, which is no row.
private struct RefusingListContainer: UnkeyedEncodingContainer {
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
