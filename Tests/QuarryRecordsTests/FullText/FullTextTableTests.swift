import Quarry
import QuarryTestSupport
import Testing

/// The SQL that creates full-text tables.
@Suite struct FullTextTableTests {
    private func created<Module: VirtualTableModule>(
        _ module: Module, options: VirtualTableOptions = [], _ body: ((Module.TableDefinition) throws -> Void)? = nil
    ) throws -> String {
        try DatabaseQueue().write { db in
            let sql = try emitted(db) { try db.create(virtualTable: "d", options: options, using: module, body) }
            #expect(sql.first == "SAVEPOINT quarry" && sql.last == "RELEASE SAVEPOINT quarry")
            return sql.dropFirst().dropLast().joined(separator: "\n")
        }
    }

    @Test func fts3() throws {
        #expect(try created(FTS3()) == #"CREATE VIRTUAL TABLE "d" USING fts3"#)
        let columns = try created(FTS3(), options: .ifNotExists) { t in
            t.column("a")
            t.column("my body")
        }
        #expect(columns == #"CREATE VIRTUAL TABLE IF NOT EXISTS "d" USING fts3(a, "my body")"#)
        let tokenizers: [(FTS3TokenizerDescriptor, String)] = [
            (.simple, "simple"), (.porter, "porter"), (.unicode61(), "unicode61"),
            (.unicode61(diacritics: .keep), #"unicode61 "remove_diacritics=0""#),
            (.unicode61(diacritics: .remove), #"unicode61 "remove_diacritics=2""#),
            (.unicode61(separators: ["X", "'"]), #"unicode61 "separators='X""#),
            (.unicode61(tokenCharacters: ["-", "."]), #"unicode61 "tokenchars=-.""#),
            (
                .unicode61(diacritics: .keep, separators: ["X"], tokenCharacters: ["-", "\""]),
                #"unicode61 "remove_diacritics=0" "separators=X" "tokenchars=""-""#
            ),
        ]
        for (tokenizer, sql) in tokenizers {
            let fts3 = try created(FTS3()) { t in
                t.column("a")
                t.tokenizer = tokenizer
            }
            #expect(fts3 == #"CREATE VIRTUAL TABLE "d" USING fts3(a, tokenize=\#(sql))"#)
            let fts4 = try created(FTS4()) { t in
                t.column("a")
                t.tokenizer = tokenizer
            }
            #expect(fts4 == #"CREATE VIRTUAL TABLE "d" USING fts4(a, tokenize=\#(sql))"#)
        }
    }

    @Test func fts4() throws {
        #expect(try created(FTS4()) == #"CREATE VIRTUAL TABLE "d" USING fts4"#)
        let all = try created(FTS4()) { t in
            t.tokenizer = .unicode61()
            t.column("a")
            t.column("b").notIndexed()
            t.column("l").asLanguageId()
            t.prefixes = [4, 2]
            t.matchinfo = "fts3"
            t.compress = "zip"
            t.uncompress = "unzip"
        }
        #expect(
            all == """
                CREATE VIRTUAL TABLE "d" USING fts4(a, b, notindexed=b, languageid="l", tokenize=unicode61, \
                compress="zip", uncompress="unzip", matchinfo="fts3", prefix="2,4")
                """)
        let both = try created(FTS4()) { t in t.column("a").notIndexed().asLanguageId() }
        #expect(both == #"CREATE VIRTUAL TABLE "d" USING fts4(languageid="a")"#)
        let content = try created(FTS4()) { t in
            t.column("a")
            t.content = "src"
        }
        #expect(content == #"CREATE VIRTUAL TABLE "d" USING fts4(a, content="src")"#)
        let contentless = try created(FTS4()) { t in
            t.column("a")
            t.content = ""
        }
        #expect(contentless == #"CREATE VIRTUAL TABLE "d" USING fts4(a, content="")"#)
        let noContent = try created(FTS4()) { t in
            t.column("a")
            t.content = "x"
            t.content = nil
            #expect(t.content == nil)
        }
        #expect(noContent == #"CREATE VIRTUAL TABLE "d" USING fts4(a)"#)
    }

    @Test func fts5() throws {
        let all = try created(FTS5()) { t in
            t.tokenizer = .unicode61()
            t.column("a")
            t.column("my body").notIndexed()
            t.prefixes = [4, 2]
            t.columnSize = 0
            t.detail = "column"
        }
        #expect(
            all == """
                CREATE VIRTUAL TABLE "d" USING fts5(a, "my body" UNINDEXED, tokenize='''unicode61''', prefix='2 4', \
                columnSize=0, detail=column)
                """)
        let content = try created(FTS5()) { t in
            t.column("a")
            t.content = "my src"
            t.contentRowID = "my id"
        }
        #expect(content == #"CREATE VIRTUAL TABLE "d" USING fts5(a, content='my src', content_rowid='my id')"#)
        let contentless = try created(FTS5()) { t in
            t.column("a")
            t.content = ""
        }
        #expect(contentless == #"CREATE VIRTUAL TABLE "d" USING fts5(a, content='')"#)
    }

    @Test func fts5Tokenizers() throws {
        let tokenizers: [(FTS5TokenizerDescriptor, String)] = [
            (.ascii(), "''ascii''"),
            (
                .ascii(separators: ["X", "'"], tokenCharacters: ["-", "\""]),
                #"''ascii'' ''separators'' ''''''X'' ''tokenchars'' ''"-''"#
            ),
            (.porter(), "''porter''"),
            (.porter(wrapping: .ascii()), "''porter'' ''ascii''"),
            (
                .porter(wrapping: .unicode61(diacritics: .keep)),
                "''porter'' ''unicode61'' ''remove_diacritics'' ''0''"
            ),
            (.unicode61(), "''unicode61''"),
            (.trigram(), "''trigram''"),
            (.trigram(isCaseSensitive: true), "''trigram'' ''case_sensitive'' ''1''"),
            (
                .unicode61(
                    diacritics: .remove, categories: "L* N* Co", separators: ["X", "'"], tokenCharacters: ["-", "\""]),
                """
                ''unicode61'' ''remove_diacritics'' ''2'' ''categories'' ''L* N* Co'' ''separators'' ''''''X'' \
                ''tokenchars'' ''"-''
                """
            ),
        ]
        for (tokenizer, sql) in tokenizers {
            let table = try created(FTS5()) { t in
                t.column("a")
                t.tokenizer = tokenizer
            }
            #expect(table == #"CREATE VIRTUAL TABLE "d" USING fts5(a, tokenize='\#(sql)')"#)
        }
    }

    @Test func names() throws {
        // Each name works, whatever it holds.
        let names = ["a b", "a\"b", "it's", "tokenize", "1st", "été", "order", "名前", "😀", "a,b", "a)"]
        try DatabaseQueue().write { db in
            for (index, name) in names.enumerated() {
                try db.create(virtualTable: "t\(index)", using: FTS3()) { t in t.column(name) }
                try db.create(virtualTable: "u\(index)", using: FTS4()) { t in
                    t.column(name)
                    t.column("other \(name)").notIndexed()
                }
                try db.create(virtualTable: "v\(index)", using: FTS5()) { t in
                    t.column(name)
                    t.column("other \(name)").notIndexed()
                }
                #expect(try db.columns(in: "t\(index)").map(\.name) == [name])
                #expect(try db.columns(in: "u\(index)").map(\.name) == [name, "other \(name)"])
                #expect(try db.columns(in: "v\(index)").map(\.name) == [name, "other \(name)"])
            }
        }
    }

    @Test func badDefinitions() throws {
        try DatabaseQueue().write { db in
            expectError(.SQLITE_MISUSE, "an FTS5 table has at least one column") {
                try db.create(virtualTable: "d", using: FTS5())
            }
            expectError(.SQLITE_ERROR, "no such tokenizer: nope") {
                try db.create(virtualTable: "d", using: FTS5()) { t in
                    t.column("a")
                    t.tokenizer = FTS5TokenizerDescriptor(components: ["nope"])
                }
            }
            expectError(.SQLITE_MISUSE, "a tokenizer has no name") {
                try db.create(virtualTable: "d", using: FTS5()) { t in
                    t.column("a")
                    t.tokenizer = FTS5TokenizerDescriptor(components: [])
                }
            }
            expectError(.SQLITE_MISUSE, #"the arguments of a tokenizer have a NUL character: "a\0b""#) {
                try db.create(virtualTable: "d", using: FTS5()) { t in
                    t.column("a")
                    t.tokenizer = .ascii(separators: ["X"]).components.first.map {
                        FTS5TokenizerDescriptor(components: [$0, "a\0b"])
                    }
                }
            }
            expectError(.SQLITE_ERROR, "no such table: book") {
                try db.create(virtualTable: "d", using: FTS5()) { t in
                    t.column("a")
                    t.synchronize(withTable: "book")
                }
            }
            expectError(.SQLITE_ERROR, "no such table: book") {
                try db.create(virtualTable: "d", using: FTS4()) { t in
                    t.column("a")
                    t.synchronize(withTable: "book")
                }
            }
            #expect(try !db.tableExists("d"))
            try db.execute(sql: "CREATE TABLE code (name TEXT PRIMARY KEY) WITHOUT ROWID; CREATE TABLE book (a TEXT)")
            expectError(.SQLITE_MISUSE, "full-text table d can't be synchronized with table code, which has no rowid") {
                try db.create(virtualTable: "d", using: FTS5()) { t in
                    t.column("name")
                    t.synchronize(withTable: "code")
                }
            }
            expectError(.SQLITE_MISUSE, "temporary full-text table d can't be synchronized with table book") {
                try db.create(virtualTable: "d", options: .temporary, using: FTS4()) { t in
                    t.column("a")
                    t.synchronize(withTable: "book")
                }
            }
            #expect(try !db.tableExists("d"))
        }
    }
}
