#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// SQL, compared byte by byte.
///
/// In Swift, strings are equal if they are canonically equivalent, such as "é" and "e" with a combining accent. SQLite
/// treats them as different texts, so statements that contain them differ, too.
struct SQLKey: Hashable {
    let text: String

    /// Computed once, because a text is looked up, kept and forgotten.
    let hash: Int

    init(_ text: String) {
        self.text = text
        var text = text
        hash = text.withUTF8Bytes { Self.hash(UnsafeRawBufferPointer($0)) }
    }

    /// A hash of bytes that is cheap for texts of some hundred bytes.
    ///
    /// An attacker could choose texts with the same hash. But few texts are kept, and only kept texts are compared.
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
        var hash = UInt64(truncatingIfNeeded: bytes.count)
        func mix(_ word: UInt64) {
            let product = (hash ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
            hash = product.high ^ product.low
        }
        var start = 0
        while start + 8 <= bytes.count {
            mix(bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self))
            start += 8
        }
        var rest: UInt64 = 0
        while start < bytes.count {
            rest = rest << 8 | UInt64(bytes[start])
            start += 1
        }
        mix(rest)
        return Int(truncatingIfNeeded: hash ^ hash >> 32)
    }

    /// Whether two texts have the same bytes.
    @inline(__always)
    static func isSameText(_ lhs: String, _ rhs: String) -> Bool {
        // The strings share their storage, which both sides keep; they are mostly the same literal.
        StringBits(lhs) == StringBits(rhs) || hasSameBytes(lhs, rhs)
    }

    private static func hasSameBytes(_ lhs: String, _ rhs: String) -> Bool {
        let count = lhs.utf8.count
        guard rhs.utf8.count == count else { return false }
        var (lhs, rhs) = (lhs, rhs)
        return lhs.withUTF8Bytes { lhs in
            rhs.withUTF8Bytes { rhs in count == 0 || memcmp(lhs.baseAddress!, rhs.baseAddress!, count) == 0 }
        }
    }

    /// Whether both have the same bytes.
    static func == (lhs: SQLKey, rhs: SQLKey) -> Bool {
        lhs.hash == rhs.hash && isSameText(lhs.text, rhs.text)
    }

    /// Hashes the hash of the bytes.
    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
