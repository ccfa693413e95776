import QuarryCore

/// The columns of a row under the keys of a type.
struct RowKeyedDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    /// Not counted; nil when the record has ended: see `CodingSession`.
    private let reference: Unmanaged<ColumnReader>?

    init(_ reader: Unmanaged<ColumnReader>) { reference = reader }

    /// Calls `body` with the reader; throws if the container was kept beyond its record.
    @inline(__always)
    private func read<Value>(_ body: (ColumnReader) throws -> Value) throws -> Value {
        guard let reference else { throw DecoderHasEnded() }
        return try reference._withUnsafeGuaranteedRef(body)
    }

    var codingPath: [any CodingKey] { (try? read { $0.session.codingPath }) ?? [] }

    var allKeys: [Key] {
        guard let row = try? read({ try $0.session.row() }) else { return [] }
        let names = row.names + row.scopes.names
        return names.compactMap { Key(stringValue: $0) }
    }

    func contains(_ key: Key) -> Bool { (try? read { $0.contains(key) }) ?? false }

    func decodeNil(forKey key: Key) throws -> Bool { try read { try $0.hasNull(key) } }

    // MARK: - Standard types

    @inline(__always)
    private func standard<Value: DatabaseValueConvertible>(_ type: Value.Type, _ key: Key) throws -> Value {
        try read { try $0.value(type, key) }
    }

    @inline(__always)
    private func optional<Value: DatabaseValueConvertible>(_ type: Value.Type, _ key: Key) throws -> Value? {
        try read { try $0.valueIfPresent(type, key) }
    }

    @inline(__always)
    private func integer<Value: SQLInteger>(_ type: Value.Type, _ key: Key) throws -> Value {
        try read { try $0.integer(type, key) }
    }

    @inline(__always)
    private func integerOrNull<Value: SQLInteger>(_ type: Value.Type, _ key: Key) throws -> Value? {
        try read { try $0.integerIfPresent(type, key) }
    }

    @inline(__always) func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try standard(type, key) }
    @inline(__always) func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try read { try $0.string(key) }
    }

    @inline(__always) func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try read { try $0.number(key) }
    }

    @inline(__always) func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try standard(type, key) }
    @inline(__always) func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try read { try $0.integer(type, key) }
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
        try read { try $0.stringIfPresent(key) }
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
        try read { try $0.decode(type, key) }
    }

    @inline(__always) func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try read { try $0.decodeIfPresent(type, key) }
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

    func superDecoder() throws -> any Decoder { try read { try $0.session.recordDecoder() } }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        try read { try $0.session.nestedDecoder($0, at: $0.place(of: key), key) }
    }
}

/// Reads the columns of a session's rows under the keys of one type: which column a key reads, and how.
final class ColumnReader {
    /// How a column becomes a value of the requested type.
    enum Conversion {
        case convertible(any DatabaseValueConvertible.Type)
        /// A type that could have a strategy, and converts itself.
        case ownConversion(any DecodedByStrategy.Type)
        case strategy((DatabaseValue) -> (any DatabaseValueConvertible)?)
        /// A type that decodes itself from one value, or from JSON if its value is an object or a list.
        case singleValue(ColumnDecoding)
        /// A type that always decodes several values.
        case json(ColumnDecoding)
    }

    /// The known facts about a key.
    struct Fact {
        /// Negative if there is no such column.
        let column: Int
        /// The type that is read from a statement without asking for its conversion.
        var ownConversion: (any DecodedByStrategy.Type)?
        /// The type that `conversion` belongs to.
        var type: ObjectIdentifier?
        var conversion: Conversion?
    }

    /// It owns the reader.
    private let reference: Unmanaged<DecodingSession>

    var session: DecodingSession { reference.takeUnretainedValue() }

    /// The keys. In each execution they are asked for their names in the first two rows.
    @exclusivity(unchecked)
    private var keys = KeyTable<Fact>()

    /// Where types that convert themselves are read.
    @exclusivity(unchecked)
    private var place: ValuePlace?

    init(_ session: DecodingSession) { reference = Unmanaged.passUnretained(session) }

    deinit { place?.deallocate() }

    // MARK: - Places

    /// A key whose column is known.
    @inline(__always)
    private func knownKey(_ key: some CodingKey) -> KeyTable<Fact>.KnownKey? {
        let known = keys.knownKey(key)
        return known.number >= 0 ? known : nil
    }

    /// The place of a key in the table.
    @inline(__always)
    func place(of key: some CodingKey) -> Int {
        let place = Int(keys.knownKey(key).place)
        return place >= 0 ? place : placeByName(key)
    }

    @inline(never)
    private func placeByName(_ key: some CodingKey) -> Int {
        let name = key.stringValue
        let place = keys.expectedPlace(name) ?? search(name)
        if session.isInSameExecution {
            let fact = keys.facts[place]
            keys.remember(key, place, number: fact.column, convertsItself: fact.ownConversion != nil)
        }
        return place
    }

    @inline(never)
    private func search(_ key: String) -> Int {
        if let place = keys.place(key) { return place }
        let fact = Fact(column: session.findColumn(key) ?? -1)
        return keys.append(key, fact)
    }

    /// Another execution begins: names are asked for again.
    func forgetKeys() { keys.forgetKeys() }

    @inline(__always)
    func fact(_ place: Int) -> Fact { keys.facts[place] }

    /// The column of a key; negative if there is none.
    @inline(__always)
    func column(of key: some CodingKey) -> Int {
        if let known = knownKey(key) { return Int(known.number) }
        return keys.facts[place(of: key)].column
    }

    func setConversion(_ conversion: Conversion, _ type: ObjectIdentifier, at place: Int) {
        keys.facts[place].type = type
        keys.facts[place].conversion = conversion
        keys.facts[place].ownConversion = nil
        if case .ownConversion(let type) = conversion, ValuePlace.fits(type) {
            keys.facts[place].ownConversion = type
            if self.place == nil { self.place = ValuePlace() }
        }
        keys.setConvertsItself(keys.facts[place].ownConversion != nil, at: place)
    }

    // MARK: - Keys

    /// Whether a key has a column, or anything else that has its name.
    func contains(_ key: some CodingKey) -> Bool {
        if column(of: key) >= 0 { return true }
        return (try? session.nestedRow(key)) != nil || (try? session.prefetchedList(key)) != nil
    }

    func hasNull(_ key: some CodingKey) throws -> Bool {
        let column = column(of: key)
        if column >= 0 { return try session.row().hasNull(atIndex: column) }
        if let row = try session.nestedRow(key) { return !row.containsNonNullValue }
        return try session.prefetchedList(key) == nil
    }

    // MARK: - Values

    // Most keys are known, and most columns belong to a statement: these are read in place, without a call. Anything
    // less simple goes through out-of-line functions, so that the fast path spills no registers.

    /// The value of a column, which must be in the row.
    @inline(__always)
    private func value<Value: DatabaseValueConvertible>(_ type: Value.Type, _ column: Int32) throws -> Value {
        let row = try reference._withUnsafeGuaranteedRef { try $0.activeRow() }
        return try row._withUnsafeGuaranteedRef { try $0.decode(type, atIndex: Int(column)) }
    }

    /// A column in its statement.
    @inline(__always)
    private func statementColumn(_ column: Int32) -> (statement: SQLiteStatement, index: CInt)? {
        guard let row = reference._withUnsafeGuaranteedRef({ $0.current }) else { return nil }
        return row._withUnsafeGuaranteedRef { $0.statementColumn(atUncheckedIndex: column) }
    }

    /// The value of a key's column.
    @inline(__always)
    func value<Value: DatabaseValueConvertible>(_ type: Value.Type, _ key: some CodingKey) throws -> Value {
        guard let known = knownKey(key) else { return try valueByName(type, key) }
        return try value(type, known.number)
    }

    @inline(never)
    private func valueByName<Value: DatabaseValueConvertible>(_ type: Value.Type, _ key: some CodingKey) throws -> Value
    {
        let column = column(of: key)
        guard column >= 0 else { throw session.columnNotFound(key) }
        return try value(type, Int32(truncatingIfNeeded: column))
    }

    /// The same; nil for NULL, and if there is no such column.
    @inline(__always)
    func valueIfPresent<Value: DatabaseValueConvertible>(_ type: Value.Type, _ key: some CodingKey) throws -> Value? {
        guard let known = knownKey(key) else { return try valueIfPresentByName(type, key) }
        return try value(Value?.self, known.number)
    }

    @inline(never)
    private func valueIfPresentByName<Value: DatabaseValueConvertible>(
        _ type: Value.Type, _ key: some CodingKey
    ) throws -> Value? {
        let column = column(of: key)
        guard column >= 0 else { return nil }
        return try value(Value?.self, Int32(truncatingIfNeeded: column))
    }

    /// The text of a key's column.
    @inline(__always)
    func string(_ key: some CodingKey) throws -> String {
        guard let known = knownKey(key) else { return try valueByName(String.self, key) }
        if let (statement, index) = statementColumn(known.number),
            let text = StatementColumns.string(statement, index)
        {
            return text
        }
        return try unusualValue(String.self, known.number)
    }

    /// The same; nil for NULL too, and if there is no such column.
    @inline(__always)
    func stringIfPresent(_ key: some CodingKey) throws -> String? {
        guard let known = knownKey(key) else { return try valueIfPresentByName(String.self, key) }
        if let (statement, index) = statementColumn(known.number),
            let text = String?.fromStatement(statement, atUncheckedIndex: index)
        {
            return text
        }
        return try unusualValue(String?.self, known.number)
    }

    /// The integer of a key's column.
    @inline(__always)
    func integer<Value: SQLInteger>(_ type: Value.Type, _ key: some CodingKey) throws -> Value {
        guard let known = knownKey(key) else { return try valueByName(type, key) }
        if let (statement, index) = statementColumn(known.number),
            let integer = StatementColumns.integer(statement, index),
            let value = Value(exactly: integer)
        {
            return value
        }
        return try unusualValue(type, known.number)
    }

    /// The same; nil for NULL too, and if there is no such column.
    @inline(__always)
    func integerIfPresent<Value: SQLInteger>(_ type: Value.Type, _ key: some CodingKey) throws -> Value? {
        guard let known = knownKey(key) else { return try valueIfPresentByName(type, key) }
        if let (statement, index) = statementColumn(known.number),
            let stored = StatementColumns.integerOrNull(statement, index)
        {
            guard let integer = stored else { return nil }
            if let value = Value(exactly: integer) { return value }
        }
        return try unusualValue(Value?.self, known.number)
    }

    /// The number of a key's column.
    @inline(__always)
    func number(_ key: some CodingKey) throws -> Double {
        guard let known = knownKey(key) else { return try valueByName(Double.self, key) }
        if let (statement, index) = statementColumn(known.number),
            let number = StatementColumns.number(statement, index)
        {
            return number
        }
        return try unusualValue(Double.self, known.number)
    }

    /// The value of a column of another storage class than is usual, or of a row of its own.
    @inline(never)
    private func unusualValue<Value: DatabaseValueConvertible>(_ type: Value.Type, _ column: Int32) throws -> Value {
        try value(type, column)
    }

    // MARK: - Values of other types

    /// The value of a key: of its column, or what else has its name.
    @inline(__always)
    func decode<T: Decodable>(_ type: T.Type, _ key: some CodingKey) throws -> T {
        if let known = knownKey(key), known.convertsItself, readItself(type, known) == .value {
            return place.unsafelyUnwrapped.move()
        }
        return try decodeByPlace(type, key)
    }

    /// Reads a column of a type that converts itself, into the place for a value.
    @inline(__always)
    private func readItself<T>(_ type: T.Type, _ known: KeyTable<Fact>.KnownKey) -> StatementColumnReading {
        let known = (place: Int(known.place), column: known.number)
        guard keys.facts[known.place].type == ObjectIdentifier(type),
            let ownConversion = keys.facts[known.place].ownConversion,
            let (statement, index) = statementColumn(known.column), let place
        else { return .other }
        return ownConversion.read(statement, index, into: place.address)
    }

    @inline(never)
    private func decodeByPlace<T: Decodable>(_ type: T.Type, _ key: some CodingKey) throws -> T {
        try decode(type, at: place(of: key), key)
    }

    private func decode<T: Decodable>(_ type: T.Type, at place: Int, _ key: some CodingKey) throws -> T {
        let column = keys.facts[place].column
        guard column >= 0 else { return try session.decodeNested(type, key) }
        return try session.decodeColumn(type, self, at: place, key)
    }

    /// The same; nil for NULL, and for a key that is nowhere.
    @inline(__always)
    func decodeIfPresent<T: Decodable>(_ type: T.Type, _ key: some CodingKey) throws -> T? {
        if let known = knownKey(key), known.convertsItself {
            switch readItself(type, known) {
            case .value: return place.unsafelyUnwrapped.move() as T
            case .null: return nil
            case .other: break
            }
        }
        return try decodeIfPresentByPlace(type, key)
    }

    @inline(never)
    private func decodeIfPresentByPlace<T: Decodable>(_ type: T.Type, _ key: some CodingKey) throws -> T? {
        let place = place(of: key)
        let column = keys.facts[place].column
        guard column >= 0 else {
            if let row = try session.nestedRow(key) {
                guard row.containsNonNullValue else { return nil }
            } else if try session.prefetchedList(key) == nil {
                return nil
            }
            return try session.decodeNested(type, key)
        }
        guard try !session.row().hasNull(atIndex: column) else { return nil }
        return try decode(type, at: place, key)
    }
}
