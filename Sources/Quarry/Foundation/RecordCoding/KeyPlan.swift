import Foundation
import QuarryCore

/// Which columns the keys of a `Decodable` record read, and how, in the order they are asked for.
///
/// A type asks for the same keys in the same order for each row: then a column is found by a comparison of two words.
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

    struct Entry {
        /// Keeps the name's storage, so that equal bits mean an equal name.
        let key: String
        let bits: (UInt64, UInt64)
        /// Negative if there is no such column.
        let column: Int
        /// The type that `conversion` is for.
        var type: ObjectIdentifier?
        var conversion = Conversion.singleValue
    }

    @exclusivity(unchecked)
    private(set) var entries: [Entry] = []

    @exclusivity(unchecked)
    private var next = 0

    /// The place in `entries` of a key.
    @inline(__always)
    func place(of key: String, _ decoder: RowDecoder) -> Int {
        let bits = unsafeBitCast(key, to: (UInt64, UInt64).self)
        let place = next
        if place < entries.count, entries[place].bits.0 == bits.0, entries[place].bits.1 == bits.1 {
            next = place &+ 1 == entries.count ? 0 : place &+ 1
            return place
        }
        return search(key, bits, decoder)
    }

    /// The column of a key; negative if there is none.
    @inline(__always)
    func column(of key: String, _ decoder: RowDecoder) -> Int { entries[place(of: key, decoder)].column }

    @inline(never)
    private func search(_ key: String, _ bits: (UInt64, UInt64), _ decoder: RowDecoder) -> Int {
        var place = entries.firstIndex { $0.bits == bits || $0.key == key }
        if place == nil {
            entries.append(Entry(key: key, bits: bits, column: decoder.findColumn(key) ?? -1))
            place = entries.count - 1
        }
        next = place! + 1 == entries.count ? 0 : place! + 1
        return place!
    }

    func setConversion(_ conversion: Conversion, _ type: ObjectIdentifier, at place: Int) {
        entries[place].type = type
        entries[place].conversion = conversion
    }

    /// The next row begins.
    @inline(__always)
    func rewind() { next = 0 }
}
