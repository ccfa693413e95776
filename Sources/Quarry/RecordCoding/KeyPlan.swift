import QuarryCore

/// Which columns the keys of a `Decodable` record read, and how.
final class KeyPlan {
    /// How a column becomes a value of the type that is asked for.
    enum Conversion {
        case convertible(any DatabaseValueConvertible.Type)
        /// A type that could have a strategy, and converts itself.
        case ownConversion(any DecodedByStrategy.Type)
        case strategy((DatabaseValue) -> (any DatabaseValueConvertible)?)
        /// A type that decodes itself from one value, or from JSON where its value is an object or a list.
        case singleValue(ColumnDecoding)
        /// A type that always decodes several values.
        case json(ColumnDecoding)
    }

    /// What is known of a key.
    struct Fact {
        /// Negative if there is no such column.
        let column: Int
        /// The type that is read from a statement without asking for its conversion.
        var ownConversion: (any DecodedByStrategy.Type)?
        /// The type that `conversion` is for.
        var type: ObjectIdentifier?
        var conversion: Conversion?
    }

    /// Where a key is found that is one byte; negative as long as it isn't known, or if there is no such column.
    private struct KnownKey {
        var column: Int32 = -1
        var place: Int16 = -1
        /// Whether there is an `ownConversion`.
        var convertsItself = false
    }

    /// It has the plan.
    private let owner: Unmanaged<RowDecoder>

    var decoder: RowDecoder { owner.takeUnretainedValue() }

    @exclusivity(unchecked)
    private var keys = NameMemo<Fact>()

    /// Whether keys are one byte, as those of an enum are.
    private let keysAreBytes: Bool

    // The name of a key is a string that its type makes each time. So the names of keys that are one byte are asked for
    // in the first two rows of an execution, and then the byte finds the column.

    /// The keys that are known in this execution, by their byte; nil for others.
    @exclusivity(unchecked)
    private var known: UnsafeMutablePointer<KnownKey>?

    /// Room for all keys that are one byte.
    @exclusivity(unchecked)
    private var room: UnsafeMutablePointer<KnownKey>?

    private static var byteCount: Int { 256 }

    /// The place for a value that is moved, after the keys: 16 bytes, or two of them.
    private static var placeSize: Int { 2 }

    init<Key: CodingKey>(_ decoder: RowDecoder, _ keys: Key.Type) {
        owner = Unmanaged.passUnretained(decoder)
        keysAreBytes = MemoryLayout<Key>.size == 1 && _isPOD(Key.self)
    }

    deinit { room?.deallocate() }

    // MARK: - Places

    /// What is known of a key, if its column is.
    @inline(__always)
    private func knownKey<Key: CodingKey>(_ key: Key) -> KnownKey? {
        guard let known else { return nil }
        let key = known[Int(Self.byte(of: key))]
        return key.column >= 0 ? key : nil
    }

    /// The byte of a key that is one.
    @inline(__always)
    private static func byte<Key: CodingKey>(of key: Key) -> UInt8 {
        unsafeBitCast(key, to: UInt8.self)
    }

    /// The place of a key in the plan.
    @inline(__always)
    func place(of key: some CodingKey) -> Int {
        if let known {
            let place = Int(known[Int(Self.byte(of: key))].place)
            if place >= 0 { return place }
        }
        return placeByName(key)
    }

    @inline(never)
    private func placeByName(_ key: some CodingKey) -> Int {
        let name = key.stringValue
        let place = keys.expectedPlace(name) ?? search(name)
        if keysAreBytes, decoder.isInSameExecution { remember(key, place) }
        return place
    }

    @inline(never)
    private func search(_ key: String) -> Int {
        if let place = keys.place(key, spelled: true) { return place }
        let fact = Fact(column: decoder.findColumn(key) ?? -1)
        if let place = keys.append(key, fact) { return place }
        // More keys than a plan remembers.
        keys = NameMemo()
        known = nil
        return keys.append(key, fact)!
    }

    @inline(never)
    private func remember(_ key: some CodingKey, _ place: Int) {
        if known == nil {
            let room = room ?? .allocate(capacity: Self.byteCount + Self.placeSize)
            room.initialize(repeating: KnownKey(), count: Self.byteCount)
            self.room = room
            known = room
        }
        let fact = keys.entries[place].fact
        known?[Int(Self.byte(of: key))] = KnownKey(
            column: Int32(truncatingIfNeeded: fact.column), place: Int16(truncatingIfNeeded: place),
            convertsItself: fact.ownConversion != nil)
    }

    /// Another execution begins: names are asked for again.
    func forgetKeys() { known = nil }

    @inline(__always)
    func fact(_ place: Int) -> Fact { keys.entries[place].fact }

    /// The column of a key; negative if there is none.
    @inline(__always)
    func column(of key: some CodingKey) -> Int {
        if let known = knownKey(key) { return Int(known.column) }
        return keys.entries[place(of: key)].fact.column
    }

    func setConversion(_ conversion: Conversion, _ type: ObjectIdentifier, at place: Int) {
        keys.entries[place].fact.type = type
        keys.entries[place].fact.conversion = conversion
        let ownConversion: (any DecodedByStrategy.Type)? =
            if case .ownConversion(let type) = conversion { type } else { nil }
        keys.entries[place].fact.ownConversion = ownConversion
        guard let known else { return }
        for byte in 0..<Self.byteCount where Int(known[byte].place) == place {
            known[byte].convertsItself = ownConversion != nil
        }
    }

    // MARK: - Values

    // Most keys are known, and most columns stand in a statement: these are read in place, without a call. What isn't
    // so simple is asked for by functions of their own, which the simple case needs to keep nothing for.

    /// The value of a column, which must be in the row.
    @inline(__always)
    private func value<Value: DatabaseValueConvertible>(_ type: Value.Type, _ column: Int32) throws -> Value {
        let row = try owner._withUnsafeGuaranteedRef { try $0.activeRow() }
        return try row._withUnsafeGuaranteedRef { try $0.decode(type, atIndex: Int(column)) }
    }

    /// A column in its statement.
    @inline(__always)
    private func statementColumn(_ column: Int32) -> (statement: SQLiteStatement, index: CInt)? {
        guard let row = owner._withUnsafeGuaranteedRef({ $0.current }) else { return nil }
        return row._withUnsafeGuaranteedRef { $0.statementColumn(atUncheckedIndex: column) }
    }

    /// The value of a key's column.
    @inline(__always)
    func value<Value: DatabaseValueConvertible>(_ type: Value.Type, _ key: some CodingKey) throws -> Value {
        guard let known = knownKey(key) else { return try valueByName(type, key) }
        return try value(type, known.column)
    }

    @inline(never)
    private func valueByName<Value: DatabaseValueConvertible>(_ type: Value.Type, _ key: some CodingKey) throws -> Value
    {
        let column = column(of: key)
        guard column >= 0 else { throw decoder.columnNotFound(key) }
        return try value(type, Int32(truncatingIfNeeded: column))
    }

    /// The same; nil for NULL, and if there is no such column.
    @inline(__always)
    func valueIfPresent<Value: DatabaseValueConvertible>(_ type: Value.Type, _ key: some CodingKey) throws -> Value? {
        guard let known = knownKey(key) else { return try valueIfPresentByName(type, key) }
        return try value(Value?.self, known.column)
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
        if let (statement, index) = statementColumn(known.column),
            let text = StatementColumns.string(statement, index)
        {
            return text
        }
        return try unusualValue(String.self, known.column)
    }

    /// The same; nil for NULL too, and if there is no such column.
    @inline(__always)
    func stringIfPresent(_ key: some CodingKey) throws -> String? {
        guard let known = knownKey(key) else { return try valueIfPresentByName(String.self, key) }
        if let (statement, index) = statementColumn(known.column),
            let text = String?.fromStatement(statement, atUncheckedIndex: index)
        {
            return text
        }
        return try unusualValue(String?.self, known.column)
    }

    /// The integer of a key's column.
    @inline(__always)
    func integer<Value: SQLInteger>(_ type: Value.Type, _ key: some CodingKey) throws -> Value {
        guard let known = knownKey(key) else { return try valueByName(type, key) }
        if let (statement, index) = statementColumn(known.column),
            let integer = StatementColumns.integer(statement, index),
            let value = Value(exactly: integer)
        {
            return value
        }
        return try unusualValue(type, known.column)
    }

    /// The same; nil for NULL too, and if there is no such column.
    @inline(__always)
    func integerIfPresent<Value: SQLInteger>(_ type: Value.Type, _ key: some CodingKey) throws -> Value? {
        guard let known = knownKey(key) else { return try valueIfPresentByName(type, key) }
        if let (statement, index) = statementColumn(known.column),
            let stored = StatementColumns.integerOrNull(statement, index)
        {
            guard let integer = stored else { return nil }
            if let value = Value(exactly: integer) { return value }
        }
        return try unusualValue(Value?.self, known.column)
    }

    /// The number of a key's column.
    @inline(__always)
    func number(_ key: some CodingKey) throws -> Double {
        guard let known = knownKey(key) else { return try valueByName(Double.self, key) }
        if let (statement, index) = statementColumn(known.column),
            let number = StatementColumns.number(statement, index)
        {
            return number
        }
        return try unusualValue(Double.self, known.column)
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
            return movedValue()
        }
        return try decodeByPlace(type, key)
    }

    /// Reads a column of a type that converts itself, into the place for a value.
    @inline(__always)
    private func readItself<T>(_ type: T.Type, _ known: KnownKey) -> StatementColumnReading {
        let place = Int(known.place)
        guard keys.entries[place].fact.type == ObjectIdentifier(type),
            let ownConversion = keys.entries[place].fact.ownConversion,
            let (statement, index) = statementColumn(known.column)
        else { return .other }
        return ownConversion.read(statement, index, into: valuePlace)
    }

    @inline(__always)
    private var valuePlace: UnsafeMutableRawPointer { UnsafeMutableRawPointer(room.unsafelyUnwrapped + Self.byteCount) }

    /// The value that was read. It is moved: to copy it would count what it refers to.
    @inline(__always)
    private func movedValue<T>() -> T { valuePlace.assumingMemoryBound(to: T.self).move() }

    @inline(never)
    private func decodeByPlace<T: Decodable>(_ type: T.Type, _ key: some CodingKey) throws -> T {
        try decode(type, at: place(of: key), key)
    }

    private func decode<T: Decodable>(_ type: T.Type, at place: Int, _ key: some CodingKey) throws -> T {
        let column = keys.entries[place].fact.column
        guard column >= 0 else { return try decoder.decodeNested(type, key) }
        return try decoder.decodeColumn(type, self, at: place, key)
    }

    /// The same; nil for NULL, and for a key that is nowhere.
    @inline(__always)
    func decodeIfPresent<T: Decodable>(_ type: T.Type, _ key: some CodingKey) throws -> T? {
        if let known = knownKey(key), known.convertsItself {
            switch readItself(type, known) {
            case .value: return movedValue() as T
            case .null: return nil
            case .other: break
            }
        }
        return try decodeIfPresentByPlace(type, key)
    }

    @inline(never)
    private func decodeIfPresentByPlace<T: Decodable>(_ type: T.Type, _ key: some CodingKey) throws -> T? {
        let place = place(of: key)
        let column = keys.entries[place].fact.column
        guard column >= 0 else {
            if let row = try decoder.nestedRow(key) {
                guard row.containsNonNullValue else { return nil }
            } else if try decoder.prefetchedList(key) == nil {
                return nil
            }
            return try decoder.decodeNested(type, key)
        }
        guard try !decoder.row().hasNull(atIndex: column) else { return nil }
        return try decode(type, at: place, key)
    }
}
