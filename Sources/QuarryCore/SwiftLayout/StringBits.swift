/// The two words of a `String`, which compare faster than its characters.
///
/// Assumption: a `String` is two words that are its text, or refer to it. So strings with equal bits have the same
/// text, as long as both exist. The cast checks the size. Strings with different bits may be equal, too: the slow way
/// compares characters or bytes, and each caller has it in the same function.
@usableFromInline
package struct StringBits: Equatable, Sendable {
    @usableFromInline let first: UInt64
    @usableFromInline let second: UInt64

    @inlinable
    @inline(__always)
    package init(_ string: String) { (first, second) = unsafeBitCast(string, to: (UInt64, UInt64).self) }

    @inlinable
    @inline(__always)
    package static func == (lhs: StringBits, rhs: StringBits) -> Bool {
        lhs.first == rhs.first && lhs.second == rhs.second
    }

    /// Whether the text is at most 15 ASCII characters that the words themselves hold. Two such strings with different
    /// bits are different.
    ///
    /// Assumption: the highest four bits of the second word are 1110 for such strings alone. `marksShortASCII` checks
    /// it once; if it doesn't hold, no string counts as short, and callers compare characters.
    @inline(__always)
    var isShortASCII: Bool { second >> 60 == 0xE && Self.marksShortASCII }

    private static let marksShortASCII: Bool = {
        func mark(_ string: String) -> UInt64 { StringBits(string).second >> 60 }
        let literal = "a literal of more than fifteen bytes"
        let others = [literal, String(literal.reversed()), String(literal.dropLast()), "é", "fifteen bytes: é"]
        return ["", "a", "fifteen bytes .", String(["a", "b"])].allSatisfy { mark($0) == 0xE }
            && others.allSatisfy { mark($0) != 0xE }
    }()

    /// A number in `0..<64` that spreads names.
    @inline(__always)
    var bucket: UInt64 { ((first ^ second &* 31) &* 0x9E37_79B9_7F4A_7C15) >> 58 }
}
