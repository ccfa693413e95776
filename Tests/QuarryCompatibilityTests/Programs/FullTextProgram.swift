import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Full-text search: FTS3, FTS4 and FTS5, patterns, synchronized tables, and a tokenizer of the program's own.
enum FullTextProgram: Program {
    static func run() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.add(tokenizer: SynonymsTokenizer.self)
        }
        let dbQueue = try DatabaseQueue(configuration: configuration)
        try dbQueue.write { db in
            try db.create(virtualTable: "page", using: FTS3()) { t in
                t.tokenizer = .porter
                t.column("body")
            }
            try db.create(virtualTable: "document", using: FTS4()) { t in
                t.tokenizer = .unicode61(diacritics: .remove)
                t.column("title")
                t.column("body")
                t.column("secret").notIndexed()
                t.prefixes = [2, 4]
            }
            try db.execute(sql: "INSERT INTO page VALUES ('Moby-Dick; or, The Whale'), ('whales and ships')")
            for (title, body) in [
                ("Æsop", "The fox and the crow"), ("Fables", "La fontaine écrivait"), ("Fox", "A crow. A fox."),
            ] {
                try Document(title: title, body: body).insert(db)
            }
            print(try Table("page").all().matching(FTS3Pattern(matchingAllTokensIn: "whale")).fetchCount(db))
            print(
                try Row.fetchAll(db, Table("page").select(.rowID).matching(FTS3Pattern(matchingPhrase: "moby dick")))
                    .map { $0[.rowID] as Int })
            for pattern in [
                FTS3Pattern(matchingAnyTokenIn: "fox ecrivait"), FTS3Pattern(matchingAllTokensIn: "fox crow"),
                FTS3Pattern(matchingAllPrefixesIn: "fon"),
                FTS3Pattern(matchingPhrase: "the crow"), FTS3Pattern(matchingAnyTokenIn: ""),
                try? FTS3Pattern(rawPattern: "title:fox"), try? FTS3Pattern(rawPattern: "\"open"),
            ] {
                print(pattern?.rawPattern ?? "no pattern", try Document.matching(pattern).fetchAll(db).map(\.title))
            }
            print(try Document.filter(Column("title").match(FTS3Pattern(rawPattern: "f*"))).fetchAll(db).map(\.title))
            print(
                try Document.fetchAll(
                    db, sql: "SELECT * FROM document WHERE document MATCH ?",
                    arguments: [FTS3Pattern(matchingAnyTokenIn: "aesop crow")]
                ).map(\.title))
            print(
                try FTS3.tokenize("Les Élèves, 2", withTokenizer: .unicode61()),
                try FTS3.tokenize("running dogs", withTokenizer: .porter))
        }

        try dbQueue.write { db in
            try db.create(table: "book") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("author", .text).notNull()
                t.column("title", .text).notNull()
            }
            try db.execute(sql: "INSERT INTO book (author, title) VALUES ('Melville', 'Moby-Dick')")
            try db.create(virtualTable: "book_ft", using: FTS5()) { t in
                t.synchronize(withTable: "book")
                t.tokenizer = .porter(wrapping: .unicode61())
                t.column("author").notIndexed()
                t.column("title")
            }
            for (author, title) in [("Sewell", "Black Beauty"), ("Doyle", "The Hound"), ("Nobody", "Hounds, hounds")] {
                try Book(author: author, title: title).insert(db)
            }
            try db.execute(sql: "UPDATE book SET title = 'Black Beauties' WHERE id = 2; DELETE FROM book WHERE id = 1")
            print(
                try Book.joining(required: Book.index.matching(FTS5Pattern(matchingAllTokensIn: "hound"))).order(
                    Column("id")
                ).fetchAll(db).map(\.title))
            let pattern = try db.makeFTS5Pattern(rawPattern: "title : hound* NOT the", forTable: "book_ft")
            print(try Book.joining(required: Book.index.matching(pattern)).fetchAll(db).map(\.title))
            print(
                try String.fetchAll(
                    db,
                    Table("book_ft").all().matching(FTS5Pattern(matchingAnyTokenIn: "beauty hound")).order(Column.rank)
                        .select(Column("title"))
                ).count)
            let sql =
                "SELECT book.* FROM book JOIN book_ft ON book_ft.rowid = book.id AND book_ft MATCH ? ORDER BY id"
            print(
                try Book.fetchAll(db, sql: sql, arguments: [FTS5Pattern(matchingAnyTokenIn: "hound beauty")]).map(
                    \.title))
            for pattern in [
                FTS5Pattern(matchingPhrase: "the hound"), FTS5Pattern(matchingPrefixPhrase: "the hou"),
                FTS5Pattern(matchingAllPrefixesIn: "hou bla"),
                FTS5Pattern(matchingAllTokensIn: "; ,"), FTS5Pattern(matchingAnyTokenIn: "a \"b\" c"),
            ] {
                print(pattern?.rawPattern ?? "no pattern")
            }
            do {
                _ = try db.makeFTS5Pattern(rawPattern: "missing : word", forTable: "book_ft")
            } catch let error as DatabaseError {
                print(error.message ?? "")
            }
            try db.dropFTS5SynchronizationTriggers(forTable: "book_ft")
            try Book(author: "Late", title: "Hound dog").insert(db)
            print(try Table("book_ft").all().matching(FTS5Pattern(matchingAllTokensIn: "dog")).fetchCount(db))
        }

        try dbQueue.write { db in
            try db.create(virtualTable: "race", using: FTS5()) { t in
                t.tokenizer = SynonymsTokenizer.tokenizerDescriptor()
                t.prefixes = [2]
                t.columnSize = 0
                t.detail = "full"
                t.column("report")
            }
            try db.execute(sql: "INSERT INTO race VALUES ('I won first place'), ('Came 1st'), ('Second'), ('The last')")
            for query in ["first", "1st", "second", "the"] {
                print(query, try Table("race").all().matching(FTS5Pattern(matchingAllTokensIn: query)).fetchCount(db))
            }
            let tokenizer = try db.makeTokenizer(.ascii())
            print(
                try tokenizer.tokenize(document: "One, two; THREE").map {
                    "\($0.token) \($0.flags.contains(.colocated))"
                })
            let own = try db.makeTokenizer(SynonymsTokenizer.tokenizerDescriptor())
            print(
                try own.tokenize(document: "the first").map { "\($0.token) \($0.flags.contains(.colocated))" },
                try own.tokenize(query: "the first").map(\.token))
            print(
                FTS5TokenizerDescriptor.porter(wrapping: .ascii()).components,
                FTS5TokenizerDescriptor(components: ["unicode61", "remove_diacritics", "0"]).components.count)
        }
    }
}

private final class SynonymsTokenizer: FTS5WrapperTokenizer {
    static let name = "synonyms"
    let wrappedTokenizer: any FTS5Tokenizer
    private let synonyms = ["first": ["1st"], "1st": ["first"]]

    init(db: Database, arguments: [String]) throws {
        wrappedTokenizer = try db.makeTokenizer(.unicode61())
    }

    func accept(
        token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
        tokenCallback: FTS5WrapperTokenCallback
    ) throws {
        if token == "the" { return }
        try tokenCallback(token, flags)
        if tokenization.contains(.document) {
            for synonym in synonyms[token] ?? [] {
                try tokenCallback(synonym, flags.union(.colocated))
            }
        }
    }
}

private struct Document: Codable, FetchableRecord, PersistableRecord {
    var title: String
    var body: String
}

private struct Book: Codable, FetchableRecord, PersistableRecord {
    static let index = hasOne(Table("book_ft"), key: "index", using: ForeignKey([.rowID], to: [.rowID]))
    var id: Int64?
    var author: String
    var title: String
}
