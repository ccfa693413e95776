import Quarry
import QuarryTestSupport
import Testing

@Suite struct FullTextPatternTests {
    @Test(
        arguments: [
            ("", nil, nil, nil, nil), (" ", nil, nil, nil, nil), ("*", nil, nil, nil, nil),
            ("\0\"'()-+^:", nil, nil, nil, nil),
            ("foo", "foo", "foo", "foo*", #""foo""#),
            ("foo bar", "foo OR bar", "foo bar", "foo* bar*", #""foo bar""#),
            (
                "Foo \"bar\" AND it's", "foo OR bar OR and OR it OR s", "foo bar and it s", "foo* bar* and* it* s*",
                #""foo bar and it s""#
            ),
            ("NEAR OR", "near OR or", "near or", "near* or*", #""near or""#),
            ("été", "été", "été", "été*", #""été""#),
            ("日本語", "日本語", "日本語", "日本語*", #""日本語""#),
            ("😀", "😀", "😀", "😀*", #""😀""#),
            ("a\0b", "a OR b", "a b", "a* b*", #""a b""#),
        ] as [(String, String?, String?, String?, String?)])
    func words(text: String, any: String?, all: String?, prefixes: String?, phrase: String?) throws {
        #expect(FTS3Pattern(matchingAnyTokenIn: text)?.rawPattern == any)
        #expect(FTS3Pattern(matchingAllTokensIn: text)?.rawPattern == all)
        #expect(FTS3Pattern(matchingAllPrefixesIn: text)?.rawPattern == prefixes)
        #expect(FTS3Pattern(matchingPhrase: text)?.rawPattern == phrase)
        #expect(FTS5Pattern(matchingAnyTokenIn: text)?.rawPattern == any)
        #expect(FTS5Pattern(matchingAllTokensIn: text)?.rawPattern == all)
        #expect(FTS5Pattern(matchingAllPrefixesIn: text)?.rawPattern == prefixes)
        #expect(FTS5Pattern(matchingPhrase: text)?.rawPattern == phrase)
        #expect(FTS5Pattern(matchingPrefixPhrase: text)?.rawPattern == phrase.map { "^" + $0 })
    }

    @Test(
        arguments: [
            ("foo OR", "malformed MATCH expression: [foo OR]"), ("\"foo", "malformed MATCH expression: [\"foo]"),
            ("AND", "malformed MATCH expression: [AND]"), ("(a", "malformed MATCH expression: [(a]"),
            ("a\0b", #"the pattern has a NUL character: "a\0b""#), ("", nil), ("foo*", nil), ("a b NOT c", nil),
        ] as [(String, String?)])
    func rawFTS3(pattern: String, message: String?) throws {
        if let message {
            expectError(.SQLITE_ERROR, message) { try FTS3Pattern(rawPattern: pattern) }
            #expect(FTS3Pattern.fromDatabaseValue(pattern.databaseValue) == nil)
        } else {
            #expect(try FTS3Pattern(rawPattern: pattern).rawPattern == pattern)
            #expect(FTS3Pattern.fromDatabaseValue(pattern.databaseValue)?.rawPattern == pattern)
        }
    }

    @Test(
        arguments: [
            ("", [], #"fts5: syntax error near """#), ("*", [], "unknown special query: "),
            ("NEAR OR", [], #"fts5: syntax error near """#), ("foo OR", [], #"fts5: syntax error near """#),
            ("\"foo", [], "unterminated string"), ("AND", [], #"fts5: syntax error near "AND""#),
            ("it's", [], #"fts5: syntax error near "'""#), ("foo:bar", [], "no such column: foo"),
            ("foo:bar", ["a", "b"], "no such column: foo"), ("a : b", [], "no such column: a"), ("a : b", ["a"], nil),
            ("{a b} : c", ["a", "b"], nil), ("{a b} : c", ["a"], "no such column: b"), ("NEAR(a b)", [], nil),
            ("^foo", [], nil), ("foo*", [], nil), ("a + b", [], nil), ("a b NOT c", [], nil),
            ("a\0b", [], #"the pattern has a NUL character: "a\0b""#),
            ("\"my column\" : x", ["my column"], nil), ("a", ["rank"], "reserved fts5 column name: rank"),
        ] as [(String, [String], String?)])
    func rawFTS5(pattern: String, columns: [String], message: String?) throws {
        if let message {
            expectError(.SQLITE_ERROR, message) { try FTS5Pattern(rawPattern: pattern, allowedColumns: columns) }
        } else {
            #expect(try FTS5Pattern(rawPattern: pattern, allowedColumns: columns).rawPattern == pattern)
        }
        if columns.isEmpty {
            #expect((FTS5Pattern.fromDatabaseValue(pattern.databaseValue) != nil) == (message == nil))
        }
    }

    @Test func forTables() throws {
        try DatabaseQueue().write { db in
            try db.create(virtualTable: "d", using: FTS5()) { t in
                t.column("title")
                t.column("body")
            }
            #expect(try db.makeFTS5Pattern(rawPattern: "title : x", forTable: "d").rawPattern == "title : x")
            expectError(.SQLITE_ERROR, "no such column: titel") {
                try db.makeFTS5Pattern(rawPattern: "titel:x", forTable: "d")
            }
            expectError(.SQLITE_ERROR, #"fts5: syntax error near """#) {
                try db.makeFTS5Pattern(rawPattern: "x OR", forTable: "d")
            }
            expectError(.SQLITE_ERROR, "no such table: nope") {
                try db.makeFTS5Pattern(rawPattern: "x", forTable: "nope")
            }
            try db.execute(sql: "CREATE TABLE plain (a)")
            let error = #expect(throws: DatabaseError.self) {
                try db.makeFTS5Pattern(rawPattern: "x", forTable: "plain")
            }
            #expect(noSuchColumn("plain").contains(error?.message))
        }
    }

    @Test func values() throws {
        try DatabaseQueue().read { db in
            let pattern = try #require(try FTS5Pattern.fetchOne(db, sql: "SELECT 'a b'"))
            #expect(pattern.rawPattern == "a b")
            #expect(try String.fetchOne(db, sql: "SELECT ?", arguments: [pattern]) == "a b")
            #expect(try FTS3Pattern.fetchOne(db, sql: "SELECT 'a OR b'")?.databaseValue == "a OR b".databaseValue)
            #expect(throws: RowDecodingError.self) { try FTS5Pattern.fetchOne(db, sql: "SELECT 'a OR'") }
            #expect(throws: RowDecodingError.self) { try FTS3Pattern.fetchOne(db, sql: "SELECT 'a OR'") }
            #expect(FTS5Pattern.fromDatabaseValue(1.databaseValue) == nil)
        }
    }

    @Test func fromManyThreads() async throws {
        // Each check has a connection of its own.
        let failures = await withTaskGroup(of: Int.self) { group in
            for number in 0..<8 {
                group.addTask {
                    (0..<20).count { index in
                        let good = try? FTS5Pattern(
                            rawPattern: "a\(number) : b\(index)", allowedColumns: ["a\(number)"])
                        let bad = try? FTS5Pattern(rawPattern: "a\(number) : b", allowedColumns: ["b"])
                        return good == nil || bad != nil
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(failures == 0)
    }

    @Test func withTokenizers() throws {
        try DatabaseQueue().write { db in
            let tokenizer = try db.makeTokenizer(.unicode61())
            func raw(_ pattern: FTS5Pattern?) -> String? { pattern?.rawPattern }
            let text = "Été \"AND\" it's-😀"
            #expect(
                raw(try FTS5Pattern(matchingAnyTokenIn: text, tokenizer: tokenizer))
                    == #""Été" OR "AND" OR "it" OR "s""#)
            #expect(
                raw(try FTS5Pattern(matchingAllTokensIn: text, tokenizer: tokenizer)) == #""Été" "AND" "it" "s""#)
            #expect(
                raw(try FTS5Pattern(matchingAllPrefixesIn: text, tokenizer: tokenizer))
                    == #""Été"* "AND"* "it"* "s"*"#)
            #expect(
                raw(try FTS5Pattern(matchingPhrase: text, tokenizer: tokenizer))
                    == #""Été" + "AND" + "it" + "s""#)
            #expect(
                raw(try FTS5Pattern(matchingPrefixPhrase: text, tokenizer: tokenizer))
                    == #"^ "Été" + "AND" + "it" + "s""#)
            #expect(try FTS5Pattern(matchingAllTokensIn: "😀 …", tokenizer: tokenizer) == nil)
            // Letters may be anything, for a tokenizer that is told so.
            let quotes = try db.makeTokenizer(.unicode61(tokenCharacters: ["\""]))
            #expect(
                raw(try FTS5Pattern(matchingAllTokensIn: "a\"b c", tokenizer: quotes)) == #""a""b" "c""#)
            // Stems aren't stemmed again.
            let porter = try db.makeTokenizer(.porter())
            #expect(raw(try FTS5Pattern(matchingAllTokensIn: "Generously", tokenizer: porter)) == #""Generously""#)
        }
    }

    @Test func tokenizeFTS3() throws {
        #expect(try FTS3.tokenize("SQLite database") == ["sqlite", "database"])
        #expect(try FTS3.tokenize("Gustave Doré") == ["gustave", "doré"])
        #expect(try FTS3.tokenize("Gustave Doré", withTokenizer: .unicode61()) == ["gustave", "dore"])
        #expect(try FTS3.tokenize("Gustave Doré", withTokenizer: .unicode61(diacritics: .keep)) == ["gustave", "doré"])
        #expect(try FTS3.tokenize("running dogs", withTokenizer: .porter) == ["run", "dog"])
        // Porter cuts long tokens in their midst, which may be inside a character.
        let cut = try FTS3.tokenize("fooéı👨👨🏿🇫🇷🇨🇮", withTokenizer: .porter)
        #expect(cut.count == 1)
        #expect(cut.first?.hasPrefix("fooéı") == true)
        #expect(cut.first?.contains("\u{FFFD}") == true)
        #expect(try FTS3.tokenize("foo", withTokenizer: .unicode61(separators: ["o", "\""])) == ["f"])
        #expect(try FTS3.tokenize("") == [])
        #expect(try FTS3.tokenize("a\0b") == ["a"])
        #expect(try FTS3.tokenize("it's \"q\"") == ["it", "s", "q"])
    }
}
