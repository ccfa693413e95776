import Quarry
import QuarryDocuments
import QuarryTestSupport
import Testing

/// The code of the article about documents.
@Suite(.timeLimit(.minutes(1 * TestTime.factor))) struct DocumentsSamples {
    struct Book: Codable, Sendable {
        var title: String
        var author: String
        var year: Int
    }

    struct Reading: Codable, Sendable {
        var page: Int
    }

    struct OldBook: Codable, Sendable {
        var name: String
        var year: Int
    }

    let store = DocumentStore("document")

    @Test func overview() async throws {
        let folder = try TemporaryFolder(isFast: true)
        let dbPool = try DatabasePool(path: folder.file("a.sqlite"))
        let books = store.collection("books", of: Book.self, metadata: Reading.self)
        let store = store
        var migrator = DatabaseMigrator()
        migrator.registerMigration("documents") { db in
            try store.create(in: db)
        }
        try migrator.migrate(dbPool)

        try await dbPool.write { db in
            let book = Book(title: "Moby-Dick", author: "Melville", year: 1851)
            try books.set(db, key: "moby-dick", book, metadata: Reading(page: 1))
            try books.replaceMetadata(db, key: "moby-dick", Reading(page: 30))
        }
        let book = try await dbPool.read { db in try books.get(db, key: "moby-dick") }
        #expect(book?.year == 1851)

        let shelf = books.bound(to: dbPool)
        try await shelf.set(key: "typee", Book(title: "Typee", author: "Melville", year: 1846))
        let typee = try await shelf.get(key: "typee")
        #expect(typee?.year == 1846)
        try await shelf.remove(key: "typee")

        try await dbPool.write { db in
            let author = books.path("author", as: String.self)
            let year = books.path("year", as: Int.self)
            try books.createIndex(db, "author", on: author, year)
            let found = try books.filter(author == "Melville" && year > 1850).order(year.desc).limit(10).fetchAll(db)
            #expect(found.count == 1)
        }

        try await dbPool.write { db in
            let title = books.path("title", as: String.self)
            try books.createTextIndex(db, "text", on: title, tokenizer: .porter())
            guard let pattern = FTS5Pattern(matchingAllTokensIn: "moby") else { return }
            let best = try books.bestMatches(db, pattern, in: "text", limit: 10)
            #expect(best.count == 1)
        }
    }

    @Test func versions() async throws {
        let dbPool = try makeQueue(store)
        try await dbPool.write { [store] db in
            let old = OldBook(name: "Typee", year: 1846)
            try store.collection("books", of: OldBook.self).set(db, key: "typee", old)
        }
        let books = store.collection("books", of: Book.self)
            .version(2)
            .upgrading(1, from: OldBook.self) { old in Book(title: old.name, author: "", year: old.year) }
        let book = try await dbPool.read { db in try books.get(db, key: "typee") }
        #expect(book?.title == "Typee")
        try await books.upgradeAll(in: dbPool)
    }

    @Test func changes() async throws {
        let dbPool = try makeQueue(store)
        let books = store.collection("books", of: Book.self)
        let keys = Recorded<[String]>([])
        var commits = dbPool.commits(keys: true).makeAsyncIterator()
        try await dbPool.write { db in try books.set(db, key: "emma", Book(title: "Emma", author: "", year: 1815)) }
        while let commit = await commits.next(isolation: nil) {
            for (key, _) in books.changes(in: commit) ?? [:] { keys.update { $0.append(key) } }
            break
        }
        #expect(keys.value == ["emma"])
        let cache = Recorded<Set<String>>([])
        let task = Task {
            for await commit in dbPool.commits(keys: true) {
                guard let changes = books.changes(in: commit) else { continue }
                for key in changes.keys { cache.update { _ = $0.insert(key) } }
            }
        }
        try await until("the change of a document is seen") {
            try dbPool.write { db in _ = try books.touch(db, key: "emma") }
            return cache.value == ["emma"]
        }
        task.cancel()
    }
}
