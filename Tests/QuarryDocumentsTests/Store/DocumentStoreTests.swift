import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryDocuments

/// Tables of stores: created, refused, dropped; several in one database.
@Suite struct DocumentStoreTests {
    @Test func createsItsTableOnce() throws {
        try DatabaseQueue().write { db throws in
            #expect(try !store.exists(in: db))
            try store.create(in: db)
            try books.set(db, key: "emma", emma)
            try store.create(in: db)
            #expect(try books.get(db, key: "emma") == emma)
            let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM document"))
            #expect(
                row == [
                    "collection": "books", "key": "emma", "version": 1, "metadata": nil,
                    "object": #"{"author":"Austen","title":"Emma","year":1815}"#,
                ])
        }
    }

    @Test func isCreatedByAMigration() throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("documents") { db in
            try store.create(in: db)
            try books.createIndex(db, "author", on: books.path("author", as: String.self))
        }
        let queue = try DatabaseQueue()
        try migrator.migrate(queue)
        try migrator.migrate(queue)
        try queue.write { db throws in
            try books.set(db, key: "emma", emma)
            #expect(try books.indexNames(db) == ["author"])
        }
    }

    @Test func refusesATableOfAnotherKind() throws {
        try DatabaseQueue().write { db throws in
            try db.execute(sql: "CREATE TABLE document (id INTEGER PRIMARY KEY, key TEXT)")
            expectError(.SQLITE_MISUSE, #"document is not a document store: its columns are ["id", "key"]"#) {
                try store.create(in: db)
            }
            try db.execute(sql: "DROP TABLE document")
            try db.execute(
                sql: "CREATE TABLE document (collection TEXT, key TEXT PRIMARY KEY, version, metadata, object)")
            expectError(
                .SQLITE_MISUSE,
                #"document is not a document store: its columns are ["collection", "key", "version", "metadata", "object"]"#
            ) { try store.create(in: db) }
        }
    }

    @Test func refusesANameThatIsNoName() throws {
        try DatabaseQueue().write { db throws in
            expectError(.SQLITE_MISUSE, #"the name of a document store has characters, and no NUL: """#) {
                try DocumentStore("").create(in: db)
            }
            expectError(.SQLITE_MISUSE, #"the name of a document store has characters, and no NUL: "a\0b""#) {
                try DocumentStore("a\0b").create(in: db)
            }
            let odd = DocumentStore(#"a "quoted" 'name': with; all"#)
            try odd.create(in: db)
            let things = odd.collection("x", of: Int.self)
            try things.createIndex(db, "value", on: things.path("a", as: Int.self))
            try things.createTextIndex(db, "text", on: things.path("a", as: String.self))
            try things.set(db, key: "1", 1)
            #expect(try things.get(db, key: "1") == 1)
            #expect(try things.textIndexNames(db) == ["text"])
            try odd.drop(in: db)
            #expect(try String.fetchAll(db, sql: "SELECT name FROM sqlite_master") == [])
        }
    }

    @Test func aStoreThatDoesNotExist() throws {
        try DatabaseQueue().write { db throws in
            expectError(.SQLITE_ERROR, "no such table: main.document") { try books.get(db, key: "a") }
            expectError(.SQLITE_ERROR, "no such table: main.document") { try books.set(db, key: "a", emma) }
            expectError(.SQLITE_ERROR, "no such table: main.document") { try books.all().fetchAll(db) }
            expectError(.SQLITE_ERROR, "no such table: main.document") {
                try books.createIndex(db, "author", on: books.path("author", as: String.self))
            }
            expectError(.SQLITE_ERROR, "no such table: main.document") {
                try books.createTextIndex(db, "text", on: books.path("author", as: String.self))
            }
            #expect(try String.fetchAll(db, sql: "SELECT name FROM sqlite_master") == [])
            try store.drop(in: db)
        }
    }

    @Test func severalStoresInOneDatabase() throws {
        let archive = DocumentStore("archive")
        try makeQueue(store, archive).write { db throws in
            let old = archive.collection("books", of: Book.self)
            try books.set(db, key: "emma", emma)
            try old.set(db, key: "emma", typee)
            #expect(try books.get(db, key: "emma") == emma)
            #expect(try old.get(db, key: "emma") == typee)
            #expect(try archive.removeAll(db) == 1)
            #expect(try store.count(db) == 1)
        }
        #expect(store == DocumentStore() && store != archive && Set([store, archive, store]).count == 2)
    }

    @Test func collectionsAreListed() throws {
        try makeQueue().write { db throws in
            #expect(try store.collectionNames(db) == [])
            for name in ["b", "", "a"] {
                let numbers = store.collection(name, of: Int.self)
                try numbers.set(db, key: "x", 1)
                try numbers.set(db, key: "", 2)
            }
            #expect(try store.collectionNames(db) == ["", "a", "b"])
            #expect(try store.count(db) == 6)
            var found: [String] = []
            try store.forEachKey(db) { collection, key in found.append("\(collection)/\(key)") }
            #expect(found == ["/", "/x", "a/", "a/x", "b/", "b/x"])
            try expectEmitted(db, #"DELETE FROM main."document""#) { () throws in #expect(try store.removeAll(db) == 6)
            }
        }
    }

    @Test func dropsItsIndexesToo() throws {
        try withBooks { db throws in
            try books.createIndex(db, "year", on: books.path("year", as: Int.self))
            try books.createTextIndex(db, "text", on: books.path("title", as: String.self))
            let other = DocumentStore("document2")
            try other.create(in: db)
            let texts = other.collection("texts", of: String.self)
            try texts.createTextIndex(db, "text", on: texts.path("a", as: String.self))
            try store.drop(in: db)
            #expect(try !store.exists(in: db))
            #expect(try texts.textIndexNames(db) == ["text"])
            #expect(
                try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE name LIKE 'document:%'") == [])
        }
    }

    /// To SQLite, names that differ in the case of ASCII letters are one table, and all others are several.
    @Test func namesOfOneTable() throws {
        let (upper, lower) = (DocumentStore("DOCUMENT"), DocumentStore("document"))
        #expect(upper == lower && Set([upper, lower]).count == 1)
        let (composed, decomposed) = (DocumentStore("\u{E9}"), DocumentStore("e\u{301}"))
        #expect(composed != decomposed && Set([composed, decomposed]).count == 2)
        try DatabaseQueue().write { db throws in
            try composed.create(in: db)
            try decomposed.create(in: db)
            try composed.collection("a", of: Int.self).set(db, key: "k", 1)
            #expect(try decomposed.count(db) == 0)

            try lower.create(in: db)
            let texts = lower.collection("a", of: [String: String].self)
            try texts.createTextIndex(db, "text", on: texts.path("t", as: String.self))
            try texts.createIndex(db, "index", on: texts.path("t", as: String.self))
            let others = upper.collection("a", of: [String: String].self)
            #expect(try others.indexNames(db) == ["index"])
            #expect(try others.textIndexNames(db) == ["text"])
            try upper.drop(in: db)
            #expect(
                try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE name LIKE 'document%'") == [])
        }
    }
}

@Suite struct IndexNameTests {
    @Test func partsAreReadBack() {
        let parts = ["", "a", "A", "a:b", "^", "^a", "a\0b", "ÄÖ", "a.b:", "😀"]
        var texts: Set<String> = []
        for collection in parts {
            for name in parts {
                let text = IndexName(store: "s:t", collection: collection, name: name).text
                #expect(!text.utf8.contains(0))
                let read = IndexName(text, store: "s:t")
                #expect(read?.collection == collection && read?.name == name)
                texts.insert(text.lowercased())
            }
        }
        #expect(texts.count == parts.count * parts.count)
    }

    @Test(arguments: ["", "s", "s:a", "s:a:b:c", "s:^", "s:^1:a", "t:a:b", "s:a:^"])
    func otherNamesAreNone(text: String) {
        #expect(IndexName(text, store: "s") == nil)
    }
}
