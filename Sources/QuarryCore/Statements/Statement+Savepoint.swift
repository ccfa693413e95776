extension Statement {
    /// The name in `SAVEPOINT name`, `RELEASE name` or `ROLLBACK TO name`, which is the last word of the statement:
    /// <https://www.sqlite.org/lang_savepoint.html>.
    package var savepointName: String { Substring(sql).utf8.names.reduce("") { $1.text } }
}

/// A word of a statement: a keyword, or a name with or without quotes.
struct SQLName {
    /// The text without quotes.
    let text: String
    let isQuoted: Bool

    /// - parameter keyword: in small letters.
    func isKeyword(_ keyword: String) -> Bool { !isQuoted && text.lowercasedASCII == keyword }
}

extension Substring.UTF8View {
    /// The keywords and names of a statement without values, from left to right.
    var names: SQLNames { SQLNames(rest: self) }
}

struct SQLNames: Sequence, IteratorProtocol {
    var rest: Substring.UTF8View

    mutating func next() -> SQLName? {
        rest = rest.skippingSpaceAndComments
        while let byte = rest.first {
            if let end = Self.closingQuote(of: byte) { return SQLName(text: takeQuoted(end), isQuoted: true) }
            let word = rest.prefix(while: \.isPartOfIdentifier)
            guard word.isEmpty else {
                rest = rest[word.endIndex...]
                return SQLName(text: String(Substring(word)), isQuoted: false)
            }
            // Any other character is a name's end.
            rest = rest.dropFirst().skippingSpaceAndComments
        }
        return nil
    }

    private static func closingQuote(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"): byte
        case UInt8(ascii: "["): UInt8(ascii: "]")
        default: nil
        }
    }

    /// Removes a quoted name from the beginning of the text. Inside, a doubled quote means one.
    private mutating func takeQuoted(_ quote: UInt8) -> String {
        var bytes: [UInt8] = []
        rest = rest.dropFirst()
        while let byte = rest.popFirst() {
            guard byte == quote else {
                bytes.append(byte)
                continue
            }
            guard quote != UInt8(ascii: "]"), rest.first == quote else { break }
            bytes.append(quote)
            rest = rest.dropFirst()
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    /// Whether SQLite takes the byte for a part of a name.
    package var isPartOfIdentifier: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }
}
