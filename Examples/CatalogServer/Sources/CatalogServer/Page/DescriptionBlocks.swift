/// A package's description in paragraphs and lists.
///
/// Descriptions are plain text. An empty line ends a paragraph, and a line that begins with `*`, `-` or `+` is the item
/// of a list: <https://www.debian.org/doc/debian-policy/ch-controlfields.html#description>.
struct DescriptionBlock: Equatable, Sendable {
    /// Nil for a list.
    var paragraph: String?
    var items: [String] = []
    var hasItems: Bool { !items.isEmpty }

    /// The lines that the page shows.
    static let maximumLineCount = 5_000

    static func blocks(of description: String) -> [DescriptionBlock] {
        var blocks: [DescriptionBlock] = []
        var isContinued = false
        // The last one is the rest.
        let lines = description.split(
            maxSplits: maximumLineCount, omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for line in lines.prefix(maximumLineCount) {
            let text = line.trimmed
            if text.isEmpty {
                isContinued = false
            } else if let item = text.listItem {
                if blocks.last?.hasItems != true { blocks.append(DescriptionBlock()) }
                blocks[blocks.count - 1].items.append(item)
                isContinued = true
            } else if isContinued, let last = blocks.indices.last {
                blocks[last].append(text)
            } else {
                blocks.append(DescriptionBlock(paragraph: String(text)))
                isContinued = true
            }
        }
        if lines.count > maximumLineCount { blocks.append(DescriptionBlock(paragraph: "…")) }
        return blocks
    }

    /// A line that continues the paragraph, or the last item of the list.
    ///
    /// The text is extended in place: a copy for each line would take a time that grows with the square of the lines.
    private mutating func append(_ line: Substring) {
        if paragraph != nil {
            paragraph?.append(" ")
            paragraph?.append(contentsOf: line)
        } else {
            items[items.count - 1].append(" ")
            items[items.count - 1].append(contentsOf: line)
        }
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let start = drop { $0.isWhitespace }
        return start[..<(start.lastIndex { !$0.isWhitespace }.map(start.index(after:)) ?? start.startIndex)]
    }

    /// The text after the mark of a list's item.
    fileprivate var listItem: String? {
        guard let mark = first, "*-+•".contains(mark) else { return nil }
        let text = dropFirst()
        guard text.first?.isWhitespace == true else { return nil }
        return String(text.trimmed)
    }
}
