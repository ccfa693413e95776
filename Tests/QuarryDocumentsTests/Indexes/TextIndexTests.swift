import Quarry
import QuarryDocuments
import QuarryTestSupport
import Testing

/// Full-text indexes on paths: whatever changes the documents, the index finds what a scan finds.
@Suite struct TextIndexTests {
    private let title = books.path("title", as: String.self)
    private let author = books.path("author", as: String.self)

    private func found(_ db: Database, _ text: String) throws -> [String] {
        let pattern = try #require(FTS5Pattern(matchingAllTokensIn: text))
        return try books.matching(pattern, in: "text").orderedByKey().fetchKeys(db)
    }

    private func check(_ db: Database, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try db.execute(
            sql: #"INSERT INTO "document:books:text"("document:books:text", rank) VALUES ('integrity-check', 0)"#)
        for word in ["whale", "melville", "austen", "typee", "emma"] {
            let scanned = try String.fetchAll(
                db,
                sql: """
                    SELECT key FROM document WHERE collection = 'books' AND (
                        object ->> '$.title' LIKE :pattern OR object ->> '$.author' LIKE :pattern) ORDER BY key
                    """, arguments: ["pattern": "%\(word)%"])
            #expect(try found(db, word) == scanned, "\(word)", sourceLocation: sourceLocation)
        }
    }

    @Test func findsExistingAndLaterDocuments() throws {
        try withBooks { db throws in
            #expect(try books.createTextIndex(db, "text", on: title, author))
            #expect(try found(db, "whale") == ["moby-dick"])
            #expect(try found(db, "melville") == ["moby-dick", "typee"])
            try books.set(db, key: "whale", Book(title: "The Whale", author: "Scheffer", year: 1969))
            #expect(try found(db, "whale") == ["moby-dick", "whale"])
            try check(db)
            #expect(try books.textIndexNames(db) == ["text"])
        }
    }

    @Test func followsEachChange() throws {
        try withBooks { db throws in
            try books.createTextIndex(db, "text", on: title, author)
            try books.replace(db, key: "emma", mobyDick)
            try check(db)
            try books.set(db, key: "emma", typee, metadata: Reading(page: 1))
            try check(db)
            try books.replaceMetadata(db, key: "emma", nil)
            try books.touch(db, key: "emma")
            try check(db)
            try books.remove(db, key: "emma")
            try check(db)
            try db.inSavepoint {
                try books.set(db, key: "emma", emma)
                return .rollback
            }
            try check(db)
            try books.removeAll(db)
            try check(db)
            #expect(try Int.fetchOne(db, sql: #"SELECT COUNT(*) FROM "document:books:text:keys""#) == 0)
            #expect(try Int.fetchOne(db, sql: #"SELECT COUNT(*) FROM "document:books:text""#) == 0)
        }
    }

    /// SQL of the program: renamed keys, other collections, REPLACE, which calls no trigger of a deletion.
    @Test(arguments: [false, true]) func followsSQL(recursiveTriggers: Bool) throws {
        try makeQueue().writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA recursive_triggers = \(recursiveTriggers)")
            try books.set(db, key: "moby-dick", mobyDick)
            try books.set(db, key: "emma", emma)
            try books.createTextIndex(db, "text", on: title, author)
            for statement in [
                "UPDATE document SET key = 'emma 2' WHERE key = 'emma'",
                "INSERT OR REPLACE INTO document (collection, key, object) SELECT collection, key, object FROM document",
                """
                INSERT OR REPLACE INTO document (collection, key, object)
                SELECT collection, 'emma 2', object FROM document WHERE key = 'moby-dick'
                """,
                "UPDATE OR REPLACE document SET key = 'moby-dick' WHERE key = 'emma 2'",
                "UPDATE document SET collection = 'films'",
                "UPDATE document SET collection = 'books'",
                "INSERT OR IGNORE INTO document (collection, key, object) VALUES ('books', 'moby-dick', '{}')",
                "UPDATE document SET object = json_set(object, '$.title', 'Typee')",
                "VACUUM",
                "DELETE FROM document",
            ] {
                try db.execute(sql: statement)
                try check(db)
            }
        }
    }

    @Test func bestMatchesComeFirst() throws {
        try makeQueue().write { db throws in
            try books.createTextIndex(db, "text", on: title, tokenizer: .porter())
            for (key, title) in [
                ("a", "whales and other animals of the sea"), ("b", "whale whale whale"), ("c", "fish"),
            ] {
                try books.set(db, key: key, Book(title: title, author: "", year: 0), metadata: Reading(page: 1))
            }
            let pattern = try #require(FTS5Pattern(matchingAllTokensIn: "whaling"))
            let best = try books.bestMatches(db, pattern, in: "text", limit: 10)
            #expect(best.map(\.key) == ["b", "a"])
            #expect(best.first?.metadata == Reading(page: 1))
            #expect(try books.bestMatches(db, pattern, in: "text", limit: 1).map(\.key) == ["b"])
            #expect(try books.matching(pattern, in: "text").filter(title == "fish").fetchAll(db) == [])
            let plan = try books.matching(pattern, in: "text").explain(db)
            #expect(plan.contains("VIRTUAL TABLE INDEX"))
            let byKey = "SEARCH main.document USING INDEX sqlite_autoindex_document_1 (collection=? AND key=?)"
            #expect(plan.contains(byKey))
        }
    }

    @Test func columnsAndArrays() throws {
        try makeQueue().write { db throws in
            struct Post: Codable, Sendable {
                var tags: [String]
                var user: [String: String]
            }
            let posts = store.collection("posts", of: Post.self)
            try posts.createTextIndex(
                db, "text", on: posts.path("tags", as: [String].self), posts.path("user", "name", as: String.self))
            try posts.set(db, key: "1", Post(tags: ["swift", "sqlite"], user: ["name": "Anna"]))
            try posts.set(db, key: "2", Post(tags: ["anna"], user: [:]))
            func keys(_ pattern: String) throws -> [String] {
                try posts.matching(db.makeFTS5Pattern(rawPattern: pattern, forTable: "document:posts:text"), in: "text")
                    .orderedByKey().fetchKeys(db)
            }
            #expect(try keys("sqlite") == ["1"])
            #expect(try keys("anna") == ["1", "2"])
            #expect(try keys("tags : anna") == ["2"])
            #expect(try keys("\"user.name\" : anna") == ["1"])
        }
    }

    @Test func anotherDefinitionReplacesTheIndex() throws {
        try withBooks { db throws in
            #expect(try books.createTextIndex(db, "text", on: title))
            #expect(try !books.createTextIndex(db, "text", on: title))
            #expect(try found(db, "melville") == [])
            #expect(try books.createTextIndex(db, "text", on: title, author))
            #expect(try found(db, "melville") == ["moby-dick", "typee"])
            #expect(try books.createTextIndex(db, "text", on: title, author, tokenizer: .porter()))
            #expect(try found(db, "whales") == ["moby-dick"])
            try check(db)
        }
    }

    /// A trigger or a table that SQL has dropped is created again.
    @Test(arguments: [
        #"DROP TRIGGER "document:books:text:update""#, #"DROP TABLE "document:books:text:keys""#,
        #"DROP TABLE "document:books:text""#, "DROP TABLE document",
    ])
    func whatSQLHasDroppedComesBack(statement: String) throws {
        try withBooks { db throws in
            try books.createTextIndex(db, "text", on: title, author)
            try db.execute(sql: statement)
            try store.create(in: db)
            #expect(try books.createTextIndex(db, "text", on: title, author))
            try books.set(db, key: "emma", emma)
            try check(db)
        }
    }

    @Test func dropping() throws {
        try withBooks { db throws in
            try books.createTextIndex(db, "text", on: title)
            try books.dropTextIndex(db, "text")
            try books.dropTextIndex(db, "text")
            #expect(try books.textIndexNames(db) == [])
            #expect(try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE name LIKE 'document:%'") == [])
            try books.set(db, key: "x", emma)
            expectError(.SQLITE_ERROR, "no such table: main.document:books:text") { try found(db, "emma") }
        }
    }

    @Test func aFailedCreationLeavesNothing() throws {
        try withBooks { db throws in
            try db.execute(sql: "UPDATE document SET object = 'no JSON' WHERE key = 'emma'")
            expectError(.SQLITE_ERROR, "malformed JSON") { try books.createTextIndex(db, "text", on: title) }
            expectError(.SQLITE_MISUSE, "an FTS5 table has at least one column") {
                try books.createTextIndex(db, "text", on: [])
            }
            expectError(.SQLITE_ERROR) { try books.createTextIndex(db, "text", on: title, title) }
            let unknown = FTS5TokenizerDescriptor(components: ["none"])
            expectError(.SQLITE_ERROR) { try books.createTextIndex(db, "text", on: title, tokenizer: unknown) }
            #expect(try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE name LIKE 'document:%'") == [])
            try books.remove(db, key: "emma")
            try books.createIndex(db, "text", on: title)
            expectError(.SQLITE_ERROR, "there is already an index named document:books:text") {
                try books.createTextIndex(db, "text", on: title)
            }
        }
    }
}
