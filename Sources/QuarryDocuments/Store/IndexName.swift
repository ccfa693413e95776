import Quarry
import QuarryCore

/// The name of an index of a collection: `document:books:author`.
///
/// SQLite compares names without the case of ASCII letters, and a text with a NUL isn't a name. So the parts are
/// escaped: the names of two indexes are equal only if their stores, collections and names are.
struct IndexName {
    let store: String
    let collection: String
    let name: String

    /// The name in the schema.
    var text: String { "\(store):\(Self.escaped(collection)):\(Self.escaped(name))" }

    init(store: String, collection: String, name: String) {
        self.store = store
        self.collection = collection
        self.name = name
    }

    /// - returns: nil if the text isn't the name of an index of the store.
    init?(_ text: String, store: String) {
        let prefix = store + ":"
        guard String(decoding: text.utf8.prefix(prefix.utf8.count), as: UTF8.self).isSameName(as: prefix) else {
            return nil
        }
        let parts = text.utf8.dropFirst(prefix.utf8.count).split(
            separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 2, let collection = Self.unescaped(parts[0]), let name = Self.unescaped(parts[1]) else {
            return nil
        }
        self.init(store: store, collection: collection, name: name)
    }

    private static func escaped(_ part: String) -> String {
        var bytes: [UInt8] = []
        for byte in part.utf8 {
            switch byte {
            case 0: bytes += "^0".utf8
            case UInt8(ascii: ":"): bytes += "^.".utf8
            case UInt8(ascii: "^"): bytes += "^^".utf8
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): bytes += [UInt8(ascii: "^"), byte | 0x20]
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func unescaped(_ part: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var iterator = part.makeIterator()
        while let byte = iterator.next() {
            guard byte == UInt8(ascii: "^") else {
                bytes.append(byte)
                continue
            }
            switch iterator.next() {
            case UInt8(ascii: "0"): bytes.append(0)
            case UInt8(ascii: "."): bytes.append(UInt8(ascii: ":"))
            case UInt8(ascii: "^"): bytes.append(UInt8(ascii: "^"))
            case let letter? where (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter):
                bytes.append(letter & ~0x20)
            default: return nil
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
