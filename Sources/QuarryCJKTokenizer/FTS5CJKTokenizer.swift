public import QuarryCore
public import QuarrySQL

/// A tokenizer for Chinese, Japanese and Korean texts, which have no spaces between words, mixed with words of other
/// languages.
///
/// ```swift
/// config.prepareDatabase { db in db.add(tokenizer: FTS5CJKTokenizer.self) }
///
/// try db.create(virtualTable: "document", using: FTS5()) { t in
///     t.tokenizer = .cjk()
///     t.column("content")
/// }
/// let tokenizer = try db.makeTokenizer(.cjk())
/// let pattern = try FTS5Pattern(matchingAllTokensIn: "全文検索 SQLite", tokenizer: tokenizer)
/// ```
///
/// Each character of these languages is a token. Each pair of neighbours is a token, too, at the position of the first,
/// so that any part of a text finds it. Other letters and digits are words.
///
/// Variants of characters are equal (NFKC): `ＳＱＬ` and `sql`, `ｶﾞ` and `ガ`, `㍿` and `株式会社`. Case is ignored, and so are
/// the accents of Latin letters unless they are kept.
///
/// Texts of several characters are matched as phrases, which need tables with `detail` `full`, the default.
public final class FTS5CJKTokenizer: FTS5TextTokenizer {
    /// The tokens made from characters.
    public enum Grams: String, Sendable {
        /// Each character is a token: the smaller index.
        case unigrams = "unigram"
        /// Neighbours are tokens too: the faster search.
        case bigrams = "bigram"
    }

    /// `cjk`
    public static let name = "cjk"

    private let grams: Grams
    private let removesDiacritics: Bool
    private var foldings: [UInt32: FoldedCharacter] = [:]
    private var buffers = CJKBuffers()

    /// A tokenizer with arguments as written by `.cjk()`.
    ///
    /// - throws: `DatabaseError` for other arguments.
    public init(db: Database, arguments: [String]) throws {
        var grams = Grams.bigrams
        var removesDiacritics = true
        var arguments = arguments[...]
        while let argument = arguments.popFirst() {
            if let chosen = Grams(rawValue: argument) {
                grams = chosen
            } else if argument == "remove_diacritics", let value = arguments.popFirst(), value == "0" || value == "1" {
                removesDiacritics = value == "1"
            } else {
                throw DatabaseError(message: "tokenizer cjk has no option \(argument)")
            }
        }
        self.grams = grams
        self.removesDiacritics = removesDiacritics
    }

    /// Adds the tokens of a text.
    ///
    /// - throws: the error that ends the tokenization.
    public func tokenize(
        _ text: UnsafeBufferPointer<UInt8>, for tokenization: FTS5Tokenization, into tokens: borrowing FTS5TokenSink
    ) throws {
        var scan = CJKScan(buffers, isQuery: tokenization.contains(.query), pairs: pairs(for: tokenization))
        buffers = CJKBuffers()
        defer { buffers = scan.giveBack() }
        var position = 0
        while position < text.count {
            let byte = text[position]
            if byte < 0x80, position + 1 == text.count || text[position + 1] < 0x80 {
                if byte.isASCIIWord {
                    try scan.add(wordByte: 65...90 ~= byte ? byte | 0x20 : byte, at: position, tokens)
                } else {
                    try scan.endRun(tokens)
                }
                position += 1
                continue
            }
            position = try readCharacter(text, from: position, &scan, tokens)
        }
        try scan.endRun(tokens)
    }

    /// The pairs of neighbours that are tokens.
    ///
    /// Documents have each character and the pair that begins with it, at one position. A query needs the rare pairs,
    /// and the last character, at which `highlight` ends.
    private func pairs(for tokenization: FTS5Tokenization) -> CJKScan.Pairs {
        if grams == .unigrams { return .none }
        if tokenization.contains(.query) { return .instead }
        // Functions that show texts use only the first token at a position.
        return tokenization.contains(.aux) ? .none : .besides
    }

    /// Reads a character with its marks.
    ///
    /// - returns: the start of the next character.
    private func readCharacter(
        _ text: UnsafeBufferPointer<UInt8>, from start: Int, _ scan: inout CJKScan, _ tokens: borrowing FTS5TokenSink
    ) throws -> Int {
        guard let (first, firstCount) = text.scalar(at: start) else {
            try scan.endRun(tokens)
            return start + 1
        }
        var end = start + firstCount
        // In all languages, characters have fewer marks. The limit prevents a text that consists of marks from being
        // normalized at once.
        let limit = 32
        var count = 1
        while count < limit, end < text.count, text[end] >= 0x80, let (next, length) = text.scalar(at: end),
            next.extendsCharacter
        {
            end += length
            count += 1
        }
        if count == 1, first.isPlainCJK {
            try scan.add(gram: UnsafeBufferPointer(rebasing: text[start..<end]), start..<end, tokens)
            return end
        }
        let folded =
            count == 1
            ? folding(of: first)
            : FoldedCharacter(
                String(decoding: UnsafeBufferPointer(rebasing: text[start..<end]), as: UTF8.self), removesDiacritics)
        try scan.add(folded, start..<end, tokens)
        return end
    }

    private func folding(of scalar: Unicode.Scalar) -> FoldedCharacter {
        if let known = foldings[scalar.value] { return known }
        let folded = FoldedCharacter(String(scalar), removesDiacritics)
        if foldings.count >= 4096 { foldings.removeAll(keepingCapacity: true) }
        foldings[scalar.value] = folded
        return folded
    }
}

extension FTS5TokenizerDescriptor {
    /// Chinese, Japanese and Korean characters, and words of other languages: see `FTS5CJKTokenizer`, which must be
    /// added to the connection.
    ///
    /// ```swift
    /// config.prepareDatabase { db in db.add(tokenizer: FTS5CJKTokenizer.self) }
    /// t.tokenizer = .cjk(.unigrams)
    /// ```
    /// ```sql
    /// tokenize='''cjk'' ''unigram'''
    /// ```
    ///
    /// - parameter grams: the tokens that are made from characters.
    /// - parameter keepsDiacritics: whether the accents of Latin letters are kept.
    public static func cjk(
        _ grams: FTS5CJKTokenizer.Grams = .bigrams, keepsDiacritics: Bool = false
    ) -> FTS5TokenizerDescriptor {
        FTS5CJKTokenizer.tokenizerDescriptor(
            arguments: [grams.rawValue] + (keepsDiacritics ? ["remove_diacritics", "0"] : []))
    }
}
