import Quarry
import QuarryDocuments
import QuarryTestSupport
import Testing

/// Random changes against a model: documents, indexes, texts and changes agree with it after each commit.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct RandomDocumentsTests {
    private struct Model: Equatable {
        var documents: [String: [String: Document<Book, Reading>]] = [:]
    }

    private static let collections = ["books", "Books", "", "a'b"]
    private static let words = ["whale", "sea", "emma", "typee", "omoo"]

    private let stores = [DocumentStore("document"), DocumentStore("a.b \"c\"")]

    private func collection(_ store: DocumentStore, _ name: String) -> DocumentCollection<Book, Reading> {
        store.collection(name, of: Book.self, metadata: Reading.self)
    }

    @Test(arguments: [false, true]) func followAModel(isPool: Bool) async throws {
        var random = SeededGenerator()
        print("RandomDocumentsTests: seed \(random.seed)")
        let folder = try TemporaryFolder(isFast: true)
        let path = folder.file("a.sqlite")
        let writer: any DatabaseWriter = isPool ? try DatabasePool(path: path) : try DatabaseQueue(path: path)
        try await writer.write { db in
            for store in stores {
                try store.create(in: db)
                for name in Self.collections {
                    let documents = collection(store, name)
                    try documents.createIndex(db, "year", on: documents.path("year", as: Int.self))
                    try documents.createTextIndex(db, "text", on: documents.path("title", as: String.self))
                }
            }
        }
        var commits = writer.commits(keys: true).makeAsyncIterator()
        for store in stores {
            var model = Model()
            for _ in 0..<150 {
                let before = model
                let count = Int.random(in: 1...4, using: &random)
                let plan = (0..<count).map { _ in Step.random(&random) }
                for step in plan { step.apply(&model) }
                let isRolledBack = Int.random(in: 0..<8, using: &random) == 0
                if isRolledBack { model = before }
                try await writer.write { db in
                    try db.inSavepoint {
                        for step in plan { try step.run(db, store) }
                        return isRolledBack ? .rollback : .commit
                    }
                    // Something changes in each commit.
                    try db.execute(
                        sql: "CREATE TABLE IF NOT EXISTS tick (a); DELETE FROM tick; INSERT INTO tick VALUES (1)")
                }
                let commit = try #require(await commits.next(isolation: nil))
                let expected = model
                try await writer.read { db throws in try check(db, store, expected) }
                check(store.changes(in: commit), before, expected)
            }
        }
    }

    private func check(_ db: Database, _ store: DocumentStore, _ model: Model) throws {
        #expect(try store.count(db) == model.documents.values.map(\.count).reduce(0, +))
        for name in Self.collections {
            let documents = collection(store, name)
            let expected = (model.documents[name] ?? [:]).values.sorted { $0.key < $1.key }
            #expect(try documents.all().orderedByKey().fetchAll(db) == expected)
            let year = documents.path("year", as: Int.self)
            #expect(
                try documents.filter(year >= 3).order(year, Column("key")).fetchKeys(db)
                    == expected.filter { $0.object.year >= 3 }.sorted {
                        ($0.object.year, $0.key) < ($1.object.year, $1.key)
                    }.map(\.key))
            for word in Self.words {
                let pattern = try #require(FTS5Pattern(matchingAllTokensIn: word))
                #expect(
                    try documents.matching(pattern, in: "text").orderedByKey().fetchKeys(db)
                        == expected.filter { $0.object.title.split(separator: " ").contains(Substring(word)) }.map(
                            \.key))
            }
        }
    }

    /// Each difference is among the changes, and each change that is no update is a difference.
    private func check(_ changes: DocumentChanges, _ before: Model, _ after: Model) {
        #expect(!changes.didClearAll)
        for name in Self.collections {
            let (old, new) = (before.documents[name] ?? [:], after.documents[name] ?? [:])
            let found = changes.changedKeys(in: name) ?? [:]
            for key in Set(old.keys).union(new.keys).union(found.keys) {
                switch (old[key], new[key]) {
                case (nil, nil): #expect(found[key] == nil)
                case (nil, _?): #expect(found[key] == .inserted)
                case (_?, nil): #expect(found[key] == .removed)
                case (let a?, let b?):
                    if a.object != b.object { #expect(found[key]?.concerns(.object) == true) }
                    if a.metadata != b.metadata { #expect(found[key]?.concerns(.metadata) == true) }
                    #expect(found[key] != .inserted && found[key] != .removed)
                }
                #expect(changes.containsChange(in: name, key: key) == (found[key] != nil))
            }
            #expect(changes.containsChange(in: name) == !found.isEmpty)
        }
    }

    /// One change of the documents, of the model and of the database.
    private enum Step {
        case set(String, String, Book, Reading?)
        case replace(String, String, Book)
        case replaceMetadata(String, String, Reading?)
        case touch(String, String)
        case remove(String, String)
        case removeAll(String)
        /// SQL of the program, which replaces a row.
        case insertOrReplace(String, String, Book)
        case rename(String, String, String)

        static func random(_ random: inout SeededGenerator) -> Step {
            let collection = collections.randomElement(using: &random) ?? ""
            let key = "\(Int.random(in: 0..<6, using: &random))"
            let title = (0..<2).map { _ in words.randomElement(using: &random) ?? "" }.joined(separator: " ")
            let book = Book(title: title, author: "", year: Int.random(in: 0..<6, using: &random))
            let reading = Bool.random(using: &random) ? Reading(page: Int.random(in: 0..<3, using: &random)) : nil
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<7: return .set(collection, key, book, reading)
            case 7..<9: return .replace(collection, key, book)
            case 9..<11: return .replaceMetadata(collection, key, reading)
            case 11: return .touch(collection, key)
            case 12..<15: return .remove(collection, key)
            case 15: return .removeAll(collection)
            case 16..<18: return .insertOrReplace(collection, key, book)
            default: return .rename(collection, key, "\(Int.random(in: 0..<6, using: &random))")
            }
        }

        func apply(_ model: inout Model) {
            switch self {
            case .set(let name, let key, let book, let reading):
                model.documents[name, default: [:]][key] = Document(key: key, object: book, metadata: reading)
            case .replace(let name, let key, let book): model.documents[name]?[key]?.object = book
            case .replaceMetadata(let name, let key, let reading): model.documents[name]?[key]?.metadata = reading
            case .touch: break
            case .remove(let name, let key): model.documents[name]?[key] = nil
            case .removeAll(let name): model.documents[name] = nil
            case .insertOrReplace(let name, let key, let book):
                model.documents[name, default: [:]][key] = Document(key: key, object: book)
            case .rename(let name, let key, let other):
                guard key != other, var document = model.documents[name]?.removeValue(forKey: key) else { return }
                document.key = other
                model.documents[name]?[other] = document
            }
        }

        func run(_ db: Database, _ store: DocumentStore) throws {
            func documents(_ name: String) -> DocumentCollection<Book, Reading> {
                store.collection(name, of: Book.self, metadata: Reading.self)
            }
            let table = store.name.quotedDatabaseIdentifier
            switch self {
            case .set(let name, let key, let book, let reading):
                try documents(name).set(db, key: key, book, metadata: reading)
            case .replace(let name, let key, let book): try documents(name).replace(db, key: key, book)
            case .replaceMetadata(let name, let key, let reading):
                try documents(name).replaceMetadata(db, key: key, reading)
            case .touch(let name, let key): try documents(name).touch(db, key: key)
            case .remove(let name, let key): try documents(name).remove(db, key: key)
            case .removeAll(let name): try documents(name).removeAll(db)
            case .insertOrReplace(let name, let key, let book):
                try db.execute(
                    sql: """
                        INSERT OR REPLACE INTO \(table) (collection, key, object)
                        VALUES (?, ?, json_object('title', ?, 'author', ?, 'year', ?))
                        """, arguments: [name, key, book.title, book.author, book.year])
            case .rename(let name, let key, let other):
                try db.execute(
                    sql: "UPDATE OR REPLACE \(table) SET key = ? WHERE collection = ? AND key = ?",
                    arguments: [other, name, key])
            }
        }
    }

    /// Tasks that write, and one that follows the changes into a copy: the copy ends as the store.
    @Test func aFollowerKeepsUp() async throws {
        let random = SeededGenerator()
        print("RandomDocumentsTests: seed \(random.seed)")
        let folder = try TemporaryFolder(isFast: true)
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try await pool.write { db in try store.create(in: db) }
        let numbers = store.collection("numbers", of: Int.self)
        let commits = pool.commits(keys: true)
        let copy = Recorded<[String: Int]>([:])
        let iterator = commits.makeAsyncIterator()
        let follower = Task {
            var iterator = iterator
            while let commit = await iterator.next(isolation: nil) {
                guard let changes = numbers.changes(in: commit) else {
                    Issue.record("the keys of \(commit.number) aren't known")
                    return
                }
                for key in changes.keys {
                    let value = try await pool.read { db in try numbers.get(db, key: key) }
                    copy.update { $0[key] = value }
                }
                if changes["end"] != nil { return }
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var random = random
                    for _ in 0..<task { _ = random.next() }
                    for step in 0..<100 {
                        let key = "\(Int.random(in: 0..<20, using: &random))"
                        let isRemoval = Int.random(in: 0..<3, using: &random) == 0
                        try await pool.write { db in
                            if isRemoval {
                                try numbers.remove(db, key: key)
                            } else {
                                try numbers.set(db, key: key, task * 1_000 + step)
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await pool.write { db in try numbers.set(db, key: "end", 0) }
        try await follower.value
        let documents = try await pool.read { db in try numbers.all().fetchAll(db) }
        #expect(copy.value == Dictionary(uniqueKeysWithValues: documents.map { ($0.key, $0.object) }))
    }
}
