extension Substring.UTF8View {
    /// The first keyword of a join whose columns SQLite doesn't report to the authorizer: `NATURAL` or `USING`.
    ///
    /// Strings, quoted names and comments are skipped: <https://www.sqlite.org/lang_keywords.html>.
    package var firstUnreportedJoin: String? {
        var rest = self.skippingSpaceAndComments
        while let byte = rest.first {
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
                // A doubled quote ends one literal and begins the next.
                rest = rest.dropFirst().drop { $0 != byte }.dropFirst()
            case UInt8(ascii: "?"):
                // The digits are part of the parameter, and the letters behind them aren't.
                rest = rest.dropFirst().drop { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            case UInt8(ascii: "["):
                rest = rest.drop { $0 != UInt8(ascii: "]") }.dropFirst()
            case _ where byte.isPartOfIdentifier:
                let word = rest.prefix(while: \.isPartOfIdentifier)
                rest = rest[word.endIndex...]
                let name = String(decoding: word, as: UTF8.self).lowercasedASCII
                if name == "natural" || name == "using" { return name.uppercased() }
            default:
                rest = rest.dropFirst()
            }
            rest = rest.skippingSpaceAndComments
        }
        return nil
    }
}
