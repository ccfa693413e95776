import Quarry
import QuarryTestSupport
import Testing

private struct Leaf: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "d"
    var a: String
    var b: String
}

private struct Sheet: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "s"
    static let document = belongsTo(Leaf.self, using: ForeignKey(["docID"], to: ["rowid"]))
    var id: Int64
    var docID: Int64?
}

/// Requests for the rows of full-text tables.
@Suite struct MatchingTests {
    private let five = FTS5Pattern(matchingAnyTokenIn: "foo")
    private let four = FTS3Pattern(matchingAnyTokenIn: "foo")

    private func withDocuments(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            try db.create(virtualTable: "d", using: FTS5()) { t in
                t.column("a")
                t.column("b")
            }
            try db.create(virtualTable: "d4", using: FTS4()) { t in
                t.column("a")
                t.column("b")
            }
            for (a, b) in [("foo bar", "first thing"), ("bar", "foo foo foo second"), ("other", "nothing")] {
                try db.execute(sql: "INSERT INTO d VALUES (?, ?)", arguments: [a, b])
                try db.execute(sql: "INSERT INTO d4 VALUES (?, ?)", arguments: [a, b])
            }
            try db.execute(
                sql: "CREATE TABLE s (id INTEGER PRIMARY KEY, docID INTEGER); INSERT INTO s VALUES (1, 2), (2, 3)")
            try body(db)
        }
    }

    /// Expects the SQL of a fetch, and what it gives.
    private func expectStatement<T: Equatable>(
        _ db: Database, _ expected: String, _ values: T, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: (Database) throws -> T
    ) throws {
        var found: T?
        var sql: [String] = []
        db.trace { event in sql.append(event.expandedDescription) }
        defer { db.trace(options: []) }
        found = try body(db)
        sql.removeAll { $0.hasPrefix("--") || $0.contains("PRAGMA") || $0.contains("sqlite_master") }
        #expect(sql == [expected], sourceLocation: sourceLocation)
        #expect(found == values, sourceLocation: sourceLocation)
    }

    @Test func requests() throws {
        try withDocuments { db in
            try expectStatement(db, #"SELECT COUNT(*) FROM "d" WHERE "d" MATCH 'foo'"#, 2) { db in
                try Leaf.matching(five).fetchCount(db)
            }
            try expectStatement(db, #"SELECT * FROM "d" WHERE "d" MATCH 'foo'"#, 2) { db in
                try Leaf.matching(four).fetchAll(db).count
            }
            try expectStatement(db, #"SELECT * FROM "d4" WHERE "d4" MATCH 'foo'"#, 2) { db in
                try Table("d4").matching(four).fetchAll(db).count
            }
            try expectStatement(db, #"SELECT * FROM "d" WHERE "d" MATCH 'foo'"#, 2) { db in
                try Table("d").matching(five).fetchAll(db).count
            }
            try expectStatement(db, #"SELECT * FROM "d" WHERE 0"#, 0) { db in
                try Leaf.matching(nil as FTS5Pattern?).fetchAll(db).count
            }
            try expectStatement(db, #"SELECT * FROM "d" WHERE 0"#, 0) { db in
                try Leaf.matching(nil as FTS3Pattern?).fetchAll(db).count
            }
            try expectStatement(db, #"SELECT * FROM "d" WHERE ("a" = 'bar') AND 0"#, 0) { db in
                try Leaf.filter(Column("a") == "bar").matching(nil as FTS5Pattern?).fetchAll(db).count
            }
            try expectStatement(
                db, #"SELECT * FROM "d" WHERE ("a" = 'foo bar') AND ("d" MATCH 'foo') ORDER BY "rank""#, ["foo bar"]
            ) { db in
                try Leaf.filter(Column("a") == "foo bar").matching(five).order(Column.rank).fetchAll(db).map(\.a)
            }
            // Texts of users go through as values.
            let quote = FTS5Pattern(matchingPhrase: "it's")
            try expectStatement(db, #"SELECT * FROM "d" WHERE "d" MATCH '"it s"'"#, 0) { db in
                try Leaf.matching(quote).fetchAll(db).count
            }
        }
    }

    @Test func columns() throws {
        let five = try #require(five)
        try withDocuments { db in
            try expectStatement(db, #"SELECT * FROM "d" WHERE "a" MATCH 'foo'"#, ["foo bar"]) { db in
                try Leaf.filter(Column("a").match(five)).fetchAll(db).map(\.a)
            }
            try expectStatement(db, #"SELECT * FROM "d4" WHERE "b" MATCH 'foo'"#, 1) { db in
                try Table("d4").filter(Column("b").match(four)).fetchAll(db).count
            }
            try expectStatement(db, #"SELECT * FROM "d4" WHERE "a" MATCH NULL"#, 0) { db in
                try Table("d4").filter(Column("a").match(nil)).fetchAll(db).count
            }
            let error = #expect(throws: DatabaseError.self) {
                try Table("d4").filter(!Column("a").match(four)).fetchAll(db)
            }
            #expect(error?.message == "unable to use function MATCH in the requested context")
            #expect(error?.sql == #"SELECT * FROM "d4" WHERE NOT ("a" MATCH ?)"#)
        }
    }

    @Test func aliasesAndJoins() throws {
        try withDocuments { db in
            let alias = TableAlias<Leaf>(name: "x")
            let aliased = #"SELECT "x".* FROM "d" "x" WHERE "x"."d" MATCH 'foo' ORDER BY "x"."rank" DESC"#
            try expectStatement(db, aliased, 2) { db in
                try Leaf.all().aliased(alias).matching(five).order(Column.rank.desc).fetchAll(db).count
            }
            let joined = #"""
                SELECT "s".* FROM "s" JOIN "d" ON ("d"."rowid" = "s"."docID") AND ("d"."d" MATCH 'foo')
                """#
            try expectStatement(db, joined, [1]) { db in
                try Sheet.joining(required: Sheet.document.matching(five)).fetchAll(db).map(\.id)
            }
        }
    }

    @Test func ranking() throws {
        try withDocuments { db in
            try expectStatement(db, #"SELECT * FROM "d" WHERE "d" MATCH 'foo' ORDER BY "rank""#, ["bar", "foo bar"]) {
                db in
                try Leaf.matching(five).order(FTS5.rank).fetchAll(db).map(\.a)
            }
            let weighted = #"SELECT * FROM "d" WHERE "d" MATCH 'foo' ORDER BY BM25("d", 100.0, 1.0)"#
            try expectStatement(db, weighted, ["foo bar", "bar"]) { db in
                try Leaf.matching(five).order(FTS5.bm25(of: "d", weights: [100, 1])).fetchAll(db).map(\.a)
            }
            try expectStatement(db, #"SELECT BM25("d") FROM "d" WHERE "d" MATCH 'foo'"#, 2) { db in
                try Leaf.matching(five).select(FTS5.bm25(of: "d"), as: Double.self).fetchAll(db).count
            }
        }
    }

    @Test func highlights() throws {
        try withDocuments { db in
            let highlighted =
                #"SELECT HIGHLIGHT("d", 1, '<b>', '</b>') FROM "d" WHERE "d" MATCH 'foo' ORDER BY "rank""#
            try expectStatement(db, highlighted, ["<b>foo</b> <b>foo</b> <b>foo</b> second", "first thing"]) { db in
                let highlight = FTS5.highlight(Column("b"), of: "d", open: "<b>", close: "</b>")
                return try Leaf.matching(five).order(FTS5.rank).select(highlight, as: String.self).fetchAll(db)
            }
            let shortened =
                #"SELECT SNIPPET("d", -1, '[', ']', '...', 2) FROM "d" WHERE "d" MATCH 'foo' ORDER BY "rank""#
            try expectStatement(db, shortened, ["[foo] [foo]...", "[foo] bar"]) { db in
                let snippet = FTS5.snippet(of: "d", open: "[", close: "]", ellipsis: "...", tokenCount: 2)
                return try Leaf.matching(five).order(FTS5.rank).select(snippet, as: String.self).fetchAll(db)
            }
            let snippet = FTS5.snippet(Column("A"), of: "d", open: "[", close: "]")
            let snippets = try Leaf.matching(five).select(snippet, as: String.self).fetchAll(db)
            #expect(snippets == ["[foo] bar", "bar"])
            // Of an alias.
            let alias = TableAlias<Leaf>(name: "x")
            let highlight = FTS5.highlight(Column("a"), of: "d", open: "[", close: "]")
            let request = Leaf.all().aliased(alias).matching(five).select(alias[highlight], as: String.self)
            #expect(try request.fetchAll(db) == ["[foo] bar", "bar"])
            let unknown = FTS5.highlight(Column("c"), of: "d", open: "", close: "")
            expectError(.SQLITE_MISUSE, "table d has no column named c") {
                try Leaf.matching(five).select(unknown, as: String.self).fetchAll(db)
            }
        }
    }

    @Test func ownFunction() throws {
        try withDocuments { db in
            db.add(
                function: FTS5Function("hits") { match in try match.instanceCount() * (match.arguments.isEmpty ? 1 : 10)
                })
            try expectStatement(db, #"SELECT hits("d", 1) FROM "d" WHERE "d" MATCH 'foo'"#, [10, 30]) { db in
                try Leaf.matching(five).select(FTS5.call("hits", of: "d", 1), as: Int.self).fetchAll(db)
            }
        }
    }

    @Test func fts4Functions() throws {
        try withDocuments { db in
            let documents = Table("d4").matching(four)
            let shortened = #"SELECT SNIPPET("d4", '[', ']', '...', -1, 2) FROM "d4" WHERE "d4" MATCH 'foo'"#
            try expectStatement(db, shortened, ["[foo] bar", "[foo] [foo]..."]) { db in
                let snippet = FTS4.snippet(of: "d4", open: "[", close: "]", ellipsis: "...", tokenCount: 2)
                return try documents.select(snippet, as: String.self).fetchAll(db)
            }
            let snippet = FTS3.snippet(of: "d4", column: Column("b"), open: "[", close: "]")
            let snippets = try documents.select(snippet, as: String.self).fetchAll(db)
            #expect(snippets == ["first thing", "[foo] [foo] [foo] second"])
            try expectStatement(
                db, #"SELECT OFFSETS("d4") FROM "d4" WHERE "d4" MATCH 'foo'"#,
                ["0 0 0 3", "1 0 0 3 1 0 4 3 1 0 8 3"]
            ) { db in try documents.select(FTS4.offsets(of: "d4"), as: String.self).fetchAll(db) }
            let info = try documents.select(FTS4.matchinfo(of: "d4", format: "pc"), as: [UInt8].self).fetchAll(db)
            #expect(info == [[1, 0, 0, 0, 2, 0, 0, 0], [1, 0, 0, 0, 2, 0, 0, 0]])
        }
    }
}
