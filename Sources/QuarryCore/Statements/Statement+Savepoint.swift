extension Statement {
    /// The name in `SAVEPOINT name`, `RELEASE name` or `ROLLBACK TO name`, which is the last word of the statement:
    /// <https://www.sqlite.org/lang_savepoint.html>.
    var savepointName: String {
        var rest = Substring(sql).utf8.skippingSpaceAndComments
        var name = ""
        while let byte = rest.first {
            if let end = Self.closingQuote(of: byte) {
                name = Self.takeQuoted(&rest, end)
            } else {
                let word = rest.prefix(while: \.isPartOfIdentifier)
                // Any other character is a name's end.
                rest = word.isEmpty ? rest.dropFirst() : rest[word.endIndex...]
                if !word.isEmpty { name = String(Substring(word)) }
            }
            rest = rest.skippingSpaceAndComments
        }
        return name
    }

    private static func closingQuote(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"): byte
        case UInt8(ascii: "["): UInt8(ascii: "]")
        default: nil
        }
    }

    /// Removes a quoted name from the beginning of a text. Inside, a doubled quote means one.
    private static func takeQuoted(_ rest: inout Substring.UTF8View, _ quote: UInt8) -> String {
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
    var isPartOfIdentifier: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }
}
