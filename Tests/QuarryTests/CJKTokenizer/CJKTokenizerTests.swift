import Quarry
import QuarryCJKTokenizer
import QuarryTestSupport
import Testing

@Suite struct CJKTokenizerTests {
    private func withTokenizer(
        _ descriptor: FTS5TokenizerDescriptor, _ body: (Database, any FTS5Tokenizer) throws -> Void
    ) throws {
        try DatabaseQueue().write { db in
            db.add(tokenizer: FTS5CJKTokenizer.self)
            try db.create(virtualTable: "d", using: FTS5()) { t in
                t.tokenizer = descriptor
                t.column("a")
            }
            try body(db, db.makeTokenizer(descriptor))
        }
    }

    /// Tokens with their places; those in the place of the one before after a `+`.
    private func tokens(
        _ tokenizer: any FTS5Tokenizer, _ text: String, _ tokenization: FTS5Tokenization = .document
    ) throws -> String {
        try tokenizer.tokens(of: text, for: tokenization)
            .map { "\($0.flags == .colocated ? "+" : "")\($0.text) \($0.start)-\($0.end)" }.joined(separator: ", ")
    }

    private func found(_ db: Database, _ tokenizer: any FTS5Tokenizer, _ text: String) throws -> [String] {
        let pattern = try FTS5Pattern(matchingAllTokensIn: text, tokenizer: tokenizer)
        let highlight = FTS5.highlight(Column("a"), of: "d", open: "[", close: "]")
        return try Table("d").matching(pattern).select(highlight, as: String.self).fetchAll(db)
    }

    @Test func unigrams() throws {
        try withTokenizer(.cjk(.unigrams)) { (db, tokenizer) throws in
            #expect(try tokens(tokenizer, "日本語") == "日 0-3, 本 3-6, 語 6-9")
            #expect(try tokens(tokenizer, "日本語", .query) == "日 0-3, 本 3-6, 語 6-9")
            #expect(try tokens(tokenizer, "SQLite日本2語x") == "sqlite 0-6, 日 6-9, 本 9-12, 2 12-13, 語 13-16, x 16-17")
        }
    }

    @Test func bigrams() throws {
        try withTokenizer(.cjk()) { (db, tokenizer) throws in
            #expect(try tokens(tokenizer, "日本語") == "日 0-3, +日本 0-6, 本 3-6, +本語 3-9, 語 6-9")
            #expect(try tokens(tokenizer, "日本語", .query) == "日本 0-6, 本語 3-9, 語 6-9")
            #expect(try tokens(tokenizer, "日本語", .aux) == "日 0-3, 本 3-6, 語 6-9")
            #expect(try tokens(tokenizer, "日", .query) == "日 0-3")
            #expect(try tokens(tokenizer, "日、本") == "日 0-3, 本 6-9")
            #expect(try tokens(tokenizer, "日A本") == "日 0-3, a 3-4, 本 4-7")
            #expect(try tokens(tokenizer, "") == "")
            #expect(try tokens(tokenizer, " 、。！？「」…―・😀 ") == "")
        }
    }

    @Test(arguments: [
        // Full and half width, and marks that make one character of two.
        ("ＳＱＬｉｔｅ", "sqlite 0-18"), ("ｶﾞｷﾞ", "ガ 0-6, ギ 6-12"), ("か\u{3099}", "が 0-6"), ("ﾊﾟ", "パ 0-6"),
        ("ー", "ー 0-3"), ("々〇", "々 0-3, 〇 3-6"),
        // Characters that mean several.
        ("㍿", "株 0-3, 式 3-3, 会 3-3, 社 3-3"), ("㈱", "株 0-3"), ("㎏", "kg 0-3"), ("①②", "12 0-6"),
        // Other letters.
        ("École Straße ΣΊΣΥΦΟΣ ﬁne", "ecole 0-6, strasse 7-14, σίσυφοσ 15-29, fine 30-35"),
        ("e\u{301}a x\u{AD}y", "ea 0-4, xy 5-9"), ("½", "1 0-2, 2 2-2"), ("Й", "й 0-2"),
        // Korean, as syllables and as letters.
        ("한국", "한 0-3, 국 3-6"), ("\u{1112}\u{1161}\u{11AB}", "한 0-9"),
        // Han beyond the first plane, with a variation; a compatibility character.
        ("𠮷野", "𠮷 0-4, 野 4-7"), ("葛\u{E0100}城", "葛 0-7, 城 7-10"), ("\u{F900}", "豈 0-3"),
        // Marks and invisible characters without anything before.
        ("\u{301}\u{200D}a", "a 5-6"), ("\u{3099}か", "か 3-6"),
    ]) func folding(text: String, expected: String) throws {
        try withTokenizer(.cjk(.unigrams)) { (_, tokenizer) throws in
            #expect(try tokens(tokenizer, text) == expected)
            // A character that was met once isn't folded again.
            #expect(try tokens(tokenizer, text) == expected)
        }
    }

    @Test func diacritics() throws {
        try withTokenizer(.cjk(.unigrams, keepsDiacritics: true)) { (_, tokenizer) throws in
            #expect(try tokenizer.tokenize(document: "École e\u{301}").map(\.token) == ["école", "é"])
        }
        let descriptor = FTS5TokenizerDescriptor.cjk(.unigrams, keepsDiacritics: true)
        #expect(descriptor.components == ["cjk", "unigram", "remove_diacritics", "0"])
        #expect(FTS5TokenizerDescriptor.cjk().components == ["cjk", "bigram"])
    }

    @Test func wrongUTF8() throws {
        for descriptor in [FTS5TokenizerDescriptor.cjk(), .cjk(.unigrams)] {
            try withTokenizer(descriptor) { (db, _) throws in
                // Truncated, overlong, surrogates, too large, stray.
                let bytes: [[UInt8]] = [
                    [0x61, 0xE6, 0x97, 0x20, 0x62], [0xC0, 0xAF, 0x62], [0xED, 0xA0, 0x80, 0x62],
                    [0xF5, 0x80, 0x80, 0x80, 0x62], [0x80, 0xBF, 0x62], [0xE6, 0x97], [0xF0, 0x9F, 0x98], [0xFF],
                    [0xE0, 0x80, 0x80, 0x62], [0x62, 0xCC],
                ]
                for bytes in bytes {
                    try db.execute(sql: "INSERT INTO d VALUES (CAST(? AS TEXT))", arguments: [bytes])
                }
                #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM d('b')") == 7)
                try db.execute(sql: "INSERT INTO d(d) VALUES ('integrity-check')")
            }
        }
    }

    @Test(arguments: [FTS5CJKTokenizer.Grams.unigrams, .bigrams]) func searches(grams: FTS5CJKTokenizer.Grams) throws {
        try withTokenizer(.cjk(grams)) { (db, tokenizer) throws in
            for text in ["東京都の天気", "京都の寺", "SQLite は全文検索ができる", "㍿クォーリー", "ガラス", "서울특별시", "漢"] {
                try db.execute(sql: "INSERT INTO d VALUES (?)", arguments: [text])
            }
            #expect(try found(db, tokenizer, "京都") == ["東[京都]の天気", "[京都]の寺"])
            #expect(try found(db, tokenizer, "京") == ["東[京]都の天気", "[京]都の寺"])
            #expect(try found(db, tokenizer, "東京都の") == ["[東京都の]天気"])
            #expect(try found(db, tokenizer, "天京") == [])
            #expect(try found(db, tokenizer, "検索 ｓｑｌｉｔｅ") == ["[SQLite] は全文[検索]ができる"])
            #expect(try found(db, tokenizer, "株式会社") == ["[㍿]クォーリー"])
            #expect(try found(db, tokenizer, "ｶﾞﾗｽ") == ["[ガラス]"])
            #expect(try found(db, tokenizer, "특별") == ["서울[특별]시"])
            #expect(try found(db, tokenizer, "漢") == ["[漢]"])
            // Prefixes, also of words at the end.
            func prefixed(_ text: String) throws -> Int {
                let pattern = try FTS5Pattern(matchingAllPrefixesIn: text, tokenizer: tokenizer)
                return try Table("d").matching(pattern).fetchCount(db)
            }
            #expect(try prefixed("sql") == 1)
            #expect(try prefixed("京") == 2)
            #expect(try prefixed("天気") == 1)
            #expect(try prefixed("寺") == 1)
            #expect(try prefixed("全文検") == 1)
            #expect(try prefixed("寺京") == 0)
            // Patterns without the tokenizer find whole runs.
            #expect(try Table("d").matching(FTS5Pattern(matchingAllTokensIn: "京都")).fetchCount(db) == 2)
            #expect(try Table("d").matching(FTS5Pattern(matchingAllPrefixesIn: "全文検")).fetchCount(db) == 1)
            let snippet = FTS5.snippet(of: "d", open: "[", close: "]", tokenCount: 3)
            let pattern = FTS5Pattern(matchingPhrase: "検索")
            #expect(try Table("d").matching(pattern).select(snippet, as: String.self).fetchAll(db) == ["…[検索]が…"])
        }
    }

    @Test func withStems() throws {
        try DatabaseQueue().write { (db) throws in
            db.add(tokenizer: FTS5CJKTokenizer.self)
            let tokenizer = try db.makeTokenizer(.porter(wrapping: .cjk(.unigrams)))
            #expect(try tokenizer.tokenize(document: "Running 猫").map(\.token) == ["run", "猫"])
        }
    }

    @Test func wrongOptions() throws {
        try DatabaseQueue().write { db in
            db.add(tokenizer: FTS5CJKTokenizer.self)
            for (arguments, option) in [(["trigram"], "trigram"), (["remove_diacritics", "2"], "remove_diacritics")] {
                expectError(.SQLITE_ERROR, "tokenizer cjk has no option \(option)") {
                    try db.create(virtualTable: "d", using: FTS5()) { t in
                        t.column("a")
                        t.tokenizer = FTS5CJKTokenizer.tokenizerDescriptor(arguments: arguments)
                    }
                }
            }
            expectError(.SQLITE_ERROR, "tokenizer cjk has no option remove_diacritics") {
                try db.makeTokenizer(FTS5CJKTokenizer.tokenizerDescriptor(arguments: ["remove_diacritics"]))
            }
        }
    }

    @Test func longTexts() throws {
        try withTokenizer(.cjk()) { (db, tokenizer) throws in
            let texts = [
                String(repeating: "日本", count: 1 << 17), String(repeating: "a", count: 1 << 20),
                "x" + String(repeating: "\u{301}", count: 1 << 18), String(repeating: "ｶﾞ", count: 1 << 16),
                String(repeating: "\0", count: 1 << 20),
            ]
            for text in texts { try db.execute(sql: "INSERT INTO d VALUES (?)", arguments: [text]) }
            #expect(try found(db, tokenizer, "本日本日").count == 1)
            #expect(try Int.fetchOne(db, sql: "SELECT rowid FROM d('ガガ')") == 4)
            #expect(try tokenizer.tokenize(document: texts[1]).first?.token.utf8.count == 1 << 20)
        }
    }
}
