import Quarry
import QuarryDocuments
import QuarryTestSupport
import Testing

/// Tables of the store's name in other schemas: the store uses its own, which is in `main`.
@Suite struct HiddenStoreTests {
    private static let columns = "collection, key, version, metadata, object"
    private let year = books.path("year", as: Int.self)
    private let title = books.path("title", as: String.self)

    /// All verbs, in a database with a decoy of one document.
    private func useAll(_ db: Database) throws {
        try books.createIndex(db, "year", on: year)
        try books.createTextIndex(db, "text", on: title)
        try books.set(db, key: "emma", emma, metadata: Reading(page: 1))
        try books.set(db, key: "typee", typee)
        try books.set(db, key: "moby-dick", typee)
        #expect(try books.replace(db, key: "moby-dick", mobyDick))
        #expect(try books.replaceMetadata(db, key: "typee", Reading(page: 2)))
        #expect(try books.touch(db, key: "typee"))
        #expect(try books.get(db, key: "emma") == emma)
        #expect(try books.get(db, key: "decoy") == nil && !books.contains(db, key: "decoy"))
        #expect(try books.getDocument(db, key: "typee")?.metadata == Reading(page: 2))
        #expect(try books.keys(db) == ["emma", "moby-dick", "typee"])
        #expect(try store.count(db) == 3 && books.count(db) == 3)
        #expect(try store.collectionNames(db) == ["books"])
        #expect(try books.filter(year > 1840).order(year).fetchKeys(db) == ["typee", "moby-dick"])
        #expect(try books.filter(year == 1846).explain(db).description.contains("document:books:year"))
        #expect(try books.all().limit(1, offset: 1).fetchAll(db).count == 1)
        let pattern = try #require(FTS5Pattern(matchingAllTokensIn: "whale"))
        #expect(try books.matching(pattern, in: "text").fetchKeys(db) == ["moby-dick"])
        #expect(try books.bestMatches(db, pattern, in: "text", limit: 3).map(\.key) == ["moby-dick"])
        #expect(try books.indexNames(db) == ["year"] && books.textIndexNames(db) == ["text"])
        // They exist, with the same definitions.
        #expect(try !books.createIndex(db, "year", on: year))
        #expect(try !books.createTextIndex(db, "text", on: title))
        #expect(try books.filter(year == 1846).deleteAll(db) == 1)
        #expect(try books.filter(title == emma.title).deleteAll(db) == 1)
        #expect(try books.keys(db) == ["moby-dick"])
        try books.dropIndex(db, "year")
        try books.dropTextIndex(db, "text")
        #expect(try books.remove(db, key: "moby-dick") && store.count(db) == 0)
    }

    private func decoyCount(_ db: Database, _ schema: String) throws -> Int? {
        try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM \(schema).document WHERE key = 'decoy'")
    }

    @Test func aTemporaryTable() throws {
        try DatabaseQueue().write { db throws in
            try db.execute(
                sql: """
                    CREATE TEMP TABLE document (\(Self.columns), PRIMARY KEY (collection, key));
                    INSERT INTO temp.document VALUES ('books', 'decoy', 1, NULL, '{}');
                    CREATE TEMP TABLE "document:books:text" (x);
                    """)
            #expect(try !store.exists(in: db))
            expectError(.SQLITE_ERROR, "no such table: main.document") { try books.get(db, key: "decoy") }
            expectError(.SQLITE_ERROR, "no such table: main.document") { try books.all().fetchAll(db) }
            expectError(.SQLITE_ERROR, "no such table: main.document") { try books.set(db, key: "a", emma) }
            try store.create(in: db)
            try useAll(db)
            #expect(try String.fetchAll(db, sql: "SELECT name FROM temp.sqlite_master WHERE type = 'trigger'") == [])
            try store.drop(in: db)
            #expect(try decoyCount(db, "temp") == 1)
        }
    }

    @Test func aTemporaryView() throws {
        try withBooks { db throws in
            try db.execute(
                sql: "CREATE TEMP VIEW document AS SELECT 'books' AS collection, 'decoy' AS key, 1 AS version")
            #expect(try books.keys(db) == ["emma", "moby-dick", "typee"])
            try store.removeAll(db)
            try useAll(db)
        }
    }

    @Test func aTableOfAnAttachedDatabase() throws {
        let folder = try TemporaryFolder(isFast: true)
        let path = folder.file("other.sqlite")
        let other = try DatabaseQueue(path: path)
        try other.write { db in
            try store.create(in: db)
            try books.set(db, key: "decoy", emma)
        }
        try other.close()
        let queue = try DatabaseQueue()
        try queue.writeWithoutTransaction { db throws in
            try db.execute(sql: "ATTACH DATABASE ? AS archive", arguments: [path])
            // SQLite alone would take the other database's table.
            #expect(try !store.exists(in: db))
            for body in [
                { _ = try books.get(db, key: "decoy") }, { _ = try books.remove(db, key: "decoy") },
                { _ = try books.all().fetchAll(db) }, { _ = try books.removeAll(db) }, { _ = try store.count(db) },
                { try books.set(db, key: "decoy", typee) }, { _ = try books.touch(db, key: "decoy") },
            ] as [() throws -> Void] {
                expectError(.SQLITE_ERROR, "no such table: main.document", body)
            }
            try store.create(in: db)
            try useAll(db)
            try store.drop(in: db)
            #expect(try decoyCount(db, "archive") == 1)
        }
    }

    /// The region is that of the store's table, so an observation is not told of the other one.
    @Test func theRegionOfARequest() throws {
        try withBooks { db throws in
            try db.execute(sql: "CREATE TEMP TABLE document (key INTEGER PRIMARY KEY, collection, version, object)")
            let region = try books.filter(Column("key") == 5).databaseRegion(db)
            #expect(region.description == "document(collection,key,metadata,object,version)")
        }
    }
}
