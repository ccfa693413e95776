public import QuarryCore

/// A tokenizer of FTS5, and its options: <https://www.sqlite.org/fts5.html#tokenizers>.
public struct FTS5TokenizerDescriptor: Sendable {
    /// The name of the tokenizer, and its arguments.
    ///
    /// ```swift
    /// FTS5TokenizerDescriptor.unicode61().components // ["unicode61"]
    /// ```
    public let components: [String]

    /// A tokenizer by its name and arguments.
    ///
    /// ```swift
    /// FTS5TokenizerDescriptor(components: ["trigram", "case_sensitive", "1"])
    /// ```
    ///
    /// - parameter components: the name of the tokenizer, and its arguments. Without a name, creating a table throws.
    public init(components: [String]) { self.components = components }

    /// Words of ASCII letters and digits, without their case. Characters outside ASCII belong to words.
    ///
    /// - parameter separators: characters that end words.
    /// - parameter tokenCharacters: characters that belong to words.
    public static func ascii(
        separators: Set<Character> = [], tokenCharacters: Set<Character> = []
    ) -> FTS5TokenizerDescriptor {
        FTS5TokenizerDescriptor(components: ["ascii"] + characters(separators, tokenCharacters))
    }

    /// English words reduced to their stems: `running` finds `runs`.
    ///
    /// ```swift
    /// t.tokenizer = .porter(wrapping: .ascii())
    /// ```
    ///
    /// - parameter base: the tokenizer that splits texts into words; nil for `unicode61`.
    public static func porter(wrapping base: FTS5TokenizerDescriptor? = nil) -> FTS5TokenizerDescriptor {
        FTS5TokenizerDescriptor(components: ["porter"] + (base?.components ?? []))
    }

    /// Words of Unicode letters and digits, without their case: FTS5's default.
    ///
    /// - parameter diacritics: the treatment of accents.
    /// - parameter categories: the Unicode categories of characters that belong to words: `L* N* Co`.
    /// - parameter separators: characters that end words.
    /// - parameter tokenCharacters: characters that belong to words.
    public static func unicode61(
        diacritics: FTS5.Diacritics = .removeLegacy, categories: String = "", separators: Set<Character> = [],
        tokenCharacters: Set<Character> = []
    ) -> FTS5TokenizerDescriptor {
        var components = ["unicode61"]
        switch diacritics {
        case .removeLegacy: break
        case .keep: components += ["remove_diacritics", "0"]
        case .remove: components += ["remove_diacritics", "2"]
        }
        if !categories.isEmpty { components += ["categories", categories] }
        return FTS5TokenizerDescriptor(components: components + characters(separators, tokenCharacters))
    }

    /// All sequences of three characters, so that parts of words are found: `LIKE '%tri%'` is fast on such tables.
    ///
    /// See <https://www.sqlite.org/fts5.html#the_trigram_tokenizer>.
    ///
    /// - parameter isCaseSensitive: whether case is significant.
    public static func trigram(isCaseSensitive: Bool = false) -> FTS5TokenizerDescriptor {
        FTS5TokenizerDescriptor(components: ["trigram"] + (isCaseSensitive ? ["case_sensitive", "1"] : []))
    }

    private static func characters(_ separators: Set<Character>, _ tokenCharacters: Set<Character>) -> [String] {
        (separators.isEmpty ? [] : ["separators", String(separators.sorted())])
            + (tokenCharacters.isEmpty ? [] : ["tokenchars", String(tokenCharacters.sorted())])
    }

    /// `'porter' 'ascii'`
    var sql: String { components.map(\.sqlLiteral).joined(separator: " ") }
}

extension FTS5CustomTokenizer {
    /// The tokenizer, for the definition of a table.
    ///
    /// ```swift
    /// try db.create(virtualTable: "document", using: FTS5()) { t in
    ///     t.tokenizer = SynonymTokenizer.tokenizerDescriptor(arguments: ["english"])
    ///     t.column("content")
    /// }
    /// ```
    /// ```sql
    /// CREATE VIRTUAL TABLE "document" USING fts5(content, tokenize='''synonyms'' ''english''')
    /// ```
    ///
    /// - parameter arguments: the arguments of the tokenizer's initializer.
    public static func tokenizerDescriptor(arguments: [String] = []) -> FTS5TokenizerDescriptor {
        FTS5TokenizerDescriptor(components: [name] + arguments)
    }
}

extension String {
    /// The text as an SQL literal, in single quotes.
    var sqlLiteral: String {
        var literal = "'"
        for scalar in unicodeScalars {
            if scalar == "'" { literal.unicodeScalars.append("'") }
            literal.unicodeScalars.append(scalar)
        }
        return literal + "'"
    }
}
