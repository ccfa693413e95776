public import QuarryCore

/// A pattern of full-text queries of FTS3 and FTS4.
///
/// ```swift
/// let pattern = FTS3Pattern(matchingAllTokensIn: "SQLite library")
/// let documents = try Document.matching(pattern).fetchAll(db)
/// ```
/// ```sql
/// SELECT * FROM "document" WHERE "document" MATCH 'sqlite library'
/// ```
///
/// Pass user input to an initializer that matches words: its pattern is always valid. See
/// <https://www.sqlite.org/fts3.html#full_text_index_queries>.
public struct FTS3Pattern: Hashable, Sendable {
    /// The pattern in SQLite's syntax.
    public let rawPattern: String

    /// A pattern that SQLite has accepted, or that is made of words.
    package init(unchecked rawPattern: String) { self.rawPattern = rawPattern }

    /// A pattern for texts with at least one word of a text; nil if the text has no words.
    ///
    /// ```swift
    /// FTS3Pattern(matchingAnyTokenIn: "SQLite library") // sqlite OR library
    /// FTS3Pattern(matchingAnyTokenIn: "*")              // nil
    /// ```
    public init?(matchingAnyTokenIn string: String) {
        guard let pattern = SimpleWords.any(string) else { return nil }
        self.init(unchecked: pattern)
    }

    /// A pattern for texts with all words of a text; nil if the text has no words.
    ///
    /// ```swift
    /// FTS3Pattern(matchingAllTokensIn: "SQLite library") // sqlite library
    /// ```
    public init?(matchingAllTokensIn string: String) {
        guard let pattern = SimpleWords.all(string) else { return nil }
        self.init(unchecked: pattern)
    }

    /// A pattern for texts with words that begin with each word of a text; nil if the text has no words.
    ///
    /// ```swift
    /// FTS3Pattern(matchingAllPrefixesIn: "SQLite lib") // sqlite* lib*
    /// ```
    public init?(matchingAllPrefixesIn string: String) {
        guard let pattern = SimpleWords.prefixes(string) else { return nil }
        self.init(unchecked: pattern)
    }

    /// A pattern for texts with the words of a text in sequence; nil if the text has no words.
    ///
    /// ```swift
    /// FTS3Pattern(matchingPhrase: "SQLite library") // "sqlite library"
    /// ```
    public init?(matchingPhrase string: String) {
        guard let pattern = SimpleWords.phrase(string) else { return nil }
        self.init(unchecked: pattern)
    }
}

/// A pattern of full-text queries of FTS5.
///
/// ```swift
/// let pattern = FTS5Pattern(matchingAllTokensIn: "SQLite library")
/// let documents = try Document.matching(pattern).fetchAll(db)
/// ```
/// ```sql
/// SELECT * FROM "document" WHERE "document" MATCH 'sqlite library'
/// ```
///
/// Pass user input to an initializer that matches words: its pattern is always valid. See
/// <https://www.sqlite.org/fts5.html#full_text_query_syntax>.
public struct FTS5Pattern: Hashable, Sendable {
    /// The pattern in SQLite's syntax.
    public let rawPattern: String

    /// A pattern that SQLite has accepted, or that is made of words.
    package init(unchecked rawPattern: String) { self.rawPattern = rawPattern }

    /// A pattern for texts with at least one word of a text; nil if the text has no words.
    ///
    /// ```swift
    /// FTS5Pattern(matchingAnyTokenIn: "SQLite library") // sqlite OR library
    /// FTS5Pattern(matchingAnyTokenIn: "*")              // nil
    /// ```
    public init?(matchingAnyTokenIn string: String) {
        guard let pattern = SimpleWords.any(string) else { return nil }
        self.init(unchecked: pattern)
    }

    /// A pattern for texts with all words of a text; nil if the text has no words.
    ///
    /// ```swift
    /// FTS5Pattern(matchingAllTokensIn: "SQLite library") // sqlite library
    /// ```
    public init?(matchingAllTokensIn string: String) {
        guard let pattern = SimpleWords.all(string) else { return nil }
        self.init(unchecked: pattern)
    }

    /// A pattern for texts with words that begin with each word of a text; nil if the text has no words.
    ///
    /// ```swift
    /// FTS5Pattern(matchingAllPrefixesIn: "SQLite lib") // sqlite* lib*
    /// ```
    public init?(matchingAllPrefixesIn string: String) {
        guard let pattern = SimpleWords.prefixes(string) else { return nil }
        self.init(unchecked: pattern)
    }

    /// A pattern for texts with the words of a text in sequence; nil if the text has no words.
    ///
    /// ```swift
    /// FTS5Pattern(matchingPhrase: "SQLite library") // "sqlite library"
    /// ```
    public init?(matchingPhrase string: String) {
        guard let pattern = SimpleWords.phrase(string) else { return nil }
        self.init(unchecked: pattern)
    }

    /// A pattern for texts that begin with the words of a text in sequence; nil if the text has no words.
    ///
    /// ```swift
    /// FTS5Pattern(matchingPrefixPhrase: "SQLite library") // ^"sqlite library"
    /// ```
    public init?(matchingPrefixPhrase string: String) {
        guard let pattern = SimpleWords.phrase(string) else { return nil }
        self.init(unchecked: "^" + pattern)
    }
}

/// The words of a text, as split by FTS3's tokenizer `simple`: ASCII letters and digits, and all characters outside
/// ASCII. No character of a word has a meaning in a pattern, and no word has one: operators are in capitals.
private enum SimpleWords {
    static func any(_ text: String) -> String? { joined(words(of: text), " OR ") }
    static func all(_ text: String) -> String? { joined(words(of: text), " ") }
    static func prefixes(_ text: String) -> String? { joined(words(of: text).map { $0 + "*" }, " ") }
    static func phrase(_ text: String) -> String? { joined(words(of: text), " ").map { "\"\($0)\"" } }

    private static func joined(_ words: [String], _ separator: String) -> String? {
        words.isEmpty ? nil : words.joined(separator: separator)
    }

    private static func words(of text: String) -> [String] {
        let isInWord: (UInt8) -> Bool = { byte in
            byte >= 0x80 || 48...57 ~= byte || 65...90 ~= byte || 97...122 ~= byte
        }
        return text.utf8.split { !isInWord($0) }.map { word in
            String(decoding: word.map { 65...90 ~= $0 ? $0 + 32 : $0 }, as: UTF8.self)
        }
    }
}

// MARK: - With a tokenizer

extension FTS5Pattern {
    /// A pattern for texts with at least one word that a tokenizer finds in a text; nil if it finds none.
    ///
    /// ```swift
    /// let tokenizer = try db.makeTokenizer(.cjk())
    /// try FTS5Pattern(matchingAnyTokenIn: "日本語 SQLite", tokenizer: tokenizer) // "日本語" OR "SQLite"
    /// ```
    ///
    /// The pattern contains the words as written in the text. Adjacent tokens form one word.
    ///
    /// - parameter tokenizer: the tokenizer of the table.
    /// - throws: the tokenizer's error.
    public init?(matchingAnyTokenIn string: String, tokenizer: any FTS5Tokenizer) throws {
        try self.init(string, tokenizer) { $0.joined(separator: " OR ") }
    }

    /// A pattern for texts with all words that a tokenizer finds in a text; nil if it finds none.
    ///
    /// - parameter tokenizer: the tokenizer of the table.
    /// - throws: the tokenizer's error.
    public init?(matchingAllTokensIn string: String, tokenizer: any FTS5Tokenizer) throws {
        try self.init(string, tokenizer) { $0.joined(separator: " ") }
    }

    /// A pattern for texts with words that begin with each word that a tokenizer finds in a text; nil if it finds none.
    ///
    /// - parameter tokenizer: the tokenizer of the table.
    /// - throws: the tokenizer's error.
    public init?(matchingAllPrefixesIn string: String, tokenizer: any FTS5Tokenizer) throws {
        try self.init(string, tokenizer) { $0.map { $0 + "*" }.joined(separator: " ") }
    }

    /// A pattern for texts with the words that a tokenizer finds in a text, in sequence; nil if it finds none.
    ///
    /// - parameter tokenizer: the tokenizer of the table.
    /// - throws: the tokenizer's error.
    public init?(matchingPhrase string: String, tokenizer: any FTS5Tokenizer) throws {
        try self.init(string, tokenizer) { $0.joined(separator: " + ") }
    }

    /// A pattern for texts that begin with the words that a tokenizer finds in a text, in sequence; nil if it finds
    /// none.
    ///
    /// - parameter tokenizer: the tokenizer of the table.
    /// - throws: the tokenizer's error.
    public init?(matchingPrefixPhrase string: String, tokenizer: any FTS5Tokenizer) throws {
        try self.init(string, tokenizer) { "^ " + $0.joined(separator: " + ") }
    }

    private init?(_ text: String, _ tokenizer: any FTS5Tokenizer, _ pattern: ([String]) -> String) throws {
        // The words themselves, not their tokens: a tokenizer may change a token again.
        var ranges: [Range<Int>] = []
        for token in try tokenizer.tokens(of: text, for: .query) where token.start < token.end {
            if let last = ranges.last, token.start <= last.upperBound {
                ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, token.end)
            } else {
                ranges.append(token.start..<token.end)
            }
        }
        guard !ranges.isEmpty else { return nil }
        let bytes = Array(text.utf8)
        let words = ranges.map { range in
            let word = String(decoding: bytes[range.clamped(to: bytes.indices)], as: UTF8.self)
            // SQLite reads a pattern up to a NUL.
            return String(String.UnicodeScalarView(word.unicodeScalars.map { $0 == "\0" ? " " : $0 }))
                .quotedDatabaseIdentifier
        }
        self.init(unchecked: pattern(words))
    }
}
