import Quarry
import QuarryCJKTokenizer
import QuarryTestSupport
import Testing

struct Document: Codable, FetchableRecord, PersistableRecord {
    var title: String
    var body: String
}

final class SynonymTokenizer: FTS5WrapperTokenizer {
    static let name = "synonyms"
    let wrappedTokenizer: any FTS5Tokenizer

    init(db: Database, arguments: [String]) throws {
        wrappedTokenizer = try db.makeTokenizer(.unicode61())
    }

    func accept(
        token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
        tokenCallback: FTS5WrapperTokenCallback
    ) throws {
        if ["the", "a"].contains(token) { return }  // a stop word
        try tokenCallback(token, flags)
        if tokenization.contains(.document), token == "first" {
            try tokenCallback("1st", flags.union(.colocated))  // a synonym, in the same place
        }
    }
}

@Suite struct FullTextSamples {
    private func withDocuments(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            try db.create(virtualTable: "document", using: FTS5()) { t in
                t.tokenizer = .unicode61()
                t.column("title")
                t.column("body")
            }
            for (title, body) in [
                ("SQLite", "A library that is a database"), ("Swift", "A language with a library"),
                ("Notes", "SQLite in Swift"),
            ] { try Document(title: title, body: body).insert(db) }
            try body(db)
        }
    }

    @Test func searching() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.create(virtualTable: "document", using: FTS5()) { t in
                t.tokenizer = .porter()  // `run` finds `running`
                t.column("title")
                t.column("body")
            }
            try Document(title: "SQLite", body: "A library that is a database").insert(db)

            let pattern = FTS5Pattern(matchingAllTokensIn: "libraries SQLITE")
            let documents = try Document.matching(pattern).order(FTS5.rank).fetchAll(db)
            #expect(documents.count == 1)
        }
    }

    @Test func patterns() throws {
        let text = "SQLite \"lib"
        #expect(FTS5Pattern(matchingAnyTokenIn: text)?.rawPattern == "sqlite OR lib")
        #expect(FTS5Pattern(matchingAllTokensIn: text)?.rawPattern == "sqlite lib")
        #expect(FTS5Pattern(matchingAllPrefixesIn: text)?.rawPattern == "sqlite* lib*")
        #expect(FTS5Pattern(matchingPhrase: text)?.rawPattern == "\"sqlite lib\"")
        #expect(FTS5Pattern(matchingPrefixPhrase: text)?.rawPattern == "^\"sqlite lib\"")
        #expect(FTS5Pattern(matchingAnyTokenIn: "…") != nil)
        #expect(FTS5Pattern(matchingAnyTokenIn: "*") == nil)
        try withDocuments { db in
            let typed = "title : sqlite OR"
            var pattern: FTS5Pattern?
            do {
                pattern = try db.makeFTS5Pattern(rawPattern: typed, forTable: "document")
            } catch let error as DatabaseError {
                print(error.message ?? "")  // fts5: syntax error near ""
            }
            #expect(pattern == nil)
        }
    }

    @Test func showing() throws {
        try withDocuments { db in
            let pattern = FTS5Pattern(matchingAnyTokenIn: "sqlite")
            let shown = FTS5.snippet(of: "document", open: "<b>", close: "</b>", tokenCount: 5)
            let request = Document.matching(pattern)
                .order(FTS5.bm25(of: "document", weights: [10, 1]))  // a title counts more
                .select(Column("title"), shown.forKey("shown"))
            for row in try Row.fetchAll(db, request) {
                print(row["title"] as String, row["shown"] as String)  // SQLite <b>SQLite</b>
            }
            #expect(
                try Row.fetchAll(db, request).map { $0[1] as String } == ["<b>SQLite</b>", "<b>SQLite</b> in Swift"])
        }
    }

    private struct Shelf: TableRecord {}

    private struct Book: Codable, FetchableRecord, PersistableRecord {
        enum Columns {
            static let id = Column("id")
            static let author = Column("author")
        }
        static let shelf = belongsTo(Shelf.self)
        var id: Int64
        var title: String
    }

    @Test func synchronizing() throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE shelf (id INTEGER PRIMARY KEY);
                    CREATE TABLE book (
                        id INTEGER PRIMARY KEY, title TEXT, author TEXT, shelfId INTEGER REFERENCES shelf);
                    """)

            try db.create(virtualTable: "book_ft", using: FTS5()) { t in
                t.synchronize(withTable: "book")
                t.column("title")
            }
            try db.execute(sql: "INSERT INTO book (title) VALUES ('Moby-Dick')")

            let pattern = FTS5Pattern(matchingAllPrefixesIn: "moby d")
            let books = try Book.matching(pattern, in: "book_ft").fetchAll(db)
            #expect(books.map(\.id) == [1])

            try db.execute(sql: "UPDATE book SET author = 'Melville'")
            let request = Book.matching(pattern, in: "book_ft", weights: [10])
                .filter { $0.author == "Melville" }
                .including(optional: Book.shelf)
                .limit(20)
            #expect(try request.fetchCount(db) == 1)

            struct BookText: TableRecord {
                static let databaseTableName = "book_ft"
                static let book = belongsTo(Book.self, using: ForeignKey([.rowID], to: [Book.Columns.id]))
            }
            let found = BookText.matching(pattern).order(FTS5.rank)
                .select(FTS5.highlight(Column("title"), of: "book_ft", open: "<b>", close: "</b>").forKey("shown"))
                .annotated(withRequired: BookText.book.select(Column("id"), Column("author")))
            let row = try #require(try Row.fetchOne(db, found))
            #expect(row["shown"] == "<b>Moby-Dick</b>" || row["shown"] == "<b>Moby</b>-<b>Dick</b>")
            #expect(row["id"] == 1 && row["author"] == "Melville")

            try db.dropFTS5SynchronizationTriggers(forTable: "book_ft")
            try db.drop(table: "book_ft")
        }
    }

    @Test func tokenizers() throws {
        var config = Configuration()
        config.prepareDatabase { db in
            db.add(tokenizer: SynonymTokenizer.self)
        }
        let dbQueue = try DatabaseQueue(configuration: config)
        try dbQueue.write { db in
            try db.create(virtualTable: "document", using: FTS5()) { t in
                t.tokenizer = SynonymTokenizer.tokenizerDescriptor()
                t.column("title")
                t.column("body")
            }
            try Document(title: "The first", body: "").insert(db)
            let pattern = FTS5Pattern(matchingPhrase: "1st")
            #expect(try Document.matching(pattern).fetchCount(db) == 1)

            let tokenizer = try db.makeTokenizer(.porter(wrapping: .unicode61()))
            let tokens = try tokenizer.tokenize(query: "Running dogs").map(\.token)  // ["run", "dog"]
            #expect(tokens == ["run", "dog"])
        }
    }

    @Test func chineseJapaneseAndKorean() throws {
        var config = Configuration()
        config.prepareDatabase { db in
            db.add(tokenizer: FTS5CJKTokenizer.self)
        }
        try DatabaseQueue(configuration: config).write { db in
            try db.create(virtualTable: "document", using: FTS5()) { t in
                t.tokenizer = .cjk()
                t.column("title")
                t.column("body")
            }
            try Document(title: "全文検索", body: "ＳＱＬｉｔｅで").insert(db)

            let tokenizer = try db.makeTokenizer(.cjk())
            let pattern = try FTS5Pattern(matchingAllTokensIn: "検索 sqlite", tokenizer: tokenizer)
            let count = try Document.matching(pattern).fetchCount(db)  // 1
            #expect(count == 1)
        }
    }

    @Test func functions() throws {
        try withDocuments { db in
            let hits = FTS5Function("hits") { match in try match.instanceCount() }
            db.add(function: hits)  // in `prepareDatabase`, for all connections

            let pattern = FTS5Pattern(matchingAnyTokenIn: "a library")
            let counts = try Document.matching(pattern)
                .select(FTS5.call("hits", of: "document"), as: Int.self)
                .fetchAll(db)  // [3, 3]
            #expect(counts == [3, 3])
        }
    }
}

@Suite struct SettingsSamples {
    @Test func settings() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.writeWithoutTransaction { db in
            let bytes = try db.pageSize() * db.pageCount()
            let problems = try db.integrityCheck()  // []
            try db.setUserVersion(7)
            if try db.autoVacuumMode() == .incremental { try db.incrementalVacuum(pageCount: 100) }
            try db.optimize()
            #expect(bytes >= 0)
            #expect(problems.isEmpty)
        }
    }

    @Test func attaching() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in try db.makePlayers() }
        let path = ":memory:"
        try dbQueue.writeWithoutTransaction { db in
            try db.attach(path, as: "archive")
            try db.execute(sql: "CREATE TABLE archive.player AS SELECT * FROM player")
            let pages = try db.pageCount(of: "archive")
            try db.detach("archive")
            #expect(pages > 0)
        }
    }
}
