#if Instrumentation || AllButTLS
/// The words of a SQL text: names, keywords and punctuation, without literals, parameters and comments.
struct SQLWords {
    enum Word: Hashable {
        /// A keyword, or a name without quotation marks.
        case name(String)
        /// A name in quotation marks, without them.
        case quoted(String)
        case punctuation(UInt8)

        /// The text of a name.
        var name: String? {
            switch self {
            case .name(let name), .quoted(let name): name
            case .punctuation: nil
            }
        }

        /// The text in uppercase, if it may be a keyword.
        var keyword: String? { if case .name(let name) = self { name.uppercased() } else { nil } }
    }

    private let bytes: [UInt8]
    private var index = 0

    init(_ sql: String) { bytes = Array(sql.utf8) }

    mutating func next() -> Word? {
        while index < bytes.count {
            let byte = bytes[index]
            let following = index + 1 < bytes.count ? bytes[index + 1] : 0
            switch byte {
            case UInt8(ascii: "'"): _ = quotedText(endingWith: byte)
            case UInt8(ascii: "\""), UInt8(ascii: "`"): return .quoted(quotedText(endingWith: byte))
            case UInt8(ascii: "["): return .quoted(quotedText(endingWith: UInt8(ascii: "]")))
            case UInt8(ascii: "-") where following == UInt8(ascii: "-"):
                index = bytes[index...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            case UInt8(ascii: "/") where following == UInt8(ascii: "*"): skipComment()
            case UInt8(ascii: "?"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"), UInt8(ascii: "#"):
                index += 1
                _ = text(while: \.isPartOfName)
            case UInt8(ascii: "0")...UInt8(ascii: "9"): _ = text(while: \.isPartOfName)
            case let byte where byte.isPartOfName: return .name(text(while: \.isPartOfName))
            case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ","), UInt8(ascii: "."):
                index += 1
                return .punctuation(byte)
            default: index += 1
            }
        }
        return nil
    }

    /// The name of a table that begins with `word`: `main.player`. The word after it is read, too. Nil for a subquery.
    mutating func qualifiedName(_ word: inout Word?) -> String? {
        guard var name = word?.name else { return nil }
        word = next()
        while word == .punctuation(UInt8(ascii: ".")) {
            word = next()
            guard let part = word?.name else { return name }
            name += "." + part
            word = next()
        }
        return name
    }

    private mutating func text(while belongs: (UInt8) -> Bool) -> String {
        let start = index
        while index < bytes.count, belongs(bytes[index]) { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// The text in quotation marks at `index`. Doubled marks inside it count once.
    private mutating func quotedText(endingWith mark: UInt8) -> String {
        var text: [UInt8] = []
        index += 1
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == mark {
                guard mark != UInt8(ascii: "]"), index < bytes.count, bytes[index] == mark else { break }
                index += 1
            }
            text.append(byte)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func skipComment() {
        // `/*/` isn't a whole comment.
        index += 3
        while index < bytes.count, bytes[index - 1] != UInt8(ascii: "*") || bytes[index] != UInt8(ascii: "/") {
            index += 1
        }
        index = min(index + 1, bytes.count)
    }
}

extension UInt8 {
    /// Whether the byte belongs to a name or a number. Bytes of characters outside ASCII are parts of names.
    fileprivate var isPartOfName: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }
}
#endif
