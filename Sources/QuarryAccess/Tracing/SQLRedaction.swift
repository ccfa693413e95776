import QuarryCore

/// A change of SQL texts before a tracer receives them.
///
/// ```swift
/// var options = DatabaseTracing.Options(.statements)
/// options.redaction = .custom { sql in sql.replacing("secret_table", with: "…") }
/// ```
public struct SQLRedaction: Sendable {
    private let change: (@Sendable (String) -> String)?

    /// Leaves the text as it is.
    public static let none = SQLRedaction(change: nil)

    /// Replaces each literal (`'text'`, `1.5`, `x'00'`) with `?`, and removes comments. Names, also those in quotation
    /// marks, and parameters stay.
    ///
    /// ```sql
    /// SELECT * FROM "player" WHERE name = 'Arthur' AND score > 10  -- before
    /// SELECT * FROM "player" WHERE name = ? AND score > ?          -- after
    /// ```
    public static let literals = SQLRedaction { $0.replacingSQLLiterals }

    /// Changes the text with a closure, which receives it as the program has written it.
    public static func custom(_ change: @escaping @Sendable (String) -> String) -> SQLRedaction {
        SQLRedaction(change: change)
    }

    private init(change: (@Sendable (String) -> String)?) { self.change = change }

    private init(_ change: @escaping @Sendable (String) -> String) { self.change = change }

    /// The text after the change.
    public func callAsFunction(_ sql: String) -> String { change?(sql) ?? sql }
}

extension String {
    /// The SQL with `?` in place of literals, and without comments: <https://www.sqlite.org/lang_expr.html>.
    fileprivate var replacingSQLLiterals: String {
        let bytes = Array(utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        /// The end of a text that begins at `index` in quotation marks, which are doubled inside it.
        func endOfQuoted(_ mark: UInt8) -> Int {
            var end = index + 1
            while end < bytes.count {
                if bytes[end] == mark {
                    guard end + 1 < bytes.count, bytes[end + 1] == mark else { return end + 1 }
                    end += 1
                }
                end += 1
            }
            return end
        }
        while index < bytes.count {
            let byte = bytes[index]
            let next = index + 1 < bytes.count ? bytes[index + 1] : 0
            switch byte {
            case UInt8(ascii: "'"):
                result.append(UInt8(ascii: "?"))
                index = endOfQuoted(byte)
            case UInt8(ascii: "x") where next == UInt8(ascii: "'"), UInt8(ascii: "X") where next == UInt8(ascii: "'"):
                result.append(UInt8(ascii: "?"))
                index += 1
                index = endOfQuoted(UInt8(ascii: "'"))
            case UInt8(ascii: "\""), UInt8(ascii: "`"):
                let end = endOfQuoted(byte)
                result += bytes[index..<end]
                index = end
            case UInt8(ascii: "["):
                let end = (bytes[index...].firstIndex(of: UInt8(ascii: "]")) ?? bytes.count - 1) + 1
                result += bytes[index..<end]
                index = end
            case UInt8(ascii: "-") where next == UInt8(ascii: "-"):
                index = bytes[index...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            case UInt8(ascii: "/") where next == UInt8(ascii: "*"):
                var end = index + 2
                while end < bytes.count,
                    bytes[end] != UInt8(ascii: "/") || bytes[end - 1] != UInt8(ascii: "*") || end < index + 3
                {
                    end += 1
                }
                // Between two words a space remains.
                result.append(UInt8(ascii: " "))
                index = min(end + 1, bytes.count)
            case UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: ".") where UInt8(ascii: "0")...UInt8(ascii: "9") ~= next:
                result.append(UInt8(ascii: "?"))
                index = endOfNumber(bytes, index)
            case 0xEF where bytes[index...].starts(with: "\u{FEFF}".utf8):
                // SQLite takes a byte order mark for white space, unless it is inside a name.
                result.append(UInt8(ascii: " "))
                index += 3
            case let byte where byte.isSQLNameStart || byte.isSQLParameterMark:
                // A whole word, or a parameter with its name or number: its digits are no literal.
                let start = index
                index += 1
                while index < bytes.count, bytes[index].isSQLNamePart { index += 1 }
                result += bytes[start..<index]
            default:
                result.append(byte)
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self).droppingSurroundingSpace
    }

    private var droppingSurroundingSpace: String {
        var text = Substring(self)
        while text.last?.isWhitespace ?? false { text.removeLast() }
        return String(text.drop(while: \.isWhitespace))
    }
}

/// The end of a number that begins at an index: `12`, `1.5e-3`, `0xFF`.
private func endOfNumber(_ bytes: [UInt8], _ start: Int) -> Int {
    var end = start
    while end < bytes.count {
        let isSign = bytes[end] == UInt8(ascii: "+") || bytes[end] == UInt8(ascii: "-")
        let followsExponent = end > start && bytes[end - 1] | 0x20 == UInt8(ascii: "e") && !isHexadecimal(bytes, start)
        guard bytes[end].isSQLNamePart || bytes[end] == UInt8(ascii: ".") || isSign && followsExponent else { break }
        end += 1
    }
    return end
}

private func isHexadecimal(_ bytes: [UInt8], _ start: Int) -> Bool {
    start + 1 < bytes.count && bytes[start + 1] | 0x20 == UInt8(ascii: "x")
}

extension UInt8 {
    /// Whether a name may begin with the byte. Bytes of characters outside ASCII are parts of names.
    fileprivate var isSQLNameStart: Bool {
        switch self | 0x20 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: self == UInt8(ascii: "_") || self >= 0x80
        }
    }

    fileprivate var isSQLNamePart: Bool {
        isSQLNameStart || UInt8(ascii: "0")...UInt8(ascii: "9") ~= self || self == UInt8(ascii: "$")
    }

    /// Whether a parameter begins with the byte: <https://www.sqlite.org/lang_expr.html#parameters>.
    fileprivate var isSQLParameterMark: Bool {
        switch self {
        case UInt8(ascii: "?"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"), UInt8(ascii: "#"): true
        default: false
        }
    }
}
