import QuarryCore

/// The words of SQL: keywords and unquoted names.
package enum SQLWords {
    /// Whether some SQL contains a word outside strings, quoted names and comments.
    ///
    /// - parameter word: letters, in any case.
    package static func contains(_ word: String, in sql: String) -> Bool {
        var scanner = SQLScanner(sql)
        let word = word.lowercased()
        while let token = scanner.next() {
            if token.range.count == word.utf8.count,
                String(decoding: scanner.bytes[token.range], as: UTF8.self).lowercased() == word
            {
                return true
            }
        }
        return false
    }
}

extension SQLWords {
    /// Some SQL in lower case, without white space, comments and the quotes of names. Texts that differ only in these
    /// become equal.
    package static func normalized(_ sql: String) -> String {
        var scanner = SQLScanner(sql)
        var text = ""
        while let token = scanner.next() {
            let word = String(decoding: scanner.bytes[token.range], as: UTF8.self)
            if word.isSpaceOrComment { continue }
            if word.hasPrefix("'") {
                text += word
                continue
            }
            let name = (word.unquoted ?? word).lowercasedASCII
            let needsSpace = (text.utf8.last?.isInWord ?? false) && (name.utf8.first?.isInWord ?? false)
            text += (needsSpace ? " " : "") + name
        }
        return text
    }

    /// Whether some SQL begins with a name and an opening parenthesis.
    package static func beginsWithNameAndList(_ sql: some StringProtocol) -> Bool {
        var scanner = SQLScanner(String(sql))
        var nameEnd: Int?
        while let token = scanner.next() {
            let word = String(decoding: scanner.bytes[token.range], as: UTF8.self)
            if word.isSpaceOrComment { continue }
            // A doubled quote continues the name.
            if let nameEnd, nameEnd < token.range.lowerBound || word.unquoted == nil { return word == "(" }
            nameEnd = token.range.upperBound
        }
        return false
    }

    /// A column or a constraint of a CREATE TABLE.
    package struct TablePart {
        /// The first word, without quotes.
        package var word: String
        /// Whether the word is quoted, and so isn't a keyword.
        package var isQuoted: Bool
        package var sql: String

        /// Whether the part is a constraint of the table.
        package var isConstraint: Bool {
            !isQuoted && ["constraint", "primary", "unique", "check", "foreign"].contains(word.lowercasedASCII)
        }
    }

    /// The columns and constraints of a CREATE TABLE: the parts of the first list in parentheses.
    package static func tableParts(of sql: String) -> [TablePart] {
        var scanner = SQLScanner(sql)
        var depth = 0
        var parts: [TablePart] = []
        var start = 0
        var part: TablePart?
        var wordEnd = 0
        func end(_ position: Int) {
            guard var part else { return }
            part.sql = String(decoding: scanner.bytes[start..<position], as: UTF8.self)
            parts.append(part)
        }
        while let token = scanner.next() {
            let word = String(decoding: scanner.bytes[token.range], as: UTF8.self)
            switch word {
            case "(":
                depth += 1
                if depth == 1 { continue }
            case ")":
                depth -= 1
                if depth == 0 {
                    end(token.range.lowerBound)
                    return parts
                }
            case "," where depth == 1:
                end(token.range.lowerBound)
                part = nil
                continue
            default:
                break
            }
            guard depth > 0, !word.isSpaceOrComment else { continue }
            if part == nil {
                start = token.range.lowerBound
                part = TablePart(word: word.unquoted ?? word, isQuoted: word.unquoted != nil, sql: "")
                wordEnd = token.range.upperBound
            } else if token.range.lowerBound == wordEnd, part?.isQuoted ?? false, let more = word.unquoted,
                let quote = word.first
            {
                // A doubled quote in a name.
                part?.word += "\(quote)\(more)"
                wordEnd = token.range.upperBound
            }
        }
        return parts
    }
}

extension UInt8 {
    /// Whether two adjacent tokens of this kind form one word.
    fileprivate var isInWord: Bool {
        switch self {
        case 48...57, 65...90, 97...122, UInt8(ascii: "_"), 128...255: true
        default: false
        }
    }
}

extension String {
    fileprivate var isSpaceOrComment: Bool {
        hasPrefix("--") || hasPrefix("/*") || self == "\u{FEFF}" || utf8.allSatisfy { $0 == 32 || 9...13 ~= $0 }
    }

    /// The name in quotes; nil if the text isn't quoted.
    fileprivate var unquoted: String? {
        guard let first = utf8.first, utf8.count >= 2 else { return nil }
        switch first {
        case UInt8(ascii: "\""), UInt8(ascii: "`"), UInt8(ascii: "["), UInt8(ascii: "'"):
            return String(dropFirst().dropLast())
        default:
            return nil
        }
    }
}
