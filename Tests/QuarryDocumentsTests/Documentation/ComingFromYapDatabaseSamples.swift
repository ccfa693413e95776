import Foundation
import Quarry
import QuarryCaching
import QuarryDocuments
import QuarryTestSupport
import Testing

/// Each call of the article "Coming from YapDatabase", run: the table's calls are lines of this file.
@Suite(.timeLimit(.minutes(1 * TestTime.factor))) struct ComingFromYapDatabaseSamples {
    @Test func writing() throws {
        try makeQueue().write { db throws in
            try books.set(db, key: "emma", emma)
            #expect(try books.getDocument(db, key: "emma") == Document(key: "emma", object: emma))
            try books.set(db, key: "emma", emma, metadata: Reading(page: 1))
            #expect(try books.getMetadata(db, key: "emma") == Reading(page: 1))
            try books.replace(db, key: "emma", typee)
            #expect(
                try books.getDocument(db, key: "emma")
                    == Document(key: "emma", object: typee, metadata: Reading(page: 1)))
            try books.replaceMetadata(db, key: "emma", Reading(page: 2))
            #expect(try books.getMetadata(db, key: "emma") == Reading(page: 2))
            try books.touch(db, key: "emma", .object)
            try books.touch(db, key: "emma", .metadata)
            try books.touch(db, key: "emma")
            #expect(try books.getDocument(db, key: "emma")?.object == typee)
            try books.remove(db, key: "emma")
            #expect(try books.count(db) == 0)
            try books.set(db, key: "emma", emma)
            try books.remove(db, keys: ["emma", "typee"])
            #expect(try books.count(db) == 0)
            try books.set(db, key: "emma", emma)
            try books.removeAll(db)
            #expect(try books.count(db) == 0)
            try books.set(db, key: "emma", emma)
            try store.removeAll(db)
            #expect(try store.count(db) == 0)
        }
    }

    @Test func oneLine() async throws {
        let dbPool = try makeQueue()
        let author = books.path("author", as: String.self)
        let shelf = books.bound(to: dbPool)
        try await shelf.set(key: "emma", emma)
        let object = try await shelf.get(key: "emma")
        #expect(object == emma)
        let count = try await shelf.count()
        let documents = try await shelf.fetchAll()
        #expect(count == 1 && documents.map(\.key) == ["emma"])
        let found = try await shelf.fetchAll { $0.filter(author == "Melville") }
        #expect(found.isEmpty)
        try await shelf.remove(key: "emma")
        #expect(try await shelf.count() == 0)
    }

    @Test func oneLineThatWaits() throws {
        let shelf = books.bound(to: try makeQueue())
        #expect(try shelf.get(key: "emma") == nil)
    }

    @Test func reading() throws {
        try withBooks { db throws in
            let object = try books.get(db, key: "emma")
            #expect(object == emma)
            let metadata = try books.getMetadata(db, key: "emma")
            #expect(metadata == Reading(page: 1))
            let document = try books.getDocument(db, key: "emma")
            #expect(document?.object == emma && document?.metadata == Reading(page: 1))
            let exists = try books.contains(db, key: "emma")
            #expect(exists)
            let keyCount = try books.count(db)
            let documentCount = try store.count(db)
            let collectionCount = try store.collectionNames(db).count
            #expect(keyCount == 3 && documentCount == 3 && collectionCount == 1)
        }
    }

    @Test func enumerating() throws {
        try withBooks { db throws in
            var found: [String] = []
            for collection in try store.collectionNames(db) { found.append(collection) }
            for key in try books.keys(db) { found.append(key) }
            try store.forEachKey(db) { collection, key in found.append(collection + key) }
            let pages = try books.all().fetchMetadataCursor(db)
            while let (key, metadata) = try pages.next() { found.append("\(key): \(metadata?.page ?? 0)") }
            let documents = try books.all().fetchCursor(db)
            while let document = try documents.next() { found.append(document.object.author) }
            let filtered = try books.all().fetchCursor(db, where: { key in key.hasPrefix("m") })
            while let document = try filtered.next() { found.append(document.object.title) }
            for document in try books.getDocuments(db, keys: ["typee", "emma"]) { found.append(document.key) }
            #expect(
                found.sorted() == [
                    "Austen", "Melville", "Melville", "Moby-Dick; or, The Whale", "books", "booksemma",
                    "booksmoby-dick", "bookstypee", "emma", "emma", "emma: 1", "moby-dick", "moby-dick: 30", "typee",
                    "typee", "typee: 0",
                ])
        }
    }

    @Test func indexes() throws {
        try withBooks { db throws in
            let author = books.path("author", as: String.self)
            let title = books.path("title", as: String.self)
            try books.createIndex(db, "author", on: author)
            let found = try books.filter(author == "Melville").fetchAll(db)
            #expect(found.map(\.key).sorted() == ["moby-dick", "typee"])
            let count = try books.filter(author == "Melville").fetchCount(db)
            #expect(count == 2)
            try books.createTextIndex(db, "text", on: title)
            let pattern = try db.makeFTS5Pattern(rawPattern: "whale", forTable: "document:books:text")
            let matches = try books.matching(pattern, in: "text").fetchKeys(db)
            #expect(matches == ["moby-dick"])
            try books.dropIndex(db, "author")
            #expect(try books.indexNames(db) == [])
        }
    }

    @Test func changes() async throws {
        let folder = try TemporaryFolder(isFast: true)
        let dbPool = try DatabasePool(path: folder.file("a.sqlite"))
        try await dbPool.write { db in try store.create(in: db) }
        let reader = try await dbPool.makeStableReader(keys: true)
        let hasSeenCommit = Recorded(false)
        let observer = Task {
            for await commit in dbPool.commits(keys: true) {
                hasSeenCommit.update { $0 = true }
                let changes = store.changes(in: commit)
                if changes.containsChange(in: "books") { return changes.changedKeys() }
            }
            return nil
        }
        try await until("the observer has seen a commit") {
            try dbPool.write { db in try books.set(db, key: "emma", emma) }
            try dbPool.write { db in _ = try books.replaceMetadata(db, key: "emma", Reading(page: 1)) }
            return hasSeenCommit.value
        }
        let commits = try await reader.advance()
        let changes = store.changes(in: commits)
        #expect(changes.containsChange(in: "books"))
        #expect(changes.containsChange(of: .object, in: "books"))
        #expect(changes.containsChange(of: .metadata, in: "books"))
        #expect(changes.containsChange(in: "books", key: "emma"))
        #expect(changes.containsChange(of: .object, in: "books", key: "emma"))
        #expect(changes.containsChange(in: "books", anyOf: ["emma", "typee"]))
        #expect(changes.containsChange(of: .metadata, in: "books", key: "emma"))
        #expect(changes.containsChange(of: .object, in: "books", anyOf: ["emma", "typee"]))
        #expect(changes.containsChange(of: .metadata, in: "books", anyOf: ["emma", "typee"]))
        #expect(!changes.didClear("books"))
        #expect(!changes.didClearAll)
        for (key, change) in changes.changedKeys(in: "books") ?? [:] { #expect(key == "emma" && change == .inserted) }
        #expect(changes.changedKeys()?.keys.sorted() == ["books"])
        #expect(dbPool.lastCommitNumber == commits.last?.number)
        try await dbPool.write { db in _ = try books.touch(db, key: "emma") }
        let first = await observer.value
        #expect(first?["books"]?["emma"] != nil)
    }

    private struct Author: Codable, FetchableRecord, TableRecord, Sendable, Equatable {
        var name: String
    }

    @Test func connections() async throws {
        let folder = try TemporaryFolder(isFast: true)
        var config = Configuration()
        config.label = "books"
        let dbPool = try DatabasePool(path: folder.file("a.sqlite"), configuration: config)
        #expect(dbPool.label == "books")
        try await dbPool.write { db in
            try store.create(in: db)
            try books.set(db, key: "emma", emma)
            try db.execute(sql: "CREATE TABLE author (name TEXT PRIMARY KEY)")
        }
        let book = try await dbPool.read { db in try books.get(db, key: "emma") }
        #expect(book == emma)
        let counts = Recorded<[Int]>([])
        dbPool.asyncRead { result in
            guard let count = try? books.count(result.get()) else { return }
            counts.update { $0.append(count) }
        }
        dbPool.asyncWrite { db in
            try books.count(db)
        } completion: { _, result in
            guard case .success(let count) = result else { return }
            counts.update { $0.append(count) }
        }
        try await until("both have completed") { counts.value == [1, 1] }
        let shelf = books.bound(to: dbPool)
        #expect(shelf.database.path == dbPool.path)
        try await dbPool.flush()
        try await until("no access waits") { dbPool.pendingWriteCount == 0 && dbPool.pendingReadCount == 0 }
        let reader = try await dbPool.makeStableReader(keys: true)
        try await dbPool.write { db in try books.set(db, key: "last", emma) }
        let last = try await reader.advance()
        try reader.close()
        #expect(last.count == 1 && store.changes(in: last).containsChange(in: "books", key: "last"))
        try await dbPool.write { db in _ = try books.remove(db, key: "last") }
        let authors = CachedTable<Author>(dbPool, capacity: 250)
        #expect(try await authors.fetchOne(key: "Austen") == nil)
        authors.capacity = 100
        dbPool.releaseIdle([.pages, .statements])
        try await dbPool.write { db throws in
            #expect(try db.synchronousMode() == .full)
            #expect(try db.pageSize() == 4096)
            #expect(try db.mmapSize() >= 0)
            #expect(try db.autoVacuumMode().rawValue == 0)
        }
        try await dbPool.vacuum()
        let path = folder.file("b.sqlite")
        try await onOwnThread {
            try dbPool.backup(toFile: path)
        }
        try FileManager.default.removeItem(atPath: path)
        try await dbPool.backup(toFile: path)
        #expect(try await DatabaseQueue(path: path).read { db in try books.get(db, key: "emma") } == emma)
    }

    @Test func coders() throws {
        try makeQueue().write { db throws in
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .convertToSnakeCase
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            let coding = JSONCoding(encoder: encoder, decoder: decoder)
            let readers = store.collection("readers", of: Book.self, coding: coding)
            try readers.set(db, key: "emma", emma)
            #expect(try readers.get(db, key: "emma") == emma)
            let versioned = store.collection("numbers", of: Int.self).version(2).upgrading(1, from: String.self) {
                $0.count
            }
            try store.collection("numbers", of: String.self).set(db, key: "a", "three")
            #expect(try versioned.get(db, key: "a") == 5)
        }
    }
}
