internal import PackageCatalog

/// A part of a text: words that a search has found, or the text between them.
public struct TextSegment: Codable, Sendable, Equatable {
    public var text: String
    public var isMatch: Bool

    public init(text: String, isMatch: Bool) {
        self.text = text
        self.isMatch = isMatch
    }
}

extension TextSegment {
    /// The segments of a text that SQLite has marked, without the marks.
    static func segments(of marked: String) -> [TextSegment] {
        var segments: [TextSegment] = []
        var text = ""
        var isMatch = false
        func end() {
            if !text.isEmpty { segments.append(TextSegment(text: text, isMatch: isMatch)) }
            text = ""
        }
        for character in marked.unicodeScalars {
            switch Character(character) {
            case Catalog.matchStart:
                end()
                isMatch = true
            case Catalog.matchEnd:
                end()
                isMatch = false
            default: text.unicodeScalars.append(character)
            }
        }
        end()
        return segments
    }
}
