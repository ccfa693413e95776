import Quarry
import QuarryTestSupport
import Testing

private struct Shelf: Codable, FetchableRecord, PersistableRecord {
    static let books = hasMany(Book.self)
    var id: Int64
    var room: String
}

private struct Book: Codable, FetchableRecord, PersistableRecord {
    enum Columns {
        static let id = Column("id")
        static let title = Column("title")
        static let shelfId = Column("shelfId")
    }
    static let shelf = belongsTo(Shelf.self)
    var id: Int64
    var title: String
    var summary: String
    var shelfId: Int64?
}

/// The rows of a table that a full-text table indexes, found by `matching(_:in:)`.
@Suite struct IndexedTableTests {
    private let whale = FTS5Pattern(matchingAnyTokenIn: "whale")
    private static let search =
        #"(SELECT "rowid", "rank" FROM "book_ft" WHERE "book_ft" MATCH 'whale' LIMIT -1) "book_ft""#

    private func withBooks(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE shelf (id INTEGER PRIMARY KEY, room TEXT);
                    CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, summary TEXT,
                        shelfId INTEGER REFERENCES shelf);
                    INSERT INTO shelf VALUES (1, 'north'), (2, 'south');
                    """)
            try db.create(virtualTable: "book_ft", using: FTS5()) { t in
                t.synchronize(withTable: "book")
                t.column("title")
                t.column("summary")
            }
            for (id, title, summary, shelf) in [
                (3, "The sea", "a whale, and some more words about other things that fill the text", 1),
                (4, "Whale", "whale whale whale", 2), (5, "Emma", "nothing", 1),
                (6, "Whale watching", "what to see", 1),
            ] as [(Int64, String, String, Int64)] {
                try Book(id: id, title: title, summary: summary, shelfId: shelf).insert(db)
            }
            try body(db)
        }
    }

    @Test func matchesHavePages() throws {
        try withBooks { db throws in
            let matches = Book.matching(whale, in: "book_ft")
            #expect(try matches.allPages(db, size: 1).flatMap(\.items).map(\.id) == [4, 6, 3])
            #expect(try matches.page(number: 2, size: 2).fetch(db).items.map(\.id) == [3])
            let last = try matches.page(size: 2).fetch(db)
            #expect(try matches.page(size: 2, after: last.next).fetch(db).items.map(\.id) == [3])
            // Of two searches, a book is found once each.
            let both = matches.filter { $0.shelfId == 1 }.order(\.title)
            #expect(try both.page(size: 9).fetch(db).items.map(\.id) == [3, 6])
        }
    }

    @Test func recordsComeBestMatchFirst() throws {
        try withBooks { db throws in
            let join = #"JOIN \#(Self.search) ON "book_ft"."rowid" = "book"."id""#
            try expectEmitted(db, #"SELECT "book".* FROM "book" \#(join) ORDER BY "book_ft"."rank""#) { () throws in
                #expect(try Book.matching(whale, in: "book_ft").fetchAll(db).map(\.id) == [4, 6, 3])
            }
            try expectEmitted(
                db,
                #"SELECT "book".* FROM "book" \#(join) WHERE "book"."shelfId" = 1 ORDER BY "book_ft"."rank" LIMIT 1"#
            ) { () throws in
                let request = Book.filter { $0.shelfId == 1 }.matching(whale, in: "book_ft").limit(1)
                #expect(try request.fetchAll(db).map(\.id) == [6])
            }
            try expectEmitted(db, #"SELECT "book".* FROM "book" \#(join) ORDER BY "book"."title" DESC"#) { () throws in
                let request = Book.matching(whale, in: "book_ft").order(\.title.desc)
                #expect(try request.fetchAll(db).map(\.id) == [6, 4, 3])
            }
            try expectEmitted(db, #"SELECT COUNT(*) FROM (SELECT "book".* FROM "book" \#(join))"#) { () throws in
                #expect(try Book.matching(whale, in: "book_ft").fetchCount(db) == 3)
            }
            try expectEmitted(db, #"SELECT "book".* FROM "book" \#(join) ORDER BY "book_ft"."rank" DESC LIMIT 1"#) {
                () throws in
                #expect(try Book.matching(whale, in: "book_ft").reversed().fetchOne(db)?.id == 3)
            }
            #expect(
                try Table("book").matching(whale, in: "book_ft").fetchAll(db).map { $0["id"] as Int64 } == [4, 6, 3])
            let titles = Book.matching(whale, in: "BOOK_FT").select(Column("title"), as: String.self)
            #expect(try titles.fetchAll(db) == ["Whale", "Whale watching", "The sea"])
        }
    }

    @Test func weights() throws {
        try withBooks { db throws in
            try expectEmitted(
                db,
                #"SELECT "book".* FROM "book" JOIN (SELECT "rowid", BM25("book_ft", 0.0, 1.0) AS "rank" "#
                    + #"FROM "book_ft" WHERE "book_ft" MATCH 'whale' LIMIT -1) "book_ft" "#
                    + #"ON "book_ft"."rowid" = "book"."id" ORDER BY "book_ft"."rank""#
            ) { () throws in
                let books = try Book.matching(whale, in: "book_ft", weights: [0, 1]).fetchAll(db)
                #expect(books.map(\.id) == [4, 3, 6])
            }
        }
    }

    @Test func associationsAndOtherRequests() throws {
        try withBooks { db throws in
            let found = Book.matching(whale, in: "book_ft")
            let rows = try Row.fetchAll(db, found.including(required: Book.shelf.filter(Column("room") == "north")))
            #expect(rows.map { $0["id"] as Int64 } == [6, 3])
            #expect(rows.compactMap { $0.scopes["shelf"]?["room"] as String? } == ["north", "north"])
            // The rank is a column of the search.
            let ranked = found.annotated(with: SQL(sql: "book_ft.rank").sqlExpression.forKey("rank"))
            let ranks = try Row.fetchAll(db, ranked).map { $0["rank"] as Double }
            #expect(ranks == ranks.sorted() && ranks.count == 3)
            // An alias names the rows, and attached and temporary tables are found as SQLite finds them.
            let alias = TableAlias<Book>(name: "b")
            let aliased = found.aliased(alias).filter(alias[Column("id")] > 3)
            #expect(try aliased.fetchAll(db).map(\.id) == [4, 6])
            try db.execute(
                sql: """
                    CREATE TEMP TABLE book (id INTEGER PRIMARY KEY, title TEXT, summary TEXT, shelfId INTEGER);
                    INSERT INTO temp.book SELECT * FROM main.book WHERE id = 6;
                    """)
            #expect(try found.fetchAll(db).map(\.id) == [6])
            try db.execute(sql: "DROP TABLE temp.book")
            // A search inside of another, and one beside another.
            let ids = Book.matching(FTS5Pattern(matchingAnyTokenIn: "words watching"), in: "book_ft").select(\.id)
            #expect(try found.filter { ids.contains($0.id) }.fetchAll(db).map(\.id) == [6, 3])
            let emma = Book.matching(FTS5Pattern(matchingAnyTokenIn: "emma"), in: "book_ft")
            #expect(Set(try found.union(emma).fetchAll(db).map(\.id)) == [3, 4, 5, 6])
            let both = found.matching(FTS5Pattern(matchingAnyTokenIn: "watching"), in: "book_ft")
            #expect(try both.fetchAll(db).map(\.id) == [6])
            #expect(try found.limit(2).asTable().fetchAll(db).map(\.id).count == 2)
            #expect(try found.updateAll(db, Column("summary").set(to: "gone")) == 3)
            #expect(try found.deleteAll(db) == 2)
            #expect(try Book.order(\.id).fetchAll(db).map(\.id) == [3, 5])
        }
    }

    @Test func nilFindsNothing() throws {
        try withBooks { db throws in
            try expectEmitted(db, #"SELECT * FROM "book" WHERE 0"#) { () throws in
                #expect(try Book.matching(FTS5Pattern(matchingAnyTokenIn: "*"), in: "book_ft").fetchAll(db).isEmpty)
            }
        }
    }

    /// Names with quotes, rowids without a column, and columns that hide the rowid's name.
    @Test func namesAndKeys() throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE "my ""text" ("uuid" TEXT PRIMARY KEY NOT NULL, "rowid" TEXT, body TEXT);
                    INSERT INTO "my ""text" (_rowid_, uuid, "rowid", body) VALUES (7, 'a', 'x', 'one whale');
                    CREATE VIRTUAL TABLE "my ""ft" USING fts5(body);
                    INSERT INTO "my ""ft" (rowid, body) VALUES (7, 'one whale'), (8, 'whale without a row');
                    CREATE TABLE pair (a TEXT, b TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
                    CREATE VIEW texts AS SELECT * FROM "my ""text";
                    """)
            let request = Table("my \"text").matching(whale, in: "my \"ft")
            #expect(
                try request.sql(db)
                    == #"SELECT "my ""text".* FROM "my ""text" JOIN (SELECT "rowid", "rank" FROM "my ""ft" "#
                    + #"WHERE "my ""ft" MATCH 'whale' LIMIT -1) "my ""ft" "#
                    + #"ON "my ""ft"."rowid" = "my ""text"."_rowid_" ORDER BY "my ""ft"."rank""#)
            #expect(try request.fetchAll(db).map { $0["uuid"] as String } == ["a"])
            for table in ["pair", "texts"] {
                expectError(
                    .SQLITE_MISUSE,
                    """
                    matching(_:in: "my "ft") finds rows by their rowid, which \(table) doesn't have: use an \
                    association from the full-text table, belongsTo(_:using: ForeignKey([…], to: […]))
                    """
                ) { () throws in
                    try Table(table).matching(whale, in: "my \"ft").fetchAll(db)
                }
            }
            expectError(.SQLITE_ERROR, "no such table: nowhere") { () throws in
                try Table("my \"text").matching(whale, in: "nowhere").fetchAll(db)
            }
            expectError(.SQLITE_ERROR, "no such table: nowhere") { () throws in
                try Table("nowhere").matching(whale, in: "my \"ft").fetchAll(db)
            }
        }
    }

    /// Without statistics, SQLite takes a search with a rowid for cheap, and runs the search for each row of an index.
    @Test func theSearchRunsOnce() throws {
        try withBooks { db throws in
            try db.execute(
                sql: """
                    CREATE INDEX book_on_shelf ON book (shelfId);
                    WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
                    INSERT INTO book SELECT i, 'book ' || i, iif(i % 3 = 0, 'whale', 'nothing'), 1 FROM n;
                    """)
            #expect(try !db.tableExists("sqlite_stat1"))
            let requests = [
                Book.matching(whale, in: "book_ft"), Book.matching(whale, in: "book_ft").filter { $0.shelfId == 1 },
                Book.matching(whale, in: "book_ft").filter { $0.shelfId == 1 }.order(\.title).limit(10),
                Book.filter { $0.shelfId == 1 }.including(required: Book.shelf).matching(whale, in: "book_ft"),
            ]
            for request in requests {
                let plan = try request.explain(db)
                // The search is read in a part of its own, from which the rows are looked up.
                // A newer SQLite reads its rows one by one, as a coroutine.
                let part = try #require(
                    plan.nodes.first { $0.detail.contains("MATERIALIZE") || $0.detail.contains("CO-ROUTINE") })
                #expect(part.children.map(\.detail) == ["SCAN book_ft VIRTUAL TABLE INDEX 0:M2"], "\(plan)")
                #expect(!plan.nodes.contains { $0.detail.contains("VIRTUAL TABLE") }, "\(plan)")
            }
            let request = Book.matching(whale, in: "book_ft").filter { $0.shelfId == 1 }
            #expect(try request.fetchCount(db) == 1665)
        }
    }
}
