import Quarry
import QuarryCJKTokenizer
import QuarryFixtures
import QuarryTestSupport
import Testing

/// Properties that hold for any text.
@Suite struct RandomFullTextTests {
    private static let alphabet: [String] = [
        "a", "B", "z", "7", " ", " ", ".", "-", "'", "\"", "*", "(", ")", ":", "^", "+", "{", "\0", "\n", "é", "ß", "Σ",
        "İ", "e\u{301}", "ﬁ", "½", "日", "本", "語", "東", "京", "か", "か\u{3099}", "ガ", "ｶﾞ", "ｱ", "ー", "한", "국",
        "\u{1100}", "\u{1161}", "㍿", "㎏", "①", "、", "。", "　", "ＡＢ", "𠮷", "😀", "👩‍👩‍👧", "\u{200D}", "\u{AD}", "\u{301}",
        "\u{E0100}", "й", "ا", "ก", "\u{FEFF}", "AND", "OR", "NEAR", "NOT",
    ]

    private static let tokenizers: [FTS5TokenizerDescriptor] = [
        .unicode61(), .unicode61(diacritics: .remove), .ascii(), .porter(), .cjk(), .cjk(.unigrams),
        .cjk(.bigrams, keepsDiacritics: true), .porter(wrapping: .cjk()),
    ]

    private func text(_ generator: inout SeededGenerator, _ count: Int) -> String {
        (0..<Int.random(in: 0...count, using: &generator))
            .map { _ in Self.alphabet.randomElement(using: &generator) ?? "" }.joined()
    }

    /// A text is found by each of its words, by all, by its beginning, and by each pattern that is made of it; what is
    /// marked is a part of it.
    @Test func textsAreFound() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("RandomFullTextTests.textsAreFound: seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        try DatabaseQueue().write { (db) throws in
            db.add(tokenizer: FTS5CJKTokenizer.self)
            for (index, descriptor) in Self.tokenizers.enumerated() {
                let name = "d\(index)"
                try db.create(virtualTable: name, using: FTS5()) { t in
                    t.tokenizer = descriptor
                    t.column("a")
                }
                let tokenizer = try db.makeTokenizer(descriptor)
                for rowID in 1...60 {
                    let text = text(&generator, 24)
                    try db.execute(
                        sql: "INSERT INTO \(name)(rowid, a) VALUES (?, ?)", arguments: [rowID, text])
                    try check(db, Table(name), name, rowID, text, tokenizer, &generator)
                }
                try db.execute(sql: "INSERT INTO \(name)(\(name)) VALUES ('integrity-check')")
                try db.execute(sql: "DELETE FROM \(name) WHERE rowid % 2")
                try db.execute(sql: "INSERT INTO \(name)(\(name)) VALUES ('integrity-check')")
            }
        }
    }

    private func check(
        _ db: Database, _ table: Table<Row>, _ name: String, _ rowID: Int, _ text: String,
        _ tokenizer: any FTS5Tokenizer, _ generator: inout SeededGenerator
    ) throws {
        let bytes = Array(text.utf8)
        let tokens = try tokenizer.tokens(of: text, for: .document)
        for token in tokens { #expect(0 <= token.start && token.start <= token.end && token.end <= bytes.count) }
        let patterns = [
            try FTS5Pattern(matchingAnyTokenIn: text, tokenizer: tokenizer),
            try FTS5Pattern(matchingAllTokensIn: text, tokenizer: tokenizer),
            try FTS5Pattern(matchingAllPrefixesIn: text, tokenizer: tokenizer),
            try FTS5Pattern(matchingPhrase: text, tokenizer: tokenizer),
            try FTS5Pattern(matchingPrefixPhrase: text, tokenizer: tokenizer),
        ]
        for pattern in patterns {
            guard let pattern else {
                #expect(tokens.allSatisfy { $0.start == $0.end }, "\(text.debugDescription)")
                continue
            }
            let isFound = try table.matching(pattern).filter(Column.rowID == rowID).fetchCount(db) == 1
            #expect(isFound, "\(name) \(text.debugDescription) \(pattern.rawPattern)")
        }
        // Words are found as they are in the text.
        for token in tokens.shuffled(using: &generator).prefix(3) where token.start < token.end {
            let word = String(decoding: bytes[token.start..<token.end], as: UTF8.self)
            // `½` is two words, of which the second has no place of its own: `2` and what follows may be one.
            guard try tokenizer.tokens(of: word, for: .document).map(\.text) == [token.text] else { continue }
            guard let pattern = try FTS5Pattern(matchingPhrase: word, tokenizer: tokenizer) else { continue }
            let highlight = FTS5.highlight(Column("a"), of: name, open: "\u{2}", close: "\u{3}")
            let request = table.matching(pattern).filter(Column.rowID == rowID).select(highlight, as: String.self)
            let marked = try #require(try request.fetchOne(db), "\(name) \(text.debugDescription) \(word)")
            // FTS5 shows a text up to its NUL.
            let plain = marked.filter { $0 != "\u{2}" && $0 != "\u{3}" }
            #expect(
                plain.unicodeScalars.elementsEqual(text.unicodeScalars) || text.contains("\0"),
                "\(text.debugDescription)")
            #expect(marked.contains("\u{2}"))
        }
    }

    /// Whatever is typed, patterns of words are accepted.
    @Test func wordsAreAccepted() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("RandomFullTextTests.wordsAreAccepted: seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        try DatabaseQueue().write { (db) throws in
            try db.create(virtualTable: "d4", using: FTS4()) { t in t.column("a") }
            try db.create(virtualTable: "d5", using: FTS5()) { t in t.column("a") }
            for _ in 0..<200 {
                let text = text(&generator, 12)
                let four = [
                    FTS3Pattern(matchingAnyTokenIn: text), FTS3Pattern(matchingAllTokensIn: text),
                    FTS3Pattern(matchingAllPrefixesIn: text), FTS3Pattern(matchingPhrase: text),
                ]
                for pattern in four { #expect(try Table("d4").matching(pattern).fetchCount(db) == 0) }
                let five = [
                    FTS5Pattern(matchingAnyTokenIn: text), FTS5Pattern(matchingAllTokensIn: text),
                    FTS5Pattern(matchingAllPrefixesIn: text), FTS5Pattern(matchingPhrase: text),
                    FTS5Pattern(matchingPrefixPhrase: text),
                ]
                for pattern in five { #expect(try Table("d5").matching(pattern).fetchCount(db) == 0) }
                // A raw pattern is accepted as it is, or refused.
                if let pattern = try? FTS5Pattern(rawPattern: text) {
                    #expect(pattern.rawPattern == text)
                    #expect(try Table("d5").matching(pattern).fetchCount(db) == 0)
                }
            }
        }
    }
}
