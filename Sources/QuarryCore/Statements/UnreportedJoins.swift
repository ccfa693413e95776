extension Substring.UTF8View {
    /// The first keyword of a join whose columns SQLite doesn't report to the authorizer: `NATURAL` or `USING`.
    ///
    /// Strings, quoted names and comments are skipped: <https://www.sqlite.org/lang_keywords.html>.
    var firstUnreportedJoin: String? {
        var rest = self.skippingSpaceAndComments
        while let byte = rest.first {
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
                // A doubled quote ends one literal and begins the next.
                rest = rest.dropFirst().drop { $0 != byte }.dropFirst()
            case UInt8(ascii: "?"):
                // The digits are part of the parameter, and the letters behind them aren't.
                rest = rest.dropFirst().drop { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            case 0xEF where rest.starts(with: [0xEF, 0xBB, 0xBF]):
                // SQLite takes a byte order mark for a space.
                rest = rest.dropFirst(3)
            case UInt8(ascii: "["):
                rest = rest.drop { $0 != UInt8(ascii: "]") }.dropFirst()
            case _ where byte.isOfWord:
                let word = rest.prefix { $0.isOfWord }
                rest = rest[word.endIndex...]
                let name = String(decoding: word, as: UTF8.self).lowercasedASCII
                if name == "natural" || name == "using" { return name.uppercased() }
            case UInt8(ascii: "-"), UInt8(ascii: "/"):
                let next = rest.skippingSpaceAndComments
                rest = next.startIndex == rest.startIndex ? rest.dropFirst() : next
                continue
            default:
                rest = rest.dropFirst()
            }
            rest = rest.skippingSpaceAndComments
        }
        return nil
    }
}

extension UInt8 {
    /// Whether SQLite takes the byte for a part of a name.
    fileprivate var isOfWord: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }
}
