// SQLite compares names by their bytes, and ignores the case of the letters A to Z. Swift compares strings by canonical
// equivalence: canonically equivalent names can be different names to SQLite.

extension String {
    /// The text with the letters A to Z in lower case.
    package var lowercasedASCII: String {
        guard utf8.contains(where: \.isCapitalLetter) else { return self }
        return String(decoding: utf8.map(\.lowercasedLetter), as: UTF8.self)
    }

    /// Whether both have the same bytes.
    package func isIdentical(to other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Whether both are the same name to SQLite.
    package func isSameName(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        return utf8.elementsEqual(other.utf8) { $0 == $1 || $0.lowercasedLetter == $1.lowercasedLetter }
    }
}

/// A name as a dictionary key: only names with the same bytes are equal.
package struct SpelledName: Hashable {
    private let name: String

    package init(_ name: String) { self.name = name }

    /// Whether both have the same bytes.
    package static func == (lhs: SpelledName, rhs: SpelledName) -> Bool { lhs.name.isIdentical(to: rhs.name) }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) {
        var name = name
        name.withUTF8Bytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension UInt8 {
    fileprivate var isCapitalLetter: Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self }
    fileprivate var lowercasedLetter: UInt8 { isCapitalLetter ? self | 0x20 : self }
}
