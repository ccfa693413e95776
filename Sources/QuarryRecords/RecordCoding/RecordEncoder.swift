import QuarryCore

extension EncodableRecord where Self: Encodable {
    /// Encodes each property into the column with its name.
    ///
    /// A property whose type isn't a column's value is encoded as JSON. A property that is nil is NULL.
    ///
    /// Keys of one byte, such as the cases of an enum, are asked for their names in the first records of a connection,
    /// not in each.
    ///
    /// - throws: `EncodingError`.
    public func encode(to container: inout PersistenceContainer) throws {
        let target = container.target
        let session = EncodingSession.begin(type(of: self), target)
        defer { session.end(target) }
        try encode(to: RecordEncoder(session))
    }
}

/// The encoder of one record. After the record it throws, which `CodingSession` explains.
struct RecordEncoder {
    let session: EncodingSession
    private let generation: UInt

    init(_ session: EncodingSession) {
        self.session = session
        generation = session.generation
    }

    var hasEnded: Bool { generation != session.generation }
}

extension RecordEncoder: Encoder {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { session.type.databaseEncodingUserInfo }

    func container<Key: CodingKey>(keyedBy keys: Key.Type) -> KeyedEncodingContainer<Key> {
        hasEnded ? KeyedEncodingContainer(EndedKeyedEncodingContainer()) : session.container(keyedBy: keys)
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        RefusingListContainer(type: session.type)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { RecordSingleValueContainer(encoder: self) }
}

/// The error of an encoder or container that was kept beyond its record.
struct EncoderHasEnded: Error, CustomStringConvertible {
    var description: String { "a record's encoder has been used after the record" }
}

/// Encodes records of one type into one target.
///
/// It stays with the target: the facts it has found (which column a key writes, how a type converts) hold for all
/// records, and its container is made once.
final class EncodingSession: CodingSession {
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

    /// The known facts about a key.
    private struct Fact {
        let column: String
        /// The type that `conversion` belongs to.
        var type: ObjectIdentifier?
        var conversion: Conversion?
    }

    let type: any RecordEncodingStrategies.Type
    private let typeIdentifier: ObjectIdentifier

    private let strategy: DatabaseColumnEncodingStrategy

    /// Whether a key is the name of its column.
    private let keepsKeys: Bool

    /// The target while a record is encoded, which it outlives.
    @exclusivity(unchecked)
    private var target: Unmanaged<EncodingTarget>?

    @exclusivity(unchecked)
    private var keys = KeyTable<Fact>()

    private init(_ type: any RecordEncodingStrategies.Type) {
        self.type = type
        typeIdentifier = ObjectIdentifier(type)
        strategy = type.databaseColumnEncodingStrategy
        keepsKeys = strategy.keepsKeys
    }

    // MARK: - Encoding a record

    /// The session for a record: the one that the target has kept, or a new one. It must be ended.
    static func begin(_ type: any RecordEncodingStrategies.Type, _ target: EncodingTarget) -> EncodingSession {
        let session: EncodingSession
        if let kept = target.encodingState {
            let kept = unsafeDowncast(kept, to: EncodingSession.self)
            // Another one, if the record encodes itself inside itself.
            let fits = kept.target == nil && kept.typeIdentifier == ObjectIdentifier(type)
            session = fits ? kept : EncodingSession(type)
        } else {
            session = EncodingSession(type)
            target.encodingState = session
        }
        session.target = Unmanaged.passUnretained(target)
        return session
    }

    /// Ends the record: the target keeps the session for the next record.
    func end(_ target: EncodingTarget) {
        self.target = nil
        if !endRecord(), target.encodingState === self { target.encodingState = nil }
    }

    /// Calls `body` with the target; throws if the record has ended.
    @inline(__always)
    func withTarget(_ body: (EncodingTarget) throws -> Void) throws {
        guard let target else { throw EncoderHasEnded() }
        try target._withUnsafeGuaranteedRef(body)
    }

    /// The container for a type of keys: the one of the last record, or a new one.
    @inline(__always)
    func container<Key: CodingKey>(keyedBy keys: Key.Type) -> KeyedEncodingContainer<Key> {
        guard let kept = container(ObjectIdentifier(keys)) else { return newContainer(keyedBy: keys) }
        return kept._withUnsafeGuaranteedRef { $0.container(as: KeyedEncodingContainer<Key>.self) }
    }

    @inline(never)
    private func newContainer<Key: CodingKey>(keyedBy keys: Key.Type) -> KeyedEncodingContainer<Key> {
        let container = KeyedEncodingContainer(RecordKeyedEncodingContainer<Key>(.passUnretained(self)))
        keep(container, ObjectIdentifier(keys))
        return container
    }

    // MARK: - Columns

    /// The column of a key.
    @inline(__always)
    func column(_ key: some CodingKey) -> String {
        if keepsKeys { return key.stringValue }
        return keys.facts[place(of: key)].column
    }

    /// The place of a key among those that are known.
    @inline(__always)
    private func place(of key: some CodingKey) -> Int {
        let name = key.stringValue
        return keys.expectedPlace(name) ?? search(key, name)
    }

    @inline(never)
    private func search(_ key: any CodingKey, _ name: String) -> Int {
        if let place = keys.place(name) { return place }
        let fact = Fact(column: strategy.column(key))
        return keys.append(name, fact)
    }

    /// Encodes a value of any type.
    func encode<T: Encodable>(_ value: T, forKey key: some CodingKey) throws {
        try withTarget { target in
            let place = place(of: key)
            let column = keys.facts[place].column
            // A value that the statement doesn't use need not be converted.
            if target.skip(column) { return }
            if keys.facts[place].type == ObjectIdentifier(T.self),
                let conversion = keys.facts[place].conversion
            {
                return try encode(value, conversion, column, target, key)
            }
            let conversion = try conversion(T.self, value, column, key)
            keys.facts[place].conversion = conversion
            keys.facts[place].type = ObjectIdentifier(T.self)
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
        target.set(opening: convertible, forColumn: column)
    }

    private func setItself<Value: EncodedByStrategy, T>(
        _ value: T, as type: Value.Type, _ column: String, _ target: EncodingTarget
    ) {
        withUnsafePointer(to: value) {
            UnsafeRawPointer($0).assumingMemoryBound(to: Value.self).pointee.set(column, of: target)
        }
    }

    /// Encodes a record that another one wraps, as that record encodes itself.
    func encode(_ record: some EncodableRecord) throws {
        try withTarget { target in
            var container = PersistenceContainer(target)
            try record.encode(to: &container)
        }
    }

    /// A node for a nested container, which becomes the JSON of the column.
    func nest(_ key: some CodingKey) -> JSONNode {
        let node = JSONNode(of: type)
        guard let target else { return node }
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
    func encodeWrapped(_ session: EncodingSession, _ key: some CodingKey) throws -> Bool
}

extension Optional: EncodableOptional where Wrapped: Encodable {
    func encodeWrapped(_ session: EncodingSession, _ key: some CodingKey) throws -> Bool {
        guard let self else { return false }
        try session.encode(self, forKey: key)
        return true
    }
}

/// The columns of a record under the keys of a type.
struct RecordKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    /// Not counted; nil when the record has ended: see `CodingSession`.
    private let reference: Unmanaged<EncodingSession>?

    init(_ session: Unmanaged<EncodingSession>) { reference = session }

    /// Calls `body` with the session; throws if the container was kept beyond its record.
    @inline(__always)
    private func withSession<Value>(_ body: (EncodingSession) throws -> Value) throws -> Value {
        guard let reference else { throw EncoderHasEnded() }
        return try reference._withUnsafeGuaranteedRef(body)
    }

    var codingPath: [any CodingKey] { [] }

    /// Calls `bind` with the target and the parameter of a key that is known, or `set` with the target and the column.
    @inline(__always)
    private func write(
        _ key: Key, bind: (EncodingTarget, CInt) -> Void, _ set: (EncodingTarget, String) -> Void
    ) throws {
        try withSession { session in
            try session.withTarget { target in
                let parameter = target.parameter(ofKnown: key)
                if parameter > 0 { return bind(target, parameter) }
                // 0 is for a column that the statement doesn't use.
                if parameter < 0 { writeByName(key, session, target, set) }
            }
        }
    }

    @inline(never)
    private func writeByName(
        _ key: Key, _ session: EncodingSession, _ target: EncodingTarget, _ set: (EncodingTarget, String) -> Void
    ) {
        let place = target.next
        set(target, session.column(key))
        target.remember(key, at: place)
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

    // Integers that don't fit in 64 bits with a sign throw when they are bound.
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

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try withSession { try $0.encode(value, forKey: key) }
    }

    func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
        if let value { try withSession { try $0.encode(value, forKey: key) } } else { try encodeNull(key) }
    }

    // MARK: - Containers and encoders

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        nestedEncoder(key).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nestedEncoder(key).unkeyedContainer()
    }

    /// The same row: the properties of a class's superclass are columns like its own.
    func superEncoder() -> any Encoder {
        (try? withSession { RecordEncoder($0) }) ?? EndedKeyedEncodingContainer<Key>().superEncoder()
    }

    func superEncoder(forKey key: Key) -> any Encoder { nestedEncoder(key) }

    private func nestedEncoder(_ key: Key) -> JSONNodeEncoder {
        JSONNodeEncoder(node: (try? withSession { $0.nest(key) }) ?? .unused, codingPath: [key])
    }
}
