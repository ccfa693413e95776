import Foundation
import QuarryCore

/// Which columns the keys of an `Encodable` record write, and how, in the order they come.
///
/// A type gives the same keys in the same order for each record: then a key is found by a comparison of two words.
struct EncodingKeyPlan {
    /// How a value of a type becomes a value of a column.
    enum Conversion {
        case convertible(any DatabaseValueConvertible.Type)
        case date(DatabaseDateEncodingStrategy)
        case data(DatabaseDataEncodingStrategy)
        case uuid(DatabaseUUIDEncodingStrategy)
        case optional
        /// A type that encodes itself as one value.
        case singleValue
        case json(JSONEncoder)
    }

    struct Entry {
        /// Keeps the key's storage, so that equal bits mean an equal key.
        let key: String
        let bits: (UInt64, UInt64)
        let column: String
        /// The type that `conversion` is for.
        var type: ObjectIdentifier?
        var conversion = Conversion.singleValue
    }

    private(set) var entries: [Entry] = []
    private var next = 0

    /// The place in `entries` of a key.
    @inline(__always)
    mutating func place(of key: some CodingKey, _ strategy: DatabaseColumnEncodingStrategy) -> Int {
        let name = key.stringValue
        let bits = unsafeBitCast(name, to: (UInt64, UInt64).self)
        let place = next
        if place < entries.count, entries[place].bits.0 == bits.0, entries[place].bits.1 == bits.1 {
            next = place &+ 1
            return place
        }
        return search(key, name, bits, strategy)
    }

    @inline(never)
    private mutating func search(
        _ key: any CodingKey, _ name: String, _ bits: (UInt64, UInt64), _ strategy: DatabaseColumnEncodingStrategy
    ) -> Int {
        var place = entries.firstIndex { $0.bits == bits || $0.key.isSpelled(as: name) }
        if place == nil {
            entries.append(Entry(key: name, bits: bits, column: strategy.column(key)))
            place = entries.count - 1
        }
        next = place! + 1
        return place!
    }

    mutating func setConversion(_ conversion: Conversion, _ type: ObjectIdentifier, at place: Int) {
        entries[place].type = type
        entries[place].conversion = conversion
    }

    /// The next record begins.
    @inline(__always)
    mutating func rewind() { next = 0 }
}
