/// Finds the parameters in SQL, past strings, quoted names and comments.
///
/// See <https://www.sqlite.org/lang_expr.html#varparam> and <https://www.sqlite.org/lang_comment.html>.
struct SQLScanner {
    enum Kind: Equatable {
        /// `?`, `?5`, `:name`, `@name`, `$name`: the name without its prefix; nil for parameters without a name.
        case parameter(String?)
        case other
    }

    struct Token {
        var kind: Kind
        var range: Range<Int>
    }

    let bytes: [UInt8]
    private var position = 0

    init(_ sql: String) { bytes = Array(sql.utf8) }

    mutating func next() -> Token? {
        guard position < bytes.count else { return nil }
        let start = position
        let byte = bytes[position]
        position += 1
        var kind = Kind.other
        switch byte {
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
            skip(past: byte)
        case UInt8(ascii: "["):
            skip(past: UInt8(ascii: "]"))
        case UInt8(ascii: "-") where peek() == UInt8(ascii: "-"):
            skip(past: 10)
        case UInt8(ascii: "/") where peek() == UInt8(ascii: "*"):
            position += 1
            skipComment()
        case UInt8(ascii: "?"):
            while let byte = peek(), 48...57 ~= byte { position += 1 }
            kind = .parameter(nil)
        case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"):
            skipName()
            if position > start + 1 {
                kind = .parameter(String(decoding: bytes[(start + 1)..<position], as: UTF8.self))
            }
        case 0xEF where bytes[start...].starts(with: "\u{FEFF}".utf8):
            // SQLite takes a byte order mark for white space, unless it is inside a name.
            position += 2
        default:
            // A `$` inside a name belongs to the name.
            if Self.isInName(byte) { skipName() }
        }
        return Token(kind: kind, range: start..<position)
    }

    private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

    /// A doubled quote ends one string and begins another, which makes them one string.
    private mutating func skip(past end: UInt8) {
        while position < bytes.count, bytes[position] != end { position += 1 }
        position = min(position + 1, bytes.count)
    }

    private mutating func skipComment() {
        while position + 1 < bytes.count {
            if bytes[position] == UInt8(ascii: "*"), bytes[position + 1] == UInt8(ascii: "/") {
                position += 2
                return
            }
            position += 1
        }
        position = bytes.count
    }

    private mutating func skipName() {
        while let byte = peek(), Self.isInName(byte) { position += 1 }
    }

    private static func isInName(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, UInt8(ascii: "_"), UInt8(ascii: "$"), 128...255: true
        default: false
        }
    }
}
