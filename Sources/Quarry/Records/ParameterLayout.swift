import QuarryCore

/// The columns a record encodes, in their order, and the parameter of a statement that each has.
final class ParameterLayout {
    struct Entry {
        /// Keeps the name's storage, so that equal bits mean an equal name.
        let name: String
        let bits: (UInt64, UInt64)
        /// From 1; 0 for a column that the statement doesn't use.
        let parameter: CInt
        /// Whether it is of the key that finds the row.
        let isKey: Bool
    }

    let entries: [Entry]

    /// - parameter keyStart: the first parameter of the key; those after it are the key's too.
    init(names: [String], parameters: [CInt], keyStart: CInt = .max) {
        entries = zip(names, parameters).map { name, parameter in
            Entry(
                name: name, bits: unsafeBitCast(name, to: (UInt64, UInt64).self), parameter: parameter,
                isKey: parameter >= keyStart)
        }
    }

    /// Whether a record encodes these columns.
    func fits(_ names: [String]) -> Bool {
        entries.count == names.count && zip(entries, names).allSatisfy { $0.name.isSpelled(as: $1) }
    }
}

extension String {
    /// Whether both have the same bytes: to SQLite, canonically equivalent names are different ones.
    @inline(__always)
    func isSpelled(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Whether both name one column: SQLite ignores the case of ASCII letters.
    func isSameColumn(as other: String) -> Bool {
        utf8.elementsEqual(other.utf8) { $0 == $1 || ($0.lowercasedLetter == $1.lowercasedLetter) }
    }
}

extension UInt8 {
    fileprivate var lowercasedLetter: UInt8 { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self }
}
