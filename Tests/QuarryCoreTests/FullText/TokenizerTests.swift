import QuarryCore
import QuarryTestSupport
import Synchronization
import Testing

/// Words between spaces; some have a meaning of their own.
private final class SpaceTokenizer: FTS5TextTokenizer {
    static let name = "space"
    static let instances = Atomic<Int>(0)

    private weak var db: Database?

    init(db: Database, arguments: [String]) throws {
        if arguments.first == "fail" { throw DatabaseError(resultCode: .SQLITE_AUTH, message: "not \(arguments)") }
        if arguments.first == "cancel" { throw CancellationError() }
        self.db = db
        Self.instances.add(1, ordering: .relaxed)
    }

    deinit { Self.instances.subtract(1, ordering: .relaxed) }

    func tokenize(
        _ text: UnsafeBufferPointer<UInt8>, for tokenization: FTS5Tokenization, into tokens: borrowing FTS5TokenSink
    ) throws {
        for word in text.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: true) {
            let string = String(decoding: word, as: UTF8.self)
            if string == "bad" { throw DatabaseError(resultCode: .SQLITE_CONSTRAINT_CHECK, message: "a bad word") }
            if string == "odd" { throw OddWord() }
            if string == "stop" { throw CancellationError() }
            if string == "fine" { throw DatabaseError(resultCode: .SQLITE_DONE, message: "I am fine") }
            if string == "empty" { try tokens.add("", range: word.startIndex..<word.endIndex) }
            if string == "read", let db { _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM other") }
            if string == "write", let db { try db.execute(sql: "INSERT INTO other VALUES (1)") }
            if string == "recurse", let db {
                try db.execute(sql: "INSERT INTO d VALUES ('recurse')")
            }
            if string == "search", let db {
                _ = try Int.fetchOne(db, sql: "SELECT rowid FROM e WHERE e MATCH '\"search\"'")
            }
            try tokens.add(utf8: UnsafeBufferPointer(rebasing: word), range: word.startIndex..<word.endIndex)
        }
    }

    struct OddWord: Error, CustomStringConvertible {
        var description: String { "an odd word" }
    }
}

/// Drops `the`, knows that `1st` is `first`, and swallows what it is told.
private final class Synonyms: FTS5WrapperTokenizer {
    static let name = "synonyms"
    let wrappedTokenizer: any FTS5Tokenizer

    init(db: Database, arguments: [String]) throws {
        wrappedTokenizer = try db.makeTokenizer(components: arguments.isEmpty ? ["unicode61"] : arguments)
    }

    func accept(
        token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
        tokenCallback: FTS5WrapperTokenCallback
    ) throws {
        if token == "the" { return }
        if token == "bad" { throw DatabaseError(resultCode: .SQLITE_CONSTRAINT, message: "bad token") }
        if token == "swallow" { return (try? tokenCallback(token, flags)) ?? () }
        try tokenCallback(token, flags)
        if token == "first", tokenization.contains(.document) { try tokenCallback("1st", flags.union(.colocated)) }
    }
}

@Suite struct TokenizerTests {
    private func withTable(
        _ tokenize: String = "space", _ body: (Database) throws -> Void
    ) throws {
        try withConnection { (db) throws in
            db.add(tokenizer: SpaceTokenizer.self)
            db.add(tokenizer: Synonyms.self)
            try db.execute(sql: "CREATE TABLE other (a); CREATE VIRTUAL TABLE d USING fts5(a, tokenize='\(tokenize)')")
            try body(db)
        }
    }

    private func found(_ db: Database, _ pattern: String) throws -> [Int] {
        try Int.fetchAll(db, sql: "SELECT rowid FROM d WHERE d MATCH ? ORDER BY rowid", arguments: [pattern])
    }

    @Test func tokenizerSplitsTextsAndPatterns() throws {
        try withTable { (db) throws in
            try db.execute(sql: "INSERT INTO d VALUES ('It''s a-b'), ('C++ it''s'), (''), (NULL), ('empty x')")
            #expect(try found(db, "\"It's\"") == [1])
            #expect(try found(db, "\"it's\"") == [2])
            #expect(try found(db, "\"C+\"*") == [2])
            #expect(try found(db, "\"b\"") == [])
            #expect(try found(db, "\"\"") == [])
            #expect(try found(db, "x") == [5])
            try db.execute(sql: "UPDATE d SET a = 'new' WHERE rowid = 2; DELETE FROM d WHERE rowid = 1")
            #expect(try found(db, "\"It's\" OR \"C+\"* OR new") == [2])
            try db.execute(sql: "INSERT INTO d(d) VALUES ('integrity-check')")
            let highlighted = try String.fetchOne(db, sql: "SELECT highlight(d, 0, '[', ']') FROM d('new')")
            #expect(highlighted == "[new]")
        }
    }

    /// Tells places that another text has.
    private final class Misplacing: FTS5TextTokenizer {
        static let name = "misplacing"
        let range: Range<Int>
        let goesOn: Bool

        init(db: Database, arguments: [String]) {
            range = (Int(arguments[0]) ?? 0)..<(Int(arguments[1]) ?? 0)
            goesOn = arguments.count > 2
        }

        func tokenize(
            _ text: UnsafeBufferPointer<UInt8>, for tokenization: FTS5Tokenization, into tokens: borrowing FTS5TokenSink
        ) throws {
            if goesOn { try? tokens.add("abc", range: range) } else { try tokens.add("abc", range: range) }
        }
    }

    @Test func tokensOutsideOfTheTextAreErrors() throws {
        try withConnection { (db) throws in
            db.add(tokenizer: Misplacing.self)
            for (index, place) in ["0 8", "1048576 1048584", "'-1' 2", "4 4", "0 8 on"].enumerated() {
                try db.execute(sql: "CREATE VIRTUAL TABLE d\(index) USING fts5(a, tokenize = \"misplacing \(place)\")")
                expectError(.SQLITE_MISUSE) { try db.execute(sql: "INSERT INTO d\(index) VALUES ('abc')") }
                expectError(.SQLITE_MISUSE) {
                    try db.makeTokenizer(
                        components: ["misplacing"] + place.split(separator: " ").map { $0.filter { $0 != "'" } }
                    )
                    .tokenize(document: "abc")
                }
            }
            try db.execute(sql: "CREATE VIRTUAL TABLE d USING fts5(a, tokenize = 'misplacing 0 3')")
            try db.execute(sql: "INSERT INTO d VALUES ('abc')")
            #expect(try String.fetchOne(db, sql: "SELECT highlight(d, 0, '[', ']') FROM d('xyz')") == "[abc]")
            expectError(
                .SQLITE_MISUSE, "a tokenizer has reported a token at bytes 0..<3 of a text of 2 bytes",
                sql: "INSERT INTO d VALUES ('ab')"
            ) { try db.execute(sql: "INSERT INTO d VALUES ('ab')") }
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM d") == 1)
        }
    }

    @Test func synonyms() throws {
        try withTable("synonyms") { (db) throws in
            try db.execute(sql: "INSERT INTO d VALUES ('The first cat'), ('the 1st dog'), ('the')")
            #expect(try found(db, "1st") == [1, 2])
            #expect(try found(db, "first") == [1])
            #expect(try found(db, "1s*") == [1, 2])
            #expect(try found(db, "\"1st cat\"") == [1])
            #expect(try found(db, "the cat") == [1])
            #expect(try found(db, "the") == [])
            let highlighted = try String.fetchAll(db, sql: "SELECT highlight(d, 0, '[', ']') FROM d('1st')")
            #expect(highlighted == ["The [first] cat", "the [1st] dog"])
        }
    }

    @Test func tokens() throws {
        try withTable { (db) throws in
            let tokenizer = try db.makeTokenizer(components: ["synonyms"])
            let document = try tokenizer.tokenize(document: "the first Cat")
            #expect(document.map(\.token) == ["first", "1st", "cat"])
            #expect(document.map(\.flags) == [[], .colocated, []])
            #expect(try tokenizer.tokenize(query: "the first Cat").map(\.token) == ["first", "cat"])
            #expect(try tokenizer.tokenize(query: "").isEmpty)
            let wrapped = try db.makeTokenizer(components: ["porter", "synonyms", "space"])
            #expect(try wrapped.tokenize(document: "the dogs first").map(\.token) == ["dog", "first", "1st"])
            let direct = try Synonyms(db: db, arguments: [])
            #expect(try direct.tokenize(document: "The Cat").map(\.token) == ["cat"])
            #expect(
                try tokenizer.tokens(of: "été the x", for: .document).map { "\($0.text) \($0.start) \($0.end)" }
                    == ["ete 0 5", "x 10 11"])
        }
    }

    @Test(arguments: [
        ("bad", ResultCode.SQLITE_CONSTRAINT_CHECK, "a bad word"), ("odd", .SQLITE_ERROR, "an odd word"),
        ("fine", .SQLITE_ERROR, "I am fine"), ("stop", .SQLITE_INTERRUPT, "interrupted"),
    ]) func errorsOfATokenizerReachTheStatement(word: String, code: ResultCode, message: String) throws {
        for tokenize in ["space", "synonyms space", "porter space"] {
            try withTable(tokenize) { (db) throws in
                try db.execute(sql: "INSERT INTO d VALUES ('kept')")
                let insert = "INSERT INTO d VALUES ('a \(word) b')"
                expectError(code, message, sql: insert) { try db.execute(sql: insert) }
                let select = "SELECT * FROM d WHERE d MATCH '\(word)'"
                expectError(code, message, sql: select) { try Row.fetchAll(db, sql: select) }
                let update = "UPDATE d SET a = '\(word)'"
                expectError(code, message, sql: update) { try db.execute(sql: update) }
                // The next error is another one.
                let wrong = "SELECT * FROM d WHERE d MATCH 'AND'"
                expectError(.SQLITE_ERROR, #"fts5: syntax error near "AND""#, sql: wrong) {
                    try Row.fetchAll(db, sql: wrong)
                }
                expectError(.SQLITE_ERROR, "no such table: nope", sql: "DELETE FROM nope") {
                    try db.execute(sql: "DELETE FROM nope")
                }
                #expect(try found(db, "kept") == [1])
                try db.execute(sql: "INSERT INTO d(d) VALUES ('integrity-check')")
                let tokenizer = try db.makeTokenizer(components: tokenize.split(separator: " ").map(String.init))
                expectError(code, message, sql: nil) { try tokenizer.tokenize(document: "a \(word)") }
                expectError(code, message, sql: nil) { try tokenizer.tokenize(query: word) }
                #expect(try tokenizer.tokenize(document: "x").map(\.token) == ["x"])
                expectError(.SQLITE_ERROR, "no such table: nope", sql: "DELETE FROM nope") {
                    try db.execute(sql: "DELETE FROM nope")
                }
            }
        }
    }

    @Test func failingWrapper() throws {
        try withTable("synonyms") { (db) throws in
            expectError(.SQLITE_CONSTRAINT, "bad token", sql: "INSERT INTO d VALUES ('a bad c')") {
                try db.execute(sql: "INSERT INTO d VALUES ('a bad c')")
            }
        }
    }

    @Test func failingInitializer() throws {
        try withTable { (db) throws in
            let sql = "CREATE VIRTUAL TABLE e USING fts5(a, tokenize='space fail ''it''''s''')"
            expectError(.SQLITE_AUTH, #"not ["fail", "it\'s"]"#, sql: sql) { try db.execute(sql: sql) }
            let cancelled = "CREATE VIRTUAL TABLE e USING fts5(a, tokenize='space cancel')"
            expectError(.SQLITE_INTERRUPT, "interrupted", sql: cancelled) { try db.execute(sql: cancelled) }
            expectError(.SQLITE_AUTH, #"not ["fail"]"#, sql: nil) {
                try db.makeTokenizer(components: ["space", "fail"])
            }
            let wrapped = "CREATE VIRTUAL TABLE e USING fts5(a, tokenize='synonyms space fail')"
            expectError(.SQLITE_AUTH, #"not ["fail"]"#, sql: wrapped) { try db.execute(sql: wrapped) }
            expectError(.SQLITE_ERROR, "no such tokenizer: nope", sql: nil) {
                try db.makeTokenizer(components: ["nope"])
            }
            expectError(.SQLITE_ERROR, "error in tokenizer constructor: unicode61 x", sql: nil) {
                try db.makeTokenizer(components: ["unicode61", "x"])
            }
            expectError(.SQLITE_MISUSE, "a tokenizer has no name", sql: nil) { try db.makeTokenizer(components: []) }
            expectError(.SQLITE_MISUSE, #"the arguments of a tokenizer have a NUL character: "a\0b""#, sql: nil) {
                try db.makeTokenizer(components: ["unicode61", "a\0b"])
            }
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master WHERE name = 'e'") == 0)
        }
    }

    @Test func missingTokenizer() throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/db.sqlite"
            try withConnection(path: path) { (db) throws in
                db.add(tokenizer: SpaceTokenizer.self)
                try db.execute(sql: "CREATE VIRTUAL TABLE d USING fts5(a, tokenize='space')")
            }
            try withConnection(path: path) { (db) throws in
                // Newer versions of SQLite make the tokenizer when a text is looked for.
                let sql = "SELECT * FROM d WHERE d MATCH 'x'"
                expectError(.SQLITE_ERROR, "no such tokenizer: space", sql: sql) { try Row.fetchAll(db, sql: sql) }
                db.add(tokenizer: SpaceTokenizer.self)
                #expect(try Row.fetchAll(db, sql: "SELECT * FROM d").isEmpty)
            }
        }
    }

    @Test func databaseInTokenizer() throws {
        try withTable { (db) throws in
            try db.execute(sql: "CREATE VIRTUAL TABLE e USING fts5(a, tokenize='space')")
            try db.execute(sql: "INSERT INTO d VALUES ('read')")
            #expect(try found(db, "read") == [1])
            for word in ["write", "recurse"] {
                let sql = "INSERT INTO d VALUES ('\(word)')"
                expectError(.SQLITE_READONLY, "attempt to write a readonly database", sql: sql) {
                    try db.execute(sql: sql)
                }
            }
            // A tokenizer that needs itself ends, too.
            let sql = "INSERT INTO d VALUES ('search')"
            let error = #expect(throws: DatabaseError.self) { try db.execute(sql: sql) }
            #expect(error?.message?.contains("statements run inside each other") == true)
            try db.execute(sql: "INSERT INTO d VALUES ('after'); INSERT INTO other VALUES (2)")
            #expect(try found(db, "after") == [2])
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM other") == [2])
        }
    }

    @Test func badNames() throws {
        final class Nameless: FTS5TextTokenizer {
            static let name = ""
            init(db: Database, arguments: [String]) {}
            func tokenize(
                _ text: UnsafeBufferPointer<UInt8>, for tokenization: FTS5Tokenization,
                into tokens: borrowing FTS5TokenSink
            ) {}
        }
        expectError(.SQLITE_MISUSE, #"the name of a tokenizer has 1 to 255 bytes of UTF-8 and no NUL: """#, sql: nil) {
            try withConnection { (db) throws in db.add(tokenizer: Nameless.self) }
        }
        expectError(.SQLITE_MISUSE, #"the name of a function has 1 to 255 bytes of UTF-8 and no NUL: "a\0""#, sql: nil)
        {
            try withConnection { (db) throws in db.add(function: FTS5Function("a\0") { _ in 1 }) }
        }
    }
}

/// Tokenizers are released with their connection.
@Suite struct TokenizerMemoryTests {
    private final class Counted: FTS5TextTokenizer {
        static let name = "counted"
        static let count = Atomic<Int>(0)

        init(db: Database, arguments: [String]) { Self.count.add(1, ordering: .relaxed) }
        deinit { Self.count.subtract(1, ordering: .relaxed) }

        func tokenize(
            _ text: UnsafeBufferPointer<UInt8>, for tokenization: FTS5Tokenization,
            into tokens: borrowing FTS5TokenSink
        ) throws {
            try tokens.add(utf8: text, range: 0..<text.count)
        }
    }

    private final class Kept: Sendable {
        static let count = Atomic<Int>(0)
        init() { Self.count.add(1, ordering: .relaxed) }
        deinit { Self.count.subtract(1, ordering: .relaxed) }
    }

    @Test func tokenizersAreReleasedWithTheirConnection() throws {
        var survivor: (any FTS5Tokenizer)?
        try withConnection { (db) throws in
            db.add(tokenizer: Counted.self)
            db.add(tokenizer: Counted.self)
            try db.execute(sql: "CREATE VIRTUAL TABLE d USING fts5(a, tokenize='counted')")
            try db.execute(sql: "CREATE VIRTUAL TABLE e USING fts5(a, tokenize='porter counted')")
            try db.execute(sql: "INSERT INTO d VALUES ('x'); INSERT INTO e VALUES ('x')")
            #expect(Counted.count.load(ordering: .relaxed) == 2)
            survivor = try db.makeTokenizer(components: ["porter", "counted"])
            #expect(Counted.count.load(ordering: .relaxed) == 3)
            let kept = Kept()
            db.add(function: FTS5Function("kept") { _ in withExtendedLifetime(kept) { 1 } })
            db.add(function: FTS5Function("kept") { _ in withExtendedLifetime(kept) { 2 } })
            db.add(
                function: FTS5Function("once") { match in
                    try withExtendedLifetime(match.onceForQuery { _ in Kept() }) {
                        Int(Kept.count.load(ordering: .relaxed))
                    }
                })
            #expect(try Int.fetchOne(db, sql: "SELECT kept(d) FROM d('x')") == 2)
            try db.execute(sql: "INSERT INTO d VALUES ('x')")
            #expect(try Int.fetchAll(db, sql: "SELECT once(d) FROM d('x')") == [2, 2])
            #expect(try Int.fetchAll(db, sql: "SELECT once(d) FROM d('x')") == [2, 2])
            #expect(Kept.count.load(ordering: .relaxed) == 1)
        }
        #expect(Counted.count.load(ordering: .relaxed) == 1)
        #expect(Kept.count.load(ordering: .relaxed) == 0)
        // A tokenizer that the test keeps works without the connection.
        #expect(try survivor?.tokenize(document: "dogs").map(\.token) == ["dog"])
        survivor = nil
        #expect(Counted.count.load(ordering: .relaxed) == 0)
    }
}
