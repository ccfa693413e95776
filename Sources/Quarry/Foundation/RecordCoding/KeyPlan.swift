import Foundation
import QuarryCore

/// Which columns the keys of a `Decodable` record read, and how.
final class KeyPlan {
    /// How a column becomes a value of the type that is asked for.
    enum Conversion {
        case convertible(any DatabaseValueConvertible.Type)
        case date(DatabaseDateDecodingStrategy)
        case data(DatabaseDataDecodingStrategy)
        /// A type that decodes itself from one value.
        case singleValue
        case json(JSONDecoder)
    }

    /// A conversion that is the type's own, of the types that most records have besides the standard ones.
    enum OwnConversion: UInt8 {
        case none, date, data
    }

    /// What is known of a key.
    struct Fact {
        /// Negative if there is no such column.
        let column: Int
        var ownConversion = OwnConversion.none
        /// The type that `conversion` is for.
        var type: ObjectIdentifier?
        var conversion = Conversion.singleValue
    }

    /// Where a key is found that is one byte; negative as long as it isn't known, or if there is no such column.
    private struct KnownKey {
        var column: Int32 = -1
        var place: Int16 = -1
        var ownConversion = OwnConversion.none
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

    init<Key: CodingKey>(_ decoder: RowDecoder, _ keys: Key.Type) {
        owner = Unmanaged.passUnretained(decoder)
        keysAreBytes = MemoryLayout<Key>.size == 1 && _isPOD(Key.self)
    }

    deinit { room?.deallocate() }

    // MARK: - Places

    @inline(__always)
    private func knownKey<Key: CodingKey>(_ key: Key) -> KnownKey {
        guard let known else { return KnownKey() }
        return known[Int(Self.byte(of: key))]
    }

    /// The byte of a key that is one.
    @inline(__always)
    private static func byte<Key: CodingKey>(of key: Key) -> UInt8 {
        unsafeBitCast(key, to: UInt8.self)
    }

    /// The place of a key in the plan.
    @inline(__always)
    func place(of key: some CodingKey) -> Int {
        let place = Int(knownKey(key).place)
        return place >= 0 ? place : placeByName(key)
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
            let room = room ?? .allocate(capacity: Self.byteCount)
            room.initialize(repeating: KnownKey(), count: Self.byteCount)
            self.room = room
            known = room
        }
        let fact = keys.entries[place].fact
        known?[Int(Self.byte(of: key))] = KnownKey(
            column: Int32(truncatingIfNeeded: fact.column), place: Int16(truncatingIfNeeded: place),
            ownConversion: fact.ownConversion)
    }

    /// Another execution begins: names are asked for again.
    func forgetKeys() { known = nil }

    @inline(__always)
    func fact(_ place: Int) -> Fact { keys.entries[place].fact }

    /// The column of a key; negative if there is none.
    @inline(__always)
    func column(of key: some CodingKey) -> Int {
        let column = Int(knownKey(key).column)
        return column >= 0 ? column : keys.entries[place(of: key)].fact.column
    }

    func setConversion(_ conversion: Conversion, _ type: ObjectIdentifier, at place: Int) {
        keys.entries[place].fact.type = type
        keys.entries[place].fact.conversion = conversion
        keys.entries[place].fact.ownConversion =
            switch conversion {
            case .date(.deferredToDate): .date
            case .data(.deferredToData): .data
            default: .none
            }
        guard let known else { return }
        for byte in 0..<Self.byteCount where Int(known[byte].place) == place {
            known[byte].ownConversion = keys.entries[place].fact.ownConversion
        }
    }

    // MARK: - Values

    /// The value of a column, which must be in the row.
    @inline(__always)
    private func value<Value: DatabaseValueConvertible>(_ type: Value.Type, _ column: Int) throws -> Value {
        let row = try owner._withUnsafeGuaranteedRef { try $0.activeRow() }
        return try row._withUnsafeGuaranteedRef { try $0.decode(type, atIndex: column) }
    }

    /// The value of a key: of its column, or what else has its name.
    @inline(__always)
    func decode<T: Decodable>(_ type: T.Type, _ key: some CodingKey) throws -> T {
        let known = knownKey(key)
        if known.ownConversion == .date, T.self == Date.self {
            if let (statement, index) = statementColumn(known),
                let date = Date(sqliteStatement: statement, index: index)
            {
                return reinterpret(date)
            }
        } else if known.ownConversion == .data, T.self == Data.self {
            if let (statement, index) = statementColumn(known),
                let data = Data(sqliteStatement: statement, index: index)
            {
                return reinterpret(data)
            }
        }
        return try decode(type, at: place(of: key), key)
    }

    @inline(never)
    private func decode<T: Decodable>(_ type: T.Type, at place: Int, _ key: some CodingKey) throws -> T {
        let column = keys.entries[place].fact.column
        guard column >= 0 else { return try decoder.decodeNested(type, key) }
        return try decoder.decodeColumn(type, self, at: place, key)
    }

    /// The same; nil for NULL, and for a key that is nowhere.
    @inline(__always)
    func decodeIfPresent<T: Decodable>(_ type: T.Type, _ key: some CodingKey) throws -> T? {
        let known = knownKey(key)
        if known.ownConversion == .date, T.self == Date.self {
            if let (statement, index) = statementColumn(known),
                let value = Date?.fromStatement(statement, atUncheckedIndex: index)
            {
                guard let value else { return nil }
                return reinterpret(value) as T
            }
        } else if known.ownConversion == .data, T.self == Data.self {
            if let (statement, index) = statementColumn(known),
                let value = Data?.fromStatement(statement, atUncheckedIndex: index)
            {
                guard let value else { return nil }
                return reinterpret(value) as T
            }
        }
        return try decodeIfPresent(type, at: place(of: key), key)
    }

    @inline(never)
    private func decodeIfPresent<T: Decodable>(_ type: T.Type, at place: Int, _ key: some CodingKey) throws -> T? {
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

    /// The value of a key's column.
    @inline(__always)
    func value<Value: DatabaseValueConvertible>(_ type: Value.Type, _ key: some CodingKey) throws -> Value {
        let column = column(of: key)
        guard column >= 0 else { throw decoder.keyNotFound(key) }
        return try value(type, column)
    }

    /// The same; nil for NULL, and if there is no such column.
    @inline(__always)
    func valueIfPresent<Value: DatabaseValueConvertible>(_ type: Value.Type, _ key: some CodingKey) throws -> Value? {
        let column = column(of: key)
        guard column >= 0 else { return nil }
        return try value(Value?.self, column)
    }

    // MARK: - Values of a statement

    // Most columns stand in a statement: those of a key that is known are read in place, without a call.

    /// The row, if a key's column is known.
    @inline(__always)
    private func knownRow(_ key: some CodingKey) -> (row: Unmanaged<Row>, column: Int)? {
        let column = Int(knownKey(key).column)
        guard column >= 0, let row = owner._withUnsafeGuaranteedRef({ $0.current }) else { return nil }
        return (row, column)
    }

    /// The column of a known key, in its statement.
    @inline(__always)
    private func statementColumn(_ known: KnownKey) -> (statement: SQLiteStatement, index: CInt)? {
        guard known.column >= 0, let row = owner._withUnsafeGuaranteedRef({ $0.current }) else { return nil }
        return row._withUnsafeGuaranteedRef { $0.statementColumn(atUncheckedIndex: Int(known.column)) }
    }

    /// The text of a key's column.
    @inline(__always)
    func string(_ key: some CodingKey) throws -> String {
        if let (statement, index) = statementColumn(knownKey(key)),
            let text = StatementColumns.string(statement, index)
        {
            return text
        }
        return try stringSlowly(key)
    }

    @inline(never)
    private func stringSlowly(_ key: some CodingKey) throws -> String { try value(String.self, key) }

    /// The same; nil for NULL too, and if there is no such column.
    @inline(__always)
    func stringIfPresent(_ key: some CodingKey) throws -> String? {
        if let (statement, index) = statementColumn(knownKey(key)),
            let text = String?.fromStatement(statement, atUncheckedIndex: index)
        {
            return text
        }
        return try stringIfPresentSlowly(key)
    }

    @inline(never)
    private func stringIfPresentSlowly(_ key: some CodingKey) throws -> String? {
        try valueIfPresent(String.self, key)
    }

    /// The integer of a key's column.
    @inline(__always)
    func integer<Value: SQLInteger>(_ type: Value.Type, _ key: some CodingKey) throws -> Value {
        if let (row, column) = knownRow(key),
            let integer = row._withUnsafeGuaranteedRef({ $0.statementInteger(atUncheckedIndex: column) }),
            let value = Value(exactly: integer)
        {
            return value
        }
        return try integerSlowly(type, key)
    }

    /// The same of an `Int`, in another order: the compiler makes one function of those that differ in a type alone,
    /// and reaches it by another call.
    @inline(__always)
    func int(_ key: some CodingKey) throws -> Int {
        if let row = owner._withUnsafeGuaranteedRef({ $0.current }) {
            let column = Int(knownKey(key).column)
            if column >= 0,
                let integer = row._withUnsafeGuaranteedRef({ $0.statementInteger(atUncheckedIndex: column) }),
                let value = Int(exactly: integer)
            {
                return value
            }
        }
        return try integerSlowly(Int.self, key)
    }

    @inline(never)
    private func integerSlowly<Value: SQLInteger>(_ type: Value.Type, _ key: some CodingKey) throws -> Value {
        try value(type, key)
    }

    /// The same; nil for NULL too, and if there is no such column.
    @inline(__always)
    func integerIfPresent<Value: SQLInteger>(_ type: Value.Type, _ key: some CodingKey) throws -> Value? {
        if let (row, column) = knownRow(key),
            let known = row._withUnsafeGuaranteedRef({ $0.statementIntegerOrNull(atUncheckedIndex: column) })
        {
            guard let integer = known else { return nil }
            if let value = Value(exactly: integer) { return value }
        }
        return try integerIfPresentSlowly(type, key)
    }

    @inline(never)
    private func integerIfPresentSlowly<Value: SQLInteger>(
        _ type: Value.Type, _ key: some CodingKey
    ) throws -> Value? {
        try valueIfPresent(type, key)
    }

    /// The number of a key's column.
    @inline(__always)
    func number(_ key: some CodingKey) throws -> Double {
        if let (row, column) = knownRow(key),
            let number = row._withUnsafeGuaranteedRef({ $0.statementNumber(atUncheckedIndex: column) })
        {
            return number
        }
        return try numberSlowly(key)
    }

    @inline(never)
    private func numberSlowly(_ key: some CodingKey) throws -> Double { try value(Double.self, key) }
}
