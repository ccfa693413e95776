/// Reads SQLite's messages about damaged files, whose wording differs between versions:
/// <https://www.sqlite.org/pragma.html#pragma_integrity_check>.
package struct IntegrityMessage {
    private let words: [Substring]

    /// The lines of a row of `PRAGMA integrity_check`: SQLite puts the problems of a file's pages into one row.
    package static func lines(_ row: String) -> [String] {
        row.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("*** in database ") }
    }

    private let text: String

    package init(_ text: String) {
        self.text = text
        words = text.split(separator: " ")
    }

    /// `row 3 missing from index a b`
    package var index: String? {
        for marker in ["missing from index ", "entries in index ", "entry in index ", " of index "] {
            guard let range = text.range(of: marker) else { continue }
            let name = text[range.upperBound...]
            return name.range(of: " out of order").map { String(name[..<$0.lowerBound]) } ?? String(name)
        }
        return nil
    }

    /// `NULL value in t.c`, `CHECK constraint failed in t`, `malformed inverted index for FTS5 table main.t`
    package var table: String? {
        for marker in ["CHECK constraint failed in ", "PRIMARY KEY order for "] {
            if let range = text.range(of: marker) { return String(text[range.upperBound...]) }
        }
        if let range = text.range(of: " value in ") {
            let name = text[range.upperBound...]
            // The column follows a point.
            return name.lastIndex(of: ".").map { String(name[..<$0]) } ?? String(name)
        }
        if let range = text.range(of: " table main.") { return String(text[range.upperBound...]) }
        return nil
    }

    /// `Tree 2 page 5 cell 3: …`, `On page 5 at right child: …`, `Page 7 is never used`, `2nd reference to page 9`
    package var page: Int? { number(after: "page") ?? number(after: "Page") }

    /// `Tree 2 page 5: …`
    package var rootPage: Int? { number(after: "Tree") ?? (words.starts(with: ["On", "tree", "page"]) ? page : nil) }

    /// Whether an index doesn't have the entries that its table needs.
    package var isOfIndex: Bool { index != nil && page == nil }

    /// Whether a row violates a constraint of its table: the file isn't damaged.
    package var isOfConstraint: Bool {
        if isOfIndex { return false }
        return text.hasPrefix("CHECK constraint failed") || text.hasPrefix("NULL value in ")
            || (text.contains(" value in ") && page == nil)
    }

    private func number(after word: String) -> Int? {
        for (word_, next) in zip(words, words.dropFirst()) where word_ == word {
            return Int(next.prefix { $0.isNumber })
        }
        return nil
    }
}

extension String {
    /// The first place of a text.
    fileprivate func range(of text: String) -> Range<Index>? { self[...].range(of: text) }
}

extension Substring {
    /// The first place of a text.
    fileprivate func range(of text: String) -> Range<Index>? { ranges(of: text).first }
}
