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

    /// What is known of a key.
    struct Fact {
        /// Negative if there is no such column.
        let column: Int
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
    }

    /// The value of a key's column; nil if there is no such column.
    @inline(__always)
    func value<Value: DatabaseValueConvertible>(_ type: Value.Type, _ key: String) throws -> Value? {
        let column = column(of: key)
        guard column >= 0 else { return nil }
        let row = try owner._withUnsafeGuaranteedRef { try $0.activeRow() }
        return try row._withUnsafeGuaranteedRef { try $0.decode(type, atIndex: column) }
    }
}
