import Foundation
import Quarry
import QuarryDocuments
import QuarryTestSupport
import Testing

/// Filters and orders on paths: the SQL, the indexes that it uses, and values of each kind.
@Suite struct DocumentRequestTests {
    private let author = books.path("author", as: String.self)
    private let year = books.path("year", as: Int.self)

    @Test func theSQLOfARequest() throws {
        try withBooks { db throws in
            let request = books.filter(author == "Melville" && year > 1850).order(year.desc).limit(10)
            try expectEmitted(
                db,
                """
                SELECT "key", "version", "metadata", "object" FROM "main"."document" WHERE (collection = 'books') AND \
                (("object" ->> '$.author') = 'Melville') AND (("object" ->> '$.year') > 1850) \
                ORDER BY "object" ->> '$.year' DESC LIMIT 10
                """
            ) { () throws in #expect(try request.fetchAll(db).map(\.key) == ["moby-dick"]) }
            #expect(try request.fetchOne(db)?.object == mobyDick)
            #expect(try request.fetchCount(db) == 1)
            #expect(try !request.isEmpty(db))
        }
    }

    @Test func operators() throws {
        try withBooks { db throws in
            try books.set(db, key: "z", Book(title: "", author: "Anonymous", year: 0))
            func keys(_ condition: SQLExpression) throws -> [String] {
                try books.filter(condition).orderedByKey().fetchKeys(db)
            }
            #expect(try keys(year < 1846) == ["emma", "z"])
            #expect(try keys(year <= 1846) == ["emma", "typee", "z"])
            #expect(try keys(year >= 1846) == ["moby-dick", "typee"])
            #expect(try keys(year > 1846) == ["moby-dick"])
            #expect(try keys(year != 1846) == ["emma", "moby-dick", "z"])
            #expect(try keys((1815...1846).contains(year)) == ["emma", "typee"])
            #expect(try keys([1815, 1851].contains(year)) == ["emma", "moby-dick"])
            #expect(try keys(author == nil) == [])
            #expect(try keys(author != nil).count == 4)
            #expect(try keys(!(author == "Melville") || year == 1846) == ["emma", "typee", "z"])
            #expect(try keys(author.sqlExpression.like("M%")) == ["moby-dick", "typee"])
            let page = books.metadataPath("page", as: Int.self)
            #expect(try keys(page == 30) == ["moby-dick"])
            #expect(try keys(page == nil) == ["typee", "z"])
            #expect(
                try books.all().order(author, year.asc).reversed().fetchKeys(db) == ["moby-dick", "typee", "emma", "z"])
            #expect(try books.all().order(year).limit(2, offset: 1).fetchKeys(db) == ["emma", "typee"])
            #expect(try books.all().order(year).limit(5, offset: 2).fetchOne(db)?.key == "typee")
            #expect(try books.all().limit(0).fetchOne(db) == nil)
            #expect(try books.all().order(year).limit(2, offset: 1).fetchCount(db) == 2)
            #expect(try books.filter(author == "Melville").deleteAll(db) == 2)
            #expect(try books.count(db) == 2)
        }
    }

    struct Thing: Codable, Sendable {
        struct Inner: Codable, Sendable {
            var text: String
        }

        var flag = true
        var real = 1.5
        var big = UInt64.max
        var text: String? = "it's"
        var absent: Int?
        var date = TestDate(milliseconds: 12.5)
        var tags = ["a", "b"]
        var inner = [Inner(text: "x"), Inner(text: "y")]
        var dotted = "z"

        enum CodingKeys: String, CodingKey {
            case flag, real, big, text, absent, date, tags, inner
            case dotted = "a.b c"
        }
    }

    struct TestDate: Codable, Sendable {
        var milliseconds: Double

        init(milliseconds: Double) { self.milliseconds = milliseconds }

        init(from decoder: any Decoder) throws {
            milliseconds = try decoder.singleValueContainer().decode(Double.self)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(milliseconds)
        }
    }

    @Test func valuesAreComparedAsTheyAreEncoded() throws {
        try makeQueue().write { db throws in
            let things = store.collection("things", of: Thing.self)
            try things.set(db, key: "a", Thing())
            func isFound(_ condition: SQLExpression) throws -> Bool { try !things.filter(condition).isEmpty(db) }
            #expect(try isFound(things.path("flag", as: Bool.self) == true))
            #expect(try !isFound(things.path("flag", as: Bool.self) == false))
            #expect(try isFound(things.path("real", as: Double.self) == 1.5))
            #expect(try isFound(things.path("big", as: UInt64.self) == .max))
            #expect(try isFound(things.path("text", as: String.self) == "it's"))
            #expect(try isFound(things.path("absent", as: Int.self) == nil))
            #expect(try isFound(things.path("date", as: TestDate.self) == TestDate(milliseconds: 12.5)))
            #expect(try isFound(things.path("tags", 1, as: String.self) == "b"))
            #expect(try isFound(things.path("tags", -1, as: String.self) == "b"))
            #expect(try isFound(things.path("inner", 0, "text", as: String.self) == "x"))
            #expect(try isFound(things.path(.key(Thing.CodingKeys.dotted), as: String.self) == "z"))
            #expect(try !isFound(things.path("tags", 2, as: String.self) != nil))
        }
    }

    @Test func valuesThatCanNotBeCompared() throws {
        try withBooks { db throws in
            expectError(
                .SQLITE_MISMATCH,
                """
                could not bind a value of type Array<String> to parameter 1: \
                in JSON, it is neither a text, a number nor a bool
                """
            ) { try books.filter(books.path("tags", as: [String].self) == ["a"]).fetchAll(db) }
            expectError(
                .SQLITE_MISMATCH,
                """
                could not bind a value of type Double to parameter 1: in JSON, it is neither a text, a number nor a bool
                """
            ) { try books.filter(books.path("year", as: Double.self) > .nan).fetchAll(db) }
            #expect(try books.count(db) == 3)
        }
    }

    @Test(arguments: [
        (#"a"b"#, #"SQLite finds no key with a quote, backslash or control character: "a\"b""#),
        (#"a\b"#, #"SQLite finds no key with a quote, backslash or control character: "a\\b""#),
        ("a\0b", #"SQLite finds no key with a quote, backslash or control character: "a\0b""#),
    ])
    func pathsThatSQLiteCanNotFollow(key: String, problem: String) throws {
        try withBooks { db throws in
            let path = books.path(.key(key), as: Int.self)
            expectError(.SQLITE_MISUSE, problem) { try books.createIndex(db, "odd", on: path) }
            expectError(.SQLITE_MISMATCH, "could not bind a document path to parameter 1: \(problem)") {
                try books.filter(path == 1).fetchAll(db)
            }
        }
    }

    /// SQLite 3.40 reads `"a\u0000b"` as `a`, so no comparison could tell them apart.
    @Test func textsWithANUL() throws {
        try makeQueue().write { db throws in
            let texts = store.collection("texts", of: [String: String].self)
            try texts.set(db, key: "k", ["a": "x\0y"])
            #expect(try texts.get(db, key: "k") == ["a": "x\0y"])
            let path = texts.path("a", as: String.self)
            let conditions: [SQLExpression] = [
                path == "x\0y", path != "x\0y", path > "\0", ["x", "\0"].contains(path),
            ]
            for condition in conditions {
                expectError(.SQLITE_MISMATCH) { try texts.filter(condition).fetchKeys(db) }
            }
            #expect(try texts.filter(path == nil).fetchKeys(db) == [])
        }
    }

    /// A real number that is whole may have an exponent in JSON: it is compared as SQLite reads it.
    @Test func wholeNumbers() throws {
        try makeQueue().write { db throws in
            let reals = store.collection("reals", of: [String: Double].self)
            let path = reals.path("n", as: Double.self)
            for value in [-1.753109879965603e17, 1e15, 1e16, 1e22, 9.007199254740993e15, 9.223372036854776e18, -0.0, 3]
            {
                try reals.set(db, key: "k", ["n": value])
                #expect(try reals.filter(path == value).fetchKeys(db) == ["k"], "\(value)")
                #expect(try reals.filter([value].contains(path)).fetchKeys(db) == ["k"], "\(value)")
            }
            let seed = SeededGenerator()
            print("DocumentRequestTests: seed \(seed.seed)")
            var random = seed
            for _ in 0..<1_000 {
                let value = (Double.random(in: -1...1, using: &random) * 9e18).rounded()
                try reals.set(db, key: "k", ["n": value])
                #expect(try reals.filter(path == value).fetchKeys(db) == ["k"], "\(value)")
            }
        }
    }

    /// `JSONEncoder` writes a slash with a backslash, unless it is told otherwise, and SQLite compares keys as written.
    @Test func keysWithASlash() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        try makeQueue().write { db throws in
            for coding in [JSONCoding.standard, JSONCoding(encoder: encoder, decoder: JSONDecoder())] {
                let numbers = store.collection("numbers", of: [String: Int].self, coding: coding)
                try numbers.removeAll(db)
                for key in ["a/b", "/", "//a/"] {
                    try numbers.set(db, key: key, [key: 1])
                    let path = numbers.path(.key(key), as: Int.self)
                    try numbers.createIndex(db, key, on: path)
                    #expect(try numbers.filter(path == 1).fetchKeys(db) == [key])
                }
            }
        }
    }

    @Test func pathsWithOddKeys() throws {
        try makeQueue().write { db throws in
            let numbers = store.collection("numbers", of: [String: Int].self)
            for key in ["it's", "a.b", "[0]", "$", "", " ", "é", "1", "a-b"] {
                try numbers.set(db, key: key, [key: 1])
                let path = numbers.path(.key(key), as: Int.self)
                try numbers.createIndex(db, key, on: path)
                #expect(try numbers.filter(path == 1).fetchKeys(db) == [key])
            }
            #expect(try numbers.indexNames(db).count == 9)
            expectError(.SQLITE_MISUSE, "a path has a component") {
                try numbers.createIndex(db, "x", on: numbers.path(as: Int.self))
            }
        }
    }

    /// Any SQL, as in a request for records.
    @Test func otherConditions() throws {
        try withBooks { db throws in
            #expect(try books.filter(Column("key") == "emma").fetchOne(db)?.object == emma)
            #expect(try books.filter(JSONColumn("object")["$.author"] == "Austen").fetchKeys(db) == ["emma"])
            let total = try Int.fetchOne(db, books.all().rows.select([sum(year.sqlExpression)], as: Int.self))
            #expect(total == 1851 + 1846 + 1815)
        }
    }

    @Test func collectionsWithOddNames() throws {
        try makeQueue().write { db throws in
            for name in [
                "", "it's", "a\0b", "\"", "é", "e\u{301}", "Books", "books", String(repeating: "x", count: 100_000),
            ] {
                let numbers = store.collection(name, of: Int.self)
                #expect(try numbers.count(db) == 0)
                try numbers.set(db, key: "a", 1)
                #expect(try numbers.all().fetchAll(db).map(\.object) == [1])
                #expect(try numbers.filter(Column("key") == "a").fetchCount(db) == 1)
            }
            #expect(try store.count(db) == 9)
            #expect(try store.collection("a\0b", of: Int.self).removeAll(db) == 1)
            #expect(try store.collection("é", of: Int.self).removeAll(db) == 1)
            #expect(try store.count(db) == 7)
        }
    }
}
