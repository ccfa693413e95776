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
    enum OwnConversion {
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

    /// It has the plan.
    private let owner: Unmanaged<RowDecoder>

    var decoder: RowDecoder { owner.takeUnretainedValue() }

    @exclusivity(unchecked)
    private var keys = NameMemo<Fact>()

    init(_ decoder: RowDecoder) { owner = Unmanaged.passUnretained(decoder) }

    /// The column of a key; negative if there is none.
    @inline(__always)
    func column(of key: String) -> Int {
        if let place = keys.expectedPlace(key) { return keys.entries[place].fact.column }
        return fact(search(key)).column
    }

    /// The place of a key in the plan.
    @inline(__always)
    func place(of key: String) -> Int { keys.expectedPlace(key) ?? search(key) }

    @inline(never)
    private func search(_ key: String) -> Int {
        if let place = keys.place(key, spelled: true) { return place }
        let fact = Fact(column: decoder.findColumn(key) ?? -1)
        if let place = keys.append(key, fact) { return place }
        // More keys than a plan remembers.
        keys = NameMemo()
        return keys.append(key, fact)!
    }

    @inline(__always)
    func fact(_ place: Int) -> Fact { keys.entries[place].fact }

    func setConversion(_ conversion: Conversion, _ type: ObjectIdentifier, at place: Int) {
        keys.entries[place].fact.type = type
        keys.entries[place].fact.conversion = conversion
        keys.entries[place].fact.ownConversion =
            switch conversion {
            case .date(.deferredToDate): .date
            case .data(.deferredToData): .data
            default: .none
            }
    }

    /// The value of a key: of its column, or what else has its name.
    @inline(__always)
    func decode<T: Decodable>(_ type: T.Type, _ key: some CodingKey) throws -> T {
        try decode(type, at: place(of: key.stringValue), key)
    }

    @inline(__always)
    private func decode<T: Decodable>(_ type: T.Type, at place: Int, _ key: some CodingKey) throws -> T {
        let column = keys.entries[place].fact.column
        let conversion = keys.entries[place].fact.ownConversion
        if conversion == .date, T.self == Date.self {
            let row = try owner._withUnsafeGuaranteedRef { try $0.activeRow() }
            return try row._withUnsafeGuaranteedRef { try reinterpret($0.decode(Date.self, atIndex: column)) }
        }
        if conversion == .data, T.self == Data.self {
            let row = try owner._withUnsafeGuaranteedRef { try $0.activeRow() }
            return try row._withUnsafeGuaranteedRef { try reinterpret($0.decode(Data.self, atIndex: column)) }
        }
        guard column >= 0 else { return try decoder.decodeNested(type, key) }
        return try decoder.decodeColumn(type, self, at: place, key)
    }

    /// The same; nil for NULL, and for a key that is nowhere.
    @inline(__always)
    func decodeIfPresent<T: Decodable>(_ type: T.Type, _ key: some CodingKey) throws -> T? {
        let place = place(of: key.stringValue)
        let column = keys.entries[place].fact.column
        guard column >= 0 else {
            if let row = try decoder.nestedRow(key) {
                guard row.containsNonNullValue else { return nil }
            } else if try decoder.prefetchedList(key) == nil {
                return nil
            }
            return try decoder.decodeNested(type, key)
        }
        let row = try owner._withUnsafeGuaranteedRef { try $0.activeRow() }
        guard row._withUnsafeGuaranteedRef({ row in !row.hasNull(atIndex: column) }) else { return nil }
        return try decode(type, at: place, key)
    }

    /// The value of a key's column; nil if there is no such column.
    @inline(__always)
    func value<Value: DatabaseValueConvertible>(_ type: Value.Type, _ key: String) throws -> Value? {
        let column = column(of: key)
        guard column >= 0 else { return nil }
        let row = try owner._withUnsafeGuaranteedRef { try $0.activeRow() }
        return try row._withUnsafeGuaranteedRef { try $0.decode(type, atIndex: column) }
    }

    // Most columns are integers, and most of these stand in a statement: those are read in place, without a call.

    /// The integer of a key's column; nil if there is no such column.
    @inline(__always)
    func integer<Value: SQLInteger>(_ type: Value.Type, _ key: String) throws -> Value? {
        let column = column(of: key)
        guard column >= 0 else { return nil }
        let row = try owner._withUnsafeGuaranteedRef { try $0.activeRow() }
        return try row._withUnsafeGuaranteedRef { row in
            if let integer = row.statementInteger(atUncheckedIndex: column), let value = Value(exactly: integer) {
                return value
            }
            return try row.decode(type, atIndex: column)
        }
    }

    /// The same; nil for NULL too.
    @inline(__always)
    func integerOrNull<Value: SQLInteger>(_ type: Value.Type, _ key: String) throws -> Value? {
        let column = column(of: key)
        guard column >= 0 else { return nil }
        let row = try owner._withUnsafeGuaranteedRef { try $0.activeRow() }
        return try row._withUnsafeGuaranteedRef { row in
            if let known = row.statementIntegerOrNull(atUncheckedIndex: column) {
                guard let integer = known else { return nil }
                if let value = Value(exactly: integer) { return value }
            }
            return try row.decode(Value?.self, atIndex: column)
        }
    }
}
