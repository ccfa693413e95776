/// The effect of a statement on transactions, and whether the statement is worth keeping. The first word tells both.
package enum StatementKind: Sendable {
    case begin
    case commit
    case rollback
    case rollbackToSavepoint
    case savepoint
    case release
    /// SELECT, INSERT, UPDATE, DELETE, REPLACE, WITH, VALUES: statements that may run again unchanged.
    case query
    /// ATTACH, DETACH
    case attachment
    /// PRAGMA, DDL, VACUUM, EXPLAIN, …
    case other

    /// - parameter sql: a statement without leading white space and comments.
    package init(sql: Substring.UTF8View) {
        var word = sql.makeWordIterator()
        switch word.next() {
        case "BEGIN": self = .begin
        case "COMMIT", "END": self = .commit
        case "SAVEPOINT": self = .savepoint
        case "RELEASE": self = .release
        case "ROLLBACK":
            // ROLLBACK [TRANSACTION [name]] [TO [SAVEPOINT] name]. SQLite's grammar accepts the first name, which
            // its diagrams leave out. TO isn't a name unless it is quoted.
            self = word.rest.names.contains { $0.isKeyword("to") } ? .rollbackToSavepoint : .rollback
        case "SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "VALUES": self = .query
        case "ATTACH", "DETACH": self = .attachment
        default: self = .other
        }
    }

    /// Whether it begins or ends transactions or savepoints.
    var controlsTransactions: Bool {
        switch self {
        case .query, .attachment, .other: false
        default: true
        }
    }
}

extension Substring.UTF8View {
    package struct WordIterator {
        package var rest: Substring.UTF8View

        /// The next word in capitals; nil if there is none.
        package mutating func next() -> String? {
            rest = rest.skippingSpaceAndComments
            let word = rest.prefix { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 & 0xDF }
            guard !word.isEmpty else { return nil }
            rest = rest[word.endIndex...]
            // Keywords are short: a string of up to 15 bytes needs no allocation.
            return String(unsafeUninitializedCapacity: word.count) { buffer in
                for (index, byte) in word.enumerated() { buffer[index] = byte & 0xDF }
                return word.count
            }
        }
    }

    package func makeWordIterator() -> WordIterator { WordIterator(rest: self) }

    /// The text from the first byte that isn't white space, a semicolon, or part of a comment.
    ///
    /// SQLite takes a byte order mark for white space where a token may begin; inside a name it belongs to the name.
    ///
    /// See <https://www.sqlite.org/lang_comment.html>.
    package var skippingSpaceAndComments: Substring.UTF8View {
        var rest = self
        while let byte = rest.first {
            switch byte {
            case _ where byte.separatesStatements:
                rest = rest.dropFirst()
            case 0xEF where rest.starts(with: "\u{FEFF}".utf8):
                rest = rest.dropFirst(3)
            case UInt8(ascii: "-"):
                guard rest.dropFirst().first == UInt8(ascii: "-") else { return rest }
                rest = rest.drop { $0 != 10 }
            case UInt8(ascii: "/"):
                guard rest.dropFirst().first == UInt8(ascii: "*") else { return rest }
                rest = rest.dropFirst(2)
                while let byte = rest.popFirst(), !(byte == UInt8(ascii: "*") && rest.first == UInt8(ascii: "/")) {}
                rest = rest.dropFirst()
            default:
                return rest
            }
        }
        return rest
    }

    /// The text without trailing white space and semicolons.
    package var droppingTrailingSpace: Substring.UTF8View {
        var rest = self
        while let byte = rest.last, byte.separatesStatements { rest = rest.dropLast() }
        // "/* " opens a comment, which the end of the text closes; "/*" at the very end opens none.
        let opensComment = rest.suffix(2).elementsEqual("/*".utf8)
        return opensComment && rest.endIndex < endIndex ? self[..<index(after: rest.endIndex)] : rest
    }
}

extension UInt8 {
    /// Whether the byte is white space or a semicolon. SQLite accepts a vertical tab only after other white space.
    var separatesStatements: Bool {
        switch self {
        case UInt8(ascii: " "), 9...13, UInt8(ascii: ";"): true
        default: false
        }
    }
}
