import Quarry
import QuarryDocuments
import QuarryTestSupport
import Testing

/// Reading and writing by key: the statements, and what they leave.
@Suite struct DocumentCollectionTests {
    @Test func setAndGet() throws {
        try makeQueue().write { db throws in
            try expectEmitted(
                db,
                """
                INSERT INTO main."document" (collection, key, version, metadata, object) VALUES ('books', 'emma', 1, \
                '{"page":1}', '{"author":"Austen","title":"Emma","year":1815}') \
                ON CONFLICT (collection, key) DO UPDATE SET \
                version = excluded.version, metadata = excluded.metadata, object = excluded.object
                """
            ) { try books.set(db, key: "emma", emma, metadata: Reading(page: 1)) }
            try expectEmitted(
                db, #"SELECT version, object FROM main."document" WHERE collection = 'books' AND key = 'emma'"#
            ) { () throws in #expect(try books.get(db, key: "emma") == emma) }
            try expectEmitted(db, #"SELECT metadata FROM main."document" WHERE collection = 'books' AND key = 'emma'"#)
            {
                () throws in
                #expect(try books.getMetadata(db, key: "emma") == Reading(page: 1))
            }
            #expect(
                try books.getDocument(db, key: "emma")
                    == Document(key: "emma", object: emma, metadata: Reading(page: 1)))
            #expect(try books.get(db, key: "Emma") == nil)
            #expect(try books.getMetadata(db, key: "Emma") == nil)
            #expect(try books.getDocument(db, key: "Emma") == nil)
            #expect(try books.contains(db, key: "emma"))
            #expect(try !books.contains(db, key: "Emma"))
        }
    }

    @Test func setReplacesObjectAndMetadata() throws {
        try withBooks { db throws in
            try books.set(db, key: "emma", typee)
            #expect(try books.getDocument(db, key: "emma") == Document(key: "emma", object: typee))
            #expect(try books.count(db) == 3)
        }
    }

    @Test func replaceKeepsTheMetadata() throws {
        try withBooks { db throws in
            #expect(try books.replace(db, key: "emma", typee))
            #expect(
                try books.getDocument(db, key: "emma")
                    == Document(key: "emma", object: typee, metadata: Reading(page: 1)))
            #expect(try !books.replace(db, key: "persuasion", emma))
            #expect(try !books.contains(db, key: "persuasion"))
        }
    }

    @Test func replaceMetadataKeepsTheObject() throws {
        try withBooks { db throws in
            #expect(try books.replaceMetadata(db, key: "emma", Reading(page: 7)))
            #expect(
                try books.getDocument(db, key: "emma")
                    == Document(key: "emma", object: emma, metadata: Reading(page: 7)))
            #expect(try books.replaceMetadata(db, key: "emma", nil))
            #expect(try books.getDocument(db, key: "emma") == Document(key: "emma", object: emma))
            #expect(try !books.replaceMetadata(db, key: "persuasion", Reading(page: 1)))
        }
    }

    @Test func removing() throws {
        try withBooks { db throws in
            #expect(try books.remove(db, key: "emma"))
            #expect(try !books.remove(db, key: "emma"))
            #expect(try books.remove(db, keys: ["typee", "emma", "typee"]) == 1)
            #expect(try books.keys(db) == ["moby-dick"])
            let films = store.collection("films", of: Int.self)
            try films.set(db, key: "a", 1)
            try expectEmitted(db, #"DELETE FROM "main"."document" WHERE collection = 'books'"#) { () throws in
                #expect(try books.removeAll(db) == 1)
            }
            #expect(try films.count(db) == 1)
        }
    }

    @Test func severalKeys() throws {
        try withBooks { db throws in
            let found = try books.getDocuments(db, keys: ["typee", "none", "emma"])
            #expect(found.map(\.key) == ["typee", "emma"])
            #expect(found.map(\.id) == ["typee", "emma"])
        }
    }

    @Test func touchingANonexistentDocument() throws {
        try withBooks { db throws in
            #expect(try !books.touch(db, key: "none"))
            #expect(try books.touch(db, key: "emma", .metadata))
            #expect(try books.getDocument(db, key: "emma")?.metadata == Reading(page: 1))
        }
    }

    @Test func enumerating() throws {
        try withBooks { db throws in
            #expect(try books.keys(db) == ["emma", "moby-dick", "typee"])
            #expect(try books.count(db) == 3)

            let keys = try books.all().orderedByKey().fetchKeyCursor(db)
            #expect(try keys.next() == "emma")

            let metadata = try books.all().orderedByKey().fetchMetadataCursor(db) { $0 != "emma" }
            let first = try #require(try metadata.next())
            #expect(first.key == "moby-dick" && first.metadata == Reading(page: 30))
            let second = try #require(try metadata.next())
            #expect(second.key == "typee" && second.metadata == nil)
            #expect(try metadata.next() == nil)

            let documents = try books.all().orderedByKey().fetchCursor(db) { $0.hasPrefix("t") }
            #expect(try documents.next()?.object == typee)
            #expect(try documents.next() == nil)
        }
    }

    /// A filter by key decides before the object is decoded.
    @Test func theFilterOfACursorSparesTheObjects() throws {
        try withBooks { db throws in
            try db.execute(sql: "UPDATE document SET object = 'no JSON' WHERE key = 'emma'")
            let documents = try books.all().orderedByKey().fetchCursor(db) { $0 != "emma" }
            #expect(try documents.next()?.key == "moby-dick")
            let all = try books.all().orderedByKey().fetchCursor(db)
            expectError(
                DocumentError.self, "document books/emma: could not decode the object as Book: the data is not valid"
            ) { try all.next() }
        }
    }

    /// Writes while a cursor reads, and the error of a closure.
    @Test func writingWhileACursorReads() throws {
        struct Stop: Error {}
        try withBooks { db throws in
            let documents = try books.all().orderedByKey().fetchCursor(db)
            while let document = try documents.next() {
                try books.replaceMetadata(db, key: document.key, Reading(page: 100))
            }
            #expect(try books.getMetadata(db, key: "typee") == Reading(page: 100))
            let failing = try books.all().fetchCursor(db) { _ in throw Stop() }
            expectError(Stop.self) { try failing.next() }
            #expect(try books.count(db) == 3)
        }
    }

    @Test func topLevelValues() throws {
        try makeQueue().write { db throws in
            let texts = store.collection("texts", of: String.self, metadata: [Int].self)
            try texts.set(db, key: "a", "a \0 \" / 😀", metadata: [])
            #expect(try texts.getDocument(db, key: "a") == Document(key: "a", object: "a \0 \" / 😀", metadata: []))
            let optionals = store.collection("optionals", of: Int?.self)
            try optionals.set(db, key: "a", nil)
            try optionals.set(db, key: "b", 1)
            #expect(try optionals.get(db, key: "a") == .some(nil))
            #expect(try optionals.get(db, key: "b") == .some(1))
            #expect(try optionals.get(db, key: "c") == nil)
            let integers = store.collection("integers", of: UInt64.self)
            try integers.set(db, key: "a", .max)
            #expect(try integers.get(db, key: "a") == .max)
        }
    }

    /// A rolled back transaction, and a savepoint.
    @Test func rollbacks() throws {
        let queue = try makeQueue()
        struct Stop: Error {}
        expectError(Stop.self) {
            try queue.write { db throws in
                try books.set(db, key: "emma", emma)
                throw Stop()
            }
        }
        try queue.write { db throws in
            try db.inSavepoint {
                try books.set(db, key: "emma", emma)
                return .rollback
            }
            try books.set(db, key: "typee", typee)
        }
        #expect(try queue.read { try books.keys($0) } == ["typee"])
    }

    @Test func asynchronousAccesses() async throws {
        let folder = try TemporaryFolder(isFast: true)
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try await pool.write { db throws in
            try store.create(in: db)
            try books.set(db, key: "emma", emma)
        }
        #expect(try await pool.read { db in try books.get(db, key: "emma") } == emma)
        let snapshot = try pool.makeSnapshot()
        #expect(try await snapshot.read { db in try books.keys(db) } == ["emma"])
    }

    @Test func observation() async throws {
        let queue = try makeQueue()
        let observation = ValueObservation.tracking { db in try books.all().orderedByKey().fetchKeys(db) }
        var values = observation.values(in: queue).makeAsyncIterator()
        #expect(try await values.next() == [])
        try await queue.write { db in try books.set(db, key: "emma", emma) }
        #expect(try await values.next() == ["emma"])
        try await queue.write { db in _ = try books.removeAll(db) }
        #expect(try await values.next() == [])
        let region = try await queue.read { db in try books.all().databaseRegion(db) }
        #expect(region.description == "document(collection,key,metadata,object,version)")
    }
}
