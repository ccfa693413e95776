import Quarry
import QuarryDocuments
import QuarryTestSupport
import Testing

/// Indexes on paths: built, used, kept, replaced, dropped, refused.
@Suite struct DocumentIndexTests {
    private let author = books.path("author", as: String.self)
    private let year = books.path("year", as: Int.self)

    @Test func theSQLOfAnIndex() throws {
        try withBooks { db throws in
            #expect(try books.createIndex(db, "author", on: author, year))
            #expect(
                try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = 'document:books:author'")
                    == """
                    CREATE INDEX "document:books:author" ON "document"\
                    (collection, "object" ->> '$.author', "object" ->> '$.year') WHERE collection = 'books'
                    """)
            #expect(try books.indexNames(db) == ["author"])
        }
    }

    /// Existing and later documents are found through it: SQLite's plan names the index.
    @Test func requestsUseTheIndex() throws {
        try withBooks { db throws in
            try books.createIndex(db, "year", on: year)
            try books.createIndex(db, "author", on: author, year)
            try books.createIndex(db, "page", on: books.metadataPath("page", as: Int.self))
            try books.set(db, key: "omoo", Book(title: "Omoo", author: "Melville", year: 1847))
            func plan(_ request: DocumentRequest<Book, Reading>) throws -> String {
                try request.explain(db).description
            }
            func search(_ index: String, _ terms: String) -> String {
                "QUERY PLAN\n`--SEARCH main.document USING INDEX document:books:\(index) (collection=?\(terms))"
            }
            #expect(try plan(books.filter(year == 1851)) == search("year", " AND <expr>=?"))
            #expect(try plan(books.filter(year > 1800 && year < 1847)) == search("year", " AND <expr>>? AND <expr><?"))
            #expect(try plan(books.filter(year >= 1846).order(year)) == search("year", " AND <expr>>?"))
            #expect(try plan(books.filter([1846, 1851].contains(year))) == search("year", " AND <expr>=?"))
            #expect(
                try plan(books.filter(author == "Melville").order(year.desc).limit(2))
                    == search("author", " AND <expr>=?"))
            #expect(
                try plan(books.filter(author == "Melville" && year == 1851))
                    == search("author", " AND <expr>=? AND <expr>=?"))
            #expect(try plan(books.all().order(year)) == search("year", ""))
            #expect(
                try plan(books.filter(books.metadataPath("page", as: Int.self) == 30))
                    == search("page", " AND <expr>=?"))
            #expect(
                try books.filter(author == "Melville").order(year.desc).limit(2).fetchKeys(db)
                    == ["moby-dick", "omoo"])
            #expect(try books.filter(year >= 1846).order(year).fetchKeys(db) == ["typee", "omoo", "moby-dick"])
        }
    }

    /// By key, SQLite uses the primary key.
    @Test func keysUseThePrimaryKey() throws {
        try withBooks { db throws in
            let primaryKey = "SEARCH main.document USING INDEX sqlite_autoindex_document_1 (collection=?"
            #expect(try books.all().orderedByKey().explain(db).contains(primaryKey))
            #expect(try !books.all().orderedByKey().explain(db).contains("B-TREE"))
            #expect(try books.filter(Column("key") == "emma").explain(db).contains(primaryKey + " AND key=?)"))
            #expect(
                try SQLRequest<Row>(
                    sql: "SELECT version, object FROM main.document WHERE collection = ? AND key = ?",
                    arguments: ["books", "emma"]
                ).explain(db).contains(primaryKey + " AND key=?)"))
        }
    }

    @Test func theSameDefinitionIsLeftAlone() throws {
        try withBooks { db throws in
            #expect(try books.createIndex(db, "author", on: author))
            try expectEmitted(db) { () throws in #expect(try !books.createIndex(db, "author", on: author)) }
        }
    }

    @Test func anotherDefinitionReplacesTheIndex() throws {
        try withBooks { db throws in
            try books.createIndex(db, "author", on: author)
            #expect(try books.createIndex(db, "author", on: year))
            #expect(try books.filter(year == 1851).explain(db).contains("document:books:author (collection=? AND"))
            #expect(
                try !books.filter(author == "Austen").explain(db).contains("document:books:author (collection=? AND"))
            #expect(try books.createIndex(db, "author", on: year, unique: true))
            #expect(try books.indexNames(db) == ["author"])
        }
    }

    @Test func dropping() throws {
        try withBooks { db throws in
            try books.createIndex(db, "author", on: author)
            try books.dropIndex(db, "author")
            try books.dropIndex(db, "author")
            #expect(try books.indexNames(db) == [])
            #expect(try books.filter(author == "Austen").fetchKeys(db) == ["emma"])
            expectError(.SQLITE_MISUSE, "an index has at least one path") {
                try books.createIndex(db, "author", on: [])
            }
        }
    }

    @Test func uniqueIndexes() throws {
        try withBooks { db throws in
            let title = books.path("title", as: String.self)
            try books.createIndex(db, "title", on: title, unique: true)
            let conflict = "UNIQUE constraint failed: index 'document:books:title'"
            expectError(.SQLITE_CONSTRAINT_UNIQUE, conflict) { try books.set(db, key: "other", emma) }
            expectError(.SQLITE_CONSTRAINT_UNIQUE, conflict) { try books.replace(db, key: "typee", emma) }
            try books.set(db, key: "emma", emma)
            #expect(try books.count(db) == 3)

            // Other collections, and objects without the path, don't conflict.
            let films = store.collection("films", of: Book.self)
            try films.set(db, key: "emma", emma)
            try films.set(db, key: "emma 2", emma)
            let partial = store.collection("books", of: [String: Int].self)
            try partial.set(db, key: "x", [:])
            try partial.set(db, key: "y", [:])
            #expect(try books.count(db) == 5)

            expectError(.SQLITE_CONSTRAINT_UNIQUE, "UNIQUE constraint failed: index 'document:films:title'") {
                try films.createIndex(db, "title", on: films.path("title", as: String.self), unique: true)
            }
            #expect(try films.indexNames(db) == [])
        }
    }

    /// A replacement that fails leaves the index as it was.
    @Test func aFailedReplacement() throws {
        try withBooks { db throws in
            try books.createIndex(db, "author", on: author)
            expectError(.SQLITE_CONSTRAINT_UNIQUE, "UNIQUE constraint failed: index 'document:books:author'") {
                try books.createIndex(db, "author", on: author, unique: true)
            }
            #expect(try books.filter(author == "Austen").explain(db).contains("document:books:author"))
        }
    }

    /// SQLite compares names of indexes without case, names of collections byte by byte.
    @Test func collectionsWhoseNamesDifferByCase() throws {
        try makeQueue().write { db throws in
            let upper = store.collection("Books", of: Book.self)
            try upper.createIndex(db, "a", on: upper.path("author", as: String.self))
            try books.createIndex(db, "a", on: author)
            try books.createIndex(db, "A", on: year)
            #expect(try upper.indexNames(db) == ["a"])
            #expect(try books.indexNames(db).sorted() == ["A", "a"])
            #expect(try !upper.createIndex(db, "a", on: upper.path("author", as: String.self)))
            try books.dropIndex(db, "A")
            #expect(try books.indexNames(db) == ["a"])
        }
    }

    @Test func aNULInTheNameOfTheCollection() throws {
        try makeQueue().write { db throws in
            let odd = store.collection("a\0b", of: Book.self)
            let message = #"a collection whose name has a NUL has no indexes: "a\0b""#
            expectError(.SQLITE_MISUSE, message) {
                try odd.createIndex(db, "x", on: odd.path("author", as: String.self))
            }
            expectError(.SQLITE_MISUSE, message) {
                try odd.createTextIndex(db, "x", on: odd.path("author", as: String.self))
            }
            // Requests work, without an index.
            try odd.set(db, key: "emma", emma)
            #expect(try odd.filter(odd.path("author", as: String.self) == "Austen").fetchKeys(db) == ["emma"])
        }
    }

    @Test func objectsThatAreNoJSON() throws {
        try withBooks { db throws in
            try db.execute(sql: "UPDATE document SET object = 'no JSON' WHERE key = 'emma'")
            expectError(.SQLITE_ERROR, "malformed JSON") { try books.createIndex(db, "author", on: author) }
            expectError(.SQLITE_ERROR, "malformed JSON") { try books.filter(author == "Austen").fetchAll(db) }
            #expect(try books.indexNames(db) == [])
            try books.remove(db, key: "emma")
            try books.createIndex(db, "author", on: author)
            expectError(.SQLITE_ERROR, "malformed JSON") {
                try db.execute(sql: "UPDATE document SET object = 'no JSON' WHERE key = 'typee'")
            }
            #expect(try books.get(db, key: "typee") == typee)
        }
    }

    /// SQLite drops no index of a table that a cursor reads.
    @Test func aReplacementUnderACursor() throws {
        try withBooks { db throws in
            try books.createIndex(db, "author", on: author)
            let documents = try books.all().fetchCursor(db)
            _ = try documents.next()
            expectError(.SQLITE_LOCKED, "database table is locked") { try books.createIndex(db, "author", on: year) }
            expectError(.SQLITE_LOCKED, "database table is locked") { try books.dropIndex(db, "author") }
            // SQLite ends statements that read when a savepoint with a change of the schema is rolled back.
            expectError(.SQLITE_ABORT_ROLLBACK) { try documents.next() }
            #expect(try !books.createIndex(db, "author", on: author))
            #expect(try books.all().fetchAll(db).count == 3)
        }
    }

    /// Outside a transaction, as a migration without one would do it.
    @Test func withoutATransaction() throws {
        let queue = try makeQueue()
        try queue.writeWithoutTransaction { db throws in
            try books.set(db, key: "emma", emma)
            try books.createIndex(db, "author", on: author)
            try books.createTextIndex(db, "text", on: author)
            #expect(!db.isInsideTransaction)
        }
        #expect(try queue.read { try books.filter(author == "Austen").fetchKeys($0) } == ["emma"])
    }

    @Test func anIndexInARead() throws {
        let queue = try makeQueue()
        _ = try queue.read { db throws in
            expectError(
                .SQLITE_READONLY, "attempt to write a readonly database"
            ) { try books.createIndex(db, "author", on: author) }
        }
        #expect(try queue.read { try books.indexNames($0) } == [])
    }
}
